// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/ffmpeg_library.h"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/settings.h"

namespace penstock::ffmpeg {

namespace {

struct Release {
  int util, codec, format, scale, resample;  // major versions of the libraries
  Layout layout;
};
// FFmpeg 8, 7, 6, 5 and 4, newest first. Within a major version FFmpeg adds members only after the existing ones.
constexpr std::array<Release, 5> kReleases{{
    {60, 62, 62, 9, 6, {62, 16, 32, 40, 56, 68, 44, 72, 76, 24}},
    {59, 61, 61, 8, 5, {61, 16, 32, 40, 56, 68, 44, 72, 76, 24}},
    {58, 60, 60, 7, 4, {60, 16, 32, 40, 56, 68, 28, 56, 60, 24}},
    {57, 59, 59, 6, 4, {59, 208, 16, 24, 40, 52, 28, 56, 60, 24}},
    {56, 58, 58, 5, 3, {58, 208, 24, 32, 48, 60, 28, 56, 60, 32}},
}};

struct Handles {
  void *util, *scale, *codec, *format;
};

// If `folder` is set: the library of this major version in it, whatever characters its name has in between.
std::string file_of(const std::string& folder, const char* name, int major) {
  std::string plain = std::string(name) + ".so." + std::to_string(major);
  if (folder.empty()) return plain;
  std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  std::string best;
  if (open) {
    const std::string version = ".so." + std::to_string(major);
    while (const dirent* entry = readdir(open.get())) {
      const std::string file = entry->d_name;
      const size_t at = file.find(version);
      if (!file.starts_with(name) || at == std::string::npos) continue;
      const char next = file.c_str()[at + version.size()], after = file.c_str()[std::strlen(name)];
      if ((next == 0 || next == '.') && (after == '.' || after == '-') && (best.empty() || file.size() < best.size()))
        best = file;
    }
  }
  return folder + "/" + (best.empty() ? plain : best);
}

bool load(const Release& r, const std::string& folder, Handles& out, std::string& why) {
  void* got[4]{};
  const std::pair<const char*, int> names[4] = {
      {"libavutil", r.util}, {"libswscale", r.scale}, {"libavcodec", r.codec}, {"libavformat", r.format}};
  for (int k = 0; k < 4; ++k) {
    // Libraries that libavcodec loads by name would not be found in a separate folder.
    if (k == 2 && !folder.empty() && got[0])
      dlopen(file_of(folder, "libswresample", r.resample).c_str(), RTLD_NOW | RTLD_LOCAL);
    got[k] = dlopen(file_of(folder, names[k].first, names[k].second).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (got[k]) continue;
    if (const char* said = dlerror(); said && k) why = said;  // some of them exist
    for (int j = 0; j < k; ++j) dlclose(got[j]);
    return false;
  }
  out = {got[0], got[1], got[2], got[3]};
  return true;
}

template <class F> void take(void* handle, const char* name, F*& to) {
  to = reinterpret_cast<F*>(dlsym(handle, name));
  if (!to) bad_argument("the FFmpeg that was found lacks {}: install another one", name);
}

std::string version_text(unsigned v) { return fmt::format("{}.{}.{}", v >> 16, v >> 8 & 255, v & 255); }

thread_local Listener* listening = nullptr;

// A new stream has known values in the members that are read later; none is followed before they match.
void check_layout(const Library& lib) {
  const auto refuse = [&](const char* what) {
    bad_argument("this build of FFmpeg ({}) has another layout of {} than the releases that Penstock supports",
                 lib.version, what);
  };
  Frame* f = lib.av_frame_alloc();
  const bool frame_fits = f && f->format == -1 && f->pts == kNoPts && f->width == 0;
  lib.av_frame_free(&f);
  Packet* p = lib.av_packet_alloc();
  const bool packet_fits = p && p->pts == kNoPts && p->dts == kNoPts && p->position == -1;
  lib.av_packet_free(&p);
  FormatContext* context = lib.avformat_alloc_context();
  Stream* s = context ? lib.avformat_new_stream(context, nullptr) : nullptr;
  bool stream_fits = s && lib.streams(context) == 1 && lib.stream(context, 0) == s;
  bool parameters_fit = false;
  if (stream_fits) {
    const auto& l = lib.layout;
    stream_fits = Library::at<int64_t>(s, l.stream_start_time) == kNoPts && Library::at<int>(s, l.stream_discard) == 0;
    if (stream_fits) {
      Parameters* params = lib.parameters(s);
      Parameters* fresh = lib.avcodec_parameters_alloc();
      parameters_fit = params && fresh &&
                       std::memcmp(params, fresh, static_cast<size_t>(l.parameters_height) + 4) == 0 &&
                       Library::at<int>(params, 0) == -1 && Library::at<int>(params, l.parameters_format) == -1 &&
                       lib.width(params) == 0;
      if (fresh) lib.avcodec_parameters_free(&fresh);
    }
  }
  if (context) lib.avformat_free_context(context);
  if (!frame_fits) refuse("frames");
  if (!packet_fits) refuse("packets");
  if (!stream_fits) refuse("streams");
  if (!parameters_fit) refuse("stream parameters");
}

const Release* load_any(const std::string& folder, Handles& out, std::string& why) {
  for (const Release& r : kReleases)
    if (load(r, folder, out, why)) return &r;
  return nullptr;
}

// Where the package av (PyAV) has its libraries, if it is installed beside the package that holds this one.
std::string folder_of_av() {
  Dl_info own;
  if (!dladdr(reinterpret_cast<const void*>(&folder_of_av), &own) || !own.dli_fname) return {};
  std::error_code ignored;
  const std::filesystem::path package = std::filesystem::weakly_canonical(own.dli_fname, ignored).parent_path();
  const std::filesystem::path folder = package.parent_path() / "av.libs";
  return package.filename() == "penstock" && is_directory(folder, ignored) ? folder.string() : std::string();
}

Library load_library() {
  const std::string folder(Setting("PENSTOCK_FFMPEG").text());
  Handles h{};
  std::string why, ignored;
  const Release* release = load_any(folder, h, why);
  if (!release && folder.empty())
    if (const std::string av = folder_of_av(); !av.empty()) release = load_any(av, h, ignored);
  if (!release)
    bad_argument(
        "video needs the shared libraries of FFmpeg 4.4 to 8 (libavformat, libavcodec, libavutil, libswscale), which "
        "were not found{}{}: install them (Debian, Ubuntu: apt-get install ffmpeg; Fedora: dnf install ffmpeg-free; "
        "conda: conda install -c conda-forge ffmpeg; pip: pip install av), or set PENSTOCK_FFMPEG to their folder",
        folder.empty() ? std::string() : " in " + folder, why.empty() ? std::string() : " (" + why + ")");
  Library lib;
  lib.layout = release->layout;
#define PENSTOCK_TAKE(handle, name) take(handle, #name, lib.name)
  PENSTOCK_TAKE(h.codec, avcodec_get_name);
  PENSTOCK_TAKE(h.codec, avcodec_alloc_context3);
  PENSTOCK_TAKE(h.codec, avcodec_free_context);
  PENSTOCK_TAKE(h.codec, avcodec_parameters_to_context);
  PENSTOCK_TAKE(h.codec, avcodec_parameters_copy);
  PENSTOCK_TAKE(h.codec, avcodec_parameters_alloc);
  PENSTOCK_TAKE(h.codec, avcodec_parameters_free);
  PENSTOCK_TAKE(h.codec, avcodec_find_decoder);
  PENSTOCK_TAKE(h.codec, avcodec_open2);
  PENSTOCK_TAKE(h.codec, avcodec_send_packet);
  PENSTOCK_TAKE(h.codec, avcodec_receive_frame);
  PENSTOCK_TAKE(h.codec, avcodec_flush_buffers);
  PENSTOCK_TAKE(h.codec, av_packet_alloc);
  PENSTOCK_TAKE(h.codec, av_packet_free);
  PENSTOCK_TAKE(h.codec, av_packet_unref);
  PENSTOCK_TAKE(h.codec, av_bsf_get_by_name);
  PENSTOCK_TAKE(h.codec, av_bsf_alloc);
  PENSTOCK_TAKE(h.codec, av_bsf_init);
  PENSTOCK_TAKE(h.codec, av_bsf_send_packet);
  PENSTOCK_TAKE(h.codec, av_bsf_receive_packet);
  PENSTOCK_TAKE(h.codec, av_bsf_flush);
  PENSTOCK_TAKE(h.codec, av_bsf_free);
  PENSTOCK_TAKE(h.format, avformat_alloc_context);
  PENSTOCK_TAKE(h.format, avformat_free_context);
  PENSTOCK_TAKE(h.format, avformat_new_stream);
  PENSTOCK_TAKE(h.format, avformat_open_input);
  PENSTOCK_TAKE(h.format, avformat_close_input);
  PENSTOCK_TAKE(h.format, avformat_find_stream_info);
  PENSTOCK_TAKE(h.format, av_find_best_stream);
  PENSTOCK_TAKE(h.format, av_read_frame);
  PENSTOCK_TAKE(h.format, av_seek_frame);
  PENSTOCK_TAKE(h.format, av_guess_frame_rate);
  PENSTOCK_TAKE(h.format, avio_alloc_context);
  PENSTOCK_TAKE(h.format, avio_context_free);
  PENSTOCK_TAKE(h.util, av_frame_alloc);
  PENSTOCK_TAKE(h.util, av_frame_free);
  PENSTOCK_TAKE(h.util, av_frame_unref);
  PENSTOCK_TAKE(h.util, av_malloc);
  PENSTOCK_TAKE(h.util, av_free);
  PENSTOCK_TAKE(h.util, av_dict_set);
  PENSTOCK_TAKE(h.util, av_dict_free);
  PENSTOCK_TAKE(h.util, av_opt_set_int);
  PENSTOCK_TAKE(h.util, av_opt_get_int);
  PENSTOCK_TAKE(h.util, av_strerror);
  PENSTOCK_TAKE(h.util, av_log_set_callback);
  PENSTOCK_TAKE(h.util, av_log_default_callback);
  PENSTOCK_TAKE(h.util, av_get_pix_fmt_name);
  PENSTOCK_TAKE(h.scale, sws_getContext);
  PENSTOCK_TAKE(h.scale, sws_freeContext);
  PENSTOCK_TAKE(h.scale, sws_scale);
  PENSTOCK_TAKE(h.scale, sws_getCoefficients);
  PENSTOCK_TAKE(h.scale, sws_getColorspaceDetails);
  PENSTOCK_TAKE(h.scale, sws_setColorspaceDetails);
#undef PENSTOCK_TAKE
  const auto version = [](void* handle, const char* function) {
    unsigned (*f)();
    take(handle, function, f);
    return version_text(f());
  };
  lib.version = fmt::format("libavformat {}, libavcodec {}, libavutil {}, libswscale {}",
                            version(h.format, "avformat_version"), version(h.codec, "avcodec_version"),
                            version(h.util, "avutil_version"), version(h.scale, "swscale_version"));
  check_layout(lib);
  return lib;
}

}  // namespace

// Messages for other users of the same libraries are printed as before.
void hear(void* object, int level, const char* format, va_list arguments) {
  constexpr int kErrors = 16;
  if (!listening) return library().av_log_default_callback(object, level, format, arguments);
  if (level > kErrors || !listening->said_.empty()) return;
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  std::string& said = listening->said_;
  said = line;
  while (!said.empty() && (said.back() == '\n' || said.back() == '.')) said.pop_back();
}

const Library& library() {
  static const Library loaded = load_library();
  return loaded;
}

Listener::Listener() : before_(listening) {
  static const bool heard = (library().av_log_set_callback(hear), true);
  (void)heard;
  listening = this;
}
Listener::~Listener() { listening = before_; }

std::string Listener::why(int code) const {
  if (!said_.empty()) return ": " + said_;
  char text[128] = "unknown";
  library().av_strerror(code, text, sizeof text);
  return std::string(": ") + text;
}

}  // namespace penstock::ffmpeg
