// SPDX-License-Identifier: Apache-2.0
// readers.fits: images of FITS files, as astronomers keep them.
#include <atomic>

#include "data/fits.h"
#include "data/named_files.h"
#include "data/root_path.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

struct ReadersFits : ReaderOptions {
  std::string file_root, file_list, file_filter = "*.fits";
  bool allow_outside_root = false;
  std::vector<std::string> files;
  std::vector<int64_t> hdu_indices{2}, dtypes;
  int count_outputs() const override { return static_cast<int>(hdu_indices.size()); }
  DType dtype(size_t k) const { return dtypes.empty() ? DType::none : value_as<DType>(Value{dtypes[k]}); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    if (hdu_indices.empty()) bad_argument("name at least one HDU in hdu_indices");
    for (const int64_t h : hdu_indices)
      if (h < 1) bad_argument("hdu_indices are counted from 1, got {}", h);
    if (!dtypes.empty() && dtypes.size() != hdu_indices.size())
      bad_argument("{} dtypes for {} HDUs", dtypes.size(), hdu_indices.size());
    for (size_t k = 0; k < out.size() && k < hdu_indices.size(); ++k) out[k].dtype = dtype(k);
  }

  static Schema<ReadersFits> schema() {
    using Op = ReadersFits;
    return Schema<Op>(
               "readers.fits",
               "Reads images of FITS files (FITS Standard 4.0), the image format of astronomy.\n\nOne output for each "
               "entry of hdu_indices: the image of that HDU, a primary array or an IMAGE extension; its last axis is "
               "NAXIS1. Values are those that the header describes: integers as they are stored, unsigned ones (and "
               "signed bytes) if BZERO says so; with another BSCALE or BZERO, float32 (from 8 and 16 bits) or "
               "float64, with NaN for BLANK. Compressed images (RICE_1, GZIP_1, GZIP_2, PLIO_1, HCOMPRESS_1 without "
               "smoothing; quantized numbers with their dither) are read; tables and random groups are a DataError. "
               "All images of a batch have one type and number of dimensions.\n\nExample:\n"
               "@pipeline_def(batch_size=32)\ndef arrays():\n    return fn.readers.fits(file_root=\"sky\", "
               "file_filter=\"*.fits\")")
        .inputs(0)
        .outputs(1)
        .loads_samples()
        .arg("file_root", &Op::file_root,
             "Folder whose files, and those of its subfolders, are read; or the start of relative paths.")
        .arg("file_filter", &Op::file_filter, "Glob pattern; names that match are read.")
        .arg("file_list", &Op::file_list, "Text file with a path on each line.")
        .arg("allow_outside_root", &Op::allow_outside_root, kAllowOutsideText)
        .arg("files", &Op::files, "Paths of the files.")
        .arg("hdu_indices", &Op::hdu_indices,
             "The HDUs to read, counted from 1, the primary one; default: the one after it.")
        .arg("dtypes", &Op::dtypes, "Type of each output, checked; default: the type of the files.")
        .with(reader_arguments<Op>);
  }
};

class FitsSource final : public ReaderSource {
 public:
  FitsSource(uint64_t seed, const ReadersFits& a)
      : ReaderSource(a),
        a_(a),
        files_(list_named_files({a.file_root, a.file_list, a.file_filter, a.files, a.allow_outside_root})),
        types_(files_.size() * a.hdu_indices.size()) {
    open(seed, static_cast<int64_t>(files_.size()), hash_of_names(files_));
  }

  void load(SourceBatch& batch, int i) const override {
    const int64_t index = batch.indices[i];
    try {
      const OpenFile file(files_[index]);
      for (int k = 0; k < a_.count_outputs(); ++k) read(file, batch, k, i, index);
    } catch (Error& e) {
      if (e.source.empty()) e.source = files_[index];
      throw;
    }
  }
  void loaded(SourceBatch& batch) const override {
    for (int k = 0; k < a_.count_outputs(); ++k)
      settle_type(batch, k, [&](int64_t index) { return types_[place(index, k)].load(); });
  }
  std::string data_set() const override { return common_folder(files_); }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    std::vector<Batch> out;
    for (int k = 0; k < a_.count_outputs(); ++k) out.emplace_back(a_.dtype(k), 1, Layout{}, n);
    return out;
  }
  std::string source_of(int64_t index) const override { return files_[index]; }

 private:
  size_t place(int64_t index, int k) const {
    return static_cast<size_t>(index) * a_.hdu_indices.size() + static_cast<size_t>(k);
  }

  void read(const OpenFile& file, SourceBatch& batch, int output, int i, int64_t index) const {
    const auto part = [&](int64_t offset, int64_t length, uint8_t* out) { file.read(offset, length, out); };
    const int64_t hdu = a_.hdu_indices[output];
    const FitsImage image = find_fits_image(part, file.stamp().bytes, hdu);
    if (const DType asked = a_.dtype(output); asked != DType::none && asked != image.dtype)
      bad_data("HDU {} has the type {}, dtypes requires {}", hdu, name_of(image.dtype), name_of(asked));
    types_[place(index, output)] = image.dtype;
    const size_t bytes = checked_bytes(image.shape.volume(), size_of(image.stored));
    const auto stored = allocate_shared(memory_, bytes);
    auto* from = static_cast<uint8_t*>(stored.get());
    read_fits_elements(part, image, from);
    const bool same = size_of(image.dtype) == size_of(image.stored);  // each element is read before it is written
    const auto result =
        same ? stored : allocate_shared(memory_, checked_bytes(image.shape.volume(), size_of(image.dtype)));
    convert_fits(image, from, result.get());
    give(batch.outputs[output], i, image.shape, result.get(), result);
  }

  ReadersFits a_;
  std::vector<std::string> files_;
  mutable std::vector<std::atomic<DType>> types_;  // of the images that were read
};

PENSTOCK_READER(ReadersFits, FitsSource);

}  // namespace
}  // namespace penstock
