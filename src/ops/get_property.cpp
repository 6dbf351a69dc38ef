// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "operator/operator.h"

namespace penstock {

struct GetProperty : WholeOperator {
  std::string key;

  static Schema<GetProperty> schema() {
    return Schema<GetProperty>("get_property",
                               "Returns a property of a sample as text: the bytes of a 1-D uint8 "
                               "tensor.\n\nsource_info is the file or record that the sample came from; layout is its "
                               "layout. The text is empty if the sample has no such property. The operator does not "
                               "move the input to another device. Layouts: any. Types: all.\n\n"
                               "Example:\n"
                               ">>> image = penstock.tensor(np.zeros((48, 64, 3), np.uint8), layout=\"HWC\")\n"
                               ">>> bytes(fn.get_property(image, key=\"layout\").numpy())\n"
                               "b'HWC'")
        .required("key", &GetProperty::key, "source_info or layout.")
        .batch_wide()
        .reads_shapes()
        .oracle("dali");
  }
  void ready() override {
    if (key != "source_info" && key != "layout") bad_argument("key must be 'source_info' or 'layout', got '{}'", key);
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::uint8, 1, {}}; }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    if (key == "source_info" && !s.batch_state) out[0] = {-1};
    else out[0] = {static_cast<int64_t>(text(s, types[0].layout).size())};
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    return std::make_shared<std::span<const Batch>>(in);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const std::string t = text(s, in[0].layout);
    give_bytes(out[0], std::as_bytes(std::span(t)), to);
  }

 private:
  std::string text(const SampleContext& s, const Layout& layout) const {
    if (key == "layout") return layout.str();
    return (*static_cast<const std::span<const Batch>*>(s.batch_state))[0].sample(s.index).source;
  }
};
PENSTOCK_OPERATOR(GetProperty);

}  // namespace penstock
