// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "families/table/lookup.h"
#include "operator/any_number.h"
#include "operator/image_work.h"
#include "pixel/byte_table.h"

namespace penstock {

struct LookupRule {
  PENSTOCK_PIXEL(
      struct Coef {
        uint64_t size;  // the table: the results of keys from 0 to size - 1, then that of all others
      };
      // Numbers below 0 are large ones here.
      template <class In> PENSTOCK_HD static uint64_t place_of(In number, const Coef& c) {
        return min(static_cast<uint64_t>(number), c.size);
      } template <class Out, class In>
      PENSTOCK_HD static Out value(const In* in, int64_t i, const Coef& c, const char* table) {
        return reinterpret_cast<const Out*>(table)[place_of(in[i], c)];
      });

  // On the host. `Word` has the size of a result.
  template <class In, class Word> static void look_up(const In* in, Word* out, int64_t n, const Word* numbers, Coef c) {
    if constexpr (sizeof(In) == 1) {
      Word results[256];
      for (int k = 0; k < 256; ++k) results[k] = numbers[place_of(static_cast<In>(k), c)];
      const auto* bytes = reinterpret_cast<const uint8_t*>(in);
      if constexpr (sizeof(Word) == 1) look_up_bytes(best_target(), bytes, out, n, results);
      else look_up_words(bytes, out, n, results);
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = numbers[place_of(in[i], c)];
    }
  }
};

struct LookupTable : WholeOperator {
  std::vector<int64_t> keys;
  std::vector<float> values;
  float default_value = 0.0f;
  DType dtype = DType::float32, old_dtype = DType::none;

  static Schema<LookupTable> schema() {
    using Op = LookupTable;
    return Schema<Op>(
               "lookup_table",
               "Replaces numbers by a table: keys[k] becomes values[k], all other numbers become "
               "default_value.\n\nLayouts: any; the output keeps it. Types: integers.\n\n"
               "Example:\n"
               ">>> fn.lookup_table(np.uint8([1, 2, 5]), keys=[1, 2], values=[10, 20], default_value=0).tolist()\n"
               "[10.0, 20.0, 0.0]")
        .arg("keys", &Op::keys, "Numbers from 0 to 65,535; if a key occurs more than once, the last one wins.")
        .arg("values", &Op::values, "The replacements, one for each key.", any_number)
        .arg("default_value", &Op::default_value, "The replacement of all other numbers.", any_number)
        .arg("dtype", &Op::dtype, "Type of the result; values are rounded half to even and saturated.")
        .arg("output_dtype", &Op::old_dtype, "Deprecated name of dtype.")
        .keeps_positions()
        .oracle("dali");
  }
  void ready() override {
    if (old_dtype != DType::none) dtype = old_dtype;
    if (keys.size() != values.size()) bad_argument("{} keys do not match {} values", keys.size(), values.size());
    constexpr int64_t kMost = 65535;
    int64_t size = 0;
    for (int64_t k : keys) {
      if (k < 0 || k > kMost) bad_argument("a key must be from 0 to {}, got {}", kMost, k);
      size = std::max(size, k + 1);
    }
    std::vector<float> numbers(static_cast<size_t>(size) + 1, default_value);
    for (size_t i = 0; i < keys.size(); ++i) numbers[static_cast<size_t>(keys[i])] = values[i];
    coef_.size = static_cast<uint64_t>(size);
    dispatch(dtype, [&]<class T>(TypeTag<T>) {
      std::vector<std::byte> results(numbers.size() * sizeof(T));
      for (size_t i = 0; i < numbers.size(); ++i) {
        const T result = stored<T>(static_cast<double>(numbers[i]));
        std::memcpy(&results[i * sizeof(T)], &result, sizeof(T));
      }
      std::vector<std::byte> all;  // 256 of them
      for (size_t k = 0; k < 256; ++k) {
        const auto at = results.begin() + static_cast<int64_t>(std::min(k, numbers.size() - 1) * sizeof(T));
        all.insert(all.end(), at, at + sizeof(T));
      }
      of_bytes_ = std::make_shared<const std::vector<std::byte>>(std::move(all));
      table_ = std::make_shared<const std::vector<std::byte>>(std::move(results));
    });
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::none && !is_integer(in[0].dtype))
      bad_type("expected integers, got {}", name_of(in[0].dtype));
    out[0] = in[0];
    out[0].dtype = dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (out[0].volume() == 0) return;
    const View from = in[0], made = out[0];
    const auto host = [table = table_, coef = coef_, from, made] {
      dispatch(from.dtype, [&]<class In>(TypeTag<In>) {
        if constexpr (std::is_integral_v<In>) {
          const auto look_up = [&]<class Word>(Word* to_words) {
            const auto* results = reinterpret_cast<const Word*>(table->data());
            LookupRule::look_up(from.as<const In>(), to_words, from.volume(), results, coef);
          };
          switch (size_of(made.dtype)) {
            case 1: return look_up(made.as<uint8_t>());
            case 2: return look_up(made.as<uint16_t>());
            case 4: return look_up(made.as<uint32_t>());
            default: return look_up(made.as<uint64_t>());
          }
        }
      });
    };
    if (from.dtype == DType::uint8) {
      constexpr DType kWords[] = {DType::none, DType::uint8, DType::uint16, DType::none, DType::uint32};
      const size_t bytes = size_of(made.dtype);
      const table::LookupRow row{from.as<const uint8_t>(), made.data, nullptr, {}, from.volume(), 1};
      return to.kernel(table::lookup_step(row, bytes == 8 ? DType::uint64 : kWords[bytes], of_bytes_, host));
    }
    to.map(from, made,
           {[] { return std::string(LookupRule::pixel_text); }, coef_bytes_of(coef_), table_,
            [table = table_] { return *table; }, host});
  }

 private:
  LookupRule::Coef coef_{};
  ImageTable table_, of_bytes_;
};
PENSTOCK_OPERATOR(LookupTable);

}  // namespace penstock
