// SPDX-License-Identifier: Apache-2.0
// Rows of Arrow tables as samples: readers.arrow and readers.parquet.
#pragma once
#include "data/arrow_column.h"
#include "data/group_order.h"
#include "readers/later_groups.h"
#include "readers/reader_source.h"

namespace penstock {

struct ArrowOptions : ReaderOptions {
  std::vector<std::string> columns;
  std::string missing = "error";
  Optional<double> missing_number;
  int64_t table = -1, shuffle_groups = 4;
  int count_outputs() const override { return static_cast<int>(columns.size()); }
};

template <class Op> Schema<Op>&& arrow_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("missing", &Op::missing,
           "What an absent value (null) gives. \"error\": an error of the sample; \"empty\": bytes and lists without "
           "elements, NaN for floating-point numbers.")
      .arg("missing_number", &Op::missing_number, "The number that stands for absent numbers, instead of `missing`.");
}

// Calls f(); an error has the name of the reader that the program called.
template <class F> auto as_reader_of(const ArrowTable& table, F&& f) {
  try {
    return f();
  } catch (Error& e) {
    if (e.op.empty()) e.op = table.reader();
    throw;
  }
}

// The columns as types of outputs.
void infer_arrow(const std::vector<ArrowField>& fields, const std::vector<std::string>& columns,
                 std::span<ValueType> out);

class ArrowSource : public ReaderSource {
 public:
  void load(SourceBatch& batch, int i) const final;
  std::string data_set() const override { return table_->folder(); }

 protected:
  explicit ArrowSource(const ArrowOptions& options);
  // Where groups are decoded when they are needed, the order is of groups, and inside windows of some of them.
  void open(uint64_t seed, std::shared_ptr<const ArrowTable> table);
  std::vector<Batch> make_outputs(int samples) const override;
  std::string source_of(int64_t index) const override { return table_->source(index); }
  void ranges_of(int64_t index, std::vector<ByteRange>& out) const override;
  int64_t index_of(uint64_t epoch, const OrderedSample& s) const override { return row_at(epoch, s.index); }
  int64_t index_instead(uint64_t epoch, int64_t position, int64_t index, uint32_t attempt) const override {
    return row_at(epoch, ReaderSource::index_instead(epoch, position, index, attempt));
  }

 private:
  int64_t row_at(uint64_t epoch, int64_t place) const;
  void take(Batch& output, int i, const std::shared_ptr<const ArrowGroup>& group, const ArrowColumn& column,
            int64_t row) const;
  void take_absent(Batch& output, int i, const ArrowColumn& column) const;
  void take_file(Batch& output, int i, const std::string& path) const;

  std::vector<std::string> names_;
  bool empty_, shuffles_;
  LaterGroups later_;
  std::optional<double> number_;
  int64_t window_;
  std::shared_ptr<const ArrowTable> table_;
  std::vector<ArrowColumn> columns_;
  std::optional<GroupOrder> groups_;
};

}  // namespace penstock
