// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "numerics/lz4.h"
#include "operator/operator.h"

namespace penstock {

struct DecodersInflate : WholeOperator {
  std::string algorithm = "LZ4", layout, sequence_axis_name = "F";
  bool check_output_size = false;
  PerSample<std::vector<int64_t>> chunk_offsets, chunk_sizes, shape;
  DType dtype = DType::uint8;

  static Schema<DecodersInflate> schema() {
    using Op = DecodersInflate;
    return Schema<Op>("decoders.inflate",
                      "Decompresses samples of LZ4 blocks.\n\nInput: 1-d uint8, one block, or several chunks of one "
                      "block each. Output: an array of `shape`; with chunk_offsets or chunk_sizes it has a leading "
                      "dimension for the chunks. A block that is damaged, or does not hold exactly the elements of its "
                      "chunk, is a DataError. Source: lz4_Block_format.md of LZ4.\n\n"
                      "Example:\n"
                      "values = fn.decoders.inflate(compressed, shape=[1000], dtype=\"float32\")")
        .required("shape", &Op::shape, "Extents of the data of one chunk.")
        .arg("algorithm", &Op::algorithm, "\"LZ4\".")
        .arg("check_output_size", &Op::check_output_size, "Accepted without effect: the size is always checked.")
        .arg("chunk_offsets", &Op::chunk_offsets,
             "Offsets of the chunks in bytes; without chunk_sizes each chunk ends where the next one starts.")
        .arg("chunk_sizes", &Op::chunk_sizes,
             "Sizes of the chunks in bytes; without chunk_offsets the chunks are contiguous from the start.")
        .arg("dtype", &Op::dtype, "Type of the elements.")
        .arg("layout", &Op::layout, "Layout of the data of one chunk.")
        .arg("sequence_axis_name", &Op::sequence_axis_name, "Letter of the dimension of the chunks.")
        .oracle("numpy");
  }
  void ready() override {
    if (algorithm != "LZ4") bad_argument("algorithm must be \"LZ4\", got \"{}\"", algorithm);
    if (dtype == DType::none) bad_argument("dtype must be an element type");
    if (sequence_axis_name.size() != 1)
      bad_argument("sequence_axis_name must be one letter, got \"{}\"", sequence_axis_name);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::none)
      bad_type("expected bytes as uint8, got {}", name_of(in[0].dtype));
    out[0] = {dtype, -1, {}};
    if (!layout.empty()) out[0].layout = Layout((chunked() ? sequence_axis_name : "") + layout);
    if (!layout.empty()) out[0].ndim = out[0].layout.size();
    else if (shape.constant()) out[0].ndim = static_cast<int>(shape.one().size()) + chunked();
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    Shape to;
    if (chunked())
      to.push_back(static_cast<int64_t>((chunk_offsets.given() ? chunk_offsets : chunk_sizes)[s.index].size()));
    for (const int64_t n : shape[s.index]) {
      if (n < 0) bad_argument("shape must not be negative, got {}", n);
      to.push_back(n);
    }
    if (!layout.empty() && to.size() != static_cast<int>(layout.size()) + chunked())
      bad_argument("shape has {} extents for the layout \"{}\"", to.size() - chunked(), layout);
    out[0] = to;
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t n = chunked() ? out[0].shape[0] : 1;
    const std::vector<Decoding::Chunk> chunks = chunks_of(s.index, in[0].volume(), n);
    const int64_t each = n > 0 ? out[0].volume() / n * static_cast<int64_t>(size_of(dtype)) : 0;
    if (each == 0) return;
    const TeamTable table = team_table(std::span<const Decoding::Chunk>(chunks));
    constexpr int64_t kTogether = 8;  // warps of a team
    for (int64_t first = 0; first < n; first += kTogether)
      run_team<Decoding>({.in = {in[0].data},
                          .out = {out[0].data},
                          .header = "families/team/kernels/lz4.h",
                          .table = table,
                          .refused = [](const Refusal& r) { refuse_lz4({r.what, {r.whole[0], r.whole[1]}}); }},
                         {first, std::min(kTogether, n - first), each, dtype == DType::bool_}, to);
  }

 private:
  struct Warp : OneThread {
    explicit Warp(const Team&) {}
    static constexpr int index = 0, count = 1, lane = 0, lanes = 1;
  };
  struct Decoding {
    PENSTOCK_PIXEL(
        struct Coef {
          int64_t first;
          int64_t chunks;
          int64_t each;
          int64_t bools;
        };
        struct Chunk {
          int64_t begin;
          int64_t size;
        };
        PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team,
                                    Refusal& refusal) {
          const Warp warp(team);
          const Chunk* const chunks = reinterpret_cast<const Chunk*>(table);
          const Share own = share_of(c.chunks, warp.index, warp.count);
          for (int64_t k = c.first + own.begin; k < c.first + own.end; ++k) {
            uint8_t* const to = a.to<uint8_t>(0) + k * c.each;
            const auto damage =
                decode_lz4_block(a.from<uint8_t>(0) + chunks[k].begin, chunks[k].size, to, c.each, warp);
            if (damage.what) {
              refusal.what = damage.what;
              refusal.whole[0] = damage.numbers[0];
              refusal.whole[1] = damage.numbers[1];
              return;
            }
            if (!c.bools) continue;  // a bool is 0 or 1
            warp.wait();
            for (int64_t i = warp.lane; i < c.each; i += warp.lanes) to[i] = to[i] != 0;
          }
        });
  };
  std::vector<Decoding::Chunk> chunks_of(int sample, int64_t bytes, int64_t n) const {
    std::vector<int64_t> offsets, sizes;
    if (chunk_offsets.given()) offsets = chunk_offsets[sample];
    if (chunk_sizes.given()) sizes = chunk_sizes[sample];
    if (chunk_offsets.given() && chunk_sizes.given() && offsets.size() != sizes.size())
      bad_argument("{} chunk_offsets do not match {} chunk_sizes", offsets.size(), sizes.size());
    std::vector<Decoding::Chunk> chunks;
    int64_t next = 0;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t begin = offsets.empty() ? next : offsets[k];
      const int64_t size = !sizes.empty()                  ? sizes[k]
                           : !offsets.empty() && k + 1 < n ? offsets[k + 1] - begin
                                                           : bytes - begin;
      if (begin < 0 || begin > bytes || size < 0 || size > bytes - begin)
        bad_argument("chunk {} has {} bytes at offset {}, but the sample has {}", k, size, begin, bytes);
      next = begin + size;
      chunks.push_back({begin, size});
    }
    return chunks;
  }
  bool chunked() const { return chunk_offsets.given() || chunk_sizes.given(); }
};
PENSTOCK_OPERATOR(DecodersInflate);

}  // namespace penstock
