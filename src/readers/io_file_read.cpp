// SPDX-License-Identifier: Apache-2.0
// io.file.read: the bytes of files whose names are data in the pipeline.
#include "data/storage.h"
#include "operator/operator.h"

namespace penstock {
namespace {

struct IoFileRead : WholeOperator {
  bool dont_use_mmap = false, use_o_direct = false;

  static Schema<IoFileRead> schema() {
    using Op = IoFileRead;
    return Schema<Op>("io.file.read",
                      "Reads files.\n\nInput: paths (or URLs, as readers take them) as uint8 or int8, one dimension; "
                      "a 0 at their end is omitted. Output: the bytes of the file, uint8, one dimension. A file that "
                      "does not exist is a FileNotFoundError; a file that cannot be read is a DataError.\n\nExample:\n"
                      "data = fn.io.file.read(np.frombuffer(b\"photos/cat.jpg\", np.uint8))")
        .input_names({"filepaths"})
        .arg("dont_use_mmap", &Op::dont_use_mmap, "Accepted without effect.")
        .arg("use_o_direct", &Op::use_o_direct, "Accepted without effect.")
        .batch_wide()
        .host_only("it reads files")
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::int8 && in[0].dtype != DType::none)
      bad_type("expected paths as uint8 or int8, got {}", name_of(in[0].dtype));
    out[0] = {DType::uint8, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {-1};
    if (!s.batch_state) return;
    const auto& files = *static_cast<const Files*>(s.batch_state);
    auto file = std::make_unique<OpenFile>(path(files.paths.view(s.index)));
    const int64_t bytes = file->stamp().bytes;
    if (bytes > default_file_limit)
      fail_on(file->path(), ErrorKind::data, "{} bytes, more than {}", bytes, default_file_limit);
    files.opened[s.index] = std::move(file);
    out[0] = {bytes};
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    return std::make_shared<Files>(in[0]);
  }
  // Errors of what is made of the bytes name this file, not the one that the reader of the pipeline gave.
  void batch_shapes(std::span<const Batch> in, std::span<const ValueType>, std::span<Batch> out) const override {
    for (int i = 0; i < in[0].size(); ++i)
      if (const View v = in[0].view(i); v.dense()) out[0].sample(i).source = text(v);
  }
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const override {
    const auto file = std::exchange(static_cast<const Files*>(s.batch_state)->opened[s.index], nullptr);
    if (out[0].volume() > 0) file->read(0, out[0].volume(), out[0].as<uint8_t>());
  }

 private:
  struct Files {
    explicit Files(const Batch& b) : paths(b), opened(b.size()) {}
    Batch paths;
    mutable std::vector<std::unique_ptr<OpenFile>> opened;
  };
  static std::string text(const View& v) {
    std::string p(v.as<const char>(), static_cast<size_t>(v.volume()));
    while (!p.empty() && p.back() == '\0') p.pop_back();
    return p;
  }
  static std::string path(const View& v) {
    if (!v.dense()) bad_type("the bytes of a path are not contiguous");
    std::string p = text(v);
    if (p.empty() || p.find('\0') != std::string::npos)
      bad_argument("a path must not be empty and must not contain a zero byte");
    return p;
  }
};
PENSTOCK_OPERATOR(IoFileRead);

}  // namespace
}  // namespace penstock
