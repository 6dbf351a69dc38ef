// SPDX-License-Identifier: Apache-2.0
// What the texts of all kernels share: spelling of types, operators, coefficients, the instructions of a stage.
#pragma once
#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cuda/kernels/emit.h"

namespace penstock {

const char* number(Lane l);    // C++ type of a lane's registers
const char* element(DType t);  // of an element in memory

// The entry, which calls penstock::run(table); 0 blocks: as many on a multiprocessor as there may be. `by_value`:
// Launch::by_value.
std::string entry_text(bool by_value, int blocks);

class KernelWriter {
 public:
  KernelWriter(const StageCode& c, const StageVariant& v) : code(c), variant(v), at(row_layout(c, v)) {}

  template <class... A> void line(fmt::format_string<A...> f, A&&... a) {
    text += fmt::format(f, std::forward<A>(a)...) + "\n";
  }
  void begin_text(std::span<const char* const> headers);  // vocabulary, these (kernel_source), Index, operators
  void end_text();                                        // the entry
  std::string grown(const std::string& step) const;       // by what an entry's value differs from the first one's
  const char* first_block() const;                        // this block's number among its entry's
  const char* coefs_base() const { return variant.one_row ? "coefs" : "table"; }
  void begin_kernel();  // the entry's words `s`, pointers in<k> and out, coefficients c<node>
  void coefficients();
  // The type Stage of the kernels that are templates (stage_block.h). `group`: positions of a thread at once.
  void stage(int group);
  // The instructions on all planes; values are arrays v<value>[]. load(input) gives the expression of its element of
  // plane p. `wanted`: the condition under which the position is computed for the output, and may be refused; empty:
  // always.
  void instructions(const std::function<std::string(int)>& load, const std::string& indent,
                    const std::string& wanted = "");
  // Stores at the pointer `to` (an expression): the result of all planes and the fill of those around it; or fill
  // alone.
  void store_position(const std::string& to, const std::function<std::string(const char*)>& value,
                      const std::string& indent);
  void fill_position(const std::string& to, const std::string& indent);
  // What stores of groups ask for: all_planes, planar, interleaved. `x`: the stride of neighbors.
  void store_kinds(const std::string& x);
  // Declares `whole`: how groups that are full are stored by store_whole() of the text; y: the stride of rows.
  void store_whole(int positions, const std::string& y);
  // Stores the first `count` of <array>[positions][planes] at `to`, as vectors where all are `full`. `outside`:
  // position j is fill.
  void store_group(int positions, const std::string& array, const std::string& x, const std::string& outside);
  // A group's results: the array (and what becomes it), position j's from v<result>[], and the array from that.
  // `halves`: the function that makes those.
  void declare_results(int positions, const char* array, const char* indent);
  void keep_result(const char* array, const char* indent);
  void finish_results(const char* array, const char* indent, const char* halves = "to_halves");
  std::string stored(const std::string& index) const;  // the result as an element of the output
  std::string loaded(int input, Lane lane, const std::string& expression) const;  // an element as a number

  int inputs() const { return static_cast<int>(code.program.inputs.size()); }
  int out_planes() const { return std::max(1, variant.out_planes); }
  DType out_type() const { return type_of(code.program, code.program.outputs[0]).dtype; }

  const StageCode& code;
  const StageVariant& variant;
  const RowLayout at;
  std::string text;
  bool source_within = false;    // the source's value needs no clamp where it becomes the bytes that it was made of
  bool source_is_bytes = false;  // it is such bytes already

 private:
  // Coefficients of an operator: their type and number, and their offset from the row's. A few are `kept` in registers:
  // as far as a compiler knows, stores might change what is read through a pointer.
  struct Coefs {
    size_t node;
    std::string type;
    int copies;
    size_t offset;
    bool kept;
    std::string all() const;  // the kept ones, of the pointer c<node>_at
  };
  std::vector<Coefs> coefs() const;
  void operators();
  bool makes_halves() const;
  const Instruction* tile_of(int node) const;
};

void write_tiled_kernel(KernelWriter& w);

}  // namespace penstock
