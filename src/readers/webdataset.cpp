// SPDX-License-Identifier: Apache-2.0
// readers.webdataset: samples of several files each, in tar archives.
#include <algorithm>

#include "data/container_formats.h"
#include "data/hash.h"
#include "data/tar.h"
#include "readers/container_source.h"

namespace penstock {
namespace {

DType type_of(const std::vector<int64_t>& dtypes, size_t k) {
  return dtypes.empty() ? DType::uint8 : value_as<DType>(Value{dtypes[k]});
}

struct ReadersWebdataset : ReaderOptions {
  std::vector<std::string> paths, ext, index_paths;
  std::vector<int64_t> dtypes;
  std::string missing_component_behavior;
  bool case_sensitive_extensions = true;
  int count_outputs() const override { return static_cast<int>(ext.size()); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    if (ext.empty()) bad_argument("name at least one extension in ext");
    if (!dtypes.empty() && dtypes.size() != ext.size())
      bad_argument("{} dtypes for {} outputs", dtypes.size(), ext.size());
    for (size_t k = 0; k < out.size() && k < ext.size(); ++k) out[k] = {type_of(dtypes, k), 1, {}};
  }

  static Schema<ReadersWebdataset> schema() {
    using Op = ReadersWebdataset;
    return Schema<Op>("readers.webdataset",
                      "Reads WebDataset's tar archives.\n\nConsecutive files with the same name up to the first dot "
                      "are one sample.\n\nOne output for each entry of ext: the bytes of the sample's file with that "
                      "extension, as elements of dtypes (uint8), 1-D. Archives need no index: one is made on first "
                      "use and kept in the user's cache folder.\n\nExample:\n@pipeline_def(batch_size=32)\ndef "
                      "photos():\n    jpegs, classes = fn.readers.webdataset(paths=[\"photos.tar\"], ext=[\"jpg\", "
                      "\"cls\"])\n    return fn.decoders.image(jpegs), classes")
        .inputs(0)
        .loads_samples()
        .required("paths", &Op::paths,
                  "Paths of the archives; patterns with * or ? become the files that match, sorted.")
        .required("ext", &Op::ext,
                  "An extension for each output, without the first dot; \"jpg;png\" takes the first file that has one "
                  "of them.")
        .arg("index_paths", &Op::index_paths, "Index files as wds2idx writes them, one for each archive.")
        .arg("dtypes", &Op::dtypes, "Element type of each output; default: uint8.")
        .arg("missing_component_behavior", &Op::missing_component_behavior,
             "What happens if a sample lacks an output's file. \"empty\" (the default): an empty value; \"skip\": the "
             "sample is omitted; \"error\": an error.")
        .arg("case_sensitive_extensions", &Op::case_sensitive_extensions, "Extensions are case-sensitive.")
        .with(reader_arguments<Op>);
  }
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

class WebdatasetSource final : public ReaderSource {
 public:
  WebdatasetSource(uint64_t seed, const ReadersWebdataset& a) : ReaderSource(a), outputs_(a.ext.size()) {
    std::string missing = a.missing_component_behavior.empty() ? "empty" : lower(a.missing_component_behavior);
    static const std::vector<std::string> kWays{"empty", "skip", "error"};
    if (std::find(kWays.begin(), kWays.end(), missing) == kWays.end())
      bad_argument("missing_component_behavior must be \"empty\", \"skip\" or \"error\", got \"{}\"{}",
                   a.missing_component_behavior, did_you_mean(missing, kWays));
    for (size_t k = 0; k < outputs_; ++k) dtypes_.push_back(type_of(a.dtypes, k));
    container_ = open_container(container_format("tar"), a.paths, a.index_paths);
    find_samples(a, missing);
    uint64_t hash = container_->hash();
    for (const auto& e : a.ext) hash = hash_bytes(e, hash);
    open(seed, static_cast<int64_t>(first_.size()), hash);
  }

  void load(SourceBatch& batch, int i) const override {
    const int64_t index = batch.indices[i];
    for (size_t k = 0; k < outputs_; ++k) {
      const int64_t record = record_of(index, k);
      if (record < 0) {
        give(batch.outputs[k], i, Shape{0}, nullptr, nullptr);
        continue;
      }
      const int64_t bytes = container_->length(record);
      if (bytes % static_cast<int64_t>(size_of(dtypes_[k])) || bytes > default_file_limit)
        fail_on(container_->source(record), ErrorKind::data, "the file has {} bytes: {}", bytes,
                bytes > default_file_limit ? "more than the limit"
                                           : fmt::format("not a whole number of {}", name_of(dtypes_[k])));
    }
    each_read(index, [&](std::span<const size_t> parts) { load_parts(batch, i, index, parts); });
  }
  std::string data_set() const override { return common_folder(std::vector{container_->path(0)}); }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    std::vector<Batch> out;
    for (const DType t : dtypes_) out.emplace_back(t, 1, Layout{}, n);
    return out;
  }
  std::string source_of(int64_t index) const override { return container_->source(first_[index]); }
  void ranges_of(int64_t index, std::vector<ByteRange>& out) const override {
    each_read(index, [&](std::span<const size_t> parts) {
      const ByteRange first = container_->range(record_of(index, parts.front()));
      const ByteRange last = container_->range(record_of(index, parts.back()));
      const int64_t start = std::max<int64_t>(0, first.offset - container_->head_bytes());
      out.push_back({first.path, start, last.offset + last.length - start});
    });
  }

 private:
  static constexpr int64_t kSmall = 4096, kGap = 2048;
  int64_t record_of(int64_t index, size_t k) const {
    return parts_[index * static_cast<int64_t>(outputs_) + static_cast<int64_t>(k)];
  }

  // Calls body(outputs of the sample that are read at once, in the order of their records) for all present ones.
  template <class Body> void each_read(int64_t index, Body body) const {
    std::vector<size_t> present;
    for (size_t k = 0; k < outputs_; ++k)
      if (record_of(index, k) >= 0) present.push_back(k);
    std::sort(present.begin(), present.end(),
              [&](size_t a, size_t b) { return record_of(index, a) < record_of(index, b); });
    for (size_t begin = 0, end; begin < present.size(); begin = end) {
      end = read_together(index, present, begin);
      body(std::span<const size_t>(present).subspan(begin, end - begin));
    }
  }

  // The end of the parts that one read fetches: they are close together, and at most one is large.
  size_t read_together(int64_t index, const std::vector<size_t>& present, size_t begin) const {
    int large = container_->length(record_of(index, present[begin])) > kSmall;
    size_t end = begin + 1;
    for (; end < present.size(); ++end) {
      const int64_t last = record_of(index, present[end - 1]), next = record_of(index, present[end]);
      const int64_t gap = container_->offset(next) - container_->offset(last) - container_->length(last);
      large += container_->length(next) > kSmall;
      if (gap < 0 || gap > kGap || large > 1) break;
    }
    return end;
  }

  // The large part stays in its buffer; small ones are copied, so that a label does not keep its picture in memory.
  void load_parts(SourceBatch& batch, int i, int64_t index, std::span<const size_t> parts) const {
    const int64_t first = record_of(index, parts.front()), last = record_of(index, parts.back());
    const int64_t heads = container_->head_bytes(), start = container_->offset(first) - heads,
                  bytes = container_->offset(last) + container_->length(last) - start;
    if (start < 0) fail_on(container_->source(first), ErrorKind::data, "the index has no room for its header");
    auto memory = allocate_shared(memory_, std::max<size_t>(1, static_cast<size_t>(bytes)));
    auto* data = static_cast<uint8_t*>(memory.get());
    try {
      container_->read_range(container_->file_of(first), start, bytes, data);
    } catch (Error& e) {
      e.source = container_->source(first);
      throw;
    }
    for (const size_t k : parts) {
      const int64_t record = record_of(index, k), length = container_->length(record);
      const uint8_t* from = data + (container_->offset(record) - start);
      container_->check_head(record, {from - heads, static_cast<size_t>(heads)});
      const Shape shape{length / static_cast<int64_t>(size_of(dtypes_[k]))};
      Batch& output = batch.outputs[k];
      const bool aligned = (from - data) % 64 == 0;
      if (parts.size() == 1 || (length > kSmall && aligned)) {
        give(output, i, shape, from, memory);
      } else {
        auto own = allocate_shared(memory_, std::max<size_t>(1, static_cast<size_t>(length)));
        std::copy_n(from, length, static_cast<uint8_t*>(own.get()));
        give(output, i, shape, own.get(), own);
      }
    }
  }

  void find_samples(const ReadersWebdataset& a, const std::string& missing) {
    const auto folded = [&](std::string_view e) { return a.case_sensitive_extensions ? std::string(e) : lower(e); };
    std::map<std::string, std::vector<size_t>> outputs_of;
    for (size_t k = 0; k < outputs_; ++k)
      for (size_t at = 0; at <= a.ext[k].size();) {
        const size_t end = std::min(a.ext[k].find(';', at), a.ext[k].size());
        outputs_of[folded(std::string_view(a.ext[k]).substr(at, end - at))].push_back(k);
        at = end + 1;
      }
    for (int file = 0; file < container_->files(); ++file) {
      const int64_t end = container_->first_of(file + 1);
      for (int64_t record = container_->first_of(file); record < end;) {
        const int64_t first = record;
        const std::string_view base = sample_name(container_->name(record)).base;
        std::vector<int64_t> parts(outputs_, -1);
        for (; record < end; ++record) {
          const SampleName name = sample_name(container_->name(record));
          if (name.base != base) break;
          if (const auto found = outputs_of.find(folded(name.extension)); found != outputs_of.end())
            for (const size_t k : found->second)
              if (parts[k] < 0) parts[k] = record;
        }
        const auto lacking = std::find(parts.begin(), parts.end(), -1);
        if (lacking != parts.end() && missing == "skip") continue;
        if (lacking != parts.end() && missing == "error")
          fail_on(container_->source(first), ErrorKind::data, "the sample '{}' has no file with the extension \"{}\"",
                  base, a.ext[lacking - parts.begin()]);
        first_.push_back(first);
        parts_.insert(parts_.end(), parts.begin(), parts.end());
      }
    }
    if (first_.empty()) fail_on(container_->path(0), ErrorKind::data, "no sample has all extensions");
  }

  size_t outputs_;
  std::vector<DType> dtypes_;
  std::shared_ptr<const Container> container_;
  std::vector<int64_t> first_;  // first record of each sample
  std::vector<int64_t> parts_;  // records of a sample's outputs; -1: absent
};

PENSTOCK_READER(ReadersWebdataset, WebdatasetSource);

}  // namespace
}  // namespace penstock
