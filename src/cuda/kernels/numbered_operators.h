// SPDX-License-Identifier: Apache-2.0
// Functions of operators in a kernel that has those of many. Operators with the same text share them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "operator/bound_op.h"

namespace penstock {

class NumberedOperators {
 public:
  // text(op): members of the struct Op<k>; empty: the kernel does not have the operator.
  NumberedOperators(const std::vector<const OpInfo*>& operators,
                    const std::function<std::string(const BoundOp&)>& text);
  // The number by which a table names the operator's function for a lane; -1: there is none.
  int number(const OpInfo* info, Lane lane) const;
  std::string structs() const;
  // f(k, lane, number) of each function, in the order of their numbers.
  void each(const std::function<void(size_t, Lane, int)>& f) const;

 private:
  std::vector<std::string> texts_;
  std::vector<uint32_t> lanes_;  // of each text
  std::map<const OpInfo*, int> text_of_;
};

}  // namespace penstock
