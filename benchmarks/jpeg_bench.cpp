// SPDX-License-Identifier: Apache-2.0
// Penstock's JPEG decoder against libjpeg-turbo, in one process, on one core.
//
//   jpeg_bench [--libjpeg FILE.so]... [--rounds N] [--images N] [--only TEXT] [--json FILE] NAME=FOLDER...
//
// Each NAME=FOLDER is a set of JPEG files. Out of the first one more sets are made: other qualities, samplings, restart
// markers, small pictures. In each round all methods go over the whole set in a random order; a figure is the median of
// the rounds' ratios to the faster of the libjpeg-turbos. The regions are those of random resized crops.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <nlohmann/json.hpp>

#include "codecs/decode_task.h"
#include "codecs/jpeg/baseline_decoder.h"
#include "codecs/jpeg/entropy_index.h"
#include "codecs/test_images.h"

namespace {

using namespace penstock;
using File = std::vector<uint8_t>;

// A libjpeg-turbo with the interface of version 6.2, loaded by its path: several can live in one process.
struct Library {
  std::string name;
  decltype(&jpeg_std_error) std_error;
  decltype(&jpeg_CreateDecompress) create;
  decltype(&jpeg_mem_src) source;
  decltype(&jpeg_read_header) header;
  decltype(&jpeg_start_decompress) start;
  decltype(&jpeg_crop_scanline) crop;
  decltype(&jpeg_skip_scanlines) skip;
  decltype(&jpeg_read_scanlines) read;
  decltype(&jpeg_destroy_decompress) destroy;

  explicit Library(const std::string& path) : name("libjpeg-turbo " + path.substr(path.find_last_of('/') + 1)) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!handle) throw std::runtime_error(dlerror());
    auto load = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
      if (!function) throw std::runtime_error(path + " has no " + symbol);
    };
    load(std_error, "jpeg_std_error"), load(create, "jpeg_CreateDecompress"), load(source, "jpeg_mem_src");
    load(header, "jpeg_read_header"), load(start, "jpeg_start_decompress"), load(crop, "jpeg_crop_scanline");
    load(skip, "jpeg_skip_scanlines"), load(read, "jpeg_read_scanlines"), load(destroy, "jpeg_destroy_decompress");
  }

  // Its own region decode, widened to the left as jpeg_crop_scanline does it.
  void decode(const File& file, const Region& region, std::vector<uint8_t>& out) const {
    jpeg_decompress_struct d;
    jpeg_error_mgr errors;
    d.err = std_error(&errors);
    create(&d, JPEG_LIB_VERSION, sizeof d);
    source(&d, file.data(), file.size());
    header(&d, TRUE);
    d.out_color_space = JCS_RGB;
    start(&d);
    JDIMENSION x = region.x, width = region.width;
    if (width != d.output_width) crop(&d, &x, &width);
    if (region.y) skip(&d, region.y);
    const size_t row = size_t{width} * 3;
    if (out.size() < row * region.height + 64) out.resize(row * region.height + 64);
    const JDIMENSION last = region.y + region.height;
    while (d.output_scanline < last) {
      JSAMPROW rows[16];
      const JDIMENSION count = std::min<JDIMENSION>(16, last - d.output_scanline);
      for (JDIMENSION i = 0; i < count; ++i) rows[i] = out.data() + row * (d.output_scanline - region.y + i);
      read(&d, rows, count);
    }
    destroy(&d);
  }
};

// --- the sets --------------------------------------------------------------------------------------------------------

struct Picture {
  File file;
  ImageInfo info;
  Region crop;
  EntropyIndex index;
};
using Set = std::vector<Picture>;

struct OneIndex : EntropyIndexAccess {
  Picture* picture = nullptr;
  bool has = false;
  int step = 0;
  bool find(Bytes, EntropyIndex& into) override {
    if (has) into = picture->index;
    return has;
  }
  int wanted_step() const override { return step; }
  void offer(Bytes, const EntropyIndex& index) override { picture->index = index; }
};

void decode_ours(Picture* const* pictures, int count, bool crops, OneIndex* index, std::vector<uint8_t>* out) {
  DecodeTask tasks[2];
  for (int i = 0; i < count; ++i) {
    Picture& p = *pictures[i];
    DecodeTask& t = tasks[i];
    t.file = p.file;
    t.info = probe_image(p.file, t.params);
    t.region = crops ? p.crop : Region{0, 0, p.info.height, p.info.width};
    const size_t bytes = t.region.height * t.region.width * 3;
    if (out[i].size() < bytes) out[i].resize(bytes);
    t.sink = {out[i].data(), t.region.width * 3};
    if (index) index[i].picture = &p, t.index = &index[i];
  }
  decode_images({tasks, static_cast<size_t>(count)});
  for (int i = 0; i < count; ++i)
    if (tasks[i].error) throw Error(*tasks[i].error);
}

Region random_resized_crop(std::mt19937& random, int64_t height, int64_t width) {
  std::uniform_real_distribution<double> scale(0.08, 1), ratio(std::log(3. / 4), std::log(4. / 3));
  for (int i = 0; i < 10; ++i) {
    const double area = scale(random) * height * width, r = std::exp(ratio(random));
    const int64_t w = std::lround(std::sqrt(area * r)), h = std::lround(std::sqrt(area / r));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    return {static_cast<int64_t>(random() % (height - h + 1)), static_cast<int64_t>(random() % (width - w + 1)), h, w};
  }
  return {0, 0, height, width};
}

void add(Set& set, File file, std::mt19937& random) {
  Picture p;
  p.info = probe_image(file, {});
  p.file = std::move(file);
  p.crop = random_resized_crop(random, p.info.height, p.info.width);
  set.push_back(std::move(p));
}

struct Encoding {
  std::string name;
  int low, high;  // quality
  int h = 2, v = 2;
  bool gray = false, optimized = false;
  int restart_rows = 0;
  int64_t largest = 1 << 20;  // pixels on a side: cut out of the middle
};

File encode(const Picture& p, const std::vector<uint8_t>& rgb, const Encoding& e, int quality) {
  const int64_t width = std::min(p.info.width, e.largest), height = std::min(p.info.height, e.largest);
  const int64_t left = (p.info.width - width) / 2, top = (p.info.height - height) / 2;
  std::vector<uint8_t> pixels;
  for (int64_t y = top; y < top + height; ++y) {
    const auto row = rgb.begin() + (y * p.info.width + left) * 3;
    pixels.insert(pixels.end(), row, row + width * 3);
  }
  test::JpegRecipe r;
  r.height = static_cast<int>(height), r.width = static_cast<int>(width), r.quality = quality;
  r.h = e.gray ? 1 : e.h, r.v = e.gray ? 1 : e.v;
  if (e.gray) r.stored = JCS_GRAYSCALE;
  r.optimized = e.optimized, r.restart_rows = e.restart_rows;
  return test::make_jpeg(r, pixels);
}

Set read_set(const std::string& folder, size_t most, std::mt19937& random) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (const auto e = entry.path().extension(); e == ".jpg" || e == ".jpeg" || e == ".JPEG") paths.push_back(entry);
  std::sort(paths.begin(), paths.end());
  std::shuffle(paths.begin(), paths.end(), random);
  if (paths.size() > most) paths.resize(most);
  Set set;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    add(set, File(std::istreambuf_iterator<char>(in), {}), random);
  }
  if (set.empty()) throw std::runtime_error("no JPEG files in " + folder);
  return set;
}

// --- measuring -------------------------------------------------------------------------------------------------------

struct Method {
  std::string name;
  std::function<void(Set&)> run;
  std::vector<double> seconds;
};

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}

// Of this thread: whoever else runs on the machine is not counted. Nothing here waits.
double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

void measure(std::vector<Method>& methods, Set& set, int rounds, std::mt19937& random) {
  for (int r = -1; r < rounds; ++r) {  // the first one warms up
    std::vector<Method*> order;
    for (Method& m : methods) order.push_back(&m);
    std::shuffle(order.begin(), order.end(), random);
    for (Method* m : order) {
      const double start = processor_seconds();
      m->run(set);
      if (r >= 0) m->seconds.push_back(processor_seconds() - start);
    }
  }
}

std::vector<Method> make_methods(const std::vector<Library>& libraries, bool crops) {
  static std::vector<uint8_t> out[2];
  std::vector<Method> methods;
  for (const Library& l : libraries)
    methods.push_back({l.name,
                       [&l, crops](Set& set) {
                         for (Picture& p : set)
                           l.decode(p.file, crops ? p.crop : Region{0, 0, p.info.height, p.info.width}, out[0]);
                       },
                       {}});
  auto ours = [&](const std::string& name, int together, bool has_index, int make_step) {
    methods.push_back({name,
                       [=](Set& set) {
                         OneIndex index[2];
                         for (OneIndex& i : index) i.has = has_index, i.step = make_step;
                         for (size_t i = 0; i < set.size(); i += together) {
                           const int count = std::min<size_t>(together, set.size() - i);
                           Picture* pictures[2] = {&set[i], count > 1 ? &set[i + 1] : nullptr};
                           decode_ours(pictures, count, crops, has_index || make_step ? index : nullptr, out);
                         }
                       },
                       {}});
  };
  ours("penstock, one alone", 1, false, 0);
  ours("penstock, two in turn", 2, false, 0);
  ours("penstock, two in turn, making an index", 2, false, 8);
  ours("penstock, index of step 8", 2, true, 0);
  return methods;
}

struct Options {
  std::vector<Library> libraries;
  int rounds = 7;
  size_t images = 100;
  std::string only, json;
  std::vector<std::pair<std::string, std::string>> sets;
};

Options read_options(int argc, char** argv) {
  Options o;
  std::vector<std::string> paths{"libjpeg.so.62"};
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const bool more = i + 1 < argc;
    if (a == "--libjpeg" && more) paths.push_back(argv[++i]);
    else if (a == "--rounds" && more) o.rounds = std::stoi(argv[++i]);
    else if (a == "--images" && more) o.images = std::stoi(argv[++i]);
    else if (a == "--only" && more) o.only = argv[++i];
    else if (a == "--json" && more) o.json = argv[++i];
    else if (const size_t at = a.find('='); at != a.npos) o.sets.emplace_back(a.substr(0, at), a.substr(at + 1));
    else throw std::runtime_error("unknown argument " + a);
  }
  for (const std::string& p : paths) o.libraries.emplace_back(p);
  if (o.sets.empty()) throw std::runtime_error("usage: jpeg_bench [--libjpeg FILE.so] [--rounds N] NAME=FOLDER...");
  return o;
}

std::vector<std::pair<std::string, Set>> make_sets(const Options& o, std::mt19937& random) {
  std::vector<std::pair<std::string, Set>> sets;
  for (const auto& [name, folder] : o.sets) sets.emplace_back(name, read_set(folder, o.images, random));
  const Encoding encodings[] = {{"q75-85, own tables", 75, 85, 2, 2, false, true},
                                {"4:4:4, q90", 90, 90, 1, 1},
                                {"4:2:2, q90", 90, 90, 2, 1},
                                {"4:4:0, q90", 90, 90, 1, 2},
                                {"gray, q90", 90, 90, 1, 1, true},
                                {"restart markers, q90", 90, 90, 2, 2, false, false, 1},
                                {"128 pixels, q90", 90, 90, 2, 2, false, false, 0, 128},
                                {"64 pixels, q90", 90, 90, 2, 2, false, false, 0, 64}};
  const size_t first = sets.front().second.size();
  for (const Encoding& e : encodings) {
    Set set;
    for (size_t i = 0; i < first; ++i) {
      const Picture& p = sets.front().second[i];
      std::vector<uint8_t> rgb(p.info.height * p.info.width * 3);
      decode_image(p.file, p.info, {}, {0, 0, p.info.height, p.info.width}, {rgb.data(), p.info.width * 3});
      add(set, encode(p, rgb, e, e.low + random() % (e.high - e.low + 1)), random);
    }
    sets.emplace_back(e.name, std::move(set));
  }
  return sets;
}

int run(int argc, char** argv) {
  const Options o = read_options(argc, argv);
  std::mt19937 random(1);
  nlohmann::json results = nlohmann::json::array();
  for (auto& [name, set] : make_sets(o, random)) {
    if (name.find(o.only) == std::string::npos) continue;
    size_t bytes = 0;
    for (const Picture& p : set) bytes += p.file.size();
    for (const bool crops : {false, true}) {
      auto methods = make_methods(o.libraries, crops);
      methods[o.libraries.size() + 2].run(set);  // so that each picture has its index
      measure(methods, set, o.rounds, random);
      size_t rival = 0;
      for (size_t i = 1; i < o.libraries.size(); ++i)
        if (median(methods[i].seconds) < median(methods[rival].seconds)) rival = i;
      std::printf("%s, %zu pictures of %.1f KB, %s\n", name.c_str(), set.size(), bytes / 1e3 / set.size(),
                  crops ? "random resized crop" : "full");
      for (const Method& m : methods) {
        std::vector<double> ratios;
        for (int r = 0; r < o.rounds; ++r) ratios.push_back(methods[rival].seconds[r] / m.seconds[r]);
        const double each = median(m.seconds) / set.size();
        std::printf("  %-42s %8.0f img/s %8.1f us  %5.2f x\n", m.name.c_str(), 1 / each, each * 1e6, median(ratios));
        results.push_back({{"set", name},
                           {"decode", crops ? "random resized crop" : "full"},
                           {"method", m.name},
                           {"microseconds", each * 1e6},
                           {"ratio", median(ratios)},
                           {"lowest_ratio", *std::min_element(ratios.begin(), ratios.end())},
                           {"highest_ratio", *std::max_element(ratios.begin(), ratios.end())},
                           {"rounds", o.rounds},
                           {"pictures", set.size()},
                           {"bytes", bytes}});
      }
      std::fflush(stdout);
    }
  }
  if (!o.json.empty()) std::ofstream(o.json) << results.dump(1) << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "jpeg_bench: %s\n", e.what());
    return 1;
  }
}
