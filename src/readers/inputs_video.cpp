// SPDX-License-Identifier: Apache-2.0
// experimental.inputs.video: videos from the program, one after the other, as sequences of their frames.
#include <atomic>
#include <cstring>

#include "base/error_of.h"
#include "base/size_limits.h"
#include "codecs/video/frame_choice.h"
#include "codecs/video/video_decoder.h"
#include "codecs/video/video_index_cache.h"
#include "readers/external_source.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

struct InputsVideo : SourceOperator {
  bool affine = true, blocking = false, no_copy = false;
  std::string last_sequence_policy = "partial";
  int64_t sequence_length = 0, max_pixels = kMostPixels;
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    if (last_sequence_policy != "partial" && last_sequence_policy != "pad")
      bad_argument("last_sequence_policy must be 'partial' or 'pad', got '{}'", last_sequence_policy);
    if (sequence_length > kMostFrames)
      bad_argument("a sequence of {} frames exceeds the limit of {}", sequence_length, kMostFrames);
    out[0] = {DType::uint8, 4, "FHWC"};
  }
  static Schema<InputsVideo> schema() {
    using Op = InputsVideo;
    return Schema<Op>("experimental.inputs.video",
                      "Decodes videos that feed_input() supplies, sequence by sequence.\n\nIt uses the FFmpeg that is "
                      "found at run time.\n\nfeed_input() takes the bytes of one file, 1-d uint8, and may be called "
                      "in advance. Output: uint8, FHWC, RGB; each run returns the next batch_size sequences, fewer at "
                      "the end of a video; then the next video follows. A run for which nothing was fed is an "
                      "IndexError. A file that cannot be opened is an error of feed_input().\n\nExample:\n"
                      "@pipeline_def(batch_size=4)\ndef films():\n    return "
                      "fn.experimental.inputs.video(sequence_length=8, name=\"film\")\npipe = films()\n"
                      "pipe.feed_input(\"film\", np.fromfile(\"film.mp4\", np.uint8))\nframes, = pipe.run()")
        .inputs(0)
        .fed(Fed::video)
        .required("sequence_length", &Op::sequence_length, "Frames of a sequence.", at_least(1))
        .arg("last_sequence_policy", &Op::last_sequence_policy,
             "partial: a video's last sequence may be shorter; pad: it is filled with zeros.")
        .arg("blocking", &Op::blocking,
             "A run waits until another thread feeds a video. Programs in C and C++ always wait.")
        .arg("no_copy", &Op::no_copy, "Use the bytes without a copy: they must not change until the video has ended.")
        .arg("max_pixels", &Op::max_pixels, kMaxFrameText, within(1, kLargestLimit))
        .arg("affine", &Op::affine, "Accepted without effect.");
  }
};

class VideoFeed final : public ExternalFeed {
 public:
  explicit VideoFeed(const InputsVideo& options) : options_(options) {}

  int64_t feed(std::vector<Batch> batches, int batch_size) override {
    if (batches.size() != 1 || batches[0].size() != 1)
      bad_argument("feed one video at a time, not {}",
                   batches.size() == 1 ? batches[0].size() : static_cast<int>(batches.size()));
    const Tensor given = batches[0].tensor(0);
    const View& v = given.view;
    if (given.device.kind != DeviceKind::cpu || v.dtype != DType::uint8 || v.shape.size() != 1 || !v.dense())
      bad_type("expected the bytes of a file: 1-d uint8 on the host, got {} of {} dimensions", name_of(v.dtype),
               v.shape.size());
    Fed next{nullptr, "video " + std::to_string(fed_++) + " of those that were fed"};
    std::shared_ptr<const void> owner = given.owner;
    std::span bytes(v.as<const uint8_t>(), static_cast<size_t>(v.volume()));
    if (!options_.no_copy && !bytes.empty()) {
      const auto copy = allocate_shared(default_memory(), bytes.size());
      std::memcpy(copy.get(), bytes.data(), bytes.size());
      owner = copy, bytes = {static_cast<const uint8_t*>(copy.get()), bytes.size()};
    }
    try {
      next.file = open_video_in_memory(bytes, owner, options_.max_pixels);
    } catch (Error& e) {
      if (e.source.empty()) e.source = next.name;
      throw;
    }
    const int64_t sequences = (next.file->frames() - 1) / options_.sequence_length + 1;
    queue_.put(std::move(next));
    return (sequences - 1) / batch_size + 1;
  }

  std::vector<Batch> next(const BatchRequest& request) override {
    if (!now_.file) now_ = queue_.take(), at_ = 0;
    const VideoFile& f = *now_.file;
    const int64_t length = options_.sequence_length, first = at_;
    const int64_t count = std::min<int64_t>(request.batch_size, (f.frames() - 1 - first) / length + 1);
    at_ += count * length;  // also if this batch cannot be decoded
    std::vector<Batch> out;
    const auto error = error_of([&] {
      if (!decoder_) decoder_ = std::make_unique<VideoDecoder>(now_.file, request.threads);
      Batch b(DType::uint8, 4, "FHWC", static_cast<int>(count));
      for (int64_t k = 0; k < count; ++k) decode(first + k * length, b.sample(static_cast<int>(k)));
      out.push_back(std::move(b));
    });
    const std::string name = now_.name;
    if (at_ >= f.frames()) decoder_.reset(), now_ = {};
    if (error) {
      Error e = *error;
      if (e.source.empty()) e.source = name;
      throw e;
    }
    return out;
  }

  bool fed_by_others() const override { return true; }
  void cancel() override { queue_.cancel(); }

 private:
  struct Fed {
    std::shared_ptr<const VideoFile> file;
    std::string name;
  };

  void decode(int64_t first, Batch::Sample& out) {
    queue_.check();
    const VideoFile& f = *now_.file;
    const auto padding = options_.last_sequence_policy == "pad" ? FramePadding::constant : FramePadding::none;
    const auto frames = choose_frames(first, 1, options_.sequence_length, f.frames(), padding);
    const Shape shape{static_cast<int64_t>(frames.size()), f.height(), f.width(), 3};
    const auto memory =
        allocate_shared(default_memory(), checked_bytes(shape[0] * shape[1], static_cast<size_t>(shape[2]) * 3));
    const int64_t black[1] = {0};
    decode_frames(*decoder_, frames, black, static_cast<uint8_t*>(memory.get()));
    out.data = memory.get(), out.shape = shape, out.owner = memory, out.source = now_.name;
  }

  const InputsVideo options_;
  std::atomic<int64_t> fed_ = 0;
  WaitingQueue<Fed> queue_;
  // used by the thread that asks for batches
  Fed now_;
  std::unique_ptr<VideoDecoder> decoder_;
  int64_t at_ = 0;  // the next frame
};

std::unique_ptr<Source> make_video_inputs(SourceArguments& a) {
  auto source = std::make_unique<ExternalSource>(a);
  source->set_feed(std::make_shared<VideoFeed>(a.options<InputsVideo>()));
  return source;
}
PENSTOCK_SOURCE(InputsVideo, make_video_inputs);

}  // namespace
}  // namespace penstock
