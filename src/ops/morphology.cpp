// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/difference.h"
#include "ops/shared/morphology.h"

namespace penstock {

struct MorphologyOfTwo : Morphology {
  std::string operation = "open";

  static Schema<MorphologyOfTwo> schema() {
    using Op = MorphologyOfTwo;
    return Schema<Op>(
               "morphology",
               "Opens or closes images, or computes a difference of such images, channel by channel.\n\nThe "
               "operator works as OpenCV's morphologyEx does, with a rectangle; `erode` and `dilate` are its "
               "parts, which also take masks of hundreds of elements. Differences are limited to the range of the "
               "type. "
               "Layouts: HW, HWC, CHW, each also with "
               "a leading F; the output keeps the layout. Types: all for \"open\" and \"close\"; not 64-bit "
               "integers for the others.\n\n"
               "Example:\n"
               ">>> fn.morphology(np.uint8([[0, 9, 0, 9, 9, 9]]), operation=\"open\", mask_size=[3, 1]).tolist()\n"
               "[[0, 0, 0, 9, 9, 9]]")
        .arg("operation", &Op::operation,
             "\"open\": erode, then dilate. \"close\": dilate, then erode. \"gradient\": the dilated image less the "
             "eroded one. \"tophat\": the image less the opened one. \"blackhat\": the closed image less the image.")
        .with(&morphology_arguments<Op>)
        .keeps_positions()
        .oracle("opencv");
  }
  void ready() override {
    Morphology::ready();
    constexpr const char* kNames[] = {"open", "close", "gradient", "tophat", "blackhat"};
    for (kind_ = kOpen; kind_ <= kBlackhat; kind_ = static_cast<Kind>(kind_ + 1))
      if (operation == kNames[kind_]) return;
    bad_argument("operation must be \"open\", \"close\", \"gradient\", \"tophat\" or \"blackhat\", got \"{}\"",
                 operation);
  }
  void check(std::span<const ValueType> in) override {
    if (kind_ > kClose && (in[0].dtype == DType::int64 || in[0].dtype == DType::uint64))
      bad_type("\"{}\" takes no 64-bit integers, got {}", operation, name_of(in[0].dtype));
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const View& image = in[0];
    if (image.volume() == 0) return;
    const size_t bytes = (static_cast<size_t>(image.volume()) * size_of(image.dtype) + 15) / 16 * 16;
    View first = image, second = image;
    first.data = to.scratch(kind_ > kClose ? 2 * bytes : bytes);
    second.data = static_cast<char*>(first.data) + bytes;
    switch (kind_) {
      case kOpen: return two<ErodeRule, DilateRule>(s, image, first, out[0], to);
      case kClose: return two<DilateRule, ErodeRule>(s, image, first, out[0], to);
      case kGradient:
        fold<DilateRule>(s, image, first, to, true);
        fold<ErodeRule>(s, image, second, to, true);
        to.then();
        return subtract(first, second, out[0], to);
      case kTophat:
        two<ErodeRule, DilateRule>(s, image, first, second, to);
        to.then();
        return subtract(image, second, out[0], to);
      case kBlackhat:
        two<DilateRule, ErodeRule>(s, image, first, second, to);
        to.then();
        return subtract(second, image, out[0], to);
    }
  }

 private:
  enum Kind : int { kOpen, kClose, kGradient, kTophat, kBlackhat };
  template <class First, class Second>
  void two(const SampleContext& s, const View& in, const View& between, const View& out, SampleWork& to) const {
    fold<First>(s, in, between, to, true);
    to.then();
    fold<Second>(s, between, out, to, true);
  }
  Kind kind_ = kOpen;
};
PENSTOCK_OPERATOR(MorphologyOfTwo);

}  // namespace penstock
