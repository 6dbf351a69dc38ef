// SPDX-License-Identifier: Apache-2.0
// Sequences of frames as samples: the frames of a batch are decoded together, each packet once.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>

#include "base/error_of.h"
#include "base/notice.h"
#include "base/thread_pool.h"
#include "data/container_index.h"
#include "data/hash.h"
#include "data/remote_client.h"
#include "data/storage.h"
#include "readers/gpu_writer.h"
#include "readers/video.h"
#include "readers/video_decoders.h"
#include "readers/video_device.h"

namespace penstock {
namespace {

constexpr size_t kDecoderBytes = size_t{1} << 30;  // of open decoders, approximately
constexpr int64_t kFramesInDecoder = 20;

class VideoOnDisk final : public VideoBytes {
 public:
  explicit VideoOnDisk(const std::string& path) : file_(path), size_(file_.stamp().bytes) {}
  int64_t size() const override { return size_; }
  // FFmpeg requests small pieces: for remote storage a large one is fetched for many of them.
  void read(int64_t offset, int64_t length, uint8_t* out) const override {
    constexpr int64_t kPiece = 1 << 20;
    if (!file_.remote() || length >= kPiece) return file_.read(offset, length, out);
    std::lock_guard lock(mutex_);
    if (offset < start_ || offset + length > start_ + static_cast<int64_t>(piece_.size())) {
      std::vector<uint8_t> piece(static_cast<size_t>(std::min(kPiece, size_ - offset)));
      file_.read(offset, static_cast<int64_t>(piece.size()), piece.data());
      piece_ = std::move(piece), start_ = offset;
    }
    std::copy_n(piece_.data() + (offset - start_), length, out);
  }
  FileStamp stamp() const { return file_.stamp(); }
  FileStamp identity() const { return identity_of(file_); }

 private:
  OpenFile file_;
  int64_t size_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::vector<uint8_t> piece_;
  mutable int64_t start_ = 0;
};

std::shared_ptr<const VideoFile> open_video(const std::string& path, int64_t max_pixels) {
  try {
    const VideoOnDisk now(path);
    const FileStamp first = now.stamp(), identity = now.identity();
    const auto kept = kept_bytes("video", path);
    const VideoFile::Stamp stamp{identity.bytes, identity.modified_ns};
    const VideoFile::OpenBytes open = [path, first] {
      auto bytes = std::make_shared<VideoOnDisk>(path);
      const FileStamp here = bytes->stamp();
      if (here.bytes != first.bytes || here.modified_ns != first.modified_ns)
        fail_on(path, ErrorKind::data, "the file has changed since the pipeline was made");
      return bytes;
    };
    auto file =
        VideoFile::open(open, max_pixels, kept ? std::span<const uint8_t>(*kept) : std::span<const uint8_t>(), stamp);
    if (!file->indexed_before()) keep_bytes("video", path, file->index(stamp));
    return file;
  } catch (Error& e) {
    if (e.source.empty()) e.source = path;
    throw;
  }
}

// The frames of a batch in progress.
struct BatchDecoding final : SourceBatch::Work {
  struct Sample {
    int64_t index = -1;
    std::vector<int64_t> frames;
    std::shared_ptr<void> memory;
    int left = 0;  // runs
    std::optional<Error> error;
    bool taken = false;
  };
  std::vector<DecodeRun> runs;
  std::vector<bool> begun;
  std::vector<std::vector<int>> samples_of;  // by run
  std::vector<Sample> samples;
  std::mutex mutex;
  std::condition_variable done;
};

class VideoSource final : public ReaderSource, public GpuWriter {
 public:
  VideoSource(uint64_t seed, const ReaderOptions& options, VideoReading how)
      : ReaderSource(options), how_(std::move(how)), decoders_([this](int32_t f, int threads) {
          return std::make_unique<VideoDecoder>(files_[f], threads, how_.ycbcr);
        }) {
    open_files();
    list_sequences();
    uint64_t hash = 0;
    for (const auto& s : sequences_)
      hash = mix64(hash_bytes(std::filesystem::path(how_.files[s.place]).filename().native(), hash) +
                   static_cast<uint64_t>(s.first));
    open(seed, static_cast<int64_t>(sequences_.size()), hash);
  }

  int loaded_together() const override { return 1; }
  void write_to_gpu(const GpuTarget& gpu) override {
    const FrameType type{how_.dtype, how_.normalized ? 1.0f / 255.0f : 1.0f};
    gpu_ = std::make_unique<VideosOnGpu>(gpu, [this](int32_t f) { return files_[f]; }, type, how_.ycbcr, decoders_);
  }

  void load(SourceBatch& batch, int i) const override {
    const auto work = work_of(batch, i);
    const int sample = work->samples.size() == 1 ? 0 : i;
    run_until_done(*work, sample);
    auto& s = work->samples[sample];
    if (s.error) throw *s.error;
    const VideoSequence& q = sequences_[s.index];
    const VideoFile& f = *files_[q.file];
    const Shape shape{static_cast<int64_t>(s.frames.size()), f.height(), f.width(), 3};
    std::shared_ptr<void> memory = std::move(s.memory);
    if (how_.dtype == DType::float32 && !gpu_)
      memory = as_floats(static_cast<const uint8_t*>(memory.get()), shape.volume());
    give(batch.outputs[0], i, shape, memory.get(), memory);
    put_numbers(batch, i, s.frames, f);
  }

  void loaded(SourceBatch& batch) const override {
    if (gpu_) batch.outputs[0].stream = batch.stream;
    batch.work = nullptr;
  }
  std::string data_set() const override { return common_folder(how_.files); }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    std::vector<Batch> out;
    out.emplace_back(how_.dtype, 4, "FHWC", n);
    if (gpu_) out[0].set_device(gpu_->gpu().memory->device());
    if (!how_.labels.empty()) out.push_back(Batch::uniform(DType::int32, Shape{1}, {}, n));
    if (how_.frame_numbers != "none") out.emplace_back(DType::int32, 1, Layout{}, n);
    if (how_.timestamps) out.emplace_back(DType::float64, 1, Layout{}, n);
    return out;
  }
  std::string source_of(int64_t index) const override { return how_.files[sequences_[index].place]; }
  void ranges_of(int64_t index, std::vector<ByteRange>& out) const override {
    if (!is_url(source_of(index))) ReaderSource::ranges_of(index, out);  // not the whole remote video for a few frames
  }
  void put_known(SourceBatch& batch, int i, int64_t index) const override {
    if (!how_.labels.empty()) batch.outputs[1].view(i).as<int32_t>()[0] = how_.labels[sequences_[index].place];
  }

 private:
  // Each file once, on several threads.
  void open_files() {
    std::map<std::string, int32_t> known;
    std::vector<std::string> paths;
    for (const auto& path : how_.files) {
      const auto [at, fresh] = known.emplace(path, static_cast<int32_t>(paths.size()));
      if (fresh) paths.push_back(path);
      file_of_place_.push_back(at->second);
    }
    files_.resize(paths.size());
    shared_pool()->parallel_for(static_cast<int64_t>(paths.size()),
                                [&](int64_t k, int) { files_[k] = open_video(paths[k], how_.max_pixels); });
  }

  void list_sequences() {
    for (size_t place = 0; place < how_.files.size(); ++place) {
      const int32_t file = file_of_place_[place];
      const VideoFile& f = *files_[file];
      auto [first, end] = how_.ranges.empty() ? std::pair<int64_t, int64_t>(0, f.frames())
                                              : frames_of_range(how_, how_.ranges[place], f);
      const auto add = [&](int64_t at) { sequences_.push_back({file, static_cast<int32_t>(place), at, end}); };
      if (first >= end) {
        notice(fmt::format("{}: no frame lies between {} and {}: skipped", how_.files[place], how_.ranges[place].start,
                           how_.ranges[place].end));
        continue;
      }
      if (how_.uniform) {
        add(first);
        continue;
      }
      const int64_t span = (how_.sequence_length - 1) * how_.stride + 1;
      for (int64_t at = first; how_.padding == FramePadding::none ? at + span <= end : at < end; at += how_.step)
        add(at);
    }
    if (sequences_.empty())
      fail_on(how_.files[0], ErrorKind::data, "no video is long enough for a sequence of {} frames, {} apart",
              how_.sequence_length, how_.stride);
  }

  std::vector<int64_t> frames_of(const VideoSequence& q) const {
    if (!how_.uniform) return choose_frames(q.first, how_.stride, how_.sequence_length, q.end, how_.padding);
    std::vector<int64_t> frames(static_cast<size_t>(how_.sequence_length));
    const double step =
        frames.size() > 1 ? static_cast<double>(q.end - 1 - q.first) / static_cast<double>(frames.size() - 1) : 0;
    for (size_t k = 0; k < frames.size(); ++k)
      frames[k] = std::min(q.end - 1, q.first + static_cast<int64_t>(std::floor(static_cast<double>(k) * step + 0.5)));
    return frames;
  }

  // The decoding that sample i belongs to: the whole batch's, or its own if it replaces another sample.
  std::shared_ptr<BatchDecoding> work_of(SourceBatch& batch, int i) const {
    const std::lock_guard lock(mutex_);
    if (!batch.work) batch.work = plan(batch.indices, batch.stream);
    auto work = std::static_pointer_cast<BatchDecoding>(batch.work);
    auto& s = work->samples[std::min<size_t>(static_cast<size_t>(i), work->samples.size() - 1)];
    if (static_cast<size_t>(i) < work->samples.size() && s.index == batch.indices[i] && !s.taken) {
      s.taken = true;
      return work;
    }
    return plan(std::span(&batch.indices[i], 1), batch.stream);
  }

  std::shared_ptr<BatchDecoding> plan(std::span<const int64_t> indices, StreamHandle stream) const {
    auto batch = std::make_shared<BatchDecoding>();
    batch->samples.resize(indices.size());
    std::vector<WantedFrame> wanted;
    Batch shapes(how_.dtype, 4, "FHWC", static_cast<int>(indices.size()));
    for (size_t i = 0; i < indices.size(); ++i) {
      auto& s = batch->samples[i];
      const VideoSequence& q = sequences_[s.index = indices[i]];
      const VideoFile& f = *files_[q.file];
      s.frames = frames_of(q);
      shapes.sample(static_cast<int>(i)).shape = Shape{static_cast<int64_t>(s.frames.size()), f.height(), f.width(), 3};
      checked_bytes(shapes.shape(static_cast<int>(i)).volume(), sizeof(float));
    }
    if (gpu_) shapes.allocate(gpu_->gpu().memory, stream);
    for (size_t i = 0; i < indices.size(); ++i) {
      auto& s = batch->samples[i];
      const VideoSequence& q = sequences_[s.index];
      const VideoFile& f = *files_[q.file];
      const int64_t pixels = int64_t{f.width()} * f.height();
      const size_t bytes = static_cast<size_t>(pixels) * 3 * (gpu_ ? size_of(how_.dtype) : 1);
      if (gpu_) s.memory = std::shared_ptr<void>(shapes.block, shapes.sample(static_cast<int>(i)).data);
      else s.memory = allocate_shared(memory_, std::max<size_t>(1, s.frames.size() * bytes));
      auto* to = static_cast<uint8_t*>(s.memory.get());
      for (const int64_t frame : s.frames) {
        if (frame >= 0) wanted.push_back({q.file, frame, static_cast<int>(i), to});
        else if (gpu_) gpu_->frames(stream).fill(how_.fill_value, pixels, to);
        else fill_frame(how_.fill_value, pixels, to);
        to += bytes;
      }
    }
    batch->runs = plan_runs(std::move(wanted), [&](int32_t f) -> const VideoFile& { return *files_[f]; });
    batch->begun.resize(batch->runs.size());
    for (const auto& run : batch->runs) {
      auto& samples = batch->samples_of.emplace_back();
      for (const auto& w : run.wanted) samples.push_back(w.sample);
      std::sort(samples.begin(), samples.end());
      samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
      for (const int i : samples) ++batch->samples[i].left;
    }
    for (size_t r = 0; gpu_ && r < batch->runs.size(); ++r) {
      batch->begun[r] = true;
      gpu_->enqueue(batch->runs[r].file, [this, batch, r, stream] {
        finish(*batch, r, error_of([&] { gpu_->decode(batch->runs[r], stream); }));
      });
    }
    return batch;
  }

  // The run has ended, with or without an error.
  void finish(BatchDecoding& b, size_t run, std::optional<Error> error) const {
    const std::lock_guard lock(b.mutex);
    if (error && error->source.empty()) error->source = source_of(b.samples[b.samples_of[run][0]].index);
    for (const int s : b.samples_of[run]) {
      --b.samples[s].left;
      if (error && !b.samples[s].error) b.samples[s].error = error;
    }
    b.done.notify_all();
  }

  // Runs what sample i needs, or helps with the rest of the batch, until the sample is ready.
  void run_until_done(BatchDecoding& b, int i) const {
    std::unique_lock lock(b.mutex);
    while (b.samples[i].left > 0) {
      int next = -1;
      for (size_t r = 0; r < b.runs.size(); ++r) {
        if (b.begun[r]) continue;
        const bool own = std::binary_search(b.samples_of[r].begin(), b.samples_of[r].end(), i);
        if (own || next < 0) next = static_cast<int>(r);
        if (own) break;
      }
      if (next < 0) {
        b.done.wait(lock);
        continue;
      }
      b.begun[next] = true;
      lock.unlock();
      auto error = error_of([&] { decode_run(b.runs[next], static_cast<int>(b.runs.size())); });
      finish(b, static_cast<size_t>(next), std::move(error));
      lock.lock();
    }
  }

  void decode_run(const DecodeRun& run, int runs) const {
    const VideoFile& f = *files_[run.file];
    const size_t bytes = static_cast<size_t>(f.width()) * static_cast<size_t>(f.height()) * 3 / 2 * kFramesInDecoder;
    // Runs differ in length: the last ones must not leave cores idle.
    const int threads = std::clamp((2 * threads_ + runs - 1) / std::max(1, runs), 1, threads_);
    decode_run_on_host(
        decoders_, run, threads,
        std::max<size_t>(static_cast<size_t>(threads_) * 2, std::min<size_t>(256, kDecoderBytes / bytes)));
  }

  std::shared_ptr<void> as_floats(const uint8_t* from, int64_t n) const {
    auto memory = allocate_shared(memory_, std::max<size_t>(4, checked_bytes(n, 4)));
    auto* to = static_cast<float*>(memory.get());
    const float scale = how_.normalized ? 1.0f / 255.0f : 1.0f;
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) * scale;
    return memory;
  }

  void put_numbers(SourceBatch& batch, int i, const std::vector<int64_t>& frames, const VideoFile& f) const {
    int k = 1 + !how_.labels.empty();
    const auto give_list = [&](auto value, size_t n) {
      auto list = std::make_shared<std::vector<decltype(value(0))>>();
      for (size_t j = 0; j < n; ++j) list->push_back(value(frames[j]));
      give(batch.outputs[k++], i, Shape{static_cast<int64_t>(n)}, list->data(), list);
    };
    if (how_.frame_numbers != "none")
      give_list([](int64_t n) { return static_cast<int32_t>(n); }, how_.frame_numbers == "scalar" ? 1 : frames.size());
    if (how_.timestamps) give_list([&](int64_t n) { return n < 0 ? -1.0 : f.seconds(n); }, frames.size());
  }

  VideoReading how_;
  std::vector<int32_t> file_of_place_;
  std::vector<std::shared_ptr<const VideoFile>> files_;
  std::vector<VideoSequence> sequences_;
  mutable OpenDecoders<VideoDecoder> decoders_;
  mutable std::mutex mutex_;          // guards SourceBatch::work
  std::unique_ptr<VideosOnGpu> gpu_;  // null: the frames are on the host; its threads use all members above
};

}  // namespace

std::unique_ptr<Source> make_video_source(uint64_t seed, const ReaderOptions& options, VideoReading reading) {
  return std::make_unique<VideoSource>(seed, options, std::move(reading));
}

}  // namespace penstock
