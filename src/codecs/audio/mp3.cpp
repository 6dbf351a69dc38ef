// SPDX-License-Identifier: Apache-2.0
// MPEG audio (MP3, and layers I and II) through libmpg123, which is loaded at run time. The declarations below follow
// its documentation and cover the functions that we call, of versions from 1.26 on. The encoder's delay and padding are
// trimmed if the file states them.
#include <sys/types.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "codecs/audio/mpeg_frames.h"
#include "codecs/audio/sound_format.h"
#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/runtime_library.h"

namespace penstock {

namespace {

extern "C" {
struct mpg123_handle_struct;
}
using Handle = mpg123_handle_struct;
static_assert(sizeof(off_t) == 8, "libmpg123's functions use 64-bit offsets");

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
    no_decoder("MP3 files need libmpg123 (Debian: libmpg123-0), which was not found: {}", loaded.why_not());
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
      bad_data("MP3: {} channels at {} samples per second are not supported", channels, rate);
    // A frame has at least 24 bytes and at most 1,152 samples.
    if (length < 0 || length > (static_cast<int64_t>(file.size()) / 24 + 1) * 1152)
      bad_data("MP3: {} bytes cannot hold {} samples", file.size(), length);
    info_ = {"mp3", length, channels, static_cast<double>(rate), false};
  }

  std::string missing() const override {
    const AudioBytes frames = after_id3_tag(file_);  // find_mp3() left nothing else before them
    const uint64_t said = declared_mpeg_bytes(frames), there = frames.size();
    return said <= there ? "" : fmt::format("{} of {} bytes are present", there, said);
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
      else if (n == 0) bad_data("MP3: the decoder returned no samples at sample {} of {}", done, info_.length);
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
      bad_data("MP3: the number of channels or the sample rate changes at sample {}", at);
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

// Files that are containers: a sound track in them does not make them sound files.
bool is_other_container(AudioBytes file) {
  constexpr std::string_view kBegin[] = {"RIFF", "RF64", "OggS", "\x1A\x45\xDF\xA3", "FLV", "\x30\x26\xB2\x75", "PK"};
  return has_at(file, 4, "ftyp") || has_at(file, 0, std::string_view("\0\0\1", 3)) || image_format_of(file) ||
         std::ranges::any_of(kBegin, [&](std::string_view begin) { return has_at(file, 0, begin); });
}

// The file from its first MPEG audio frame on, or from the tag before it: at the beginning, or after unknown bytes.
// Empty if there is neither a frame nor a tag.
AudioBytes find_mp3(AudioBytes file) {
  const AudioBytes rest = after_id3_tag(file);
  const bool tagged = has_at(file, 0, "ID3");
  if (tagged ? begins_with_mpeg_frames(rest) : is_mpeg_frame(rest)) return file;
  const AudioBytes otherwise = tagged ? file : AudioBytes{};
  if (is_other_container(file)) return otherwise;
  for (const AudioBytes part : {rest, file})  // the length in a tag may be wrong
    if (const size_t at = find_mpeg_frames(part); at < part.size()) return part.subspan(at);
  return otherwise;
}

PENSTOCK_SOUND_FORMAT({
    .id = "mp3",
    .title = "MP3",
    .place = 40,  // after all others, whose bytes may look like frames
    .find = find_mp3,
    .open = [](AudioBytes found) -> std::unique_ptr<AudioFile> { return std::make_unique<Mp3File>(found); },
    .suffixes = {".mp3", ".mp2", ".mpga"},
});

}  // namespace

void require_mpg123() { library(); }

}  // namespace penstock
