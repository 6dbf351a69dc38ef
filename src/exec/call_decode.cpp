// SPDX-License-Identifier: Apache-2.0
#include "exec/call_decode.h"

#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

#include "base/error_of.h"
#include "base/thread_pool.h"
#include "batch/encoded_bytes.h"
#include "batch/transfer.h"
#include "exec/call.h"
#include "exec/decode_engine.h"
#include "exec/decoded_region.h"

namespace penstock {
namespace {

// A decoder shared by the calls of all threads.
struct SharedDecoder {
  std::unique_ptr<BatchDecoder> decoder;
  std::mutex mutex;  // one call at a time
  std::mutex lanes_mutex;
  std::condition_variable lane_is_free;
  int busy = 0;  // lanes
};

class DecoderTurn {
 public:
  explicit DecoderTurn(SharedDecoder& d) : d_(d) {
    std::unique_lock lock(d_.lanes_mutex);
    d_.lane_is_free.wait(lock, [&] { return d_.busy < d_.decoder->lanes(); });
    ++d_.busy;
  }
  ~DecoderTurn() {
    {
      std::lock_guard lock(d_.lanes_mutex);
      --d_.busy;
    }
    d_.lane_is_free.notify_one();
  }
  DecoderTurn(const DecoderTurn&) = delete;
  DecoderTurn& operator=(const DecoderTurn&) = delete;

 private:
  SharedDecoder& d_;
};

// Never destroyed, like the library that made the decoders. Null if the GPU has none.
SharedDecoder* shared_decoder(int gpu, DecodeEngine engine) {
  static std::mutex mutex;
  static auto* known = new std::map<std::pair<int, DecodeEngine>, std::unique_ptr<SharedDecoder>>;
  std::lock_guard lock(mutex);
  auto& entry = (*known)[{gpu, engine}];
  if (!entry) {
    auto made = std::make_unique<SharedDecoder>();
    made->decoder = make_batch_decoder(gpu, engine);
    entry = std::move(made);
  }
  return entry->decoder ? entry.get() : nullptr;
}

struct Picture {
  Bytes file;
  ImageInfo info;
  Shape shape;
  Region region;
  void* target = nullptr;
  ParsedHeader header;  // the decoder's; of a declined file the CPU's
  bool declined = false;
  std::shared_ptr<void> pixels;  // decoded by the CPU
  std::optional<Error> error;
};

class Decoding {
 public:
  Decoding(const OpInfo& info, const Batch& encoded, std::span<const Argument> args, const SampleContext& context,
           const CallPlace& place)
      : encoded_(encoded),
        context_(context),
        place_(place),
        runtime_(runtime_of(place.gpu)),
        shared_(*shared_decoder(place.gpu, *engine_of(info, args))),
        pictures_(encoded.size()) {
    auto op = bind_op(info, args);
    params_ = op->decode_params();
    params_.may_scale = false;  // the whole picture
    if (op->traits().maps && shared_.decoder->takes_regions()) {
      window_.inputs = {{DType::uint8, 1, {}}};
      append_node(window_, std::move(op), {0}, context.draws);
    }
  }

  Batch run() {
    stage_files();
    each([&](int i) {
      if (!pictures_[i].error) probe(i);
    });
    for (Picture& x : pictures_)
      if (x.error) x.shape = {};  // it is not decoded
    Batch out = allocate();
    decode_group();
    std::vector<int> again;
    for (size_t i = 0; i < pictures_.size(); ++i)
      if (pictures_[i].shape.size() > 0 && (pictures_[i].declined || pictures_[i].error))
        again.push_back(static_cast<int>(i));
    for_each(static_cast<int>(again.size()), [&](int k) { decode_here(again[k]); });
    raise_first();
    for (const int i : again) {
      const Picture& x = pictures_[i];
      const size_t bytes = checked_bytes(shape_of(x.region, x.shape).volume(), size_of(params_.dtype));
      runtime_.copy(place_.gpu, x.target, x.pixels.get(), bytes, place_.stream);
    }
    return out;
  }

 private:
  void for_each(int n, const std::function<void(int)>& body) {
    if (n > 1) shared_pool()->parallel_for(n, [&](int64_t i, int) { body(static_cast<int>(i)); });
    else if (n == 1) body(0);
  }
  // Errors stay with their samples.
  void each(const std::function<void(int)>& body) {
    for_each(static_cast<int>(pictures_.size()), [&](int i) {
      if (auto error = error_of([&] { body(i); })) pictures_[i].error = std::move(error);
    });
  }
  void raise_first() const {
    for (size_t i = 0; i < pictures_.size(); ++i)
      if (pictures_[i].error) {
        Error e = *pictures_[i].error;
        if (e.source.empty()) e.source = encoded_.sample(static_cast<int>(i)).source;
        if (e.source.empty() && pictures_.size() > 1) e.source = fmt::format("sample {}", i);
        throw e;
      }
  }

  // Files that are not in pinned memory are copied to one block of it.
  void stage_files() {
    size_t total = 0;
    const bool pinned = runtime_.is_pinned(encoded_.sample(0).data);
    std::vector<size_t> at(pictures_.size());
    for (size_t i = 0; i < pictures_.size(); ++i) {
      Picture& x = pictures_[i];
      x.error = error_of([&] { x.file = encoded_bytes(encoded_.view(static_cast<int>(i))); });
      at[i] = total;
      total += (x.file.size() + 63) / 64 * 64;
    }
    if (pinned) return;
    staged_ = allocate_shared(runtime_.pinned_memory(), std::max<size_t>(1, total), place_.stream);
    each([&](int i) {
      Bytes& file = pictures_[i].file;
      auto* to = static_cast<uint8_t*>(staged_.get()) + at[i];
      if (!file.empty()) std::memcpy(to, file.data(), file.size());
      file = {to, file.size()};
    });
  }

  void probe(int i) {
    Picture& x = pictures_[i];
    ParsedHeader read;
    x.info = probe_image(x.file, params_, &read);
    x.shape = Shape{x.info.height, x.info.width, output_channels(x.info, params_.type)};
    x.region = {0, 0, x.shape[0], x.shape[1]};
    if (!window_.nodes.empty())
      x.region = region_read(window_, x.shape, [&](const StageNode&) { return of_sample(context_, i); });
    x.declined = !shared_.decoder->declines(x.file, x.info, params_, read, &x.header).empty();
    if (x.declined) x.header = std::move(read);
  }

  Batch allocate() {
    Batch out(params_.dtype, 3, "HWC", encoded_.size());
    for (int i = 0; i < out.size(); ++i)
      out.sample(i).shape =
          pictures_[i].shape.size() == 0 ? Shape::filled(3, 0) : shape_of(pictures_[i].region, pictures_[i].shape);
    out.allocate(memory_of_regions(runtime_.memory(place_.gpu)), place_.stream);
    for (int i = 0; i < out.size(); ++i) {
      Picture& x = pictures_[i];
      x.target = out.sample(i).data;
      if (x.shape.size() == 0) continue;
      show_region(out.sample(i), x.shape, x.region, x.target, params_.dtype);
      out.sample(i).source = encoded_.sample(i).source;
    }
    return out;
  }

  void decode_group() {
    std::vector<DeviceDecode> images;
    std::vector<int> of;
    for (size_t i = 0; i < pictures_.size(); ++i) {
      const Picture& x = pictures_[i];
      if (x.declined || x.shape.size() == 0) continue;
      images.push_back({x.file, &x.info, x.target, std::nullopt, {}, x.header});
      if (!window_.nodes.empty()) images.back().region = {x.region.y, x.region.x, x.region.height, x.region.width};
      of.push_back(static_cast<int>(i));
    }
    if (images.empty()) return;
    const DecoderTurn lane(shared_);
    std::unique_lock lock(shared_.mutex);
    auto in_flight = shared_.decoder->decode(images, params_, place_.stream);
    if (in_flight) {
      lock.unlock();
      runtime_.record(place_.gpu, place_.stream)->synchronize();
      lock.lock();
      in_flight->finish(images);
      in_flight = nullptr;
    }
    for (size_t k = 0; k < images.size(); ++k) pictures_[of[k]].error = std::move(images[k].error);
  }

  void decode_here(int i) {
    Picture& x = pictures_[i];
    std::string lacking;
    x.error = error_of([&] {
      x.pixels =
          decode_region(x.file, x.info, x.header, params_, x.region, runtime_.pinned_memory(), place_.stream, &lacking);
    });
    tell_lacking(encoded_.sample(i).source, i, encoded_.size(), lacking);
  }

  const Batch& encoded_;
  const SampleContext& context_;
  const CallPlace& place_;
  DeviceRuntime& runtime_;
  SharedDecoder& shared_;
  DecodeParams params_;
  StageProgram window_;           // the operator's own window, if only that is decoded
  std::shared_ptr<void> staged_;  // freed after the work on the stream
  std::vector<Picture> pictures_;
};

}  // namespace

bool asks_for_cpu(const OpInfo& info, std::span<const Argument> args) { return !engine_of(info, args); }

bool has_gpu_decoder(const OpInfo& info, std::span<const Argument> args, int gpu) {
  const auto engine = engine_of(info, args);
  return engine && shared_decoder(gpu, *engine);
}

Batch decode_on_gpu(const OpInfo& info, const Batch& encoded, std::span<const Argument> args,
                    const SampleContext& context, const CallPlace& place) {
  return Decoding(info, encoded, args, context, place).run();
}

}  // namespace penstock
