# SPDX-License-Identifier: Apache-2.0
"""For C and C++: plug-ins, and where the headers and the CMake package of this installation are."""

import os

from . import _core

# For CMake: -DCMAKE_PREFIX_PATH=$(python -c "import penstock; print(penstock.cmake_prefix_path)").
cmake_prefix_path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_development")


def get_include():
    """Returns the folder of the C and C++ headers of this installation.

    A program is compiled with -I and this folder, and has `#include <penstock/fn.h>`. Plug-ins also need -std=c++20
    -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math: without them the CPU and a GPU would not give the same
    bytes. CMake's target penstock::plugin has them all.

    Returns:
        The path of the folder.

    Raises:
        FileNotFoundError: The package was not installed from a wheel and has no headers.

    Example:
        >>> import os
        >>> os.path.exists(os.path.join(penstock.get_include(), "penstock", "penstock.h"))
        True
    """
    folder = os.path.join(cmake_prefix_path, "include")
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"there are no headers in {folder}: this package runs from its sources; `cmake --install build --prefix "
            "FOLDER` installs the headers"
        )
    return folder


def load_library(path):
    """Loads a plug-in: a library with operators, image formats or readers.

    It was built against Penstock's headers (docs/how_to/add_a_plugin_library.md). Its operators are in penstock.fn at
    once, for arrays and for pipelines, and saved pipelines may have them. Loading a library twice does nothing. The
    setting PENSTOCK_PLUGINS names libraries that are loaded by `import penstock`.

    Args:
        path: The file, such as "build/libduotone.so".

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file is not a plug-in, was built for another version of Penstock, or registers a name that
            exists already; then nothing of it is used.

    Example:
        >>> penstock.load_library("libduotone.so")
        Traceback (most recent call last):
            ...
        FileNotFoundError: there is no plug-in libduotone.so: No such file or directory
    """
    _core.load_library(os.fspath(path))
