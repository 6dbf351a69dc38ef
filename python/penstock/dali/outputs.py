# SPDX-License-Identifier: Apache-2.0
"""Outputs that a script declared to be on a GPU, on a machine without one."""
from .._core import Batch


class GpuBatch(Batch):
    """A batch that would be a GPU's: at(i) is a Tensor, whose shape is a call, where a batch of the host gives an array."""

    def at(self, index):
        """Sample `index` as a Tensor."""
        return self[index]


def as_declared(pipeline, batches):
    """The batches, as GpuBatch where the output lies on a GPU by the graph and here does not."""
    places = vars(pipeline).get("_on_gpu")
    if places is None:
        places = pipeline._on_gpu = pipeline._graph.outputs_on_gpu()
    if not any(places):
        return batches
    return tuple(GpuBatch(b) if gpu and b.device_type == "cpu" else b for gpu, b in zip(places, batches))
