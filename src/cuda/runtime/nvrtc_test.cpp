// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/nvrtc.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "cuda/runtime/kernel_cache.h"
#include "cuda/runtime/nvidia_library.h"
#include "data/test_folder.h"

namespace penstock {
namespace {

constexpr const char* kText = R"(
extern "C" __global__ void __launch_bounds__(256) scale(const char* table) {
  float* const* rows = reinterpret_cast<float* const*>(table);
  rows[blockIdx.x][threadIdx.x] *= 2.0f;
}
)";

// Tests without a GPU compile too; if the compiler itself is absent, the reason must be a helpful one.
const Nvrtc* nvrtc() {
  std::string why;
  const Nvrtc* found = Nvrtc::find(why);
  if (!found) {
    EXPECT_NE(why.find("NVRTC"), std::string::npos) << why;
    EXPECT_NE(why.find("penstock[cuda13]"), std::string::npos) << why;
    EXPECT_FALSE(std::getenv("CI")) << "CI installs NVRTC: " << why;
  }
  return found;
}

TEST(Nvrtc, MakesCodeForExactlyTheGpu) {
  const Nvrtc* compiler = nvrtc();
  if (!compiler) GTEST_SKIP() << "NVRTC is not installed";
  EXPECT_TRUE(std::filesystem::exists(compiler->path())) << compiler->path();
  for (const int architecture : {75, 90}) {
    std::string why;
    const auto options = compiler->options(architecture, why);
    ASSERT_FALSE(options.empty()) << why;
    EXPECT_EQ(options.front(), fmt::format("--gpu-architecture=sm_{}", architecture));
    const KernelImage image = compiler->compile(kText, "scale", options);
    EXPECT_FALSE(image.ptx);
    EXPECT_EQ(image.bytes.substr(0, 4), "\177ELF");
    EXPECT_NE(image.bytes.find("scale"), std::string::npos);
  }
}

TEST(Nvrtc, MakesTextForAGpuThatIsNewerThanItself) {
  const Nvrtc* compiler = nvrtc();
  if (!compiler) GTEST_SKIP() << "NVRTC is not installed";
  std::string why;
  const auto options = compiler->options(999, why);
  ASSERT_FALSE(options.empty()) << why;
  const KernelImage image = compiler->compile(kText, "scale", options);
  EXPECT_TRUE(image.ptx);
  EXPECT_NE(image.bytes.find(".visible .entry scale"), std::string::npos);
  EXPECT_EQ(image.bytes.back(), '\0');
  EXPECT_TRUE(compiler->options(20, why).empty());
  EXPECT_NE(why.find("compute capability 2.0"), std::string::npos) << why;
}

TEST(Nvrtc, NeverContractsAMultiplicationAndAnAddition) {
  const Nvrtc* compiler = nvrtc();
  if (!compiler) GTEST_SKIP() << "NVRTC is not installed";
  std::string why;
  const std::string text = R"(extern "C" __global__ void f(const char* t) {
    float* x = *reinterpret_cast<float* const*>(t);
    x[3] = x[0] * x[1] + x[2];
    x[4] = x[0] / x[1];
  })";
  const auto options = compiler->options(999, why);  // text can be read
  const std::string code = compiler->compile(text, "f", options).bytes;
  EXPECT_EQ(code.find("fma"), std::string::npos) << code;
  EXPECT_NE(code.find("div.rn.f32"), std::string::npos) << code;
}

TEST(Nvrtc, SaysWhatIsWrongWithAText) {
  const Nvrtc* compiler = nvrtc();
  if (!compiler) GTEST_SKIP() << "NVRTC is not installed";
  std::string why;
  const auto options = compiler->options(75, why);
  try {
    compiler->compile("extern \"C\" __global__ void f(const char*) { undeclared = 1; }", "f", options);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::internal);
    EXPECT_NE(std::string(e.what()).find("\"undeclared\" is undefined"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("kernel f"), std::string::npos) << e.what();
  }
}

TEST(Nvrtc, SaysWhichOneFitsTheDriver) {
  EXPECT_EQ(Nvrtc::why_unfit(13, 0, 13000), "");
  EXPECT_EQ(Nvrtc::why_unfit(12, 9, 13000), "") << "a newer driver takes the code of an older compiler";
  EXPECT_EQ(Nvrtc::why_unfit(12, 9, 12020), "") << "within a major version the driver may be older";
  EXPECT_EQ(Nvrtc::why_unfit(13, 0, 0), "");
  EXPECT_EQ(Nvrtc::why_unfit(13, 0, 12040),
            "NVRTC 13.0 makes code for drivers of CUDA 13 (580 or newer), and the driver takes CUDA 12.4: `pip install "
            "penstock[cuda12]` brings one that fits");
  EXPECT_EQ(
      Nvrtc::not_installed(12040, "x"),
      "NVRTC of CUDA 12, for a driver of CUDA 12.4, is not installed (`pip install penstock[cuda12]` brings it): x");
  EXPECT_EQ(Nvrtc::not_installed(0, ""), "NVRTC is not installed (`pip install penstock[cuda13]` brings it)");
}

TEST(Nvrtc, FoldersOfANewerCudaHoldNothingForTheDriver) {
  EXPECT_FALSE(folder_fits("/x/nvidia/cu13/lib", 12040));
  EXPECT_FALSE(folder_fits("/usr/local/cuda-13/lib64", 12040));
  for (const char* fits : {"/x/nvidia/cuda_nvrtc/lib", "/usr/local/cuda/lib64", "", "/usr/local/cuda-12/lib64"})
    EXPECT_TRUE(folder_fits(fits, 12040)) << fits;
  EXPECT_TRUE(folder_fits("/x/nvidia/cu13/lib", 13000));
  EXPECT_TRUE(folder_fits("/x/nvidia/cu13/lib", 0));
}

TEST(Nvrtc, CompilesOnceWhatIsKept) {
  const Nvrtc* compiler = nvrtc();
  if (!compiler) GTEST_SKIP() << "NVRTC is not installed";
  const TestFolder folder;
  const KernelCache cache(folder.path("kernels"));
  std::string why;
  const auto options = compiler->options(75, why);
  const KernelImage first = kernel_image(*compiler, cache, kText, "scale", options);
  const auto kernels = [&] {  // there are files with which processes take turns too
    std::vector<std::filesystem::path> found;
    for (const auto& e : std::filesystem::directory_iterator(folder.path("kernels")))
      if (e.path().extension() == ".kernel") found.push_back(e.path());
    return found;
  };
  const auto file = [&] {  // a file that is written again is another one
    struct stat info{};
    const auto found = kernels();
    EXPECT_EQ(found.size(), 1u);
    for (const auto& path : found) ::stat(path.c_str(), &info);
    return info.st_ino;
  };
  const auto made = file();
  EXPECT_EQ(kernel_image(*compiler, cache, kText, "scale", options).bytes, first.bytes);
  EXPECT_EQ(file(), made);
  EXPECT_EQ(kernel_image(*compiler, cache, kText, "scale", options, true).bytes, first.bytes);
  EXPECT_NE(file(), made);
  EXPECT_NE(kernel_image(*compiler, cache, kText, "scale", compiler->options(90, why)).bytes, first.bytes);
  EXPECT_THROW(kernel_image(*compiler, cache, "this is not C++", "f", options), Error);
  EXPECT_EQ(kernels().size(), 2u);
}

}  // namespace
}  // namespace penstock
