// SPDX-License-Identifier: Apache-2.0
// Every environment variable that Penstock reads. All reads in C++ go through this file, those in Python
// through penstock/_settings.py. An empty value is as good as none. A name that is not in the table does not compile.
// tools/generate.py writes docs/reference/settings.md from the table.
#pragma once
#include <cstdlib>
#include <string_view>

namespace penstock {

enum class SettingUse {
  daily,     // folders, errors, messages
  library,   // which shared library to load for a task
  check,     // turns off what makes Penstock fast: for comparisons and tests
  internal,  // from one process of Penstock to another
};

struct SettingInfo {
  std::string_view name;
  SettingUse use;
  std::string_view values;     // permitted values
  std::string_view otherwise;  // the default
  std::string_view when;       // when it is read
  std::string_view meaning;
};

inline constexpr SettingInfo kSettings[] = {
    {"PENSTOCK_CACHE", SettingUse::daily, "a folder", "`$XDG_CACHE_HOME/penstock`, else `~/.cache/penstock`",
     "at each use",
     "The folder for files that Penstock can make again: entropy indexes, indexes of containers and videos, compiled "
     "kernels. A folder that other users can write is not used."},
    {"XDG_CACHE_HOME", SettingUse::daily, "an absolute path", "`~/.cache`", "at each use",
     "The folder of the user's caches, as in the XDG Base Directory Specification."},
    {"HOME", SettingUse::daily, "an absolute path", "the home folder in the system's list of users", "at each use",
     "The user's home folder; `~` in the two lines above."},
    {"PENSTOCK_ENTROPY_INDEX", SettingUse::daily, "`off`, `read`, `auto` or the path of a file or folder", "`auto`",
     "when a pipeline is built", "The default of the pipeline's option `entropy_index`."},
    {"PENSTOCK_ENTROPY_INDEX_LIMIT", SettingUse::daily, "a number of bytes such as `500M` or `2G`", "`2G`",
     "when a pipeline is built",
     "The most bytes that entropy indexes take. The user's own index files together count as one."},
    {"PENSTOCK_PLUGINS", SettingUse::daily, "files and folders, separated by colons", "none",
     "when an operator is first looked up; `import penstock` does so",
     "Plug-ins to load: libraries with operators, image formats and readers. A folder stands for its files that end in "
     "`.so`. One that cannot be loaded is an error."},
    {"PENSTOCK_REQUIRE_GPU", SettingUse::daily, "`0` or another text", "`0`", "when a pipeline is built, in each call",
     "Unless it is `0` or empty, a request for a GPU that cannot be used is an error. Otherwise the work is done "
     "on the CPU with a warning."},
    {"PENSTOCK_TRACEBACK", SettingUse::daily, "`full`", "only frames of user code", "at each error",
     "With `full`, a traceback of Python also has the frames inside Penstock."},
    {"PENSTOCK_KERNELS", SettingUse::daily, "`auto`, `compiled` or `generic`", "`auto`",
     "when a stage is made for a GPU",
     "`compiled`: a stage waits for its own kernel. `generic`: stages run only on the generic kernel. `auto`: a stage "
     "runs on the generic kernel until its own is compiled."},

    {"PENSTOCK_GPU_LIBRARY", SettingUse::library, "a file", "`libpenstock_cuda.so.0.1` beside Penstock's library",
     "once a process", "The library with Penstock's GPU part. A file that does not exist switches the GPU off."},
    {"PENSTOCK_NVIDIA_LIBS", SettingUse::library, "folders, separated by colons",
     "the folders of NVIDIA's Python packages", "when a library is loaded",
     "Folders that are searched first for NVIDIA's libraries: NVRTC, nvJPEG, nvJPEG2000, nvTIFF, cuFile. `import "
     "penstock` sets it."},
    {"PENSTOCK_NVRTC", SettingUse::library, "a file", "`libnvrtc.so.13` or `libnvrtc.so.12`, as the loader finds them",
     "once a process", "The compiler of kernels."},
    {"PENSTOCK_NVJPEG", SettingUse::library, "`off`", "nvJPEG, where it is found", "once a process",
     "`off`: the GPU's JPEG engine is not used."},
    {"PENSTOCK_NVJPEG_WAIT", SettingUse::library, "`0` or `1`", "`0`", "when a decoder is made",
     "`1`: the host waits for the GPU's JPEG engine after each batch. For drivers that fail with two batches at a "
     "time."},
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
    {"PENSTOCK_JXL", SettingUse::library, "a file, or `off`",
     "`libjxl.so.0.11` or an older one to `libjxl.so.0.7`, as the loader finds them", "once a process",
     "The decoder of JPEG XL."},
    {"PENSTOCK_OPENEXR", SettingUse::library, "a file, or `off`", "`libOpenEXRCore-3_1.so.30`, as the loader finds it",
     "once a process", "The decoder of OpenEXR."},
    {"PENSTOCK_MPG123", SettingUse::library, "a file, or `off`", "`libmpg123.so.0`, as the loader finds it",
     "once a process", "The decoder of MP3."},
    {"PENSTOCK_LAME", SettingUse::library, "a file, or `off`", "`libmp3lame.so.0`, as the loader finds it",
     "once a process", "The encoder of MP3."},
    {"CUDA_VISIBLE_DEVICES", SettingUse::library, "numbers of GPUs", "all GPUs", "once a process",
     "CUDA's own setting. Penstock only names it if no GPU is visible."},

    {"PENSTOCK_EXEC", SettingUse::check, "`simple`, `stepping` or `stepping-fused`",
     "operators are fused into stages, which threads run", "when a pipeline is built",
     "`simple`: each operator runs by itself, and nothing is pushed into decoders. `stepping`: the same, and the "
     "thread that calls `run()` takes one step after the other, without other threads. `stepping-fused`: without other "
     "threads, but fused. The bytes are the same."},
    {"PENSTOCK_PUSH_DOWN", SettingUse::check, "`0`", "crops are pushed into decoders", "when a pipeline is built",
     "`0`: decoders decode whole images. The bytes are the same."},
    {"PENSTOCK_TARGET", SettingUse::check, "`scalar`, `avx2` or `avx512`", "the best that the processor has",
     "once a process", "The most advanced instruction set that is used. The bytes are the same."},
    {"PENSTOCK_JPEG", SettingUse::check, "`auto`, `own` or `libjpeg-turbo`", "`auto`", "once a process",
     "`own`: only Penstock's JPEG decoder; a file that it does not support is an error. `libjpeg-turbo`: only "
     "libjpeg-turbo. `auto`: Penstock's decoder first, libjpeg-turbo for the rest."},

    {"PENSTOCK_DALI_SCRIPT", SettingUse::internal, "a path, or `-m` and a module", "not set",
     "when multiprocessing starts a process", "The script that `python -m penstock.dali` runs. Penstock sets it."},
};

// A name of the table. Any other name is a compile error at the place that uses it.
class Setting {
 public:
  consteval Setting(const char* name) : name_(name) {
    for (const SettingInfo& known : kSettings)
      if (known.name == name) return;
    throw "add the setting to kSettings";
  }
  const char* name() const { return name_; }
  // The current value in the environment; null if it is not set or empty.
  const char* value() const { return text().empty() ? nullptr : as_given(); }
  // The same; "" if it is not set.
  std::string_view text() const { return as_given() ? as_given() : ""; }
  // The same; null if it is not set. For a setting of which an empty value says something.
  const char* as_given() const { return std::getenv(name_); }

 private:
  const char* name_;
};

}  // namespace penstock
