// SPDX-License-Identifier: Apache-2.0
#include "emulated_gpu/fibers.h"

#include <cstdlib>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace penstock::fibers {
namespace {

constexpr size_t kStack = size_t{1} << 16;

#if defined(__x86_64__)
// The registers that a call keeps, on the fiber's stack. (swapcontext makes a system call each time.)
struct Context {
  void* stack = nullptr;
};
extern "C" void penstock_switch_fiber(void** from, void* to);
asm(R"(
.text
.globl penstock_switch_fiber
.hidden penstock_switch_fiber
.type penstock_switch_fiber,@function
penstock_switch_fiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size penstock_switch_fiber,.-penstock_switch_fiber
)");
void switch_to(Context& from, Context& to) { penstock_switch_fiber(&from.stack, to.stack); }
void prepare(Context& c, char* stack, void (*entry)()) {
  auto** top = reinterpret_cast<void**>(stack + kStack) - 2;  // as after a call: 8 bytes off a multiple of 16
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  c.stack = top;
}
#else
using Context = ucontext_t;
void switch_to(Context& from, Context& to) { swapcontext(&from, &to); }
void prepare(Context& c, char* stack, void (*entry)()) {
  getcontext(&c);
  c.uc_stack.ss_sp = stack;
  c.uc_stack.ss_size = kStack;
  c.uc_link = nullptr;
  makecontext(&c, entry, 0);
}
#endif

struct Barrier {
  uint32_t size = 0, arrived = 0, generation = 0;
};
struct Fiber {
  Context context;
  std::unique_ptr<char[]> stack;
  bool done = false;
  Index index;
};
struct Warp {
  Barrier barrier;
  uint64_t value[32];
};
struct Block {
  Context home;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  Barrier barrier;
  uint32_t count = 0, current = 0, left = 0;
  Index index;
  const std::function<void()>* body = nullptr;
};
thread_local Block block;

void next_fiber() {
  Block& b = block;
  const uint32_t me = b.current;
  if (b.left == 0) return switch_to(b.fibers[me].context, b.home);
  uint32_t next = me;
  do next = next + 1 == b.count ? 0 : next + 1;
  while (b.fibers[next].done);
  if (next == me) return;
  b.current = next;
  switch_to(b.fibers[me].context, b.fibers[next].context);
}

void enter() {
  (*block.body)();
  block.fibers[block.current].done = true;
  --block.left;
  next_fiber();
  std::abort();
}

void wait(Barrier& b) {
  const uint32_t generation = b.generation;
  if (++b.arrived == b.size) {
    b.arrived = 0;
    ++b.generation;
    return;
  }
  while (b.generation == generation) next_fiber();
}

Warp& warp() { return block.warps[block.current / 32]; }

}  // namespace

const Index& thread_index() { return block.fibers[block.current].index; }
const Index& block_index() { return block.index; }
void wait_for_block() { wait(block.barrier); }
void wait_for_warp() { wait(warp().barrier); }
const uint64_t* exchange(uint64_t value, uint32_t& lanes) {
  Warp& w = warp();
  w.value[block.current % 32] = value;
  lanes = w.barrier.size;
  wait(w.barrier);
  return w.value;
}

void run(uint32_t blocks, uint32_t threads, const std::function<void()>& body) {
  Block& b = block;
  if (b.fibers.size() < threads) b.fibers.resize(threads);
  b.count = threads;
  b.body = &body;
  b.warps.assign((threads + 31) / 32, {});
  for (uint32_t i = 0; i < blocks; ++i) {
    b.index.x = i;
    b.barrier = {threads, 0, 0};
    for (uint32_t w = 0; w < b.warps.size(); ++w) b.warps[w].barrier = {std::min(threads - w * 32, 32u), 0, 0};
    for (uint32_t t = 0; t < threads; ++t) {
      Fiber& f = b.fibers[t];
      if (!f.stack) f.stack = std::make_unique<char[]>(kStack);
      f.done = false;
      f.index.x = t;
      prepare(f.context, f.stack.get(), enter);
    }
    b.current = 0;
    b.left = threads;
    switch_to(b.home, b.fibers[0].context);
  }
}

}  // namespace penstock::fibers
