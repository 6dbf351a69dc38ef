# SPDX-License-Identifier: Apache-2.0
"""Outputs that a script declared to be on a GPU, whether or not this machine has one."""

from .._core import Batch


class GpuBatch(Batch):
    """A batch on a GPU, or one that would be there: at(i) is a Tensor. For a batch of the host it is an array."""

    def at(self, index):
        """Sample `index` as a Tensor."""
        return self[index]


def as_declared(pipeline, batches):
    """The batches, as GpuBatch where the output lies on a GPU by the graph."""
    places = vars(pipeline).get("_on_gpu")
    if places is None:
        places = pipeline._on_gpu = [info.device == "gpu" for info in pipeline.driver().output_infos()]
    if not any(places):
        return batches
    return tuple(GpuBatch(b) if gpu else b for gpu, b in zip(places, batches))
