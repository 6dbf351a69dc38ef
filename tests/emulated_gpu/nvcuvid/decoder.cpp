// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "emulated_gpu/nvcuvid/stand_in.h"

namespace stand_in {
namespace {

std::mutex pictures_mutex;
std::map<uint64_t, std::shared_ptr<const Picture>> pictures;
uint64_t next_picture = 1;

unsigned least() { return static_cast<unsigned>(number_from("PENSTOCK_STANDIN_LEAST", 16)); }

}  // namespace

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

uint64_t hand_over(std::shared_ptr<const Picture> picture) {
  const std::lock_guard lock(pictures_mutex);
  pictures[next_picture] = std::move(picture);
  return next_picture++;
}
std::shared_ptr<const Picture> picture_of(uint64_t number) {
  const std::lock_guard lock(pictures_mutex);
  const auto found = pictures.find(number);
  return found == pictures.end() ? nullptr : found->second;
}
void set_picture(uint64_t number, std::shared_ptr<const Picture> picture) {
  const std::lock_guard lock(pictures_mutex);
  pictures[number] = std::move(picture);
}
void forget(uint64_t number) {
  const std::lock_guard lock(pictures_mutex);
  pictures.erase(number);
}

void log(const std::string& line) {
  static FILE* const file = [] {
    const char* path = std::getenv("PENSTOCK_EMULATED_LOG");
    return path ? std::fopen(path, "a") : nullptr;
  }();
  if (!file) return;
  std::fputs(("nvdec: " + line + "\n").c_str(), file);
  std::fflush(file);
}

CUresult breach(const std::string& what) {
  log("breach: " + what);
  return kInvalid;
}

// Where the emulated GPU says which device the thread has.
bool device_is_current() {
  using Current = int (*)();
  static const Current current = [] {
    const char* path = std::getenv("PENSTOCK_GPU_LIBRARY");
    void* library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : RTLD_DEFAULT;
    return reinterpret_cast<Current>(dlsym(library ? library : RTLD_DEFAULT, "penstock_emulated_current_device"));
  }();
  return !current || current() >= 0;
}

bool& in_sequence_callback() {
  static thread_local bool in = false;
  return in;
}

namespace {

class Decoder {
 public:
  explicit Decoder(const CUVIDDECODECREATEINFO& info) : info_(info), surfaces_(info.ulNumDecodeSurfaces) {}
  ~Decoder() = default;

  CUresult reconfigure(const CUVIDRECONFIGUREDECODERINFO& to) {
    if (!in_sequence_callback()) return breach("reconfiguring outside a sequence callback");
    if (!mapped_.empty()) return breach("reconfiguring while frames are mapped");
    if (to.ulWidth > info_.ulMaxWidth || to.ulHeight > info_.ulMaxHeight)
      return breach("reconfiguring to more than the largest size");
    if (to.ulNumDecodeSurfaces > info_.ulNumDecodeSurfaces) return breach("reconfiguring to more surfaces");
    if (to.ulTargetWidth % 2 || to.ulTargetHeight % 2) return breach("an odd size of targets");
    info_.ulWidth = to.ulWidth, info_.ulHeight = to.ulHeight;
    info_.ulTargetWidth = to.ulTargetWidth, info_.ulTargetHeight = to.ulTargetHeight;
    surfaces_.assign(surfaces_.size(), 0);
    return kSuccess;
  }

  CUresult decode(const CUVIDPICPARAMS& p) {
    if (p.CurrPicIdx < 0 || static_cast<size_t>(p.CurrPicIdx) >= surfaces_.size())
      return breach("a picture for a surface that does not exist");
    if (static_cast<unsigned>(p.PicWidthInMbs) * 16 != info_.ulWidth ||
        static_cast<unsigned>(p.FrameHeightInMbs) * 16 != info_.ulHeight)
      return breach("a picture of another size than the decoder's");
    surfaces_[static_cast<size_t>(p.CurrPicIdx)] =
        p.CodecSpecific.CodecReserved[0] | uint64_t{p.CodecSpecific.CodecReserved[1]} << 32;
    return kSuccess;
  }

  CUresult map(int index, unsigned long long* surface, unsigned* pitch, const CUVIDPROCPARAMS& how) {
    if (index < 0 || static_cast<size_t>(index) >= surfaces_.size() || !surfaces_[static_cast<size_t>(index)])
      return breach("mapping a surface that holds no picture");
    if (mapped_.size() >= info_.ulNumOutputSurfaces) return breach("more mapped frames than the decoder was made for");
    if (!how.output_stream) return breach("mapping without a stream");
    const auto picture = picture_of(surfaces_[static_cast<size_t>(index)]);
    if (!picture) return breach("mapping a picture that has been shown before: its surface may hold another");
    if ((picture->bits > 8) != (info_.OutputFormat == cudaVideoSurfaceFormat_P016))
      return breach("a surface of another depth");
    const unsigned bytes = picture->bits > 8 ? 2 : 1, width = static_cast<unsigned>(info_.ulTargetWidth),
                   height = static_cast<unsigned>(info_.ulTargetHeight);
    *pitch = (width * bytes + 255) / 256 * 256;
    auto memory = std::make_unique<std::vector<uint8_t>>(size_t{*pitch} * (height + height / 2), 0xA5);
    uint8_t* data = memory->data();
    const int down = 16 - picture->bits;
    const auto put = [&](uint8_t* row, int x, const std::vector<uint8_t>& plane, size_t at) {
      if (bytes == 1) {
        row[x] = plane[at];
      } else {
        const auto v = static_cast<uint16_t>((plane[2 * at] | plane[2 * at + 1] << 8) << down);
        std::memcpy(row + 2 * x, &v, 2);
      }
    };
    for (int y = 0; y < picture->height; ++y)
      for (int x = 0; x < picture->width; ++x)
        put(data + static_cast<size_t>(y + picture->top) * *pitch, x, picture->plane[0],
            static_cast<size_t>(y) * static_cast<size_t>(picture->width) + static_cast<size_t>(x));
    const int cw = (picture->width + 1) / 2, ch = (picture->height + 1) / 2;
    for (int y = 0; y < ch; ++y)
      for (int x = 0; x < cw; ++x)
        for (int k = 1; k < 3; ++k)
          put(data + (static_cast<size_t>(height) + static_cast<size_t>(y + picture->top / 2)) * *pitch, 2 * x + k - 1,
              picture->plane[k], static_cast<size_t>(y * cw + x));
    *surface = reinterpret_cast<uintptr_t>(data);
    mapped_[*surface] = std::move(memory);
    return kSuccess;
  }

  CUresult unmap(unsigned long long surface) {
    const auto found = mapped_.find(surface);
    if (found == mapped_.end()) return breach("giving back a frame that is not mapped");
    std::fill(found->second->begin(), found->second->end(), uint8_t{0xEE});
    mapped_.erase(found);
    return kSuccess;
  }
  bool is_mapped() const { return !mapped_.empty(); }
  unsigned width() const { return static_cast<unsigned>(info_.ulWidth); }
  unsigned height() const { return static_cast<unsigned>(info_.ulHeight); }

 private:
  CUVIDDECODECREATEINFO info_;
  std::vector<uint64_t> surfaces_;  // the picture in each
  std::map<unsigned long long, std::unique_ptr<std::vector<uint8_t>>> mapped_;
};

Decoder& of(CUvideodecoder decoder) { return *static_cast<Decoder*>(decoder); }

// As an H200's, but for the least sizes.
bool takes(cudaVideoCodec codec, unsigned bits) {
  switch (codec) {
    case cudaVideoCodec_H264:
    case cudaVideoCodec_VP8: return bits == 8;
    case cudaVideoCodec_HEVC:
    case cudaVideoCodec_VP9: return bits == 8 || bits == 10 || bits == 12;
    case cudaVideoCodec_AV1: return bits == 8 || bits == 10;
    default: return false;
  }
}

}  // namespace
}  // namespace stand_in

using namespace stand_in;

#define STAND_IN extern "C" __attribute__((visibility("default"))) CUresult

STAND_IN cuvidGetDecoderCaps(CUVIDDECODECAPS* caps) {
  if (!device_is_current()) return breach("asking for abilities without a device"), kNoContext;
  const bool yes =
      caps->eChromaFormat == cudaVideoChromaFormat_420 && takes(caps->eCodecType, caps->nBitDepthMinus8 + 8);
  caps->bIsSupported = yes;
  if (!yes) return kSuccess;
  caps->nNumNVDECs = 7;
  caps->nOutputFormatMask = caps->nBitDepthMinus8 ? 3 : 1;
  caps->nMaxWidth = caps->nMaxHeight = 8192;
  caps->nMaxMBCount = 262144;
  caps->nMinWidth = caps->nMinHeight = static_cast<unsigned short>(least());
  return kSuccess;
}
STAND_IN cuvidCreateDecoder(CUvideodecoder* out, CUVIDDECODECREATEINFO* info) {
  if (!device_is_current()) return breach("making a decoder without a device");
  if (!takes(info->CodecType, static_cast<unsigned>(info->bitDepthMinus8) + 8) ||
      info->ChromaFormat != cudaVideoChromaFormat_420)
    return breach("a decoder that the caps exclude");
  if (info->ulNumDecodeSurfaces < 1 || info->ulNumDecodeSurfaces > 32 || info->ulNumOutputSurfaces < 1)
    return breach("a decoder without surfaces");
  if (info->ulTargetWidth % 2 || info->ulTargetHeight % 2 || info->ulWidth > info->ulMaxWidth ||
      info->ulHeight > info->ulMaxHeight)
    return breach("a decoder of impossible sizes");
  log(fmt::format("create {} x {}", info->ulWidth, info->ulHeight));
  *out = new Decoder(*info);
  return kSuccess;
}
STAND_IN cuvidReconfigureDecoder(CUvideodecoder decoder, CUVIDRECONFIGUREDECODERINFO* info) {
  if (!device_is_current()) return breach("reconfiguring without a device");
  log(fmt::format("reconfigure {} x {} to {} x {}", of(decoder).width(), of(decoder).height(), info->ulWidth,
                  info->ulHeight));
  return of(decoder).reconfigure(*info);
}
STAND_IN cuvidDestroyDecoder(CUvideodecoder decoder) {
  if (of(decoder).is_mapped()) breach("destroying a decoder whose frames are mapped");
  if (!device_is_current()) breach("destroying a decoder without a device");
  log("destroy");
  delete &of(decoder);
  return kSuccess;
}
STAND_IN cuvidDecodePicture(CUvideodecoder decoder, CUVIDPICPARAMS* picture) {
  if (!device_is_current()) return breach("decoding without a device");
  log("decode");
  return of(decoder).decode(*picture);
}
STAND_IN cuvidGetDecodeStatus(CUvideodecoder, int, CUVIDGETDECODESTATUS* status) {
  static std::atomic<int> read{0};
  const int each = number_from("PENSTOCK_STANDIN_DAMAGED", 0);
  status->decodeStatus = each > 0 && ++read % each == 0 ? cuvidDecodeStatus_Error_Concealed : cuvidDecodeStatus_Success;
  return kSuccess;
}
STAND_IN cuvidMapVideoFrame64(CUvideodecoder decoder, int index, unsigned long long* surface, unsigned* pitch,
                              CUVIDPROCPARAMS* how) {
  if (!device_is_current()) return breach("mapping without a device");
  log("map");
  return of(decoder).map(index, surface, pitch, *how);
}
STAND_IN cuvidUnmapVideoFrame64(CUvideodecoder decoder, unsigned long long surface) {
  if (!device_is_current()) return breach("giving back a frame without a device");
  log("unmap");
  return of(decoder).unmap(surface);
}
