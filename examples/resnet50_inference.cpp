// SPDX-License-Identifier: Apache-2.0
// usage: resnet50_inference FOLDER
// Takes what `python examples/resnet50.py --export FOLDER` wrote and classifies each picture. No Python runs
// here, and the tensors have the bytes that Python's have: a CRC-32 of each batch is printed for the comparison.
#include <cstdio>

#include "crc32.h"
#include "penstock/penstock.hpp"
#include "resnet50.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  try {
    const std::string folder = argv[1];
    std::vector<std::string> classes;
    std::ifstream names(folder + "/classes.txt");
    for (std::string name; std::getline(names, name);) classes.push_back(name);
    const ResNet50 network(folder + "/weights.bin");
    if (static_cast<int>(classes.size()) != network.classes())
      throw std::runtime_error("classes.txt and weights.bin do not belong together");

    penstock::Pipeline pipeline = penstock::Pipeline::load_file(folder + "/evaluation.json");
    int64_t left = pipeline.reader_meta("reader").epoch_size;
    std::vector<penstock::Batch> outputs;
    while (left > 0 && pipeline.next(outputs)) {
      const penstock::Batch& images =
          outputs[0];  // float32, CHW: what an engine takes, here images[0].data or to_dlpack()
      uint32_t crc = 0;
      for (int i = 0; i < images.size(); ++i) crc = crc32(crc, images[i].data, images[i].bytes);
      std::printf("batch %08x\n", crc);
      for (int i = 0; i < images.size(); ++i, --left) {
        const penstock::Tensor image = images[i];
        const std::vector<float> scores =
            network(image.as<float>(), static_cast<int>(image.shape[1]), static_cast<int>(image.shape[2]));
        const auto best = std::max_element(scores.begin(), scores.end());
        std::printf("%s\t%s\t%.4f\n", image.source.c_str(), classes[static_cast<size_t>(best - scores.begin())].c_str(),
                    *best);
      }
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
