// SPDX-License-Identifier: Apache-2.0
// readers.file: files of a folder and their labels.
#include "codecs/file_formats.h"
#include "data/file_list.h"
#include "data/root_path.h"
#include "readers/picture_shapes.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

struct ReadersFile : ReaderOptions {
  std::string file_root, file_list;
  std::vector<std::string> files, dir_filters;
  std::vector<int64_t> labels, bucket_shapes;
  std::string picture_sizes;
  std::vector<std::string> file_filters = default_file_filters();
  bool case_sensitive_filter = false, allow_outside_root = false;
  int count_outputs() const override { return bucket_shapes.empty() ? 2 : 3; }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {DType::uint8, 1, {}};
    for (auto& o : out.subspan(1)) o = {DType::int32, 1, {}};
  }

  static Schema<ReadersFile> schema() {
    using Op = ReadersFile;
    return Schema<Op>(
               "readers.file",
               "Reads files and their integer labels.\n\nGive one of file_root (each subfolder is a class, labels "
               "count the sorted subfolders), file_list (a text file of lines \"path label\") or files. Outputs: the "
               "bytes of the file (uint8, 1-D) and the label (int32, shape (1,)); with bucket_shapes the shape that "
               "the "
               "pictures of the batch are nearest to (int32, shape (2,)).\n\nWith device=\"gpu\" and cuFile "
               "(`pip install penstock[cufile]`) files that only the GPU reads go straight into device memory; "
               "without cuFile they are read and uploaded.\n\nExample:\n@pipeline_def(batch_size=32)\ndef "
               "photos(folder):\n    jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True)\n    "
               "return fn.decoders.image(jpegs), labels")
        .inputs(0)
        .outputs(3)
        .lazy_files()
        .arg("file_root", &Op::file_root, "Folder with one subfolder per class, or the start of relative paths.")
        .arg("file_list", &Op::file_list, "Text file with a path and a label on each line.")
        .arg("files", &Op::files, "Paths of the files.")
        .arg("labels", &Op::labels, "Labels of `files`; default 0, 1, 2 ...")
        .arg("file_filters", &Op::file_filters, "Glob patterns; names that match one are read.")
        .arg("dir_filters", &Op::dir_filters, "Glob patterns for the names of class folders; empty: all.")
        .arg("case_sensitive_filter", &Op::case_sensitive_filter, "Patterns are case-sensitive.")
        .arg("bucket_shapes", &Op::bucket_shapes,
             "Height and width in turn of a few shapes: a batch has pictures whose aspect ratio is nearest to one of "
             "them. "
             "The size of each picture is read from its header when the pipeline is built. max_cost is in pixels: "
             "those of "
             "the shape times the number of samples.")
        .arg("picture_sizes", &Op::picture_sizes,
             "With bucket_shapes: an .npy file with height and width of each picture, (pictures, 2), instead of "
             "headers.")
        .arg("allow_outside_root", &Op::allow_outside_root, kAllowOutsideText)
        .with(reader_arguments<Op>);
  }
};

FileList list_files(const ReadersFile& a) {
  const int ways =
      !a.file_list.empty() + !a.files.empty() + (!a.file_root.empty() && a.file_list.empty() && a.files.empty());
  if (ways != 1) bad_argument("give exactly one of file_root, file_list and files");
  if (!a.labels.empty() && a.labels.size() != a.files.size())
    bad_argument("{} labels for {} files", a.labels.size(), a.files.size());
  if (!a.files.empty()) return FileList::from_names(a.files, {a.labels.begin(), a.labels.end()}, a.file_root);
  if (!a.file_list.empty()) return FileList::from_text(a.file_list, a.file_root, a.allow_outside_root);
  return FileList::from_folder(a.file_root, {a.file_filters, a.dir_filters, a.case_sensitive_filter});
}

class FileSource final : public ReaderSource {
 public:
  FileSource(uint64_t seed, const ReadersFile& a) : ReaderSource(a), args_(a), list_(list_files(a)) {
    open(seed, list_.size(), list_.hash());
    if (!a.bucket_shapes.empty()) find_shapes();
    else if (!a.picture_sizes.empty()) bad_argument("picture_sizes needs bucket_shapes");
  }

  std::string data_set() const override {
    if (!args_.file_root.empty()) return args_.file_root;
    return common_folder(args_.file_list.empty() ? args_.files : std::vector{args_.file_list});
  }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    std::vector<Batch> out{Batch(DType::uint8, 1, {}, n), Batch::uniform(DType::int32, Shape{1}, {}, n)};
    if (!args_.bucket_shapes.empty()) out.push_back(Batch::uniform(DType::int32, Shape{2}, {}, n));
    return out;
  }
  std::string source_of(int64_t index) const override { return list_.path(index); }
  void put_known(SourceBatch& batch, int i, int64_t index) const override {
    batch.outputs[1].view(i).as<int32_t>()[0] = list_.label(index);
    if (args_.bucket_shapes.empty()) return;
    const PictureShape& shape = shapes_[nearest_[static_cast<size_t>(index)]];
    batch.outputs[2].view(i).as<int32_t>()[0] = static_cast<int32_t>(shape.height);
    batch.outputs[2].view(i).as<int32_t>()[1] = static_cast<int32_t>(shape.width);
  }

 private:
  void find_shapes() {
    shapes_ = picture_shapes(args_.bucket_shapes);
    const auto path_of = [this](int64_t i) { return list_.path(i); };
    nearest_ = nearest_shapes(shapes_, args_.picture_sizes.empty() ? sizes_in_headers(list_.size(), path_of)
                                                                   : sizes_in_file(args_.picture_sizes, list_.size()));
    std::vector<float> pixels;
    for (const uint16_t k : nearest_) pixels.push_back(static_cast<float>(shapes_[k].height * shapes_[k].width));
    form_groups(std::move(pixels), {nearest_.begin(), nearest_.end()});
  }

  ReadersFile args_;
  FileList list_;
  std::vector<PictureShape> shapes_;
  std::vector<uint16_t> nearest_;  // of each picture
};

PENSTOCK_READER(ReadersFile, FileSource);

}  // namespace
}  // namespace penstock
