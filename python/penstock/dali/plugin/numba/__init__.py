# SPDX-License-Identifier: Apache-2.0
"""By the names of nvidia.dali.plugin.numba."""
