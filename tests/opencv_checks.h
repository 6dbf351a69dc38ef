// SPDX-License-Identifier: Apache-2.0
// What the programs that test matrices of OpenCV have in common.
#pragma once
#include <penstock/opencv.hpp>

#include <cstdio>
#include <opencv2/core.hpp>

#define REQUIRE(...)                                                                             \
  do {                                                                                           \
    if (!(__VA_ARGS__)) return std::fprintf(stderr, "line %d: %s\n", __LINE__, #__VA_ARGS__), 1; \
  } while (false)

inline bool same(const cv::Mat& a, const cv::Mat& b) {
  return a.size() == b.size() && a.type() == b.type() && cv::norm(a, b, cv::NORM_INF) == 0;
}

template <class F> bool refuses(F&& body) {
  try {
    body();
  } catch (const penstock::Error&) {
    return true;
  }
  return false;
}
