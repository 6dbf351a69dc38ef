// SPDX-License-Identifier: Apache-2.0
// usage: classification [FOLDER FILE...]
// What a server does before a classifier runs, with operators called one by one and no pipeline: pictures of different
// sizes, from files or from the program's memory, become one array (N, 3, 224, 224) of float32 in the memory
// that belongs to the engine. With the FOLDER of `python examples/resnet50.py --export FOLDER`, a ResNet-50 classifies
// the files; without arguments three frames are drawn. A CRC-32 of the array is printed: Python's calls give the
// same.
#include <cstdio>

#include "crc32.h"
#include "drawn_frames.h"
#include "penstock/fn.h"
#include "resnet50.h"

using namespace penstock;

namespace {

constexpr int64_t kSize = 224;

Batch decoded_files(const std::vector<std::string>& paths) {
  std::vector<std::vector<uint8_t>> files;
  std::vector<uint8_t*> bytes;
  std::vector<Shape> sizes;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    bytes.push_back(files.back().data());
    sizes.push_back({static_cast<int64_t>(files.back().size())});
  }
  return fn::decoders::image(Batch::wrap(bytes, sizes), {.output_type = ImageType::bgr});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {
    std::fprintf(stderr, "usage: %s [FOLDER FILE...]\n", argv[0]);
    return 2;
  }
  try {
    const std::vector<std::string> paths(argv + std::min(argc, 2), argv + argc);
    std::vector<std::vector<uint8_t>> memory;
    const std::vector<Shape> shapes{{480, 640, 3}, {300, 200, 3}, {96, 128, 3}};  // of a camera's frames, BGR
    for (const Shape& s : shapes) memory.push_back(examples::drawn_frame(s[0], s[1], s[2]));
    const Batch frames = paths.empty() ? examples::over(memory, shapes) : decoded_files(paths);
    const int64_t n = frames.size();

    std::vector<float> input(static_cast<size_t>(n * 3 * kSize * kSize));  // the engine's
    CallOptions options;
    options.into = {Batch::wrap(input.data(), {n, 3, kSize, kSize}, "CHW")};
    const Batch rgb =
        fn::color_space_conversion(frames, {.image_type = ColorFormat::bgr, .output_type = ColorFormat::rgb});
    const Batch same_size = fn::resize(rgb, {.size = {kSize, kSize}});
    fn::crop_mirror_normalize(
        same_size,
        {.mean = {{0.485 * 255, 0.456 * 255, 0.406 * 255}}, .std = {{0.229 * 255, 0.224 * 255, 0.225 * 255}}}, options);
    std::printf("batch %08x\n", crc32(0, input.data(), input.size() * sizeof(float)));

    if (paths.empty()) {
      for (int64_t i = 0; i < n; ++i) {
        const float* const planes = input.data() + i * 3 * kSize * kSize;
        const auto [low, high] = std::minmax_element(planes, planes + 3 * kSize * kSize);
        std::printf("frame %d: %.4f to %.4f\n", static_cast<int>(i), *low, *high);
        if (*low < -2.2f || *high > 2.7f) throw std::runtime_error("that is not a normalized picture");
      }
      return 0;
    }
    const std::string folder = argv[1];
    std::vector<std::string> classes;
    std::ifstream names(folder + "/classes.txt");
    for (std::string name; std::getline(names, name);) classes.push_back(name);
    const ResNet50 network(folder + "/weights.bin");
    classes.resize(static_cast<size_t>(network.classes()), "?");
    for (int64_t i = 0; i < n; ++i) {
      const std::vector<float> scores = network(input.data() + i * 3 * kSize * kSize, kSize, kSize);
      const auto best = std::max_element(scores.begin(), scores.end());
      std::printf("%s\t%s\t%.4f\n", paths[static_cast<size_t>(i)].c_str(),
                  classes[static_cast<size_t>(best - scores.begin())].c_str(), *best);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
