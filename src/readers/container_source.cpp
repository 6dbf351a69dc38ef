// SPDX-License-Identifier: Apache-2.0
#include "readers/container_source.h"

namespace penstock {

void ContainerSource::open(uint64_t seed, std::shared_ptr<const Container> container) {
  container_ = std::move(container);
  ReaderSource::open(seed, container_->size(), container_->hash());
}

void ContainerSource::load(SourceBatch& batch, int i) const {
  const int64_t index = batch.indices[i];
  try {
    const auto bytes = static_cast<size_t>(container_->length(index));
    if (container_->length(index) > default_file_limit)
      bad_data("the record has {} bytes, more than the limit of {}", bytes, default_file_limit);
    LoadedRecord record;
    record.owner = allocate_shared(memory_, std::max<size_t>(1, bytes));
    container_->read(index, static_cast<uint8_t*>(record.owner.get()));
    record.bytes = {static_cast<const uint8_t*>(record.owner.get()), bytes};
    take(batch, i, index, record);
  } catch (Error& e) {
    if (e.source.empty()) e.source = container_->source(index);
    throw;
  }
}

std::string ContainerSource::data_set() const {
  std::vector<std::string> paths;
  for (int i = 0; i < container_->files(); ++i) paths.push_back(container_->path(i));
  return common_folder(paths);
}

std::shared_ptr<const Container> open_container(const ContainerFormat& format, const std::vector<std::string>& paths,
                                                const std::vector<std::string>& index_paths) {
  return std::make_shared<const Container>(format, expand_paths(paths), index_paths);
}

}  // namespace penstock
