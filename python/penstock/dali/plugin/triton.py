# SPDX-License-Identifier: Apache-2.0
"""What a model repository of Triton imports of nvidia.dali.plugin.triton."""

__all__ = ["autoserialize"]


def autoserialize(dali_pipeline):
    """Marks a function of pipeline_def as the one that Triton would serialize; it stays as it is.

    Args:
        dali_pipeline: A function with @pipeline_def.

    Raises:
        TypeError: It is another function.
    """
    if not getattr(dali_pipeline, "_is_pipeline_def", False):
        raise TypeError("autoserialize takes a function with @pipeline_def: write @autoserialize above @pipeline_def")
    dali_pipeline._is_autoserialize = True
    return dali_pipeline
