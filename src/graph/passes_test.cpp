// SPDX-License-Identifier: Apache-2.0
#include "graph/passes.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

// A ResNet-50 training pipeline as Python writes it, with one unused operator.
struct Resnet {
  Graph g;
  int reader, image, crop, hue, coin, normalized;

  int add(const char* op, std::vector<ValueRef> inputs, std::vector<std::pair<std::string, Value>> constants = {},
          std::vector<std::pair<std::string, ValueRef>> per_sample = {}) {
    Node n;
    n.op = op, n.inputs = std::move(inputs), n.constants = std::move(constants), n.per_sample = std::move(per_sample);
    return g.add(std::move(n));
  }
  Resnet() {
    reader = add("readers.file", {}, {{"file_root", Value(std::string("photos"))}});
    image = add("decoders.image", {{reader, 0}});
    crop = add("random_resized_crop", {{image, 0}}, {{"size", Value(std::vector<int64_t>{224, 224})}});
    hue = add("hue", {{crop, 0}}, {{"hue", Value(30.0)}});
    coin = add("random.coin_flip", {});
    normalized = add("crop_mirror_normalize", {{crop, 0}}, {{"mean", Value(std::vector<double>{124, 116, 104})}},
                     {{"mirror", {coin, 0}}});
    g.set_outputs({{normalized, 0}, {reader, 1}});
  }
  std::vector<std::string> texts(PlanOptions options = {}) const {
    std::vector<PassText> t;
    make_plan(g, options, &t);
    std::vector<std::string> s;
    for (auto& x : t) s.push_back(x.pass + "\n" + x.text);
    return s;
  }
};

TEST(Passes, TextAfterEach) {
  EXPECT_EQ(
      Resnet().texts(),
      (std::vector<std::string>{
          "trace\n"
          "%0 = readers.file() file_root='photos'\n"
          "%1 = decoders.image(%0.0)\n"
          "%2 = random_resized_crop(%1) size=[224, 224]\n"
          "%3 = hue(%2) hue=30.0\n"
          "%4 = random.coin_flip()\n"
          "%5 = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] mirror=%4\n"
          "return %5, %0.1\n",
          "infer\n"
          "%0: uint8 1-d, int32 1-d = readers.file() file_root='photos'\n"
          "%1: uint8 HWC = decoders.image(%0.0)\n"
          "%2: uint8 HWC = random_resized_crop(%1) size=[224, 224]\n"
          "%3: uint8 HWC = hue(%2) hue=30.0\n"
          "%4: int32 0-d = random.coin_flip()\n"
          "%5: float32 CHW = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] mirror=%4\n"
          "return %5, %0.1\n",
          "prune\n"
          "%0: uint8 1-d, int32 1-d = readers.file() file_root='photos'\n"
          "%1: uint8 HWC = decoders.image(%0.0)\n"
          "%2: uint8 HWC = random_resized_crop(%1) size=[224, 224]\n"
          "%4: int32 0-d = random.coin_flip()\n"
          "%5: float32 CHW = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] mirror=%4\n"
          "return %5, %0.1\n",
          "place\n"
          "%0: uint8 1-d, int32 1-d = readers.file() file_root='photos'\n"
          "%1: uint8 HWC = decoders.image(%0.0)\n"
          "%2: uint8 HWC = random_resized_crop(%1) size=[224, 224]\n"
          "%4: int32 0-d = random.coin_flip()\n"
          "%5: float32 CHW = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] mirror=%4\n"
          "return %5, %0.1\n",
          "push_down\n"
          "%0: uint8 1-d, int32 1-d = readers.file() file_root='photos'\n"
          "%1: uint8 HWC = decoders.image(%0.0)\n"
          "%2: uint8 HWC = random_resized_crop(%1) size=[224, 224]  -> %1\n"
          "%4: int32 0-d = random.coin_flip()\n"
          "%5: float32 CHW = crop_mirror_normalize(%2) mean=[124.0, 116.0, 104.0] mirror=%4  -> %1\n"
          "return %5, %0.1\n",
          "group\n"
          "source: %0 readers.file\n"
          "whole: %4 random.coin_flip\n"
          "stage: %1 decoders.image %2 random_resized_crop %5 crop_mirror_normalize\n",
          "add_transfers\n"
          "source: %0 readers.file\n"
          "whole: %4 random.coin_flip\n"
          "stage: %1 decoders.image %2 random_resized_crop %5 crop_mirror_normalize\n",
          "add_reads\n"
          "source: %0 readers.file\n"
          "whole: %4 random.coin_flip\n"
          "stage: %1 decoders.image %2 random_resized_crop %5 crop_mirror_normalize (reads files)\n",
          "decode_regions\n"
          "source: %0 readers.file\n"
          "whole: %4 random.coin_flip\n"
          "stage: %1 decoders.image %2 random_resized_crop %5 crop_mirror_normalize (reads files)\n",
          "last_use\n"
          "source: %0 readers.file\n"
          "whole: %4 random.coin_flip\n"
          "stage: %1 decoders.image %2 random_resized_crop %5 crop_mirror_normalize (reads files); frees %0.0, %4\n"}));
}

TEST(Passes, WithoutPushDownTheDecoderStandsAlone) {
  PlanOptions options;
  options.push_down = false;
  EXPECT_EQ(Resnet().texts(options).back(),
            "last_use\n"
            "source: %0 readers.file\n"
            "stage: %1 decoders.image (reads files); frees %0.0\n"
            "whole: %4 random.coin_flip\n"
            "stage: %2 random_resized_crop %5 crop_mirror_normalize; frees %1, %4\n");
}

TEST(Passes, AValueWithTwoReadersEndsAStageAndIsNotPushedDown) {
  Resnet r;
  r.g.set_outputs({{r.normalized, 0}, {r.hue, 0}, {r.reader, 0}});
  EXPECT_EQ(r.texts().back(),
            "last_use\n"
            "source: %0 readers.file\n"
            "read: %0 readers.file\n"
            "stage: %1 decoders.image %2 random_resized_crop\n"
            "stage: %3 hue\n"
            "whole: %4 random.coin_flip\n"
            "stage: %5 crop_mirror_normalize; frees %2, %4\n");
}

// A stage ends before a node that must run after a reader of the size that the stage outputs.
TEST(Passes, TheSizeOfAnInputIsThereForWhoReadsIt) {
  const std::vector<std::pair<std::string, Value>> both{{"size", Value(std::vector<double>{50, 50})},
                                                        {"save_attrs", Value(true)}};
  for (const bool early : {false, true}) {
    Resnet r;
    const int resized = r.add("resize", {{r.image, 0}}, both);
    EXPECT_EQ(r.g.node(resized).outputs, 2);
    EXPECT_EQ(to_text(r.g.type({resized, 1})), "int32 1-d");
    int reader = early ? r.add("cast", {{resized, 1}}, {{"dtype", Value(int64_t(DType::float32))}}) : -1;
    const int hue = r.add("hue", {{resized, 0}}, {{"hue", Value(30.0)}});
    if (!early) reader = r.add("cast", {{resized, 1}}, {{"dtype", Value(int64_t(DType::float32))}});
    r.g.set_outputs({{hue, 0}, {reader, 0}});
    EXPECT_EQ(r.texts()[5], early ? "group\n"
                                    "source: %0 readers.file\n"
                                    "stage: %1 decoders.image %6 resize\n"
                                    "stage: %7 cast\n"
                                    "stage: %8 hue\n"
                                  : "group\n"
                                    "source: %0 readers.file\n"
                                    "stage: %1 decoders.image %6 resize %7 hue\n"
                                    "stage: %8 cast\n");
  }
}

// Decoding on the GPU or on the CPU, an argument value that is made on the GPU, and a value that goes back and forth.
void expect_values_where_readers_want_them(const char* op, const char* argument, bool folded_there) {
  Graph g;
  const auto add = [&](const char* op, std::vector<ValueRef> inputs, const char* device = "",
                       std::vector<std::pair<std::string, Value>> constants = {},
                       std::vector<std::pair<std::string, ValueRef>> per_sample = {}) {
    Node n;
    n.op = op, n.inputs = std::move(inputs), n.device = device;
    n.constants = std::move(constants), n.per_sample = std::move(per_sample);
    return g.add(std::move(n));
  };
  const int reader = add("readers.file", {}, "", {{"file_root", Value(std::string("photos"))}});
  const int image = add("decoders.image_random_crop", {{reader, 0}}, "mixed");
  const int resized = add("resize", {{image, 0}}, "", {{"size", Value(std::vector<double>{50, 50})}});
  const int mean = add("reductions.mean", {{resized, 0}});
  const int bright = add(op, {{resized, 0}}, "", {}, {{argument, {mean, 0}}});
  const int host = add("flip", {{bright, 0, Place::cpu}});
  g.set_outputs({{bright, 0}, {host, 0}, {host, 0, Place::gpu}, {mean, 0}, {reader, 1}});
  EXPECT_TRUE(g.on_gpu({bright, 0}));
  EXPECT_FALSE(g.on_gpu({host, 0}));

  PlanOptions options;
  EXPECT_EQ(make_plan(g, options).text(), fmt::format("source: %0 readers.file\n"
                                                      "stage: %1 decoders.image_random_crop %2 resize (reads files)\n"
                                                      "whole: %3 reductions.mean\n"
                                                      "stage: %4 {}\n"
                                                      "stage: %5 flip\n",
                                                      op));
  options.gpu = true;
  const std::string rest =
      "stage on the GPU: %3 reductions.mean\n" +
      (folded_there ? ""
                    : fmt::format("transfer: %3 to %3@cpu, for %4 {}, whose argument '{}' is read on the host\n", op,
                                  argument)) +
      fmt::format(
          "stage on the GPU: %4 {}\n"
          "transfer: %4 to %4@cpu, for %5 flip, as asked\n"
          "stage: %5 flip\n"
          "transfer: %5 to %5@gpu, an output\n",
          op);
  EXPECT_EQ(make_plan(g, options).text(),
            "source: %0 readers.file\n"
            "stage: %1 decoders.image_random_crop (reads files)\n"
            "transfer: %1 to %1@gpu, for %2 resize; decoders.image_random_crop runs on the CPU\n"
            "stage on the GPU: %2 resize\n" +
                rest);
  options.gpu_decoders[image] = false;
  EXPECT_EQ(make_plan(g, options).text(),
            "source: %0 readers.file\n"
            "decode on the GPU: %1 decoders.image_random_crop (reads files)\n"
            "stage on the GPU: %1 decoders.image_random_crop %2 resize\n" +
                rest);
  options.gpu_decoders[image] = true;
  EXPECT_EQ(make_plan(g, options).text(),
            "source: %0 readers.file\n"
            "decode on the GPU: %1 decoders.image_random_crop (reads files) (what the next step reads)\n"
            "stage on the GPU: %1 decoders.image_random_crop %2 resize\n" +
                rest);
}

TEST(Passes, EveryValueIsWhereItsReaderWantsIt) {
  expect_values_where_readers_want_them("gaussian_blur", "sigma", false);
  expect_values_where_readers_want_them("brightness", "brightness", true);
}

TEST(Passes, ADecoderOfTheGpuMakesWhatTheNextStageReads) {
  Resnet r;
  Graph g;
  for (Node n : r.g.nodes()) {
    if (n.id == r.image) n.device = "mixed";
    n.types.clear();
    n.on_gpu = false;
    g.add(std::move(n));
  }
  g.set_outputs({{r.normalized, 0}});
  PlanOptions options;
  options.gpu = true;
  options.gpu_decoders[r.image] = true;
  EXPECT_EQ(make_plan(g, options).text(),
            "source: %0 readers.file\n"
            "whole: %4 random.coin_flip\n"
            "decode on the GPU: %1 decoders.image (reads files) (what the next step reads)\n"
            "stage on the GPU: %2 random_resized_crop %5 crop_mirror_normalize\n");
  g.set_outputs({{r.normalized, 0}, {r.image, 0}});  // the whole picture is also an output
  EXPECT_EQ(make_plan(g, options).text().find("what the next step reads"), std::string::npos);
}

TEST(Passes, AWindowStaysWithADecoderOnTheCpu) {
  Resnet r;
  Graph g;
  for (Node n : r.g.nodes()) {
    if (n.id == r.crop) n.op = "crop", n.constants = {{"crop", Value(std::vector<double>{50, 50})}};
    if (n.id == r.image) n.device = "mixed";
    n.types.clear();
    n.on_gpu = false;
    g.add(std::move(n));
  }
  g.set_outputs({{r.normalized, 0}});
  PlanOptions options;
  options.gpu = true;
  EXPECT_EQ(make_plan(g, options).text(),
            "source: %0 readers.file\n"
            "stage: %1 decoders.image %2 crop (reads files)\n"
            "whole: %4 random.coin_flip\n"
            "transfer: %2 to %2@gpu, for %5 crop_mirror_normalize; crop runs on the CPU\n"
            "stage on the GPU: %5 crop_mirror_normalize\n");
}

TEST(Passes, AWindowBehindAPixelOperatorReachesTheDecoder) {
  Resnet r;
  const int cut = r.add("crop", {{r.hue, 0}}, {{"crop", Value(std::vector<double>{100, 100})}});
  const int again = r.add("resize", {{cut, 0}}, {{"size", Value(std::vector<double>{50, 50})}});
  r.g.set_outputs({{again, 0}});
  const auto texts = r.texts();
  EXPECT_NE(texts[4].find("crop=[100.0, 100.0]  -> %1"), std::string::npos) << texts[4];
  EXPECT_EQ(texts[4].find("size=[50.0, 50.0]  -> %1"), std::string::npos) << texts[4];
  EXPECT_EQ(texts[5],
            "group\n"
            "source: %0 readers.file\n"
            "stage: %1 decoders.image %2 random_resized_crop %3 hue %6 crop\n"
            "stage: %7 resize\n");
}

}  // namespace
}  // namespace penstock
