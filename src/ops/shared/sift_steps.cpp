// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/shared/scale_space.h"
#include "ops/shared/sift_rules.h"

namespace penstock {
namespace {

constexpr const char* kPlanes = "families/team/kernels/scale_space.h";
constexpr int64_t kPixelsOfTeam = 16384;  // of an octave that one team smooths
constexpr const char* kLists = "families/team/kernels/keypoint_lists.h";

int64_t pixels_of(const PlaneExtents& e) { return e.height * e.width; }

std::vector<OctavePlace> places_of(const std::vector<PlaneExtents>& octaves, const SiftRule& rule) {
  std::vector<OctavePlace> places;
  int64_t next = 0;
  for (const PlaneExtents& e : octaves) {
    places.push_back({next, static_cast<int32_t>(e.height), static_cast<int32_t>(e.width)});
    next += (rule.layers + 3) * pixels_of(e);
  }
  return places;
}
// A keypoint's scale is at most that of layer `layers` and a half.
float largest_scale(const SiftRule& rule) {
  return static_cast<float>(rule.sigma * std::exp2((rule.layers + 0.5) / rule.layers));
}
size_t bytes_with_weights(int words, float radius) {
  return sizeof(int32_t) * (static_cast<size_t>(words) + static_cast<size_t>(std::ceil(radius)) + 2);
}

void blur(const float* from, float* through, float* out, const PlaneExtents& e, const std::vector<float>& half,
          SampleWork& to) {
  const TeamTable taps = team_table(std::span<const float>(half));
  const PlaneCoef c{e.height, e.width, static_cast<int64_t>(half.size()) - 1};
  const auto call = [&](const float* in, float* made, int64_t units) {
    return TeamCall{.in = {in}, .out = {made}, .units = units, .header = kPlanes, .table = taps};
  };
  if (c.radius <= kTileRadius) {
    const BlurTiles tiles(c);
    TeamCall all = call(from, out, static_cast<int64_t>(tiles.across) * tiles.down);
    all.memory = static_cast<size_t>(2 * kSumsTogether * kTileRow) * sizeof(float), all.unit_for_team = true;
    run_team<SiftBlurTiles>(std::move(all), c, to);
  } else {
    run_team<SiftBlurDown>(call(from, through, (e.height + kSumsTogether - 1) / kSumsTogether * e.width), c, to);
    to.then();
    run_team<SiftBlurParts>(call(through, out, (e.width + kSumsTogether - 1) / kSumsTogether * e.height), c, to);
  }
  to.then();
}
// Octaves from `first` on, by one team.
void smooth_small_octaves_there(float* planes, float* through, const std::vector<OctavePlace>& places, size_t first,
                                const std::vector<std::vector<float>>& halves, const SiftRule& rule, SampleWork& to) {
  const auto begin = std::as_bytes(std::span(places));
  std::vector<std::byte> table(begin.begin(), begin.end());
  SmallOctavesCoef c{static_cast<int64_t>(first),
                     static_cast<int64_t>(places.size()),
                     static_cast<int64_t>(table.size()),
                     rule.layers,
                     {}};
  for (size_t k = 1; k < halves.size(); ++k) {
    const auto taps = std::as_bytes(std::span(halves[k]));
    table.insert(table.end(), taps.begin(), taps.end());
    c.radii[k] = static_cast<int32_t>(halves[k].size()) - 1;
  }
  run_team<SiftSmallOctaves>(
      {.in = {}, .out = {planes, through}, .header = kPlanes, .table = team_table(std::span<const std::byte>(table))},
      c, to);
  to.then();
}

}  // namespace

void find_keypoints_there(const uint8_t* gray, int64_t height, int64_t width, const SiftRule& rule, int64_t* numbers,
                          SampleWork& to) {
  const std::vector<PlaneExtents> octaves = octave_extents(height, width, rule);
  if (octaves.empty()) return;
  const std::vector<OctavePlace> places = places_of(octaves, rule);
  const std::vector<std::vector<float>> halves = gaussian_halves(rule);
  const int64_t first = pixels_of(octaves[0]);
  const int64_t numbers_of_planes = places.back().first + (rule.layers + 3) * pixels_of(octaves.back());
  KeypointCoef c{};
  c.rule = rule;
  c.capacity = std::max<int64_t>(first / kPixelsOfExtremum, std::min<int64_t>(first, 1024));
  c.columns = octaves[0].width;
  c.teams = std::min<int64_t>(1024, 1 + first / 1024);
  c.threshold = least_difference(rule);
  auto* const planes = static_cast<float*>(to.scratch(static_cast<size_t>(numbers_of_planes) * sizeof(float)));
  const bool wide = std::ranges::any_of(halves, [](const auto& half) { return half.size() > kTileRadius + 1; });
  const int64_t between = std::min(first, wide ? first : kPixelsOfTeam);  // between two passes
  auto* const base = static_cast<float*>(to.scratch(static_cast<size_t>(first + between) * sizeof(float)));
  float* const through = base + first;
  void* const lists = to.scratch(static_cast<size_t>(KeypointLists::bytes(c)));
  run_team<SiftBase>({.in = {gray}, .out = {base, lists}, .units = first, .header = kPlanes},
                     {octaves[0].height, octaves[0].width, rule.expanded}, to);
  to.then();
  blur(base, through, planes, octaves[0], halves[0], to);
  const TeamTable table = team_table(std::span<const OctavePlace>(places));
  // A launch for each plane would take longer than the smallest octaves.
  size_t large = 1;
  while (large < octaves.size() && pixels_of(octaves[large]) > kPixelsOfTeam) ++large;
  for (size_t o = 0; o < large; ++o) {
    const PlaneExtents& e = octaves[o];
    float* const smooth = planes + places[o].first;
    const auto layer = [&](int64_t k) { return smooth + k * pixels_of(e); };
    for (int32_t k = 1; k < rule.layers + 3; ++k)
      blur(layer(k - 1), through, layer(k), e, halves[static_cast<size_t>(k)], to);
    if (o + 1 == large) continue;
    const PlaneExtents& next = octaves[o + 1];
    run_team<SiftHalf>({.in = {layer(rule.layers)},
                        .out = {planes + places[o + 1].first},
                        .units = pixels_of(next),
                        .header = kPlanes},
                       {next.height, next.width, e.width}, to);
    to.then();
  }
  if (large < octaves.size()) smooth_small_octaves_there(planes, through, places, large, halves, rule, to);
  for (size_t o = 0; o < octaves.size(); ++o) {
    const int64_t rows = octaves[o].height - 2 * kKeypointBorder, columns = octaves[o].width - 2 * kKeypointBorder;
    c.octave = static_cast<int64_t>(o);
    if (rows > 0 && columns > 0)
      run_team<SiftExtremes>(
          {.in = {planes}, .out = {lists}, .units = rows * columns, .header = kLists, .table = table}, c, to);
  }
  to.then();
  run_team<SiftTurns>({.in = {planes},
                       .out = {lists},
                       .units = c.teams,
                       .header = kLists,
                       .memory = bytes_with_weights(kDirectionWords, 4.5f * largest_scale(rule)),
                       .unit_for_team = true,
                       .table = table},
                      c, to);
  to.then();
  run_team<SiftOrder>({.in = {planes},
                       .out = {lists, numbers},
                       .header = kLists,
                       .memory = kSelectWords * sizeof(int32_t),
                       .refused =
                           [](const Refusal& r) {
                             bad_argument("an image has more than {} extrema: raise contrast_threshold", r.whole[0]);
                           }},
                      c, to);
  to.then();
}

void describe_keypoints_there(const int64_t* numbers, int64_t height, int64_t width, const SiftRule& rule, float* rows,
                              uint8_t* descriptors, SampleWork& to) {
  if (numbers[0] == 0) return;
  const std::vector<OctavePlace> places = places_of(octave_extents(height, width, rule), rule);
  const auto address = [&](int k) { return reinterpret_cast<const void*>(numbers[k]); };
  run_team<SiftDescriptors>({.in = {address(3), address(1), address(2)},
                             .out = {rows, descriptors},
                             .units = numbers[0],
                             .header = kLists,
                             .memory = bytes_with_weights(kDescriptorWords, 10.61f * largest_scale(rule)),
                             .unit_for_team = true,
                             .table = team_table(std::span<const OctavePlace>(places))},
                            {rule.expanded}, to);
}

}  // namespace penstock
