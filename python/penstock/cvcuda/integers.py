# SPDX-License-Identifier: Apache-2.0
"""Arguments that are integers. CV-CUDA takes no fraction for them, so none may be truncated here."""

import numpy as np

NAMES = frozenset(
    "anchor bits block_size bottom crop_size cropPos diameter flags flipCode h i interp j kernel_anchor kernel_size ksize left "
    "maskSize matches_per_point max_block_size max_features max_kernel_size max_labels max_locations max_size iteration "
    "num_octave_layers order out_height out_shape out_size out_width outchannels quality resize_dim right seed shape size "
    "src_interp tile_grid_size top type w".split()
)


def check(given):
    """Raises TypeError where an argument that is an integer, or a list of such, has a fraction; operators refuse infinity and NaN."""
    for name in NAMES & given.keys():
        value = given[name]
        if isinstance(value, (float, np.floating, list, tuple, np.ndarray)):
            numbers = np.asarray(value)
            if numbers.dtype.kind == "f" and (np.isfinite(numbers) & (numbers != np.floor(numbers))).any():
                raise TypeError(f"{name}: expected {'integers' if numbers.ndim else 'an integer'}, got {value!r}")
