// SPDX-License-Identifier: Apache-2.0
// A libnvrtc for tests of how programs end. As NVIDIA's, it makes some of what it needs at its first compilation, late,
// so that an exit takes that apart before anything that was registered earlier is called; a compilation that is at work
// then aborts the process. A compilation takes PENSTOCK_STANDIN_COMPILE_MS milliseconds, and does not end before the
// file PENSTOCK_STANDIN_COMPILE_UNTIL exists; its code is its text.
// PENSTOCK_STANDIN_LOG names a file that gets "begin PID" and "end PID" of each.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

namespace {

struct Late {
  std::unique_ptr<std::string> needed = std::make_unique<std::string>("what a compilation needs");
  ~Late() { needed = nullptr; }
};
const Late& late() {
  static Late made;
  return made;
}

struct Program {
  std::string text;
};

void log(const char* what) {
  const char* path = std::getenv("PENSTOCK_STANDIN_LOG");
  if (!path) return;
  if (FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s %d\n", what, static_cast<int>(getpid()));
    std::fclose(file);
  }
}

int give(const std::string& text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return 0;
}

}  // namespace

extern "C" {
int nvrtcVersion(int* major, int* minor) {
  *major = 13, *minor = 0;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return 0;
}
int nvrtcGetSupportedArchs(int* list) {
  *list = 90;
  return 0;
}
int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char* const*, const char* const*) {
  *program = new Program{text};
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  return 0;
}
int nvrtcCompileProgram(void* program, int, const char* const*) {
  log("begin");
  const char* ms = std::getenv("PENSTOCK_STANDIN_COMPILE_MS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms ? std::atoi(ms) : 0);
  const char* file = std::getenv("PENSTOCK_STANDIN_COMPILE_UNTIL");
  const Late& needs = late();
  while (std::chrono::steady_clock::now() < end || (file && ::access(file, F_OK) != 0)) {
    if (!needs.needed) std::abort();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  log("end");
  return std::strstr(static_cast<Program*>(program)->text.c_str(), "#error") ? 6 : 0;
}
int nvrtcGetProgramLogSize(void*, size_t* size) {
  *size = sizeof "a wrong text";
  return 0;
}
int nvrtcGetProgramLog(void*, char* to) { return give(std::string("a wrong text", sizeof "a wrong text"), to); }
int nvrtcGetCUBINSize(void* program, size_t* size) {
  *size = static_cast<Program*>(program)->text.size();
  return 0;
}
int nvrtcGetCUBIN(void* program, char* to) { return give(static_cast<Program*>(program)->text, to); }
int nvrtcGetPTXSize(void* program, size_t* size) { return nvrtcGetCUBINSize(program, size); }
int nvrtcGetPTX(void* program, char* to) { return nvrtcGetCUBIN(program, to); }
const char* nvrtcGetErrorString(int code) { return code ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS"; }
}
