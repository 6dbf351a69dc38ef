// SPDX-License-Identifier: Apache-2.0
// Readers of container files: one record per sample.
#pragma once
#include "readers/reader_source.h"

namespace penstock {

// A record in memory that values of the sample may point into.
struct LoadedRecord {
  std::shared_ptr<void> owner;
  Bytes bytes;
};

class ContainerSource : public ReaderSource {
 public:
  void load(SourceBatch& batch, int i) const final;
  std::string data_set() const final;

 protected:
  using ReaderSource::ReaderSource;
  void open(uint64_t seed, std::shared_ptr<const Container> container);
  const Container& container() const { return *container_; }
  std::string source_of(int64_t index) const override { return container_->source(index); }
  void ranges_of(int64_t index, std::vector<ByteRange>& out) const override { out.push_back(container_->range(index)); }
  // Extracts the sample's values from the record. Errors get the record's source.
  virtual void take(SourceBatch& batch, int i, int64_t index, const LoadedRecord& record) const = 0;

 private:
  std::shared_ptr<const Container> container_;
};

// Expands the user's paths; index_paths must have the same number of elements, or none.
std::shared_ptr<const Container> open_container(const ContainerFormat& format, const std::vector<std::string>& paths,
                                                const std::vector<std::string>& index_paths);

}  // namespace penstock
