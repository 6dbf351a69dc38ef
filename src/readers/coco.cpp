// SPDX-License-Identifier: Apache-2.0
// readers.coco: images of a folder with COCO's annotations.
#include <set>

#include "data/coco_preprocessed.h"
#include "data/hash.h"
#include "data/root_path.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

struct ReadersCoco : ReaderOptions {
  std::string file_root, annotations_file, save_preprocessed_annotations_dir, preprocessed_annotations, meta_files_path,
      dump_meta_files_path;
  std::vector<std::string> images;
  bool ltrb = false, ratio = false, skip_empty = false, include_iscrowd = true, avoid_class_remapping = false;
  bool polygon_masks = false, pixelwise_masks = false, masks = false, image_ids = false, save_img_ids = false;
  bool allow_outside_root = false, save_preprocessed_annotations = false, dump_meta_files = false;
  double size_threshold = 0.1;
  bool polygons() const { return polygon_masks || masks; }
  bool ids() const { return image_ids || save_img_ids; }
  CocoParts parts() const { return {polygons() || pixelwise_masks, pixelwise_masks, ids()}; }
  const std::string& preprocessed() const {
    return preprocessed_annotations.empty() ? meta_files_path : preprocessed_annotations;
  }
  const std::string& annotations() const { return preprocessed().empty() ? annotations_file : preprocessed(); }
  bool saves() const { return save_preprocessed_annotations || dump_meta_files; }
  const std::string& saved_to() const {
    return save_preprocessed_annotations_dir.empty() ? dump_meta_files_path : save_preprocessed_annotations_dir;
  }
  void check_annotations() const {
    if (annotations_file.empty() && preprocessed().empty()) bad_argument("the argument 'annotations_file' is required");
    if (!preprocessed().empty() && (!annotations_file.empty() || !images.empty() || saves()))
      bad_argument(
          "preprocessed_annotations and each of annotations_file, images and save_preprocessed_annotations are "
          "mutually exclusive");
    if (saves() && saved_to().empty())
      bad_argument("save_preprocessed_annotations needs save_preprocessed_annotations_dir");
  }
  int count_outputs() const override { return 3 + 2 * polygons() + pixelwise_masks + ids(); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    check_annotations();
    if (polygons() && pixelwise_masks) bad_argument("polygon_masks and pixelwise_masks are mutually exclusive");
    out[0] = {DType::uint8, 1, {}}, out[1] = {DType::float32, 2, {}}, out[2] = {DType::int32, 1, {}};
    if (polygons()) out[3] = {DType::int32, 2, {}}, out[4] = {DType::float32, 2, {}};
    if (pixelwise_masks) out[3] = {DType::int32, 3, "HWC"};
    if (ids()) out[count_outputs() - 1] = {DType::int32, 1, {}};
  }

  static Schema<ReadersCoco> schema() {
    using Op = ReadersCoco;
    return Schema<Op>(
               "readers.coco",
               "Reads images with annotations in COCO's format, ordered by their ids.\n\nOutputs: the bytes of the "
               "image (uint8, 1-D), boxes (float32, (n, 4): x, y, width, height in pixels), labels (int32, (n,)); "
               "with polygon_masks=True polygons (int32, (p, 3): object, first vertex and the one after the last) and "
               "vertices (float32, (v, 2)); with pixelwise_masks=True a mask (int32, HWC, one channel: the label of "
               "the object there, the highest one if objects overlap, 0 for the background); with image_ids=True the "
               "id (int32, (1,)).\n\nExample:\n@pipeline_def(batch_size=32)\ndef pictures():\n    jpegs, boxes, "
               "labels = fn.readers.coco(file_root=\"images\", annotations_file=\"instances.json\", ratio=True)\n    "
               "return fn.decoders.image(jpegs), boxes, labels")
        .inputs(0)
        .outputs(3)
        .lazy_files()
        .loads_samples()
        .arg("file_root", &Op::file_root, "Folder that the names of images are relative to.")
        .arg("allow_outside_root", &Op::allow_outside_root,
             "Read images whose file_name is an absolute path, a URL or leads out of file_root by \"..\"; otherwise "
             "such a name is a DataError. Symbolic links are always followed.")
        .arg("annotations_file", &Op::annotations_file,
             "Path of the JSON file. Required without preprocessed_annotations.")
        .arg("images", &Op::images, "Names of the images to read, in this order; default: all, by id.")
        .arg("ltrb", &Op::ltrb, "Boxes are left, top, right, bottom.")
        .arg("ratio", &Op::ratio, "Boxes and vertices are in units of the image's width and height.")
        .arg("size_threshold", &Op::size_threshold, "Omit boxes whose width or height in pixels is less than this.")
        .arg("skip_empty", &Op::skip_empty, "Omit images without objects.")
        .arg("include_iscrowd", &Op::include_iscrowd, "Also read annotations of crowds.")
        .arg("avoid_class_remapping", &Op::avoid_class_remapping,
             "Labels are the categories' ids, not 1, 2 ... in their order.")
        .arg("polygon_masks", &Op::polygon_masks, "Give the objects' polygons.")
        .arg("pixelwise_masks", &Op::pixelwise_masks, "Add an output: a mask of labels.")
        .arg("image_ids", &Op::image_ids, "Give the image's id.")
        .arg("masks", &Op::masks, "Deprecated: polygon_masks with positions of coordinates instead of vertices.")
        .arg("save_img_ids", &Op::save_img_ids, "Deprecated name of image_ids.")
        .arg("save_preprocessed_annotations", &Op::save_preprocessed_annotations,
             "Save what the reader makes of the annotations: the files that preprocessed_annotations names.")
        .arg("save_preprocessed_annotations_dir", &Op::save_preprocessed_annotations_dir,
             "The folder that they are saved to; it is made if it does not exist.")
        .arg("dump_meta_files", &Op::dump_meta_files, "Deprecated name of save_preprocessed_annotations.")
        .arg("dump_meta_files_path", &Op::dump_meta_files_path, "Deprecated name of save_preprocessed_annotations_dir.")
        .arg("preprocessed_annotations", &Op::preprocessed_annotations,
             "A folder of saved annotations, also of DALI's, instead of annotations_file; masks and image_ids as when "
             "they were saved. They are given as they are: ltrb, ratio, size_threshold, skip_empty, include_iscrowd "
             "and avoid_class_remapping were applied before they were saved.")
        .arg("meta_files_path", &Op::meta_files_path, "Deprecated name of preprocessed_annotations.")
        .with(reader_arguments<Op>);
  }
};

class CocoSource final : public ReaderSource {
 public:
  CocoSource(uint64_t seed, const ReadersCoco& a) : ReaderSource(a), a_(a) {
    a.check_annotations();
    if (!a.preprocessed().empty()) {
      images_ = load_coco(a.preprocessed(), a.parts());
    } else {
      CocoOptions o;
      o.include_iscrowd = a.include_iscrowd, o.avoid_class_remapping = a.avoid_class_remapping,
      o.skip_empty = a.skip_empty;
      o.size_threshold = a.size_threshold, o.outlines = a.polygons() || a.pixelwise_masks;
      images_ = read_coco(a.annotations_file, a.images, o);
      for (CocoImage& i : images_) {
        if (a.ids() && i.id > INT32_MAX)
          fail_on(a.annotations_file, ErrorKind::data, "the image id {} does not fit into 32 bits", i.id);
        put_in_form(i);
      }
      if (a.saves()) save_coco(a.saved_to(), images_, a.parts());
    }
    const std::string root = a.file_root.empty() ? "./" : a.file_root;
    uint64_t hash = 0;
    for (const auto& i : images_) {
      path_below(a.file_root, root, i.file_name, a.allow_outside_root, a.annotations(), fmt::format("image {}", i.id));
      hash = hash_bytes(i.file_name, hash) ^ mix64(static_cast<uint64_t>(i.id) + i.objects.size());
    }
    open(seed, static_cast<int64_t>(images_.size()), hash);
  }

  void load(SourceBatch& batch, int i) const override {
    const CocoImage& image = images_[batch.indices[i]];
    try {
      load_objects(batch, i, image);
    } catch (Error& e) {
      e.source = fmt::format("{}, image {}", a_.annotations(), image.id);
      throw;
    }
  }
  std::string data_set() const override {
    return a_.file_root.empty() ? common_folder(std::vector{a_.annotations()}) : a_.file_root;
  }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    std::vector<ValueType> types(a_.count_outputs());
    a_.infer({}, types);
    std::vector<Batch> out;
    for (const auto& t : types) out.emplace_back(t.dtype, t.ndim, t.layout, n);
    return out;
  }
  std::string source_of(int64_t index) const override { return path_in(a_.file_root, images_[index].file_name); }

 private:
  template <class T> static void put(Batch& output, int i, const Shape& shape, std::vector<T> values) {
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    give(output, i, shape, owner->data(), owner);
  }

  // Boxes and polygons as they are given.
  void put_in_form(CocoImage& image) const {
    const float w = a_.ratio ? static_cast<float>(image.width) : 1, h = a_.ratio ? static_cast<float>(image.height) : 1;
    if (w == 0 || h == 0) return;  // its error is the sample's
    for (CocoObject& o : image.objects) {
      if (a_.ltrb) o.box[2] += o.box[0], o.box[3] += o.box[1];
      for (int k = 0; k < 4; ++k) o.box[k] /= k % 2 ? h : w;
      for (auto& polygon : o.polygons)
        for (size_t k = 0; k < polygon.size() && a_.polygons(); ++k) polygon[k] /= k % 2 ? h : w;
    }
  }

  void load_objects(SourceBatch& batch, int i, const CocoImage& image) const {
    const auto n = static_cast<int64_t>(image.objects.size());
    if (a_.ratio && a_.preprocessed().empty() && (image.width == 0 || image.height == 0))
      bad_data("the image has no width and height, which ratio=True needs");
    std::vector<float> boxes, vertices;
    std::vector<int32_t> labels, polygons;
    for (const CocoObject& o : image.objects) {
      boxes.insert(boxes.end(), std::begin(o.box), std::end(o.box));
      for (const auto& polygon : o.polygons) {
        const auto first = static_cast<int32_t>(vertices.size());
        vertices.insert(vertices.end(), polygon.begin(), polygon.end());
        const int32_t per = a_.masks ? 1 : 2;
        polygons.insert(polygons.end(), {static_cast<int32_t>(labels.size()), first / per,
                                         static_cast<int32_t>(vertices.size()) / per});
      }
      labels.push_back(o.label);
    }
    put(batch.outputs[1], i, Shape{n, 4}, std::move(boxes));
    put(batch.outputs[2], i, Shape{n}, std::move(labels));
    if (a_.polygons()) {
      const auto p = static_cast<int64_t>(polygons.size()) / 3, v = static_cast<int64_t>(vertices.size()) / 2;
      put(batch.outputs[3], i, Shape{p, 3}, std::move(polygons));
      put(batch.outputs[4], i, Shape{v, 2}, std::move(vertices));
    }
    if (a_.pixelwise_masks) {
      if (image.width * image.height > default_file_limit / 4)
        bad_data("the image has {} x {} pixels", image.width, image.height);
      std::vector<int32_t> mask(static_cast<size_t>(image.width * image.height));
      std::set<int32_t> present;
      for (const CocoObject& o : image.objects) present.insert(o.label);
      for (const int32_t label : present)
        for (const CocoObject& o : image.objects)
          if (o.label == label) draw_object(o, label, image.height, image.width, mask);
      put(batch.outputs[3], i, Shape{image.height, image.width, 1}, std::move(mask));
    }
    if (a_.ids()) put(batch.outputs[a_.count_outputs() - 1], i, Shape{1}, std::vector{static_cast<int32_t>(image.id)});
  }

  ReadersCoco a_;
  std::vector<CocoImage> images_;
};

PENSTOCK_READER(ReadersCoco, CocoSource);

}  // namespace
}  // namespace penstock
