// SPDX-License-Identifier: Apache-2.0
// What the encoders of images share. A file's size is known when the file is there: so batch_state() encodes the batch,
// with all threads that are idle, and shapes() and run() take the results.
#pragma once
#include <cstring>
#include <exception>

#include "base/crew.h"
#include "codecs/encode_image.h"
#include "operator/dense_inputs.h"
#include "operator/image_layout.h"
#include "operator/operator.h"

namespace penstock {

struct EncodeOperator : WholeOperator {
  virtual std::vector<uint8_t> encode(const Picture& picture, int sample) const = 0;
  virtual bool takes(DType type) const { return type == DType::uint8; }
  virtual const char* types() const { return "uint8"; }

  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::none && !takes(in[0].dtype))
      bad_type("expected {}, got {}: convert the image before, such as with fn.cast", types(), name_of(in[0].dtype));
    const Layout layout = image_layout(in[0]);
    if (!layout.empty() && layout != Layout("HWC") && layout != Layout("HW"))
      bad_type("expected the layout HWC or HW, got '{}'{}", layout.str(),
               layout == Layout("CHW") ? ": transpose the image before" : "");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::uint8, 1, {}}; }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    auto files = std::make_shared<std::vector<File>>(in[0].size());
    const auto make = [&](int64_t i) { (*files)[static_cast<size_t>(i)] = file_of(in, static_cast<int>(i)); };
    if (Crew* const crew = Crew::of_thread()) crew->run(in[0].size(), make);
    else
      for (int i = 0; i < in[0].size(); ++i) make(i);
    return files;
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {-1};
    if (!s.batch_state) return;
    const File& file = file_in(s);
    if (file.error) std::rethrow_exception(file.error);
    out[0] = {static_cast<int64_t>(file.bytes.size())};
  }
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const override {
    std::memcpy(out[0].data, file_in(s).bytes.data(), file_in(s).bytes.size());
  }

 private:
  struct File {
    std::vector<uint8_t> bytes;
    std::exception_ptr error = nullptr;  // of this sample alone: the others go on
  };
  static const File& file_in(const SampleContext& s) {
    return (*static_cast<const std::vector<File>*>(s.batch_state))[static_cast<size_t>(s.index)];
  }
  File file_of(std::span<const Batch> in, int sample) const {
    try {
      const DenseInputs dense(in, sample);
      const View& v = dense.views[0];
      const int64_t channels = v.shape.size() > 2 ? v.shape[2] : 1;
      if (channels < 1 || channels > 4) bad_argument("expected from 1 to 4 channels, got {}", channels);
      const int bits = static_cast<int>(8 * size_of(v.dtype));
      return {encode({v.data, v.shape[0], v.shape[1], static_cast<int>(channels), bits}, sample)};
    } catch (...) {
      return {{}, std::current_exception()};
    }
  }
};

}  // namespace penstock
