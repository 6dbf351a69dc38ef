// SPDX-License-Identifier: Apache-2.0
// readers.sequence: frames are files in folders, one folder per stream.
#include "base/size_limits.h"
#include "codecs/decode_task.h"
#include "codecs/file_formats.h"
#include "data/file_list.h"
#include "data/storage.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

struct ReadersSequence : ReaderOptions {
  std::string file_root;
  int64_t sequence_length = 0, step = 1, stride = 1;
  int image_type = 0;
  int64_t max_pixels = kMostPixels;
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {DType::uint8, 4, "FHWC"};
  }

  static Schema<ReadersSequence> schema() {
    using Op = ReadersSequence;
    return Schema<Op>("readers.sequence",
                      "Reads sequences of frames that are image files.\n\nEach subfolder of file_root is a stream, "
                      "whose files are its frames by the order of their names. Output: uint8, FHWC; the frames of a "
                      "sequence are of one size. Streams that are too short for a sequence are omitted.")
        .inputs(0)
        .outputs(1)
        .loads_samples()
        .required("file_root", &Op::file_root, "The folder of the streams.")
        .required("sequence_length", &Op::sequence_length, "Frames of a sequence.", within(1, 1 << 20))
        .arg("step", &Op::step, "Frames from the start of a sequence to that of the next one.", at_least(1))
        .arg("stride", &Op::stride, "Distance between frames of a sequence.", at_least(1))
        .arg("image_type", &Op::image_type, "types.RGB, BGR, GRAY or YCbCr.", within(0, 3))
        .arg("max_pixels", &Op::max_pixels, kMaxPixelsText, within(1, kLargestLimit))
        .with(reader_arguments<Op>);
  }
};

class SequenceSource final : public ReaderSource {
 public:
  SequenceSource(uint64_t seed, const ReadersSequence& a)
      : ReaderSource(a), a_(a), frames_(FileList::from_folder(a.file_root, {default_file_filters()})) {
    const int64_t reach = checked_product(a.sequence_length - 1, a.stride);
    for (int64_t begin = 0, end; begin < frames_.size(); begin = end) {
      end = begin;
      while (end < frames_.size() && frames_.label(end) == frames_.label(begin)) ++end;
      for (int64_t first = begin; first < end && reach < end - first; first += std::min(a.step, end - first))
        firsts_.push_back(first);
    }
    if (firsts_.empty())
      fail_on(a.file_root, ErrorKind::data, "no folder has the {} images that a sequence needs", reach + 1);
    open(seed, static_cast<int64_t>(firsts_.size()), frames_.hash());
  }
  std::string data_set() const override { return a_.file_root; }

  void load(SourceBatch& batch, int i) const override {
    const int64_t first = firsts_[batch.indices[i]];
    const DecodeParams params{.type = static_cast<ImageType>(a_.image_type), .max_pixels = a_.max_pixels};
    std::vector<uint8_t> bytes;
    Shape shape;
    std::shared_ptr<void> memory;
    for (int64_t f = 0; f < a_.sequence_length; ++f) {
      const std::string path = frames_.path(first + f * a_.stride);
      try {
        read_file(path, bytes);
        DecodeTask task;
        task.file = bytes, task.params = params;
        read_headers(task);
        const ImageInfo& info = task.info;
        const Shape frame{a_.sequence_length, info.height, info.width, output_channels(info, params.type)};
        if (f == 0) {
          shape = frame;
          memory = allocate_shared(default_memory(), checked_bytes(shape.volume(), 1), nullptr);
        }
        if (!(frame == shape))
          bad_data("a frame has {} x {} pixels, its sequence {} x {}", info.width, info.height, shape[2], shape[1]);
        task.region = {0, 0, info.height, info.width};
        task.sink = {static_cast<uint8_t*>(memory.get()) + f * shape[1] * shape[2] * shape[3], shape[2] * shape[3]};
        decode_images({&task, 1});
        if (task.error) throw *task.error;
      } catch (Error& e) {
        if (e.source.empty()) e.source = path;
        throw;
      }
    }
    give(batch.outputs[0], i, shape, memory.get(), memory);
  }

 protected:
  std::vector<Batch> make_outputs(int n) const override { return {Batch(DType::uint8, 4, "FHWC", n)}; }
  std::string source_of(int64_t index) const override { return frames_.path(firsts_[index]); }
  void ranges_of(int64_t index, std::vector<ByteRange>& out) const override {
    for (int64_t f = 0; f < a_.sequence_length; ++f)
      out.push_back({frames_.path(firsts_[index] + f * a_.stride), 0, -1});
  }

 private:
  // Saturates; no list is that long.
  static int64_t checked_product(int64_t a, int64_t b) {
    constexpr int64_t kMost = int64_t{1} << 40;
    return a > 0 && b > kMost / a ? kMost : a * b;
  }
  ReadersSequence a_;
  FileList frames_;
  std::vector<int64_t> firsts_;
};

PENSTOCK_READER(ReadersSequence, SequenceSource);

}  // namespace
}  // namespace penstock
