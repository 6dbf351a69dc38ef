# SPDX-License-Identifier: Apache-2.0
"""cvcuda.cuda, where earlier versions of CV-CUDA have their streams, and cvcuda.internal."""

import numpy as np

from .streams import Stream, as_stream


def nbytes_in_cache(resource):
    """The bytes of a tensor, an image or a batch; a batch takes 8 for each place.

    Args:
        resource: A Tensor, Image, TensorBatch or ImageBatchVarShape.
    """
    if hasattr(resource, "capacity"):
        return 8 * resource.capacity + sum(map(nbytes_in_cache, resource))
    memories = getattr(resource, "_planes", None) or [resource._memory]
    return sum(int(np.prod(m.shape)) * m.dtype.itemsize for m in memories)


__all__ = ["Stream", "as_stream", "nbytes_in_cache"]
