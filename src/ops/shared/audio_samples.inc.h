// SPDX-License-Identifier: Apache-2.0
// Included once for each processor target by audio_samples.cpp.

// n samples of each channel; mixed: their mean, whose sum is multiplied by `share`.
template <class T, class From> void convert(const From& from, int64_t n, int channels, bool mix, double share, T* to) {
  if (mix) {
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int c = 0; c < channels; ++c) sum += static_cast<double>(from.at(i, c));
      put(static_cast<float>(sum * share), to + i);
    }
  } else if (From::interleaved || channels == 1) {
    for (int64_t i = 0; i < n * channels; ++i) put(From::interleaved ? from.at(0, i) : from.at(i, 0), to + i);
  } else if (channels == 2) {
    for (int64_t i = 0; i < n; ++i) put(from.at(i, 0), to + 2 * i), put(from.at(i, 1), to + 2 * i + 1);
  } else {
    for (int c = 0; c < channels; ++c)
      for (int64_t i = 0; i < n; ++i) put(from.at(i, c), to + i * channels + c);
  }
}
