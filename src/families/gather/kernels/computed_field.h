// SPDX-License-Identifier: Apache-2.0
// Fields of displacements that an operator computes for each pixel, on a GPU. An operator gives, in PENSTOCK_PIXEL,
// Coef and
//   static float displacement(int64_t i, const Coef&, const double* table)
// of number i of two planes of (height, width): displacements along x, then along y.
#pragma once
#include "launch/entry.h"
#include "pixel/transcendental.h"

namespace penstock::gather {

template <class Coef> struct ComputedRow {
  float* to;
  whole::InData<double> table;
  Coef coef;
};

// Units of work are numbers of both planes.
template <class Rule> PENSTOCK_KERNEL void compute_field(const whole::Entry<ComputedRow<typename Rule::Coef>>& e) {
  const double* table = e.at(e.row.table);
  const auto coef = e.row.coef;
  for (int64_t i = e.begin + whole::thread(); i < e.end; i += whole::threads())
    e.row.to[i] = Rule::displacement(i, coef, table);
}

}  // namespace penstock::gather
