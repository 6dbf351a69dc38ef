// SPDX-License-Identifier: Apache-2.0
// A scan without restart markers and without an index, in pieces that several threads decode.
#pragma once
#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "codecs/jpeg/entropy_loop.h"
#include "codecs/jpeg/entropy_stream.h"

namespace penstock::jpeg {

// Where a piece begins is known when all data before it is decoded. So all pieces but the first begin at any byte, and
// keep the coefficients: a decoder of Huffman codes that begins at a wrong bit comes to the right ones after some MCUs
// (A. Weissenberger and B. Schmidt, "Massively parallel Huffman decoding on GPUs", 2018). It notes where it believes
// MCUs to begin. Each piece runs on into the next one. If it ends at a place that the next one has noted, all that this
// one has decoded from there on is right, but for the number of its MCUs and one number for each DC predictor. Then
// the coefficients become samples. Where no such place is found, the next pieces begin at the end of what is right.
class ScanPieces {
 public:
  // Decodes the wanted MCUs on so many threads of the thread's crew. `record`: of the index to make, or null; then the
  // whole scan is read. Returns whether all is decoded; if not, one thread must judge.
  bool run(const RegionPlan& plan, const EntropyLoops& loops, const ScanBytes& scan, EntropyStream::Record* record,
           int threads);
  void shrink(size_t most);

 private:
  // Zeros that the system gives when they are written.
  class Coefficients {
   public:
    void at_least(size_t blocks);
    int16_t* block(int64_t i) const { return first_ + 64 * i; }
    size_t bytes() const { return bytes_; }

   private:
    struct Free {
      void operator()(void* p) const { std::free(p); }
    };
    std::unique_ptr<void, Free> memory_;
    int16_t* first_ = nullptr;
    size_t bytes_ = 0;
  };
  struct Piece {
    EntropyStream stream;
    EntropyStream::Span span;
    int starts = 0;
    std::vector<McuStart> notes;
    Coefficients coefficients;
    bool right = false;  // and then:
    int64_t first_mcu = 0, end_mcu = 0;
    size_t first_note = 0;
    McuStart end;
    int32_t dc[3] = {0, 0, 0};  // what its predictors lack
  };

  void lay_out(const McuStart& at, int64_t mcu, int threads);
  void run_piece(size_t number);
  void decode_guess(Piece& piece);
  bool begin_again(Piece& piece);
  void settle_first(Piece& piece);
  bool join(Piece& before, Piece& piece);
  bool extend(Piece& piece);
  McuStart note(const Piece& piece, size_t i) const;
  void transform(const Piece& piece, int64_t first_mcu, int64_t end_mcu) const;
  void transform_mcus(int16_t* coefficients, int row, int column, int count) const;
  void clear(const Piece& piece) const;
  void clear(const Piece& piece, int64_t from) const;
  void record_points(const Piece& piece);

  const RegionPlan* plan_ = nullptr;
  const EntropyLoops* loops_ = nullptr;
  const ScanBytes* scan_ = nullptr;
  EntropyStream::Record* record_ = nullptr;
  int64_t total_ = 0;              // MCUs to decode
  std::deque<Piece> pieces_;       // kept from image to image
  size_t count_ = 0;               // of them that are used
  std::atomic<size_t> joined_{0};  // pieces that are known to be right or wrong
  bool dirty_ = false;             // coefficients may not be zero
};

}  // namespace penstock::jpeg
