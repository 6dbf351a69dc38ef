// SPDX-License-Identifier: Apache-2.0
#include "readers/arrow_source.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/half.h"

namespace penstock {

void infer_arrow(const std::vector<ArrowField>& fields, const std::vector<std::string>& columns,
                 std::span<ValueType> out) {
  if (columns.empty()) bad_argument("name at least one column in columns");
  for (size_t k = 0; k < out.size() && k < columns.size(); ++k) {
    const ArrowColumn column = arrow_column(fields, columns[k]);
    out[k] = {column.dtype, column.ndim, {}};
  }
}

namespace {

// Options for the order. Where groups are decoded when they are needed, that is not a shuffle of single samples.
struct OrderOptions final : ReaderOptions {
  explicit OrderOptions(const ArrowOptions& options) : ReaderOptions(options) {
    if (options.table < 0 || registered_arrow_table(options.table)->resident()) return;
    if (shuffle_after_epoch) bad_argument("shuffle_after_epoch does not go with row groups: use random_shuffle=True");
    random_shuffle = shuffle = false;
  }
  void infer(std::span<const ValueType>, std::span<ValueType>) const override {}
};

}  // namespace

ArrowSource::ArrowSource(const ArrowOptions& o)
    : ReaderSource(OrderOptions(o)),
      names_(o.columns),
      empty_(o.missing == "empty"),
      shuffles_(o.random_shuffle || o.shuffle),
      later_(o, 8),  // a shuffle mixes two windows of four at their edge
      window_(o.shuffle_groups) {
  if (!empty_ && o.missing != "error") bad_argument("missing must be \"error\" or \"empty\", got \"{}\"", o.missing);
  if (o.missing_number.given()) number_ = *o.missing_number;
}

void ArrowSource::open(uint64_t seed, std::shared_ptr<const ArrowTable> table) {
  table_ = std::move(table);
  for (const auto& name : names_) columns_.push_back(arrow_column(table_->fields(), name));
  if (table_->rows() == 0) bad_argument("the table has no rows");
  if (shuffles_ && !table_->resident()) {
    std::vector<int64_t> first;
    for (int k = 0; k <= table_->groups(); ++k) first.push_back(table_->first_of(k));
    groups_.emplace(std::move(first), window_);
  }
  ReaderSource::open(seed, table_->rows(), table_->hash() ^ (groups_ ? static_cast<uint64_t>(window_) : 0));
}

std::vector<Batch> ArrowSource::make_outputs(int n) const {
  std::vector<Batch> out;
  for (const auto& c : columns_)
    out.push_back(c.fixed ? Batch::uniform(c.dtype, c.shape, {}, n) : Batch(c.dtype, c.ndim, {}, n));
  return out;
}

int64_t ArrowSource::row_at(uint64_t epoch, int64_t place) const {
  return groups_ ? groups_->at(order_seed(), epoch, place) : place;
}

void ArrowSource::ranges_of(int64_t index, std::vector<ByteRange>& out) const {
  if (!table_->resident()) return;
  const ArrowPlace at = table_->place(index);
  const auto group = table_->group(at.group);
  if (!group->files) return;
  for (const auto& column : columns_) {
    try {
      const ArrowValue value = arrow_value(*group, column, at.row);
      if (value.buffer && value.buffer->place >= 0 && !value.buffer->data)
        out.push_back({group->files->path(group->file), value.buffer->place + (column.bits ? value.at / 8 : value.at),
                       column.bits ? value.bytes / 8 + 2 : value.bytes});
    } catch (const Error&) {  // load() says it
    }
  }
}

void ArrowSource::load(SourceBatch& batch, int i) const {
  const int64_t index = batch.indices[i];
  try {
    const ArrowPlace at = table_->place(index);
    const auto after = [&] {
      return later_.after(batch, i, table_->groups(), groups_ ? &*groups_ : nullptr,
                          [&](int64_t k) { return table_->place(k).group; });
    };
    const auto group = table_->group_in_order(at.group, std::cref(after));
    for (size_t k = 0; k < columns_.size(); ++k) {
      try {
        take(batch.outputs[k], i, group, columns_[k], at.row);
      } catch (const Error& e) {
        Error named(e.kind(), fmt::format("column '{}': {}", columns_[k].name, e.what()));
        named.source = e.source;
        throw named;
      }
    }
  } catch (Error& e) {
    if (e.source.empty()) e.source = table_->source(index);
    if (e.op.empty()) e.op = table_->reader();
    throw;
  }
}

static void unpack(const uint8_t* bits, int64_t at, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = bits[(at + i) / 8] >> (at + i) % 8 & 1;
}

// What is in memory is given as it is: a picture goes to its decoder without a copy.
void ArrowSource::take(Batch& output, int i, const std::shared_ptr<const ArrowGroup>& group, const ArrowColumn& column,
                       int64_t row) const {
  const ArrowValue value = arrow_value(*group, column, row);
  if (!value.path.empty()) return take_file(output, i, value.path);
  if (value.absent) return take_absent(output, i, column);
  if (value.bytes > default_file_limit)
    bad_data("the value has {} bytes, more than the limit of {}", value.bytes, default_file_limit);
  const ArrowBuffer none, &buffer = value.buffer ? *value.buffer : none;
  const auto room = [&] { return allocate_shared(memory_, static_cast<size_t>(std::max<int64_t>(1, value.bytes))); };
  if (column.bits) {
    std::vector<uint8_t> bits(static_cast<size_t>((value.at % 8 + value.bytes + 7) / 8));
    read_arrow(*group, buffer, value.at / 8, static_cast<int64_t>(bits.size()), bits.data());
    auto own = column.fixed ? nullptr : room();
    unpack(bits.data(), value.at % 8, value.bytes,
           static_cast<uint8_t*>(column.fixed ? output.view(i).data : own.get()));
    if (own) give(output, i, value.shape, own.get(), own);
  } else if (column.fixed) {
    read_arrow(*group, buffer, value.at, value.bytes, static_cast<uint8_t*>(output.view(i).data));
  } else if (const uint8_t* from = buffer.data ? buffer.data + value.at : nullptr;
             from && reinterpret_cast<uintptr_t>(from) % size_of(column.dtype) == 0) {
    if (buffer.bytes >= 0 && (value.at > buffer.bytes || value.bytes > buffer.bytes - value.at))
      bad_data("a value is not inside its buffer of {} bytes", buffer.bytes);
    give(output, i, value.shape, from, std::const_pointer_cast<ArrowGroup>(group));
  } else {
    auto own = room();
    read_arrow(*group, buffer, value.at, value.bytes, static_cast<uint8_t*>(own.get()));
    give(output, i, value.shape, own.get(), own);
  }
}

static void fill(void* out, DType dtype, int64_t count, double number) {
  const auto as = [&](auto kind) {
    using T = decltype(kind);
    std::fill_n(static_cast<T*>(out), count, static_cast<T>(number));
  };
  switch (dtype) {
    case DType::uint8: return as(uint8_t{});
    case DType::uint16: return as(uint16_t{});
    case DType::uint32: return as(uint32_t{});
    case DType::uint64: return as(uint64_t{});
    case DType::int8: return as(int8_t{});
    case DType::int16: return as(int16_t{});
    case DType::int32: return as(int32_t{});
    case DType::int64: return as(int64_t{});
    case DType::float32: return as(float{});
    case DType::float64: return as(double{});
    case DType::bool_: return as(bool{});
    default: bad_data("an absent value (null) cannot be a number of type {}", name_of(dtype));
  }
}

void ArrowSource::take_absent(Batch& output, int i, const ArrowColumn& column) const {
  if (column.fixed && (number_ || (empty_ && is_float(column.dtype))))
    return fill(output.view(i).data, column.dtype, column.shape.volume(), number_.value_or(std::nan("")));
  if (!empty_)
    bad_data("the value is absent (null): missing=\"empty\" gives an empty value{}",
             column.fixed ? ", missing_number=... a number" : "");
  if (column.fixed) bad_data("the value is absent (null): missing_number=... says which number stands for it");
  auto nothing = allocate_shared(memory_, 1);
  Shape shape = column.shape;
  give(output, i, shape, nothing.get(), nothing);
}

void ArrowSource::take_file(Batch& output, int i, const std::string& path) const {
  std::shared_ptr<void> own;
  const int64_t bytes = read_file_to(path, [&](int64_t n) {
    own = allocate_shared(memory_, static_cast<size_t>(std::max<int64_t>(1, n)));
    return static_cast<uint8_t*>(own.get());
  });
  give(output, i, {bytes}, own.get(), own);
}

}  // namespace penstock
