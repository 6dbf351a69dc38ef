// SPDX-License-Identifier: Apache-2.0
// MPEG audio (MP3, and layers I and II) through libmpg123, which is looked for at run time: declared here is what is
// called of it, as its documentation has it, of versions from 1.26 on. The encoder's delay and padding are cut off
// where the file says them.
#include <sys/types.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "codecs/audio/formats.h"
#include "codecs/audio/mpeg_frames.h"
#include "codecs/decode_errors.h"
#include "codecs/runtime_library.h"

namespace penstock {

namespace {

extern "C" {
struct mpg123_handle_struct;
}
using Handle = mpg123_handle_struct;
static_assert(sizeof(off_t) == 8, "libmpg123's functions are those of 64-bit offsets");

enum Code { kOk = 0, kDone = -12, kNewFormat = -11 };
enum Parameter { kAddFlags = 2, kRemoveFlags = 13 };
enum Flag : long { kQuiet = 0x20, kGapless = 0x40, kForceFloat = 0x400, kSkipTags = 0x2000, kAutoResample = 0x8000 };
constexpr int kFloat32 = 0x200;

struct Library : OptionalLibrary {
  int (*init)();
  Handle* (*create)(const char* decoder, int* error);
  void (*destroy)(Handle*);
  int (*param)(Handle*, int parameter, long value, double real);
  int (*replace_reader)(Handle*, ssize_t (*read)(void*, void*, size_t), off_t (*seek)(void*, off_t, int),
                        void (*close)(void*));
  int (*open)(Handle*, void* source);
  int (*scan)(Handle*);
  off_t (*length)(Handle*);
  int (*format)(Handle*, long* rate, int* channels, int* encoding);
  int (*read)(Handle*, void* to, size_t bytes, size_t* done);
  const char* (*message)(Handle*);

  Library() : OptionalLibrary(open_codec_library("PENSTOCK_MPG123", {"libmpg123.so.0"})) {
    find(init, "mpg123_init");
    find(create, "mpg123_new");
    find(destroy, "mpg123_delete");
    find(param, "mpg123_param");
    find(replace_reader, "mpg123_replace_reader_handle");
    find(open, "mpg123_open_handle");
    find(scan, "mpg123_scan");
    find(length, "mpg123_length");
    find(format, "mpg123_getformat");
    find(read, "mpg123_read");
    find(message, "mpg123_strerror");
    if (why_not().empty()) init();
  }
};

const Library& library() {
  static const Library loaded;
  if (!loaded.why_not().empty())
    no_decoder("MP3 files need libmpg123 (Debian: libmpg123-0), which is not there: {}", loaded.why_not());
  return loaded;
}

class Mp3File final : public AudioFile {
 public:
  explicit Mp3File(AudioBytes file)
      : lib_(library()), file_(file), handle_(lib_.create(nullptr, nullptr), lib_.destroy) {
    if (!handle_) throw std::bad_alloc();
    lib_.param(handle_.get(), kAddFlags, kQuiet | kForceFloat | kGapless | kSkipTags, 0);
    lib_.param(handle_.get(), kRemoveFlags, kAutoResample, 0);
    long rate = 0;
    int channels = 0, encoding = 0;
    require(lib_.replace_reader(handle_.get(), read, seek, nullptr), "cannot be read");
    require(lib_.open(handle_.get(), this), "cannot be read");
    require(lib_.scan(handle_.get()), "has no frames");
    require(lib_.format(handle_.get(), &rate, &channels, &encoding), "has no frames");
    const int64_t length = lib_.length(handle_.get());
    if (rate < 1 || channels < 1 || channels > 2 || encoding != kFloat32)
      bad_data("MP3: {} channels, {} samples a second", channels, rate);
    // A frame takes at least 24 bytes and has at most 1,152 samples.
    if (length < 0 || length > (static_cast<int64_t>(file.size()) / 24 + 1) * 1152)
      bad_data("MP3: {} bytes cannot hold {} samples", file.size(), length);
    info_ = {"mp3", length, channels, static_cast<double>(rate), false};
  }

  std::string missing() const override {
    const size_t first = is_mpeg_frame(file_) ? 0 : find_mpeg_frames(file_);
    const uint64_t said = said_mpeg_bytes(file_.subspan(first)), there = file_.size() - first;
    return said <= there ? "" : fmt::format("{} bytes of {} are there", there, said);
  }

  void decode(const AudioSink& sink) override {
    std::vector<float> block(static_cast<size_t>(1152) * info_.channels);
    for (int64_t done = 0; done < info_.length;) {
      size_t bytes = 0;
      const int code = lib_.read(handle_.get(), block.data(), block.size() * sizeof(float), &bytes);
      const int64_t n =
          std::min<int64_t>(static_cast<int64_t>(bytes / sizeof(float)) / info_.channels, info_.length - done);
      if (n > 0) sink(block.data(), n);
      done += n;
      if (done == info_.length) return;
      if (code == kDone) ends_early("MP3: premature end of file at sample {} of {}", done, info_.length);
      if (code == kNewFormat) check_format(done);
      else if (code != kOk) bad_data("MP3: {} at sample {}", lib_.message(handle_.get()), done);
      else if (n == 0) bad_data("MP3: no samples at sample {} of {}", done, info_.length);
    }
  }

 private:
  void require(int code, const char* what) {
    if (code == kOk) return;
    if (const std::string bytes = missing(); !bytes.empty()) ends_early("MP3: premature end of file: {}", bytes);
    bad_data("MP3: the file {}: {}", what, lib_.message(handle_.get()));
  }
  void check_format(int64_t at) {
    long rate = 0;
    int channels = 0, encoding = 0;
    require(lib_.format(handle_.get(), &rate, &channels, &encoding), "is damaged");
    if (rate != static_cast<long>(info_.rate) || channels != info_.channels || encoding != kFloat32)
      bad_data("MP3: channels or rate change at sample {}", at);
  }
  static ssize_t read(void* source, void* to, size_t bytes) {
    auto& f = *static_cast<Mp3File*>(source);
    bytes = std::min(bytes, f.file_.size() - f.at_);
    if (bytes) std::memcpy(to, f.file_.data() + f.at_, bytes);
    f.at_ += bytes;
    return static_cast<ssize_t>(bytes);
  }
  static off_t seek(void* source, off_t offset, int from) {
    auto& f = *static_cast<Mp3File*>(source);
    const auto size = static_cast<int64_t>(f.file_.size());
    const int64_t base = from == SEEK_CUR ? static_cast<int64_t>(f.at_) : from == SEEK_END ? size : 0;
    if (offset < -base || offset > size - base) return -1;
    f.at_ = static_cast<size_t>(base + offset);
    return base + offset;
  }

  const Library& lib_;
  AudioBytes file_;
  size_t at_ = 0;
  std::unique_ptr<Handle, void (*)(Handle*)> handle_;
};

}  // namespace

std::unique_ptr<AudioFile> open_mp3(AudioBytes file) { return std::make_unique<Mp3File>(file); }

}  // namespace penstock
