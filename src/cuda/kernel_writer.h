// SPDX-License-Identifier: Apache-2.0
// What the texts of all kernels share: spelling of types, operators, coefficients, the instructions of a stage.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "cuda/emit.h"

namespace penstock {

const char* number(Lane l);     // C++ type of a lane's registers
const char* element(DType t);   // of an element in memory

class KernelWriter {
 public:
  KernelWriter(const StageCode& c, const StageVariant& v) : code(c), variant(v), at(c, v) {}

  template <class... A> void line(fmt::format_string<A...> f, A&&... a) {
    text += fmt::format(f, std::forward<A>(a)...) + "\n";
  }
  void begin_text(const std::string& more);  // vocabulary, more of it, Index, operators
  void end_text();         // the entry
  void begin_kernel();     // the entry's words `s`, pointers in<k> and out, coefficients c<node>
  void coefficients();
  // The instructions on all planes; values are arrays v<value>[]. load(input) gives the expression of its element of plane p.
  void instructions(const std::function<std::string(int)>& load, const std::string& indent);
  std::string stored(const std::string& index) const;  // the result as an element of the output
  std::string loaded(int input, Lane lane, const std::string& expression) const;  // an element as a number

  int inputs() const { return static_cast<int>(code.program.inputs.size()); }
  DType out_type() const { return type_of(code.program, code.program.outputs[0]).dtype; }

  const StageCode& code;
  const StageVariant& variant;
  const EntryLayout at;
  std::string text;

 private:
  void operators();
  const Instruction* tile_of(int node) const;
};

void write_tiled_kernel(KernelWriter& w);
extern const char* const kTileFunctions;  // what its text needs

}  // namespace penstock
