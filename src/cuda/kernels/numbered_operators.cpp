// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/numbered_operators.h"

#include <fmt/format.h>

namespace penstock {

NumberedOperators::NumberedOperators(const std::vector<const OpInfo*>& operators,
                                     const std::function<std::string(const BoundOp&)>& text) {
  std::map<std::string, int> known;
  for (const OpInfo* info : operators) {
    const auto op = info->make();
    const std::string own = text(*op);
    if (own.empty()) continue;
    const auto [it, fresh] = known.emplace(own, static_cast<int>(texts_.size()));
    if (fresh) texts_.push_back(own), lanes_.push_back(0);
    text_of_[info] = it->second;
    for (int l = 0; l < kLanes; ++l)
      if (op->coef_bytes(static_cast<Lane>(l)) > 0) lanes_[it->second] |= 1u << l;
  }
}

int NumberedOperators::number(const OpInfo* info, Lane lane) const {
  const auto it = text_of_.find(info);
  const int l = static_cast<int>(lane);
  return it == text_of_.end() || !(lanes_[it->second] >> l & 1) ? -1 : it->second * kLanes + l;
}

std::string NumberedOperators::structs() const {
  std::string all;
  for (size_t k = 0; k < texts_.size(); ++k) all += fmt::format("struct Op{} {{\n{}\n}};\n", k, texts_[k]);
  return all;
}

void NumberedOperators::each(const std::function<void(size_t, Lane, int)>& f) const {
  for (size_t k = 0; k < texts_.size(); ++k)
    for (int l = 0; l < kLanes; ++l)
      if (lanes_[k] >> l & 1) f(k, static_cast<Lane>(l), static_cast<int>(k) * kLanes + l);
}

}  // namespace penstock
