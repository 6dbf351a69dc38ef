// SPDX-License-Identifier: Apache-2.0
#include "triton/model_text.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace penstock::triton {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::file_missing, "{} cannot be read: {}", path, std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder that goes with this object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "penstock_triton_XXXXXX").string();
    if (!::mkdtemp(name.data())) fail(ErrorKind::internal, "{}: {}", name, std::strerror(errno));
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs a program to its end. Returns its exit status, -1 if it was killed; `said`: what it wrote to both outputs.
int run_program(const char* const* arguments, std::string& said) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC)) fail(ErrorKind::internal, "no pipe for {}: {}", arguments[0], std::strerror(errno));
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], 2);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &files, nullptr, const_cast<char* const*>(arguments), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  char part[4096];
  for (ssize_t n = 0; !failed; said.append(part, static_cast<size_t>(n)))
    if ((n = ::read(ends[0], part, sizeof part)) <= 0 && !(n < 0 && errno == EINTR && (n = 0, true))) break;
  ::close(ends[0]);
  if (failed) fail(ErrorKind::file_missing, "{} cannot be started: {}", arguments[0], std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string saved_by_python(const std::string& path, const std::string& python) {
  const ScratchFolder folder;
  const std::string result = folder.path() + "/model.penstock";
  const char* const arguments[] = {python.c_str(), "-m",           "penstock.dali.model_file",
                                   path.c_str(),   result.c_str(), nullptr};
  std::string said;
  if (run_program(arguments, said) != 0) {
    while (!said.empty() && said.back() == '\n') said.pop_back();
    bad_argument("{} gives no pipeline ({} -m penstock.dali.model_file): {}", path, python, said);
  }
  return contents(result);
}

}  // namespace

ModelFile find_model_file(const std::string& folder, const std::string& chosen) {
  const auto is_python = [](const std::string& path) { return path.ends_with(".py"); };
  if (!chosen.empty() && chosen != "model.penstock") {  // which a server fills in, by the name of the backend
    const std::string path = folder + "/" + chosen;
    if (!std::filesystem::exists(path))
      fail(ErrorKind::file_missing, "{} does not exist; default_model_filename names it", path);
    return {path, is_python(path)};
  }
  for (const char* name : {"model.penstock", "penstock.py", "dali.py"})
    if (const std::string path = folder + "/" + name; std::filesystem::exists(path)) return {path, is_python(path)};
  if (std::filesystem::exists(folder + "/model.dali"))
    bad_argument(
        "{}/model.dali is DALI's form: put the script there as dali.py, or model.penstock, which pipeline.save() "
        "writes",
        folder);
  fail(ErrorKind::file_missing,
       "{} has no model.penstock, which pipeline.save() writes, and no penstock.py or dali.py with @autoserialize",
       folder);
}

std::string model_text(const ModelFile& file, const std::string& python) {
  return file.is_python ? saved_by_python(file.path, python) : contents(file.path);
}

std::string noted_python(const std::string& backend_folder) {
  std::ifstream file(backend_folder + "/python");
  std::string line;
  return file && std::getline(file, line) && !line.empty() ? line : "python3";
}

}  // namespace penstock::triton
