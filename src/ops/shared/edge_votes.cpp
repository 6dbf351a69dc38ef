// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/edge_votes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "base/target.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS voting
#define PENSTOCK_LOOPS_TEXT "ops/shared/edge_votes.inc.h"
#include "base/foreach_target.h"

struct SetPixels {
  std::vector<float> x, y;
  SetPixels(const uint8_t* edges, int64_t height, int64_t width) {
    for (int64_t v = 0; v < height; ++v)
      for (int64_t u = 0; u < width; ++u)
        if (edges[v * width + u]) x.push_back(static_cast<float>(u)), y.push_back(static_cast<float>(v));
  }
};

// A pixel of an edge, and where lines that it votes for go on. Positions along the slower axis have 16 binary digits.
class SegmentSearch {
 public:
  using Segment = std::array<int32_t, 4>;

  SegmentSearch(const uint8_t* edges, int64_t height, int64_t width, const LineGrid& grid, const VotedSegmentRule& rule)
      : height_(height), width_(width), rule_(rule), left_(edges, edges + height * width), state_(rule.seed) {
    grid.tables(cosines_, sines_, false);
    distances_ = grid.distances(height, width);
    votes_.resize(cosines_.size() * stride());
    places_.resize(cosines_.size());
    for (int64_t i = 0; i < height * width; ++i)
      if (edges[i]) waiting_.push_back(i);
  }
  std::vector<Segment> run() {
    while (!waiting_.empty() && static_cast<int64_t>(found_.size()) < rule_.most_segments) {
      const size_t at = next_number() % waiting_.size();
      const int64_t pixel = waiting_[at];
      waiting_[at] = waiting_.back(), waiting_.pop_back();
      if (!left_[static_cast<size_t>(pixel)]) continue;
      if (const int angle = vote(pixel); angle >= 0) follow(pixel, angle);
    }
    return std::move(found_);
  }

 private:
  // From the votes of one angle to those of the next: a line of the cache more than a multiple of 4096 bytes, so that
  // angles share no place in it.
  size_t stride() const { return (static_cast<size_t>(distances_) + 1023) / 1024 * 1024 + 16; }
  struct Walk {
    int64_t x, y, dx, dy;
    bool across;  // x moves by whole pixels
    int64_t column() const { return across ? x : x >> 16; }
    int64_t row() const { return across ? y >> 16 : y; }
    void step() { x += dx, y += dy; }
  };
  // Multiply with carry (G. Marsaglia), with OpenCV's factor: its results are found again.
  uint32_t next_number() {
    state_ = static_cast<uint64_t>(static_cast<uint32_t>(state_)) * 4164903690u + (state_ >> 32);
    return static_cast<uint32_t>(state_);
  }
  void find_places(int64_t pixel) {
    const int64_t y = pixel / width_, x = pixel - y * width_;
    PENSTOCK_FOR_TARGET(best_target(), voting,
                        distances_at(static_cast<float>(x), static_cast<float>(y), cosines_.data(), sines_.data(),
                                     (distances_ - 1) / 2, static_cast<int64_t>(places_.size()), places_.data()));
  }
  // The angle of the line with the most votes; -1: none has enough.
  int vote(int64_t pixel) {
    find_places(pixel);
    int best = -1, most = rule_.threshold - 1;
    for (size_t n = 0; n < places_.size(); ++n) {
      const int votes = ++votes_[n * stride() + static_cast<size_t>(places_[n])];
      if (votes > most) most = votes, best = static_cast<int>(n);
    }
    return best;
  }
  void withdraw(int64_t pixel) {
    find_places(pixel);
    for (size_t n = 0; n < places_.size(); ++n) --votes_[n * stride() + static_cast<size_t>(places_[n])];
  }
  Walk walk_from(int64_t pixel, int angle, bool back) const {
    const auto a = static_cast<double>(-sines_[static_cast<size_t>(angle)]);
    const auto b = static_cast<double>(cosines_[static_cast<size_t>(angle)]);
    const int64_t y = pixel / width_, x = pixel - y * width_;
    const auto slow = [](double v, double by) { return std::llrint(v * 65536 / std::fabs(by)); };
    Walk w{x, y, 0, 0, std::fabs(a) > std::fabs(b)};
    if (w.across) w.y = (y << 16) + 32768, w.dx = a > 0 ? 1 : -1, w.dy = slow(b, a);
    else w.x = (x << 16) + 32768, w.dy = b > 0 ? 1 : -1, w.dx = slow(a, b);
    if (back) w.dx = -w.dx, w.dy = -w.dy;
    return w;
  }
  void follow(int64_t pixel, int angle) {
    Segment ends;
    for (const bool back : {false, true}) {
      int gap = 0;
      for (Walk w = walk_from(pixel, angle, back);; w.step()) {
        const int64_t x = w.column(), y = w.row();
        if (x < 0 || x >= width_ || y < 0 || y >= height_) break;
        if (left_[static_cast<size_t>(y * width_ + x)]) {
          gap = 0;
          ends[2 * back] = static_cast<int32_t>(x), ends[2 * back + 1] = static_cast<int32_t>(y);
        } else if (++gap > rule_.most_gap) {
          break;
        }
      }
    }
    const bool good =
        std::abs(ends[2] - ends[0]) >= rule_.least_length || std::abs(ends[3] - ends[1]) >= rule_.least_length;
    for (const bool back : {false, true})
      for (Walk w = walk_from(pixel, angle, back);; w.step()) {
        const int64_t x = w.column(), y = w.row(), at = y * width_ + x;
        if (left_[static_cast<size_t>(at)]) {
          if (good) withdraw(at);
          left_[static_cast<size_t>(at)] = 0;
        }
        if (x == ends[2 * back] && y == ends[2 * back + 1]) break;
      }
    if (good) found_.push_back(ends);
  }

  const int64_t height_, width_;
  const VotedSegmentRule rule_;
  std::vector<uint8_t> left_;  // pixels that belong to no segment yet
  uint64_t state_;
  std::vector<float> cosines_, sines_;
  int distances_ = 0;
  std::vector<int32_t> votes_, places_;
  std::vector<int64_t> waiting_;
  std::vector<Segment> found_;
};

}  // namespace

int LineGrid::angles() const {
  const int n = static_cast<int>(std::floor((most_theta - least_theta) / theta)) + 1;
  return n > 1 && std::fabs(std::numbers::pi - (n - 1) * theta) < theta / 2 ? n - 1 : n;  // pi is 0 again
}
int LineGrid::distances(int64_t height, int64_t width) const {
  return static_cast<int>(std::lrint(static_cast<double>((width + height) * 2 + 1) / rho));
}
void LineGrid::tables(std::vector<float>& cosines, std::vector<float>& sines, bool rising) const {
  auto sum = static_cast<float>(least_theta);
  for (int n = 0; n < angles(); ++n, sum += static_cast<float>(theta)) {
    const double angle = rising ? static_cast<double>(sum) : n * theta;
    cosines.push_back(static_cast<float>(std::cos(angle) / rho));
    sines.push_back(static_cast<float>(std::sin(angle) / rho));
  }
}

std::vector<VotedLine> vote_for_lines(const uint8_t* edges, int64_t height, int64_t width, const LineGrid& grid,
                                      int threshold) {
  const SetPixels pixels(edges, height, width);
  std::vector<float> cosines, sines;
  grid.tables(cosines, sines, true);
  const int distances = grid.distances(height, width);
  const int64_t stride = distances + 2, angles = static_cast<int64_t>(cosines.size());
  std::vector<int32_t> votes(static_cast<size_t>(stride * (angles + 2)), 0), places(pixels.x.size());
  for (int64_t n = 0; n < angles; ++n) {
    const auto a = static_cast<size_t>(n);
    PENSTOCK_FOR_TARGET(best_target(), voting,
                        distances_of(pixels.x.data(), pixels.y.data(), cosines[a], sines[a], (distances - 1) / 2,
                                     static_cast<int64_t>(places.size()), places.data()));
    int32_t* const row = votes.data() + (n + 1) * stride + 1;
    for (const int32_t place : places) ++row[place];
  }
  std::vector<VotedLine> lines;
  for (int64_t n = 0; n < angles; ++n)
    for (int64_t r = 0; r < distances; ++r) {
      const int32_t* const at = votes.data() + (n + 1) * stride + 1 + r;
      if (*at <= threshold || *at <= at[-1] || *at < at[1] || *at <= at[-stride] || *at < at[stride]) continue;
      const double rho = static_cast<double>(r - (distances - 1) / 2) * grid.rho;
      lines.push_back(
          {static_cast<float>(rho), static_cast<float>(grid.least_theta + static_cast<double>(n) * grid.theta), *at});
    }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.votes > b.votes; });
  return lines;
}

std::vector<std::array<int32_t, 4>> vote_for_segments(const uint8_t* edges, int64_t height, int64_t width,
                                                      const LineGrid& grid, const VotedSegmentRule& rule) {
  return SegmentSearch(edges, height, width, grid, rule).run();
}

}  // namespace penstock
