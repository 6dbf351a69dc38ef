// SPDX-License-Identifier: Apache-2.0
// A ResNet-50 forward pass without dependencies, so that the examples run anywhere: plain loops, nothing to copy into a
// product. A real program uses its engine instead (libtorch, ONNX Runtime, TensorRT): it takes the same pointers.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

// (height, width, channels)
struct FeatureMap {
  int height = 0, width = 0, channels = 0;
  std::vector<float> values = {};
  FeatureMap(int h, int w, int c) : height(h), width(w), channels(c), values(static_cast<size_t>(h) * w * c) {}
  float* at(int y, int x) { return &values[(static_cast<size_t>(y) * width + x) * channels]; }
  const float* at(int y, int x) const { return &values[(static_cast<size_t>(y) * width + x) * channels]; }
};

struct Convolution {
  int out = 0, in = 0, kernel = 0, stride = 0;
  std::vector<float> weights,
      bias;  // weights: (y, x, in, out), so that the innermost loop is one over neighbors in memory

  FeatureMap operator()(const FeatureMap& x, bool relu) const {
    if (x.channels != in) throw std::runtime_error("a convolution of " + std::to_string(in) + " channels");
    const int border = kernel / 2;
    FeatureMap y((x.height + 2 * border - kernel) / stride + 1, (x.width + 2 * border - kernel) / stride + 1, out);
    for (int row = 0; row < y.height; ++row)
      for (int column = 0; column < y.width; ++column) {
        float* const sums = y.at(row, column);
        std::copy(bias.begin(), bias.end(), sums);
        for (int ky = 0; ky < kernel; ++ky)
          for (int kx = 0; kx < kernel; ++kx) {
            const int from_y = row * stride + ky - border, from_x = column * stride + kx - border;
            if (from_y < 0 || from_y >= x.height || from_x < 0 || from_x >= x.width) continue;
            const float* const values = x.at(from_y, from_x);
            const float* weight = &weights[static_cast<size_t>(ky * kernel + kx) * in * out];
            for (int i = 0; i < in; ++i, weight += out)
              for (int o = 0; o < out; ++o) sums[o] += values[i] * weight[o];
          }
        if (relu)
          for (int o = 0; o < out; ++o) sums[o] = std::max(sums[o], 0.0f);
      }
    return y;
  }
};

class ResNet50 {
 public:
  // What examples/resnet50.py --export writes: each convolution with its batch normalization, in the order of their
  // use.
  explicit ResNet50(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    for (std::array<int32_t, 4> n; file.read(reinterpret_cast<char*>(n.data()), sizeof n);) {
      Convolution c{n[0], n[1], n[2], n[3], {}, {}};
      if (std::min({c.out, c.in, c.kernel, c.stride}) < 1 || std::max({c.out, c.in, c.kernel, c.stride}) > 4096)
        throw std::runtime_error(path + " does not hold convolutions");
      const size_t taps = static_cast<size_t>(c.kernel) * c.kernel, pairs = static_cast<size_t>(c.out) * c.in;
      std::vector<float> stored(pairs * taps);
      c.weights.resize(stored.size()), c.bias.resize(static_cast<size_t>(c.out));
      file.read(reinterpret_cast<char*>(stored.data()), static_cast<std::streamsize>(stored.size() * sizeof(float)));
      file.read(reinterpret_cast<char*>(c.bias.data()), static_cast<std::streamsize>(c.bias.size() * sizeof(float)));
      for (size_t pair = 0; pair < pairs; ++pair)  // (out, in, y, x) to (y, x, in, out)
        for (size_t tap = 0; tap < taps; ++tap)
          c.weights[(tap * c.in + pair % c.in) * c.out + pair / c.in] = stored[pair * taps + tap];
      layers_.push_back(std::move(c));
    }
    if (layers_.size() != 54)
      throw std::runtime_error(path + " holds " + std::to_string(layers_.size()) + " layers, not 54");
  }

  int classes() const { return layers_.back().out; }

  // The score of each class; `planes` is a normalized picture of 3 planes (CHW).
  std::vector<float> operator()(const float* planes, int height, int width) const {
    FeatureMap x(height, width, 3);
    for (int i = 0; i < height * width; ++i)
      for (int c = 0; c < 3; ++c)
        x.values[static_cast<size_t>(i) * 3 + c] = planes[static_cast<size_t>(c) * height * width + i];
    auto layer = layers_.begin();
    x = largest_of_3x3((*layer++)(x, true));
    for (const int blocks : {3, 4, 6, 3})
      for (int i = 0; i < blocks; ++i) {
        FeatureMap y = (*layer++)(x, true);
        y = (*layer++)(y, true);
        y = (*layer++)(y, false);
        if (i == 0) x = (*layer++)(x, false);
        for (size_t k = 0; k < y.values.size(); ++k) y.values[k] = std::max(y.values[k] + x.values[k], 0.0f);
        x = std::move(y);
      }
    FeatureMap mean(1, 1, x.channels);
    for (size_t k = 0; k < x.values.size(); ++k)
      mean.values[k % x.channels] += x.values[k] / static_cast<float>(x.height * x.width);
    return (*layer)(mean, false).values;
  }

 private:
  static FeatureMap largest_of_3x3(const FeatureMap& x) {                     // of each second place
    FeatureMap y((x.height - 1) / 2 + 1, (x.width - 1) / 2 + 1, x.channels);  // zeros: what comes in is not negative
    for (int row = 0; row < y.height; ++row)
      for (int column = 0; column < y.width; ++column)
        for (int v = std::max(2 * row - 1, 0); v <= std::min(2 * row + 1, x.height - 1); ++v)
          for (int u = std::max(2 * column - 1, 0); u <= std::min(2 * column + 1, x.width - 1); ++u)
            for (int c = 0; c < x.channels; ++c) y.at(row, column)[c] = std::max(y.at(row, column)[c], x.at(v, u)[c]);
    return y;
  }
  std::vector<Convolution> layers_;
};
