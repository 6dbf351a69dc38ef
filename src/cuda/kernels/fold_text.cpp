// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/fold_text.h"

#include <fmt/format.h>

#include <map>

#include "cuda/kernels/vocabulary.h"

namespace penstock {
namespace {

constexpr const char* kNumberTypes[kLanes] = {"float", "double", "int32_t", "int64_t", "uint64_t"};

// As PerSample<float> reads a number on the host.
constexpr const char* kNumbers = R"(
namespace penstock {
__device__ inline float number_at(int64_t address, int64_t dtype) {
  const void* p = reinterpret_cast<const void*>(address);
  switch (dtype) {
%CASES%    default: return 0;
  }
}
template <class Values, class Known> struct FoldedNumbers { Values values; Known known; };
template <class Op, class V> __device__ inline void fold_row(char* table, const FoldRow& row) {
  using Numbers = FoldedNumbers<typename Op::Values, typename Op::Known>;
  const Numbers& numbers = *reinterpret_cast<const Numbers*>(table + row.values);
  typename Op::Values v = numbers.values;
  float* first = reinterpret_cast<float*>(&v);
  for (int k = 0; k < static_cast<int>(sizeof(v) / sizeof(float)) && k < kMostFolded; ++k)
    if (row.arguments[k].address) first[k] = number_at(row.arguments[k].address, row.arguments[k].dtype);
  *reinterpret_cast<typename Op::template Coef<V>*>(table + row.coefs) = Op::template fold<V>(v, numbers.known);
}
)";

constexpr const char* kEntry = R"(
extern "C" __global__ void __launch_bounds__(%THREADS%) fold(const char* block) {
  using namespace penstock;
  const FoldHeader& head = *reinterpret_cast<const FoldHeader*>(block);
  char* table = const_cast<char*>(block) - head.table;
  const FoldRow* rows = reinterpret_cast<const FoldRow*>(block + sizeof(FoldHeader));
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * %THREADS%;
  for (int64_t i = begin + threadIdx.x; i < begin + %THREADS% && i < head.rows; i += blockDim.x)
    switch (rows[i].op) {
%CASES%    }
}
)";

std::string with(std::string text, const std::string& mark, const std::string& what) {
  for (size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, mark.size(), what);
  return text;
}

// Operators with the same text share a number.
struct Folds {
  std::string functions, cases;
  std::map<const OpInfo*, int> number;
};
const Folds& folds() {
  static const auto& all = *new Folds([] {
    Folds f;
    std::map<std::string, int> known;
    for (const OpInfo* info : all_ops()) {
      const auto op = info->make();
      if (op->folded().bytes == 0) continue;
      const std::string text = op->device_text() + op->fold_text();
      const auto [it, fresh] = known.emplace(text, static_cast<int>(known.size()));
      f.number[info] = it->second;
      if (!fresh) continue;
      f.functions += fmt::format("struct Op{} {{\n{}\n}};\n", it->second, text);
      for (int l = 0; l < kLanes; ++l)
        if (op->coef_bytes(static_cast<Lane>(l)) > 0)
          f.cases += fmt::format("      case {}: fold_row<Op{}, {}>(table, rows[i]); break;\n", it->second * kLanes + l,
                                 it->second, kNumberTypes[l]);
    }
    return f;
  }());
  return all;
}

}  // namespace

int64_t fold_number(const OpInfo* info, Lane lane) {
  const auto it = folds().number.find(info);
  return it == folds().number.end() ? -1 : it->second * kLanes + static_cast<int>(lane);
}

const std::string& fold_text() {
  static const auto& text = *new std::string([] {
    constexpr std::pair<DType, const char*> types[] = {
        {DType::uint8, "uint8_t"},   {DType::uint16, "uint16_t"}, {DType::uint32, "uint32_t"},
        {DType::uint64, "uint64_t"}, {DType::int8, "int8_t"},     {DType::int16, "int16_t"},
        {DType::int32, "int32_t"},   {DType::int64, "int64_t"},   {DType::float16, "Half"},
        {DType::float32, "float"},   {DType::float64, "double"},  {DType::bool_, "bool"}};
    std::string cases;
    for (const auto& [type, name] : types)
      cases += fmt::format("    case {}: return static_cast<float>(static_cast<double>(*static_cast<const {}*>(p)));\n",
                           static_cast<int>(type), name);
    return vocabulary() + "\nnamespace penstock {\n" + fold_rows_text + "\n}\n" + with(kNumbers, "%CASES%", cases) +
           folds().functions + "}\n" +
           with(with(kEntry, "%THREADS%", std::to_string(kFoldThreads)), "%CASES%", folds().cases);
  }());
  return text;
}

}  // namespace penstock
