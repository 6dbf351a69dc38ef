# SPDX-License-Identifier: Apache-2.0
"""nvidia.dali.plugin_manager: loads libraries with operators. They are built against Penstock's headers, not against DALI's."""

import ctypes
import glob
import os

from .._native import load_library as _load


def load_library(library_path, global_symbols=False):
    """Loads a library with operators: penstock.load_library().

    Args:
        library_path: The file.
        global_symbols: Whether libraries that are loaded later see its symbols.
    """
    _load(library_path)
    if global_symbols:
        ctypes.CDLL(os.path.abspath(library_path), ctypes.RTLD_GLOBAL)


def load_directory(plugin_dir_path, global_symbols=False):
    """Loads the libraries of a folder and of the folders in it, whose names are lib*.so, in the order of their names.

    Args:
        plugin_dir_path: The folder.
        global_symbols: As for load_library().
    """
    if not os.path.isdir(plugin_dir_path):
        raise RuntimeError(f"{plugin_dir_path} is not a folder")
    for file in sorted(glob.glob(os.path.join(plugin_dir_path, "**", "lib*.so"), recursive=True)):
        load_library(file, global_symbols)
