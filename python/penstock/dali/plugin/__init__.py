# SPDX-License-Identifier: Apache-2.0
"""What hands batches to frameworks, by the names of nvidia.dali.plugin."""
