// SPDX-License-Identifier: Apache-2.0
// What NVDEC gives at most: frames per second of a stream of H.264 or HEVC (with start codes) that lies in memory,
// decoded again and again by the requested number of sessions, each on a thread of its own. Nothing is converted; each
// frame is mapped and copied once on the device. Through libnvcuvid alone: no FFmpeg, nothing of Penstock.
//
//     nvdec_limit FILE.h264|FILE.hevc [SESSIONS] [SECONDS]
#include <ffnvcodec/dynlink_loader.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kMapped = 4, kDelay = 4;
CudaFunctions* cu = nullptr;
CuvidFunctions* cuvid = nullptr;
CUcontext context = nullptr;

void check(int code, const char* doing) {
  if (code == 0) return;
  std::fprintf(stderr, "%s: CUDA error %d\n", doing, code);
  std::exit(1);
}

// One picture each: a unit that is not a slice, or the first slice where none came before, begins the next.
std::vector<std::string> pictures_of(const std::string& b, bool hevc) {
  std::vector<std::string> out;
  size_t begin = 0;
  bool has_slice = false;
  for (size_t i = 0; i + 5 < b.size(); ++i) {
    if (b[i] != 0 || b[i + 1] != 0 || b[i + 2] != 1) continue;
    const int type = hevc ? b[i + 3] >> 1 & 63 : b[i + 3] & 31;
    const bool slice = hevc ? type < 32 : type >= 1 && type <= 5;
    const bool first = slice && (b[i + (hevc ? 5 : 4)] & 0x80);
    if (has_slice && (!slice || first)) {
      const size_t end = i > 0 && b[i - 1] == 0 ? i - 1 : i;
      out.push_back(b.substr(begin, end - begin));
      begin = end, has_slice = false;
    }
    has_slice |= slice;
  }
  out.push_back(b.substr(begin));
  return out;
}

struct Session {
  std::atomic<long>& frames;
  CUvideodecoder decoder = nullptr;
  CUvideoparser parser = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr copy = 0;
  unsigned height = 0;
  int surfaces = 0;
  std::vector<unsigned long long> mapped = {};

  int begin(const CUVIDEOFORMAT& f) {
    if (decoder) return surfaces;
    CUVIDDECODECREATEINFO info{};
    info.CodecType = f.codec, info.ChromaFormat = f.chroma_format;
    info.OutputFormat = cudaVideoSurfaceFormat_NV12, info.DeinterlaceMode = cudaVideoDeinterlaceMode_Weave;
    info.ulCreationFlags = cudaVideoCreate_PreferCUVID;
    info.ulWidth = info.ulMaxWidth = info.ulTargetWidth = f.coded_width;
    info.ulHeight = info.ulMaxHeight = info.ulTargetHeight = height = f.coded_height;
    surfaces = f.min_num_decode_surfaces + kDelay;
    info.ulNumDecodeSurfaces = static_cast<unsigned>(surfaces), info.ulNumOutputSurfaces = kMapped;
    check(cuvid->cuvidCreateDecoder(&decoder, &info), "making a decoder");
    return surfaces;
  }
  void show(const CUVIDPARSERDISPINFO& shown) {
    if (mapped.size() == kMapped) {
      check(cu->cuStreamSynchronize(stream), "waiting");
      for (const auto surface : mapped) check(cuvid->cuvidUnmapVideoFrame(decoder, surface), "giving back a frame");
      mapped.clear();
    }
    CUVIDPROCPARAMS how{};
    how.progressive_frame = shown.progressive_frame, how.output_stream = stream;
    unsigned long long surface = 0;
    unsigned pitch = 0;
    check(cuvid->cuvidMapVideoFrame(decoder, shown.picture_index, &surface, &pitch, &how), "reading a frame");
    mapped.push_back(surface);
    if (!copy) check(cu->cuMemAlloc(&copy, size_t{pitch} * height * 3 / 2), "taking memory");
    check(cu->cuMemcpyDtoDAsync(copy, surface, size_t{pitch} * height * 3 / 2, stream), "copying");
    ++frames;
  }
  void run(const std::vector<std::string>& pictures, cudaVideoCodec codec, const std::atomic<bool>& stop) {
    check(cu->cuCtxPushCurrent(context), "using the GPU");
    check(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "making a stream");
    CUVIDPARSERPARAMS p{};
    p.CodecType = codec, p.ulMaxNumDecodeSurfaces = 1, p.ulMaxDisplayDelay = kDelay, p.pUserData = this;
    p.pfnSequenceCallback = [](void* self, CUVIDEOFORMAT* f) { return static_cast<Session*>(self)->begin(*f); };
    p.pfnDecodePicture = [](void* self, CUVIDPICPARAMS* picture) {
      check(cuvid->cuvidDecodePicture(static_cast<Session*>(self)->decoder, picture), "decoding");
      return 1;
    };
    p.pfnDisplayPicture = [](void* self, CUVIDPARSERDISPINFO* shown) {
      if (shown) static_cast<Session*>(self)->show(*shown);
      return 1;
    };
    check(cuvid->cuvidCreateVideoParser(&parser, &p), "making a parser");
    while (!stop)
      for (size_t k = 0; k < pictures.size() && !stop; ++k) {
        CUVIDSOURCEDATAPACKET data{};
        data.payload = reinterpret_cast<const unsigned char*>(pictures[k].data());
        data.payload_size = pictures[k].size();
        check(cuvid->cuvidParseVideoData(parser, &data), "parsing");
      }
  }  // the process ends with all that it holds
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "nvdec_limit FILE [SESSIONS] [SECONDS]\n"), 2;
  const std::string path = argv[1];
  const bool hevc = path.ends_with(".hevc");
  const int sessions = argc > 2 ? std::atoi(argv[2]) : 14;
  const std::chrono::duration<double> seconds(argc > 3 ? std::atof(argv[3]) : 2);
  std::ifstream file(path, std::ios::binary);
  const auto pictures = pictures_of({std::istreambuf_iterator<char>(file), {}}, hevc);
  if (cuda_load_functions(&cu, nullptr) < 0 || cuvid_load_functions(&cuvid, nullptr) < 0)
    return std::fprintf(stderr, "no libcuda or no libnvcuvid\n"), 1;
  CUdevice device = 0;
  check(cu->cuInit(0), "looking for a GPU");
  check(cu->cuDeviceGet(&device, 0), "looking for a GPU");
  check(cu->cuDevicePrimaryCtxRetain(&context, device), "using the GPU");
  std::atomic<long> frames{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  const cudaVideoCodec codec = hevc ? cudaVideoCodec_HEVC : cudaVideoCodec_H264;
  for (int k = 0; k < sessions; ++k) threads.emplace_back([&] { Session{frames}.run(pictures, codec, stop); });
  while (frames < 100L * sessions) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto begin = std::chrono::steady_clock::now();
  const long before = frames;
  std::this_thread::sleep_for(seconds);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double rate = static_cast<double>(frames - before) / took.count();
  stop = true;
  for (auto& t : threads) t.join();
  std::printf("%.0f\n", rate);
}
