// SPDX-License-Identifier: Apache-2.0
// dump_image: writes pictures to files, to inspect a pipeline.
#include "data/replace_file.h"
#include "operator/image_layout.h"
#include "operator/operator.h"

namespace penstock {
namespace {

struct DumpImage : WholeOperator {
  std::string suffix, input_layout_ = "HWC";

  static Schema<DumpImage> schema() {
    using Op = DumpImage;
    return Schema<Op>("dump_image",
                      "Writes each sample to a file of the current folder and returns it unchanged.\n\nThe file is "
                      "<number in the batch>-<suffix>-0.ppm; if the sample has one channel, its content is that of a "
                      ".pgm file.\n\nLayout: HWC with one or three channels. Types: uint8.\n\nExample:\nimage = "
                      "fn.dump_image(image, suffix=\"before\")")
        .arg("suffix", &Op::suffix, "Part of the files' names.")
        .arg("input_layout", &Op::input_layout_, "\"HWC\".")
        .host_only("it writes files")
        .oracle("dali");
  }
  void ready() override {
    if (input_layout_ != "HWC") bad_argument("input_layout must be \"HWC\", got \"{}\"", input_layout_);
    if (suffix.find('/') != std::string::npos) bad_argument("suffix must not contain a '/', got \"{}\"", suffix);
  }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::none)
      bad_type("expected uint8, got {}", name_of(in[0].dtype));
    out[0] = in[0];
    out[0].layout = image_layout(in[0]);
    if (in[0].ndim >= 0 && out[0].layout != Layout("HWC")) bad_type("expected HWC, got '{}'", out[0].layout.str());
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0][2] >= 0 && in[0][2] != 1 && in[0][2] != 3) bad_argument("expected 1 or 3 channels, got {}", in[0][2]);
    out[0] = in[0];
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    host_work().copy(in[0], out[0]);
    const Shape& shape = out[0].shape;
    const std::string head = fmt::format("P{}\n{} {}\n255\n", shape[2] == 1 ? 5 : 6, shape[1], shape[0]);
    std::vector<uint8_t> file(head.begin(), head.end());
    file.insert(file.end(), out[0].as<const uint8_t>(), out[0].as<const uint8_t>() + out[0].volume());
    replace_file(fmt::format("{}-{}-0.ppm", s.index, suffix), file);
  }
};
PENSTOCK_OPERATOR(DumpImage);

}  // namespace
}  // namespace penstock
