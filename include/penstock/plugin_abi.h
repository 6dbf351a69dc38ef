/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plug-in and the library must have in common. A plug-in uses the library's C++ classes, whose members may
 * change with each version; so it holds this text, and penstock_load_library() compares it before it runs any code of
 * the plug-in.
 */
#ifndef PENSTOCK_PLUGIN_ABI_H
#define PENSTOCK_PLUGIN_ABI_H

#include <version>

#include "penstock/penstock.h"

#define PENSTOCK_PLUGIN_TEXT(x) #x
#define PENSTOCK_PLUGIN_VERSION(a, b, c) PENSTOCK_PLUGIN_TEXT(a) "." PENSTOCK_PLUGIN_TEXT(b) "." PENSTOCK_PLUGIN_TEXT(c)
#if defined(_LIBCPP_VERSION)
#define PENSTOCK_PLUGIN_LIBRARY "libc++"
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define PENSTOCK_PLUGIN_LIBRARY "libstdc++ with the strings of before C++11"
#elif defined(__GLIBCXX__)
#define PENSTOCK_PLUGIN_LIBRARY "libstdc++"
#else
#define PENSTOCK_PLUGIN_LIBRARY "an unknown library of C++"
#endif
/* "0.1.0; libstdc++" */
#define PENSTOCK_PLUGIN_ABI                                                                       \
  PENSTOCK_PLUGIN_VERSION(PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR, PENSTOCK_VERSION_PATCH) \
  "; " PENSTOCK_PLUGIN_LIBRARY

#endif
