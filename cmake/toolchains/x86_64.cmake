# SPDX-License-Identifier: Apache-2.0
# Debian's compiler for x86-64: the one of this machine, or across (tools/release).
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR x86_64)
  set(CMAKE_C_COMPILER x86_64-linux-gnu-gcc-12)
  set(CMAKE_CXX_COMPILER x86_64-linux-gnu-g++-12)
endif()
