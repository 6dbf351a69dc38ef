// SPDX-License-Identifier: Apache-2.0
// What the texts of all kernels share: operators, coefficients, the instructions of a stage.
#pragma once
#include <string>
#include <vector>

#include "cuda/kernels/emit.h"
#include "cuda/kernels/type_names.h"

namespace penstock {

// The entry, which calls penstock::run(table); 0 blocks: as many on a multiprocessor as there may be. `by_value`:
// Launch::by_value.
std::string entry_text(bool by_value, int blocks);

class KernelWriter {
 public:
  KernelWriter(const StageCode& c, const StageVariant& v) : code(c), variant(v), at(row_layout(c, v)) {}

  template <class... A> void line(fmt::format_string<A...> f, A&&... a) {
    text += fmt::format(f, std::forward<A>(a)...) + "\n";
  }
  void begin_text(const char* header);  // vocabulary, header (kernel_source), Index, operators
  // The type Stage of the kernel (stage_block.h). `group`: positions of a thread at once.
  void stage(int group);
  void end_text();  // the entry

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
  void frame_format();  // of the source
  // The instructions on all planes; values are arrays v<value>[].
  void instructions();
  const Instruction* tile_of(int node) const;
};

}  // namespace penstock
