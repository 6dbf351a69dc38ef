// SPDX-License-Identifier: Apache-2.0
// libtiff writes files too, and so takes the encoders of all its formats into libpenstock, which reads TIFF files alone. The
// linker calls these in their place (--wrap, cmake/codec_libraries.cmake), and drops the encoders. Each one fails.
#include <Lerc_c_api.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>
#include <zstd_errors.h>

static const size_t refused = (size_t)-ZSTD_error_GENERIC;  // what ZSTD_isError knows

ZSTD_CStream* __wrap_ZSTD_createCStream(void) { return NULL; }
size_t __wrap_ZSTD_freeCStream(ZSTD_CStream* stream) { return stream == NULL ? 0 : refused; }
size_t __wrap_ZSTD_initCStream(ZSTD_CStream* stream, int level) { return (void)stream, (void)level, refused; }
size_t __wrap_ZSTD_compressStream(ZSTD_CStream* stream, ZSTD_outBuffer* to, ZSTD_inBuffer* from) {
  return (void)stream, (void)to, (void)from, refused;
}
size_t __wrap_ZSTD_endStream(ZSTD_CStream* stream, ZSTD_outBuffer* to) { return (void)stream, (void)to, refused; }
size_t __wrap_ZSTD_compress(void* to, size_t room, const void* from, size_t bytes, int level) {
  return (void)to, (void)room, (void)from, (void)bytes, (void)level, refused;
}
int __wrap_ZSTD_maxCLevel(void) { return 0; }

lzma_ret __wrap_lzma_stream_encoder(lzma_stream* stream, const lzma_filter* filters, lzma_check check) {
  return (void)stream, (void)filters, (void)check, LZMA_OPTIONS_ERROR;
}

struct libdeflate_compressor* __wrap_libdeflate_alloc_compressor(int level) { return (void)level, NULL; }
void __wrap_libdeflate_free_compressor(struct libdeflate_compressor* compressor) { (void)compressor; }
size_t __wrap_libdeflate_zlib_compress(struct libdeflate_compressor* compressor, const void* from, size_t bytes,
                                       void* to, size_t room) {
  return (void)compressor, (void)from, (void)bytes, (void)to, (void)room, 0;
}
size_t __wrap_libdeflate_zlib_compress_bound(struct libdeflate_compressor* compressor, size_t bytes) {
  return (void)compressor, bytes;
}

lerc_status __wrap_lerc_encodeForVersion(const void* data, int version, unsigned type, int depth, int width, int height,
                                         int bands, int masks, const unsigned char* valid, double error,
                                         unsigned char* to, unsigned room, unsigned* written) {
  (void)data, (void)version, (void)type, (void)depth, (void)width, (void)height, (void)bands, (void)masks;
  (void)valid, (void)error, (void)to, (void)room, (void)written;
  return 1;  // ErrCode::Failed
}
