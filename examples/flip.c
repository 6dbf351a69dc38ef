/* SPDX-License-Identifier: Apache-2.0
 *
 * C99: mirrors two small pictures of different sizes, read where they lie.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "penstock/penstock.h"

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, penstock_last_error());
  return 1;
}

int main(void) {
  uint8_t small[2][3][1] = {{{1}, {2}, {3}}, {{4}, {5}, {6}}};
  uint8_t large[1][4][1] = {{{7}, {8}, {9}, {10}}};
  void* const data[] = {small, large};
  const int64_t shapes[] = {2, 3, 1, 1, 4, 1}; /* height, width, channels of each */

  penstock_batch_description description;
  memset(&description, 0, sizeof description);
  description.struct_size = sizeof description;
  description.dtype = PENSTOCK_UINT8;
  description.ndim = 3;
  description.layout = "HWC";
  description.num_samples = 2;
  description.shapes = shapes;
  description.data = data;

  penstock_batch* images = NULL;
  penstock_arguments* arguments = NULL;
  penstock_batch* flipped = NULL;
  if (penstock_batch_create(&description, &images)) return failed("batch");
  if (penstock_arguments_create(&arguments)) return failed("arguments");
  if (penstock_set_int(arguments, "horizontal", 1)) return failed("horizontal");
  if (penstock_call("flip", (const penstock_batch* const*)&images, 1, arguments, NULL, &flipped, 1))
    return failed("flip");

  int wrong = 0;
  for (int i = 0; i < 2; ++i) {
    penstock_sample sample;
    sample.struct_size = sizeof sample;
    if (penstock_batch_get_sample(flipped, i, &sample)) return failed("sample");
    const uint8_t* out = sample.data;
    const uint8_t* in = data[i];
    for (int64_t y = 0; y < sample.shape[0]; ++y) {
      for (int64_t x = 0; x < sample.shape[1]; ++x) {
        printf("%4d", out[y * sample.shape[1] + x]);
        wrong += out[y * sample.shape[1] + x] != in[y * sample.shape[1] + sample.shape[1] - 1 - x];
      }
      printf("\n");
    }
  }
  penstock_batch_destroy(flipped);
  penstock_arguments_destroy(arguments);
  penstock_batch_destroy(images);
  printf("Penstock %s: %s\n", penstock_version(), wrong ? "wrong" : "right");
  return wrong != 0;
}
