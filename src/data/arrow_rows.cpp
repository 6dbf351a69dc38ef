// SPDX-License-Identifier: Apache-2.0
#include "data/arrow_rows.h"

#include "data/hash.h"

namespace penstock {
namespace {

class Rows final : public ArrowTable {
 public:
  Rows(std::shared_ptr<const ArrowTable> table, std::vector<int64_t> rows)
      : table_(std::move(table)), rows_(std::move(rows)) {
    fields_ = table_->fields();
    add_rows(static_cast<int64_t>(rows_.size()));
    for (const int64_t row : rows_)
      if (row < 0 || row >= table_->rows()) bad_argument("there is no row {} in a table of {}", row, table_->rows());
  }
  ArrowPlace place(int64_t row) const override { return table_->place(rows_[row]); }
  std::shared_ptr<const ArrowGroup> group(int number) const override { return table_->group(number); }
  std::shared_ptr<const ArrowGroup> group_in_order(int number,
                                                   const std::function<std::vector<int>()>& after) const override {
    return table_->group_in_order(number, after);
  }
  bool resident() const override { return table_->resident(); }
  std::string source(int64_t row) const override { return table_->source(rows_[row]); }
  std::string reader() const override { return table_->reader(); }
  std::string folder() const override { return table_->folder(); }
  uint64_t hash() const override {
    uint64_t hash = table_->hash();
    for (const int64_t row : rows_) hash = mix64(hash ^ static_cast<uint64_t>(row));
    return hash;
  }

 private:
  std::shared_ptr<const ArrowTable> table_;
  std::vector<int64_t> rows_;
};

}  // namespace

std::shared_ptr<const ArrowTable> arrow_rows(std::shared_ptr<const ArrowTable> table, std::vector<int64_t> rows) {
  return std::make_shared<const Rows>(std::move(table), std::move(rows));
}

}  // namespace penstock
