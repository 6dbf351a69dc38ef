// SPDX-License-Identifier: Apache-2.0
// Stands in wheels where Debian's libtiff wants JBIG-KIT, which is under the GPL: files with JBIG's compression end in an
// error. Only what libtiff calls, by the names and numbers of its interface.
#define EXPORT __attribute__((visibility("default")))
enum { kNotHere = 6 };

EXPORT void jbg_dec_init(void* state) { (void)state; }
EXPORT int jbg_dec_in(void* state, unsigned char* data, unsigned long length, unsigned long* read) {
  (void)state, (void)data, (void)length;
  if (read) *read = 0;
  return kNotHere;
}
EXPORT unsigned char* jbg_dec_getimage(const void* state, int plane) {
  return (void)state, (void)plane, (unsigned char*)0;
}
EXPORT unsigned long jbg_dec_getsize(const void* state) { return (void)state, 0; }
EXPORT void jbg_dec_free(void* state) { (void)state; }
EXPORT void jbg_enc_init(void* state, unsigned long x, unsigned long y, int planes, unsigned char** data,
                         void (*out)(unsigned char*, unsigned long, void*), void* file) {
  (void)state, (void)x, (void)y, (void)planes, (void)data, (void)out, (void)file;
}
EXPORT void jbg_enc_out(void* state) { (void)state; }
EXPORT void jbg_enc_free(void* state) { (void)state; }
EXPORT int jbg_newlen(unsigned char* data, unsigned long length) { return (void)data, (void)length, kNotHere; }
EXPORT const char* jbg_strerror(int code) { return (void)code, "JBIG is not part of this wheel"; }
