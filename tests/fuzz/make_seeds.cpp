// SPDX-License-Identifier: Apache-2.0
// usage: make_seeds FOLDER: writes the fuzzers' first inputs into FOLDER/file, gpu, image, index, store and tools.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "codecs/image_format.h"
#include "codecs/jpeg/index_store_format.h"
#include "fuzz_images.h"

using namespace penstock;

namespace {

void write(const std::filesystem::path& path, const std::vector<uint8_t>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// For each format its first bytes, which the mutations go on from.
void write_signatures(const std::filesystem::path& folder) {
  for (const ImageFormat* format : image_formats())
    for (size_t k = 0; k < format->signatures.size(); ++k) {
      const auto& [at, bytes] = format->signatures[k];
      std::vector<uint8_t> file(at + bytes.size() + 64, 8);
      std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<ptrdiff_t>(at));
      write(folder / (std::string(format->id) + std::to_string(k)), file);
    }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  write_signatures(folder / "image");
  uint8_t number = 0;
  for (const auto& file : fuzz::seed_files()) {
    const std::string name = std::to_string(number);
    auto with_choice = file;
    const uint8_t n = number;
    for (int c : {n * 9, n * 5, 200, 255, +n, +n, +n, +n}) with_choice.push_back(static_cast<uint8_t>(c));
    write(folder / "file" / (name + ".jpg"), with_choice);
    write(folder / "gpu" / (name + ".jpg"), with_choice);
    write(folder / "tools" / (name + ".jpg"), file);
    const ImageInfo info = probe_image(file, {});
    test::KeptIndex making;
    making.step = 1 + number % 5;
    test::decode_by(JpegEngine::automatic, file, info, {}, {0, 0, info.height, info.width}, &making);
    if (!making.index.points.empty()) {
      std::vector<uint8_t> entry{number, 0, 30, 30, 200, 200}, changes{number, 1, 0, 0, 255, 255};
      append_entry({}, making.index, entry);
      for (uint8_t i = 0; i < 3; ++i) changes.insert(changes.end(), {i, 0, 0, 0, i, 5, 0, 0, 0});
      write(folder / "index" / name, entry);
      write(folder / "index" / (name + "c"), changes);
      const std::vector<uint8_t> alone(entry.begin() + 6, entry.end());
      const std::vector<const std::vector<uint8_t>*> entries{&alone, &alone};
      std::vector<DirectoryEntry> directory;
      std::vector<uint8_t> store = file_header();
      for (int k = 0; k < 2; ++k) {
        const auto segment = make_segment(entries, directory);
        store.insert(store.end(), segment.begin(), segment.end());
      }
      write(folder / "store" / name, store);
      write(folder / "store" / (name + "e"), alone);
    }
    ++number;
  }
}
