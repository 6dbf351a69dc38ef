# SPDX-License-Identifier: Apache-2.0
"""nvidia.dali.sysconfig: flags for compiling a plug-in."""

import os

from .._native import cmake_prefix_path, get_include


def get_include_dir():
    """The folder of the headers."""
    return get_include()


def get_lib_dir():
    """The folder of libpenstock.so."""
    return os.path.dirname(cmake_prefix_path)


def get_compile_flags():
    """The compiler's flags for a plug-in."""
    arithmetic = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]  # of equal bytes on all devices
    return [f"-I{get_include()}", "-std=c++20", "-fPIC", *arithmetic]


def get_link_flags():
    """The linker's flags for a plug-in."""
    return [f"-L{get_lib_dir()}", f"-l:{next(n for n in os.listdir(get_lib_dir()) if n.startswith('libpenstock.so.'))}"]
