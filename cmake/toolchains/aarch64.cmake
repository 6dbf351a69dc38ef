# SPDX-License-Identifier: Apache-2.0
# Debian's compiler for aarch64: the one of this machine, or across (tools/release).
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
  set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
  set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
endif()
