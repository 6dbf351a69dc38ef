// SPDX-License-Identifier: Apache-2.0
// The rules of sift for a GPU, in the order in which they run, and their steps for an image.
#pragma once
#include "families/team/kernels/keypoint_lists.h"
#include "families/team/team.h"

namespace penstock {

struct SiftBase {
  PENSTOCK_PIXEL(using Coef = PlaneCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   whole::floats_of_bytes(a.from<uint8_t>(0), a.to<float>(0), c, team);
                   if (team.begin != 0) return;
                   for (int k = team.index; k < 2; k += team.count) a.to<int32_t>(1)[k] = 0;  // counts of the lists
                 });
};
struct SiftBlurDown {
  PENSTOCK_PIXEL(using Coef = PlaneCoef; PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table,
                                                                     const Team& team, Refusal&) {
    whole::blur_down(a.from<float>(0), a.to<float>(0), reinterpret_cast<const float*>(table), c, team);
  });
};
struct SiftBlurTiles {
  PENSTOCK_PIXEL(using Coef = PlaneCoef; PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table,
                                                                     const Team& team, Refusal&) {
    whole::blur_tiles(a.from<float>(0), a.to<float>(0), reinterpret_cast<const float*>(table), c, team);
  });
};
struct SiftBlurParts {
  PENSTOCK_PIXEL(using Coef = PlaneCoef; PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table,
                                                                     const Team& team, Refusal&) {
    whole::blur_parts(a.from<float>(0), a.to<float>(0), reinterpret_cast<const float*>(table), c, team);
  });
};
// The table has the places of octaves, then windows.
struct SiftSmallOctaves {
  PENSTOCK_PIXEL(using Coef = SmallOctavesCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team,
                                             Refusal&) {
                   const OctavePlace* const places = reinterpret_cast<const OctavePlace*>(table);
                   const float* const taps = reinterpret_cast<const float*>(table + c.places);
                   whole::smooth_small_octaves(a.out[0], a.to<float>(1), places, taps, c, team);
                 });
};
// `radius` of the coefficients is the width of the plane that becomes smaller.
struct SiftHalf {
  PENSTOCK_PIXEL(using Coef = PlaneCoef;
                 PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
                   whole::half_size(a.from<float>(0), c.radius, a.to<float>(0), c, team);
                 });
};
// For the next rules in[0] has the planes, the table the places of octaves, and out[0] the lists.
struct SiftExtremes {
  PENSTOCK_PIXEL(using Coef = KeypointCoef; PENSTOCK_HD static void run(const Arrays& a, const Coef& c,
                                                                        const char* table, const Team& team, Refusal&) {
    const OctavePlace& place = reinterpret_cast<const OctavePlace*>(table)[c.octave];
    whole::find_extremes(place.plane(a.in[0], 0), place, KeypointLists(a.out[0], c), c, team);
  });
};
struct SiftTurns {
  PENSTOCK_PIXEL(using Coef = KeypointCoef; PENSTOCK_HD static void run(const Arrays& a, const Coef& c,
                                                                        const char* table, const Team& team, Refusal&) {
    const OctavePlace* const places = reinterpret_cast<const OctavePlace*>(table);
    whole::turn_keypoints(a.in[0], places, KeypointLists(a.out[0], c), c, team);
  });
};
struct SiftOrder {
  PENSTOCK_PIXEL(using Coef = KeypointCoef; PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*,
                                                                        const Team& team, Refusal& refusal) {
    whole::order_keypoints(KeypointLists(a.out[0], c), c, a.in[0], a.to<int64_t>(1), team, refusal);
  });
};
// in[1] is the list of the keypoints that are kept, in[2] has the keypoints.
struct SiftDescriptors {
  PENSTOCK_PIXEL(
      struct Coef { int64_t expanded; };
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        whole::describe_keypoints(a.in[0], reinterpret_cast<const OctavePlace*>(table), a.from<Keypoint>(2),
                                  a.from<int32_t>(1), c.expanded != 0, a.to<float>(0), a.to<uint8_t>(1), team);
      });
};

// Steps that find the keypoints of an image. They write how many there are, and three addresses: of the list of those
// that are kept, of the keypoints, and of the planes.
void find_keypoints_there(const uint8_t* gray, int64_t height, int64_t width, const SiftRule& rule, int64_t* numbers,
                          SampleWork& to);
// Steps that write what sift returns of them.
void describe_keypoints_there(const int64_t* numbers, int64_t height, int64_t width, const SiftRule& rule, float* rows,
                              uint8_t* descriptors, SampleWork& to);

}  // namespace penstock
