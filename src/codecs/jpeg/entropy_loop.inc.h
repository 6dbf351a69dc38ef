// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, in its own namespace. The limits of this loop are the dependency chain from one
// look-up to the next (shift, load, shift) and the exits that no processor can predict: the end of a block, and values
// or codes that are too long for the table. So there is one branch for each kind of exit, two streams hide each other's
// chain, and all rare cases stay out of the loop's registers.

#define PENSTOCK_INLINE inline __attribute__((always_inline))

// Leaves 56 to 63 bits; reads 8 bytes, which must exist.
PENSTOCK_INLINE void refill(BitState& b) {
  uint64_t next;
  __builtin_memcpy(&next, b.at, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  next = __builtin_bswap64(next);
#endif
  b.bits |= next >> (b.count & 63);
  b.at += (~b.count >> 3) & 7;
  b.count |= 56;
}

PENSTOCK_INLINE void drop(BitState& b, uint64_t bits) {
  b.bits <<= bits & 63;
  b.count -= bits;
}

// Gives bits back: reads them again.
PENSTOCK_INLINE void give_back(BitState& b, uint32_t bits) {
  const uint32_t have = (b.count + bits) & 63, skip = -have & 7;
  b.bits = 0, b.count = 0;
  b.at -= (have + 7) / 8;
  refill(b);
  drop(b, skip);
}

// Keeps the compiler from computing in the loop what only the rare paths need.
template <class T>
PENSTOCK_INLINE void recompute(T& value) {
  asm("" : "+r"(value));
}

// The value of the next `size` (0..11) bits, with its sign as in T.81, F.2.2.1; no branch.
PENSTOCK_INLINE int32_t take_value(BitState& b, uint32_t size) {
  const uint64_t top = b.bits;
  const uint32_t value = static_cast<uint32_t>(top >> 1 >> (63 - size));
  const uint32_t negative = ~static_cast<uint32_t>(static_cast<int64_t>(top) >> 63);
  drop(b, size);
  return static_cast<int32_t>(value + (negative & ((~0u << size) + 1)));
}

// Takes a code of `from` bits or more; -1 if there is none.
PENSTOCK_INLINE int take_long_code(BitState& b, const LongCodes& codes, int from) {
  const uint32_t next = static_cast<uint32_t>(b.bits >> 48);
  int length = from;
  while (length <= 16 && next >= codes.limit[length]) ++length;
  if (length > 16) return -1;
  drop(b, length);
  return codes.symbol[static_cast<uint8_t>((next >> (16 - length)) + codes.delta[length])];
}

// Starts a block. False: no such code.
PENSTOCK_INLINE bool decode_dc(BitState& b, const BlockSlot* s) {
  refill(b);
  const uint32_t entry = s->dc->entry[b.bits >> (64 - kDcBits)];
  uint32_t size = entry >> 8;
  if (__builtin_expect(entry != 0, 1)) {
    drop(b, entry & 255);
  } else {
    const int symbol = take_long_code(b, s->dc->codes, kDcBits + 1);
    if (symbol < 0) return false;
    size = symbol;
  }
  const int32_t sum = static_cast<int32_t>(static_cast<uint32_t>(*s->predictor) + take_value(b, size));
  *s->predictor = sum;
  s->coefficients[0] = static_cast<int16_t>(sum);
  return true;
}

enum class Step { more, done, exception };
enum class Outcome { more, done, invalid };

// Completes what a look-up could not.
PENSTOCK_INLINE Outcome finish_symbol(BitState& b, const LongCodes& codes, uint64_t& place, int16_t* block,
                                      const uint8_t* order, uint32_t advance, uint32_t size) {
  refill(b);
  if (__builtin_expect(advance == 0, 0)) {
    const int symbol = take_long_code(b, codes, kAcBits + 1);
    if (symbol < 0) return Outcome::invalid;
    size = symbol & 15;
    advance = (symbol >> 4) + 1;
    if (size == 0 && advance != 16) advance = kEndOfBlock;
  }
  place += advance;
  block[order[place]] = static_cast<int16_t>(take_value(b, size));
  if (place < 63) return Outcome::more;
  return place - 64 < 64 ? Outcome::invalid : Outcome::done;
}

// A rotation; with BMI2 it is one instruction that keeps its input.
template <int kBits, class T>
PENSTOCK_INLINE T rotated(T v) {
  return v >> kBits | v << (8 * sizeof(T) - kBits);
}

// Policies of a look-up. `At` is the position of the last coefficient in the block: for policies that store, a pointer
// into the order of coefficients that follows the table.
template <class E>
struct StoringPolicy {
  using Entry = E;
  using At = const uint8_t*;
  static constexpr int kSteps = 56 / kAcBits;  // without a refill
  static constexpr bool kSkips = false;
  PENSTOCK_INLINE static const uint8_t* order(const Entry* t) {
    return reinterpret_cast<const uint8_t*>(t + (1 << kAcBits));
  }
  PENSTOCK_INLINE static At at(const Entry* t, uint64_t place) { return order(t) + place; }
  PENSTOCK_INLINE static uint8_t place(At at) { return static_cast<uint8_t>(reinterpret_cast<uintptr_t>(at)); }
  // Completes what a look-up could not.
  PENSTOCK_INLINE static Outcome exception(BitState& b, const AcTable& ac, const Entry* t, At& at, int16_t* block,
                                           Entry e) {
    recompute(e);
    uint64_t p = place(at);
    const Outcome outcome = finish_symbol(b, ac.codes, p, block, order(t), static_cast<uint8_t>(e >> 24),
                                          static_cast<uint32_t>(e >> 8) & 15);
    at = order(t) + p;
    return outcome;
  }
};

struct OneCoefficient : StoringPolicy<uint32_t> {
  PENSTOCK_INLINE static Step step(BitState& b, const Entry* t, At& at, int16_t* block, Entry& e) {
    e = t[b.bits >> (64 - kAcBits)];
    drop(b, e);
    if (__builtin_expect(e & kException, 0)) return Step::exception;
    at += e >> 24;
    block[*at] = static_cast<int16_t>(rotated<8>(e));
    return __builtin_expect(place(at) >= 63, 0) ? Step::done : Step::more;
  }
  // Whether the block ended correctly: with its last coefficient or an end-of-block code.
  PENSTOCK_INLINE static bool close(BitState&, const AcTable&, At at, int16_t*, Entry) {
    return uint64_t{place(at)} - 64 >= 64;
  }
};

struct TwoCoefficients : StoringPolicy<uint64_t> {
  PENSTOCK_INLINE static Step step(BitState& b, const Entry* t, At& at, int16_t* block, Entry& e) {
    e = t[b.bits >> (64 - kAcBits)];
    drop(b, e);
    if (__builtin_expect(e & kException, 0)) return Step::exception;
    const At first = at + static_cast<uint8_t>(rotated<24>(e));
    at += e >> 56;
    block[*first] = static_cast<int16_t>(rotated<8>(e));
    block[*at] = static_cast<int16_t>(rotated<40>(e));
    return __builtin_expect(place(at) >= 63, 0) ? Step::done : Step::more;
  }
  // The first coefficient may have been the block's last, which has no end-of-block code: then the second belongs to
  // the next block and is given back.
  PENSTOCK_INLINE static bool close(BitState& b, const AcTable&, At at, int16_t*, Entry e) {
    recompute(e);
    const uint64_t last = place(at);
    const uint32_t advance_first = static_cast<uint8_t>(e >> 24), advance_last = e >> 56;
    const uint64_t first = last - advance_last + advance_first;
    if (__builtin_expect(first == 63 && advance_first != advance_last, 0)) {
      give_back(b, static_cast<uint8_t>(e >> 32));
      return true;
    }
    return last - 64 >= 64 && first - 64 >= 64;
  }
};

// Blocks whose values are not needed: no stores, more coefficients at once, and values may be longer than the table.
struct SkippedCoefficients {
  using Entry = uint32_t;
  using At = uint64_t;
  static constexpr int kSteps = 2;  // of at most 21 bits
  static constexpr bool kSkips = true;
  PENSTOCK_INLINE static At at(const Entry*, uint64_t place) { return place; }
  PENSTOCK_INLINE static uint64_t place(At at) { return at; }
  PENSTOCK_INLINE static Step step(BitState& b, const Entry* t, At& place, int16_t*, Entry& e) {
    e = t[b.bits >> (64 - kSkipBits)];
    drop(b, e);
    if (__builtin_expect(e & kException, 0)) return Step::exception;
    place += e >> 24;
    return __builtin_expect(place >= 63, 0) ? Step::done : Step::more;
  }
  // Only the last coefficient or an end-of-block code may end the block. If it is not certain that one of them did, the
  // look-up is undone and its coefficients are taken one at a time.
  PENSTOCK_INLINE static bool close(BitState& b, const AcTable& ac, uint64_t place, int16_t* block, Entry e) {
    if (__builtin_expect(place == 63 || place - 128 < 63, 1)) return true;
    give_back(b, e & 63);
    return skip_slowly(b, ac, place - (e >> 24), block);
  }
  __attribute__((noinline)) static bool skip_slowly(BitState& b, const AcTable& ac, uint64_t place, int16_t* block) {
    while (true) {
      refill(b);
      OneCoefficient::Entry e = ac.one.entry[b.bits >> (64 - kAcBits)];
      drop(b, e);
      if (e & kException) {
        const Outcome outcome = exception(b, ac, nullptr, place, block, e);
        if (outcome != Outcome::more) return outcome == Outcome::done;
        continue;
      }
      place += e >> 24;
      if (place >= 63) return place - 64 >= 64;
    }
  }
  // Its value goes to the slot after the block.
  PENSTOCK_INLINE static Outcome exception(BitState& b, const AcTable& ac, const Entry*, uint64_t& place,
                                           int16_t* block, Entry e) {
    recompute(e);
    return finish_symbol(b, ac.codes, place, block, kBehindTheBlock.data(), e >> 24, e >> 8 & 15);
  }
};

// The block is finished: continues with the next one, its DC included. False if the stream ends or P does not apply to
// what follows.
template <class P>
PENSTOCK_INLINE bool next_block(EntropyStream& stream, BitState& b, const BlockSlot*& s) {
  bool same = true;
  if ((++s)->dc == nullptr) {
    stream.bits = b;
    if (!stream.finish_group()) return false;
    b = stream.bits;
    s = stream.slot;
    same = stream.skipping() == P::kSkips;
  }
  if (__builtin_expect(!decode_dc(b, s), 0)) {
    stream.fail();
    return false;
  }
  return __builtin_expect(same, 1);
}

// One look-up; leaves through one of two labels, so that each kind of exit is mispredicted only on its own.
#define PENSTOCK_STEP(P, b, t, place, block, e, at_done, at_exception) \
  switch (P::step(b, t, place, block, e)) {                            \
    case Step::exception: goto at_exception;                           \
    case Step::done: goto at_done;                                     \
    case Step::more: break;                                            \
  }

template <class P>
PENSTOCK_INLINE const typename P::Entry* entries_of(const BlockSlot* s) {
  return static_cast<const typename P::Entry*>(s->entries);
}

PENSTOCK_INLINE void save(EntropyStream& stream, const BitState& b, uint64_t place, const BlockSlot* s) {
  stream.bits = b, stream.place = place, stream.slot = s;
}

// All of these start in a block whose DC is decoded.

// Until the stream ends or needs another P.
template <class P>
void run_alone(EntropyStream& stream) {
  BitState b = stream.bits;
  const BlockSlot* s = stream.slot;
  int16_t* block = s->coefficients;
  const typename P::Entry* t = entries_of<P>(s);
  typename P::At at = P::at(t, stream.place);
  typename P::Entry e;
  while (true) {
    refill(b);
#pragma GCC unroll 8
    for (int i = 0; i < P::kSteps; ++i) {
      PENSTOCK_STEP(P, b, t, at, block, e, done, exception)
    }
    continue;
  exception:
    switch (P::exception(b, *s->ac, t, at, block, e)) {
      case Outcome::more: continue;
      case Outcome::done: goto next;
      case Outcome::invalid: return stream.fail();
    }
  done:
    if (__builtin_expect(!P::close(b, *s->ac, at, block, e), 0)) return stream.fail();
  next:
    if (!next_block<P>(stream, b, s)) return save(stream, b, 0, s);
    block = s->coefficients;
    t = entries_of<P>(s);
    at = P::at(t, 0);
  }
}

// Alternates the look-ups of two streams until one of them ends or needs another loop.
template <class PA, class PB>
void run_in_turn(EntropyStream& first, EntropyStream& second) {
  constexpr int kUnrolled = 5;
  BitState ba = first.bits, bb = second.bits;
  const BlockSlot *sa = first.slot, *sb = second.slot;
  int16_t *ca = sa->coefficients, *cb = sb->coefficients;
  const typename PA::Entry* ta = entries_of<PA>(sa);
  const typename PB::Entry* tb = entries_of<PB>(sb);
  typename PA::At pa = PA::at(ta, first.place);
  typename PB::At pb = PB::at(tb, second.place);
  typename PA::Entry ea;
  typename PB::Entry eb;
  while (true) {
#pragma GCC unroll 8
    for (int i = 0; i < kUnrolled; ++i) {
      if (i % PA::kSteps == 0) refill(ba);
      if (i % PB::kSteps == 0) refill(bb);
      PENSTOCK_STEP(PA, ba, ta, pa, ca, ea, done_a, exception_a)
      PENSTOCK_STEP(PB, bb, tb, pb, cb, eb, done_b, exception_b)
    }
    continue;
  exception_a:
    switch (PA::exception(ba, *sa->ac, ta, pa, ca, ea)) {
      case Outcome::more: continue;
      case Outcome::done: goto next_a;
      case Outcome::invalid: first.fail(); goto leave;
    }
  done_a:
    if (__builtin_expect(!PA::close(ba, *sa->ac, pa, ca, ea), 0)) {
      first.fail();
      goto leave;
    }
  next_a:
    pa = PA::at(ta, 0);
    if (!next_block<PA>(first, ba, sa)) goto leave;
    ca = sa->coefficients;
    ta = entries_of<PA>(sa);
    pa = PA::at(ta, 0);
    continue;
  exception_b:
    switch (PB::exception(bb, *sb->ac, tb, pb, cb, eb)) {
      case Outcome::more: continue;
      case Outcome::done: goto next_b;
      case Outcome::invalid: second.fail(); goto leave;
    }
  done_b:
    if (__builtin_expect(!PB::close(bb, *sb->ac, pb, cb, eb), 0)) {
      second.fail();
      goto leave;
    }
  next_b:
    pb = PB::at(tb, 0);
    if (!next_block<PB>(second, bb, sb)) goto leave;
    cb = sb->coefficients;
    tb = entries_of<PB>(sb);
    pb = PB::at(tb, 0);
  }
leave:
  save(first, ba, PA::place(pa), sa);
  save(second, bb, PB::place(pb), sb);
}

PENSTOCK_INLINE bool start(EntropyStream& stream) {
  if (!stream.running()) return false;
  stream.place = 0;
  if (decode_dc(stream.bits, stream.slot)) return true;
  stream.fail();
  return false;
}

static void finish_alone(EntropyStream& stream) {
  while (stream.running()) {
    if (stream.skipping()) run_alone<SkippedCoefficients>(stream);
    else if (stream.fast()) run_alone<TwoCoefficients>(stream);
    else run_alone<OneCoefficient>(stream);
  }
}

static void run_one(EntropyStream& stream) {
  if (start(stream)) finish_alone(stream);
}

static void run_two(EntropyStream& first, EntropyStream& second) {
  using Two = TwoCoefficients;
  using Skip = SkippedCoefficients;
  start(first);
  start(second);
  const bool fast = first.fast() && second.fast();
  while (first.running() && second.running()) {
    if (!fast) run_in_turn<OneCoefficient, OneCoefficient>(first, second);
    else if (first.skipping() && second.skipping()) run_in_turn<Skip, Skip>(first, second);
    else if (first.skipping()) run_in_turn<Skip, Two>(first, second);
    else if (second.skipping()) run_in_turn<Two, Skip>(first, second);
    else run_in_turn<Two, Two>(first, second);
  }
  finish_alone(first);
  finish_alone(second);
}

constexpr EntropyLoops kLoops{run_one, run_two};

#undef PENSTOCK_STEP
#undef PENSTOCK_INLINE
