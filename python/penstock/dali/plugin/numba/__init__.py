# SPDX-License-Identifier: Apache-2.0
"""By the names of nvidia.dali.plugin.numba."""

from ....plugin.numba import fn, numba_function
