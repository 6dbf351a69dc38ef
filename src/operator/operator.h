// SPDX-License-Identifier: Apache-2.0
// What an operator's file includes. families.h says what an operator is.
#pragma once
#include "operator/folded_adaptor.h"
#include "operator/point_map_adaptor.h"
#include "operator/schema.h"
#include "pixel/philox.h"

namespace penstock {

template <class Op> std::unique_ptr<BoundOp> make_operator() {
  if constexpr (std::derived_from<Op, WholeOperator>) return std::make_unique<WholeAdaptor<Op>>();
  else if constexpr (std::derived_from<Op, SourceOperator>) return std::make_unique<SourceAdaptor<Op>>();
  else if constexpr (!HasPixelPart<Op>) return std::make_unique<StageAdaptor<Op>>();
  else if constexpr (NamesFold<Op>) return std::make_unique<FoldedAdaptor<Op>>();
  else return std::make_unique<CoefAdaptor<Op>>();
}

template <class Op> constexpr bool fits_its_family() {
  if constexpr (!std::derived_from<Op, Operator>) return false;  // its Schema says so
  else return keeps_pixel_contract<Op>();
}

template <class Op> bool add_to_registry(const Maker* maker = nullptr) {
  OpInfo info = Op::schema().take();
  info.maker = maker;
  info.family = std::derived_from<Op, WholeOperator>    ? Family::whole
                : std::derived_from<Op, SourceOperator> ? Family::source
                                                        : Family::stage;
  if constexpr (fits_its_family<Op>()) {
    info.make = &make_operator<Op>;
    if constexpr (overrides(&Op::count_outputs, &Operator::count_outputs))
      info.count_outputs = [](BoundOp& bound) { return static_cast<const Op*>(bound.members())->count_outputs(); };
  }
  if constexpr (fits_its_family<Op>() && moves_points<Op>()) register_op(point_map_info<Op>(info));
  register_op(std::move(info));
  return true;
}
#define PENSTOCK_OPERATOR(Op) [[maybe_unused]] static const bool registered_##Op = ::penstock::add_to_registry<Op>()

}  // namespace penstock
