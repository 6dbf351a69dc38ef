// SPDX-License-Identifier: Apache-2.0
// Every setting that Penstock takes from the environment of its process. All reads of C++ go through this file, those
// of Python through penstock/settings.py. A name that is not in the table does not compile. tools/generate.py writes
// docs/reference/settings.md from the table.
#pragma once
#include <cstdlib>
#include <string_view>

namespace penstock {

enum class SettingUse {
  daily,     // where things are kept, what is an error, what is said
  library,   // which shared library is loaded for a job
  check,     // switches off what makes Penstock fast: for comparisons and tests
  internal,  // one process of Penstock tells another
};

struct SettingInfo {
  std::string_view name;
  SettingUse use;
  std::string_view values;     // what it may be
  std::string_view otherwise;  // what holds where it is not set
  std::string_view when;       // when it is read
  std::string_view meaning;
};

inline constexpr SettingInfo kSettings[] = {
    {"PENSTOCK_CACHE", SettingUse::daily, "a folder", "`$XDG_CACHE_HOME/penstock`, else `~/.cache/penstock`",
     "at each use",
     "Where Penstock keeps what it can make again: entropy indexes, indexes of containers and videos, compiled "
     "kernels. A folder that other users can write is not used."},
    {"XDG_CACHE_HOME", SettingUse::daily, "an absolute path", "`~/.cache`", "at each use",
     "The folder of the user's caches, as the XDG Base Directory Specification has it."},
    {"HOME", SettingUse::daily, "an absolute path", "the home folder in the system's list of users", "at each use",
     "The user's home folder; `~` in the two lines above."},
    {"PENSTOCK_ENTROPY_INDEX", SettingUse::daily, "`off`, `read`, `auto` or the path of a file or folder", "`auto`",
     "when a pipeline is built", "The default of the pipeline's option `entropy_index`."},
    {"PENSTOCK_ENTROPY_INDEX_LIMIT", SettingUse::daily, "a number of bytes such as `500M` or `2G`", "`2G`",
     "when a pipeline is built",
     "The most bytes that entropy indexes take. The user's own index files together count as one."},
    {"PENSTOCK_REQUIRE_GPU", SettingUse::daily, "`0` or another text", "`0`", "when a pipeline is built, in each call",
     "Unless it is `0` or empty, a request for a GPU that cannot be used is an error. Otherwise the work is done "
     "on the CPU with a warning."},
    {"PENSTOCK_TRACEBACK", SettingUse::daily, "`full`", "frames of user code alone", "at each error",
     "With `full`, a traceback of Python also has the frames inside of Penstock."},
    {"PENSTOCK_KERNELS", SettingUse::daily, "`auto`, `compiled` or `generic`", "`auto`",
     "when a stage is made for a GPU",
     "`compiled`: a stage waits for its own kernel. `generic`: stages run on the generic kernel alone. `auto`: a "
     "stage runs on the generic kernel until its own is compiled."},

    {"PENSTOCK_GPU_LIBRARY", SettingUse::library, "a file", "`libpenstock_cuda.so` beside Penstock's library",
     "once a process", "The library with Penstock's GPU part. A file that does not exist switches the GPU off."},
    {"PENSTOCK_NVIDIA_LIBS", SettingUse::library, "folders, separated by colons",
     "the folders of NVIDIA's Python packages", "when a library is loaded",
     "Where NVIDIA's libraries are looked for first: NVRTC, nvJPEG, nvJPEG2000, nvTIFF, cuFile. `import penstock` "
     "sets it."},
    {"PENSTOCK_NVRTC", SettingUse::library, "a file", "`libnvrtc.so.13` or `libnvrtc.so.12`, as the loader finds them",
     "once a process", "The compiler of kernels."},
    {"PENSTOCK_NVJPEG", SettingUse::library, "`off`", "nvJPEG, where it is found", "once a process",
     "`off`: the GPU's JPEG engine is not used."},
    {"PENSTOCK_NVJPEG_WAIT", SettingUse::library, "`0` or `1`", "`0`", "when a decoder is made",
     "`1`: the host waits for the GPU's JPEG engine after each batch. For drivers on which two batches at a time "
     "fail."},
    {"PENSTOCK_NVJPEG2000", SettingUse::library, "`off`", "nvJPEG2000, where it is found", "once a process",
     "`off`: JPEG 2000 files are decoded on the CPU."},
    {"PENSTOCK_NVTIFF", SettingUse::library, "`off`", "nvTIFF, where it is found", "once a process",
     "`off`: TIFF files are decoded on the CPU."},
    {"PENSTOCK_NVDEC", SettingUse::library, "`off`", "the driver's video decoder, where it is found", "once a process",
     "`off`: videos are decoded on the CPU."},
    {"PENSTOCK_CUFILE", SettingUse::library, "a file, or `off`", "`libcufile.so.0`, as the loader finds it",
     "when cuFile is first needed",
     "Reads files into the GPU's memory. `off`: they are read into the host's memory and copied."},
    {"PENSTOCK_FFMPEG", SettingUse::library, "a folder", "the loader's folders", "once a process",
     "The folder with FFmpeg's shared libraries, for videos."},
    {"PENSTOCK_HEIF", SettingUse::library, "a file, or `off`", "`libheif.so.1`, as the loader finds it",
     "once a process", "The decoder of AVIF and HEIC."},
    {"PENSTOCK_MPG123", SettingUse::library, "a file, or `off`", "`libmpg123.so.0`, as the loader finds it",
     "once a process", "The decoder of MP3."},
    {"CUDA_VISIBLE_DEVICES", SettingUse::library, "numbers of GPUs", "all GPUs", "once a process",
     "CUDA's own setting. Penstock only names it where no GPU is visible."},

    {"PENSTOCK_EXEC", SettingUse::check, "`simple`", "operators are fused to stages", "when a pipeline is built",
     "`simple`: each operator runs by itself, and nothing is pushed into decoders. The bytes are the same."},
    {"PENSTOCK_PUSH_DOWN", SettingUse::check, "`0`", "crops are pushed into decoders", "when a pipeline is built",
     "`0`: decoders decode whole images. The bytes are the same."},
    {"PENSTOCK_TARGET", SettingUse::check, "`scalar`, `avx2` or `avx512`", "the best that the processor has",
     "once a process", "Which instructions of the processor are used at most. The bytes are the same."},
    {"PENSTOCK_JPEG", SettingUse::check, "`auto`, `own` or `libjpeg-turbo`", "`auto`", "once a process",
     "`own`: Penstock's JPEG decoder alone; a file that it does not take is an error. `libjpeg-turbo`: that one "
     "alone. `auto`: Penstock's first, libjpeg-turbo for the rest."},

    {"PENSTOCK_DALI_SCRIPT", SettingUse::internal, "a path, or `-m` and a module", "not set",
     "when multiprocessing starts a process", "The script that `python -m penstock.dali` runs. Penstock sets it."},
};

// A name of the table. Another name is an error of the compiler, at the place that uses it.
class Setting {
 public:
  consteval Setting(const char* name) : name_(name) {
    for (const SettingInfo& known : kSettings)
      if (known.name == name) return;
    throw "add the setting to kSettings";
  }
  const char* name() const { return name_; }
  // What the environment says now; null where it is not set.
  const char* value() const { return std::getenv(name_); }
  // The same; "" where it is not set.
  std::string_view text() const { return value() ? value() : ""; }

 private:
  const char* name_;
};

}  // namespace penstock
