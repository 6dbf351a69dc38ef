// SPDX-License-Identifier: Apache-2.0
// Arrow tables: rows of columns, in groups of rows (record batches). The memory may be of another library, or a file.
// Numbers and bytes are read where they are.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/container.h"

namespace penstock {

// A column, or a part of one. The format is the text that Arrow's C data interface has for the type: "i", "+w:3" ...
struct ArrowField {
  std::string name, format;
  std::vector<ArrowField> children;
};

// Format of a field whose values are numbers of a dictionary's entries.
inline constexpr const char* kDictionary = "dictionary";

struct ArrowBuffer {
  const uint8_t* data = nullptr;  // null: absent, or in the file
  int64_t bytes = -1;             // -1: not known, as in the C data interface
  int64_t place = -1;             // in the file
};

// The values of a field in one group.
struct ArrowNode {
  int64_t length = 0, offset = 0;  // in elements
  bool views = false;              // of bytes: the buffers are those of the type "vz", whatever the field's type is
  std::vector<ArrowBuffer> buffers;
  std::vector<ArrowNode> children;
};

struct ArrowGroup {
  int64_t rows = 0;
  std::vector<ArrowNode> columns;
  std::shared_ptr<void> owner;  // of the memory of the buffers
  const Container* files = nullptr;
  int file = 0;
};

// Where a row is.
struct ArrowPlace {
  int group = 0;
  int64_t row = 0;  // in the group
};

class ArrowTable {
 public:
  virtual ~ArrowTable() = default;
  const std::vector<ArrowField>& fields() const { return fields_; }
  int64_t rows() const { return first_.back(); }
  int groups() const { return static_cast<int>(first_.size()) - 1; }
  int64_t first_of(int group) const { return first_[group]; }  // a row; first_of(groups()) == rows()
  virtual ArrowPlace place(int64_t row) const;
  // Any thread may call it; the result keeps its memory alive.
  virtual std::shared_ptr<const ArrowGroup> group(int number) const = 0;
  // The same. The caller knows the groups that will be needed after it, soonest first: a thread that has to wait for
  // another one decodes one of them in the meantime.
  virtual std::shared_ptr<const ArrowGroup> group_in_order(int number, const std::function<std::vector<int>()>&) const {
    return group(number);
  }
  virtual bool resident() const { return true; }  // false: a group is decoded when it is needed, and forgotten again
  virtual std::string source(int64_t row) const;
  virtual std::string reader() const { return "readers.arrow"; }  // for messages
  virtual std::string folder() const { return {}; }
  virtual uint64_t hash() const;

 protected:
  void add_rows(int64_t rows) { first_.push_back(first_.back() + rows); }
  std::vector<ArrowField> fields_;

 private:
  std::vector<int64_t> first_{0};
};

// A table whose groups are all at hand.
class ArrowGroups final : public ArrowTable {
 public:
  explicit ArrowGroups(std::vector<ArrowField> fields) { fields_ = std::move(fields); }
  void add(ArrowGroup group);
  std::shared_ptr<const ArrowGroup> group(int number) const override { return groups_[number]; }

 private:
  std::vector<std::shared_ptr<const ArrowGroup>> groups_;
};

// Tables in the memory of the program, by the number that stands for them in an operator's arguments. The caller keeps
// the table alive. Error (argument) where there is none.
int64_t register_arrow_table(const std::shared_ptr<const ArrowTable>& table);
std::shared_ptr<const ArrowTable> registered_arrow_table(int64_t number);

}  // namespace penstock
