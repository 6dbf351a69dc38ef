// SPDX-License-Identifier: Apache-2.0
#include "cuda/video/nvdec/session.h"

#include <algorithm>

#include "base/error_of.h"

namespace penstock::video_gpu {

Session::Session(Driver& driver, int device, const Nvcuvid& lib, const SessionShape& shape)
    : driver_(driver), device_(device), lib_(lib), shape_(shape), most_width_(shape.width), most_height_(shape.height) {
  CUVIDDECODECREATEINFO info{};
  info.CodecType = shape.codec;
  info.ChromaFormat = cudaVideoChromaFormat_420;
  info.bitDepthMinus8 = static_cast<unsigned>(shape.bits - 8);
  info.OutputFormat = shape.bits > 8 ? cudaVideoSurfaceFormat_P016 : cudaVideoSurfaceFormat_NV12;
  info.DeinterlaceMode = cudaVideoDeinterlaceMode_Weave;
  info.ulCreationFlags = cudaVideoCreate_PreferCUVID;
  info.ulWidth = info.ulMaxWidth = info.ulTargetWidth = shape.width;
  info.ulHeight = info.ulMaxHeight = info.ulTargetHeight = shape.height;
  info.display_area.right = static_cast<short>(shape.width),
  info.display_area.bottom = static_cast<short>(shape.height);
  info.ulNumDecodeSurfaces = static_cast<unsigned>(shape.surfaces);
  info.ulNumOutputSurfaces = kMapped;
  check_nvcuvid(lib_.create_decoder(&decoder_, &info), "creating a decoder");
}

Session::~Session() {
  unmap_all();
  lib_.destroy_decoder(decoder_);
}

bool Session::fits(const SessionShape& s) const {
  return s.codec == shape_.codec && s.bits == shape_.bits && s.width <= most_width_ && s.height <= most_height_ &&
         s.surfaces <= shape_.surfaces;
}

bool Session::reconfigure(const SessionShape& s) {
  unmap_all();
  unchecked_.clear();
  CUVIDRECONFIGUREDECODERINFO info{};
  info.ulWidth = info.ulTargetWidth = s.width;
  info.ulHeight = info.ulTargetHeight = s.height;
  info.display_area.right = static_cast<short>(s.width), info.display_area.bottom = static_cast<short>(s.height);
  info.ulNumDecodeSurfaces = static_cast<unsigned>(shape_.surfaces);
  if (static_cast<int>(lib_.reconfigure_decoder(decoder_, &info)) != 0) return false;
  shape_.width = s.width, shape_.height = s.height;
  return true;
}

void Session::decode(CUVIDPICPARAMS* picture) {
  std::erase(unchecked_, picture->CurrPicIdx);
  check_nvcuvid(lib_.decode_picture(decoder_, picture), "decoding a picture");
  unchecked_.push_back(picture->CurrPicIdx);
}

Session::Surface Session::map(const CUVIDPARSERDISPINFO& shown, StreamHandle stream) {
  while (!mapped_.empty() && (mapped_.size() == kMapped || (mapped_.front().read && mapped_.front().read->done())))
    unmap_first();
  CUVIDPROCPARAMS how{};
  how.progressive_frame = shown.progressive_frame;
  how.second_field = shown.repeat_first_field + 1;
  how.top_field_first = shown.top_field_first;
  how.unpaired_field = shown.repeat_first_field < 0;
  how.output_stream = static_cast<CUstream>(stream);
  unsigned long long surface = 0;
  Surface out;
  check_nvcuvid(lib_.map_frame(decoder_, shown.picture_index, &surface, &out.pitch, &how), "mapping a frame");
  mapped_.push_back({surface, nullptr});
  out.data = reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(surface));
  is_checked(shown.picture_index);
  return out;
}

// False: it is not done. Known only for H.264 and HEVC.
bool Session::is_checked(int index) {
  CUVIDGETDECODESTATUS status{};
  if (static_cast<int>(lib_.get_status(decoder_, index, &status)) != 0) return true;
  if (status.decodeStatus == cuvidDecodeStatus_Error || status.decodeStatus == cuvidDecodeStatus_Error_Concealed)
    bad_data("NVDEC finds the picture damaged");
  return status.decodeStatus != cuvidDecodeStatus_InProgress;
}

void Session::check_pictures() {
  std::erase_if(unchecked_, [&](int index) { return is_checked(index); });
}

void Session::release(StreamHandle stream) {
  if (!mapped_.empty()) mapped_.back().read = driver_.record(device_, stream);
}

// If the read of a surface was never enqueued because something failed, nobody reads it.
void Session::unmap_first() {
  const Mapped first = std::move(mapped_.front());
  mapped_.pop_front();
  if (first.read && !first.read->done()) first.read->synchronize();
  check_nvcuvid(lib_.unmap_frame(decoder_, first.surface), "unmapping a frame");
}

void Session::unmap_all() {
  while (!mapped_.empty()) error_of([&] { unmap_first(); });
}

std::unique_ptr<Session> SessionPool::take(const SessionShape& shape) {
  std::unique_ptr<Session> found, refused;
  {
    const std::lock_guard lock(mutex_);
    // The smallest that is large enough: a large one is kept for large videos.
    auto best = idle_.end();
    for (auto s = idle_.begin(); s != idle_.end(); ++s)
      if ((*s)->fits(shape) && (best == idle_.end() || (*best)->fits((*s)->shape()))) best = s;
    if (best != idle_.end()) {
      found = std::move(*best);
      idle_.erase(best);
    }
  }
  if (found && !found->reconfigure(shape)) refused = std::move(found);
  if (found) return found;
  refused.reset();
  const auto error = error_of([&] { found = std::make_unique<Session>(driver_, device_, lib_, shape); });
  if (!error) return found;
  if (error->kind() != ErrorKind::out_of_memory) throw Error(*error);
  {
    std::vector<std::unique_ptr<Session>> gone;
    const std::lock_guard lock(mutex_);
    gone.swap(idle_);
  }
  return std::make_unique<Session>(driver_, device_, lib_, shape);
}

void SessionPool::give_back(std::unique_ptr<Session> session) {
  if (!session) return;
  std::unique_ptr<Session> gone;  // closed without the lock
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(session));
  if (idle_.size() > kMostIdle) {
    gone = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
}

}  // namespace penstock::video_gpu
