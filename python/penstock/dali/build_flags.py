# SPDX-License-Identifier: Apache-2.0
"""nvidia.dali.sysconfig: flags for compiling a plug-in."""

import os

from ..native import cmake_prefix_path, get_include


def get_include_dir():
    """The folder of the headers."""
    return get_include()


def get_lib_dir():
    """The folder of libpenstock.so."""
    return os.path.dirname(cmake_prefix_path)


def get_compile_flags():
    """The compiler's flags for a plug-in."""
    return [f"-I{get_include()}", "-std=c++20"]


def get_link_flags():
    """The linker's flags for a plug-in."""
    return [f"-L{os.path.join(cmake_prefix_path, 'lib')}", "-lpenstock"]
