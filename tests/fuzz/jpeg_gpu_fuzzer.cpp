// SPDX-License-Identifier: Apache-2.0
// Any bytes as a JPEG file for the GPU's decoder, its kernels on fibers: either it says that the file is damaged, or it
// gives the CPU's bytes; with other files beside it the same, and those are what they are without it. The last 8 bytes
// choose the region, the type and how the stream is cut.
#include <map>

#include "cuda/jpeg/jpeg_decoder.h"
#include "fuzz_images.h"
#include "host_driver.h"

using namespace penstock;

namespace {

struct Input {
  const std::vector<uint8_t>* file;
  ImageInfo info;
  Region region;
};
struct Output {
  bool damaged = false;
  std::vector<uint8_t> pixels;
  bool operator==(const Output& o) const { return damaged == o.damaged && (damaged || pixels == o.pixels); }
};

std::vector<Output> decode(BatchDecoder& decoder, Driver& driver, const std::vector<Input>& inputs,
                           const DecodeParams& params) {
  std::vector<Output> outputs(inputs.size());
  std::vector<DeviceDecode> images(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Region& r = inputs[i].region;
    outputs[i].pixels.resize(r.height * r.width * output_channels(inputs[i].info, params.type));
    images[i].file = *inputs[i].file;
    images[i].info = &inputs[i].info;
    images[i].pixels = outputs[i].pixels.data();
    images[i].region = {r.y, r.x, r.height, r.width};
  }
  const auto flight = decoder.decode(images, params, &driver);
  if (flight) flight->finish(images);
  for (size_t i = 0; i < inputs.size(); ++i) outputs[i].damaged = images[i].error.has_value();
  return outputs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 16) return 0;
  const uint8_t* choice = data + size - 8;
  const std::vector<uint8_t> file(data, data + size - 8);
  DecodeParams params;
  params.max_pixels = 1 << 14;
  params.type = static_cast<ImageType>(choice[4] % 3);
  static fuzz::HostDriver driver;
  static const auto make = [](jpeg_gpu::Division division) {
    std::string why;
    return make_jpeg_decoder(driver, 0, why, division);
  };
  static const std::unique_ptr<BatchDecoder> decoders[] = {make({}), make({1024, 1024, 2048}),
                                                           make({4096, 2048, 8192})};
  BatchDecoder& decoder = *decoders[choice[5] % 3];
  ImageInfo info;
  try {
    info = probe_image(file, params);
  } catch (const Error&) {
    return 0;
  }
  if (!decoder.declines(file, info, params, {}, nullptr).empty()) return 0;
  const Input input{&file, info, choice[6] % 2 ? fuzz::region_of(choice, info) : Region{0, 0, info.height, info.width}};
  const Output alone = decode(decoder, driver, {input}, params)[0];
  if (!alone.damaged) {
    const auto want = test::decode_by(JpegEngine::automatic, file, info, params, input.region);
    if (!want.error.empty() || want.pixels != alone.pixels) std::abort();
  }
  static const std::vector<test::File> good = fuzz::seed_files();
  const std::vector<uint8_t>*const before = &good[choice[7] % 8], *const after = &good[choice[7] / 8 % 8];
  std::vector<Input> together;
  for (const auto* f : {before, &file, after}) {
    const ImageInfo of = probe_image(*f, params);
    together.push_back(f == &file ? input : Input{f, of, {0, 0, of.height, of.width}});
  }
  const std::vector<Output> got = decode(decoder, driver, together, params);
  if (!(got[1] == alone)) std::abort();
  static std::map<std::pair<const void*, int>, std::vector<uint8_t>> known;
  for (const int i : {0, 2}) {
    auto& want = known[{together[i].file, static_cast<int>(params.type)}];
    if (want.empty())
      want = test::decode_by(JpegEngine::automatic, *together[i].file, together[i].info, params, together[i].region)
                 .pixels;
    if (got[i].damaged || got[i].pixels != want) std::abort();
  }
  return 0;
}
