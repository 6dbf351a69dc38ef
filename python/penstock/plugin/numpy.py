# SPDX-License-Identifier: Apache-2.0
"""An iterator that yields NumPy arrays."""

from .base_iterator import BaseIterator, LastBatchPolicy

__all__ = ["DALIGenericIterator", "LastBatchPolicy", "NumpyIterator"]


class NumpyIterator(BaseIterator):
    """Yields a list with one dict per pipeline, from the names of output_map to arrays of whole batches over the
    pipeline's memory, or over a copy of what lies on a GPU; a batch of samples that differ in shape is a list of arrays."""

    __doc__ += "\n\n" + (BaseIterator.__doc__ or "")

    def _convert(self, batch, keep):
        batch = batch.as_cpu()
        if not batch.is_uniform():
            return [t.numpy() for t in batch][:keep]
        array = batch.as_array()
        return array[:keep] if keep is not None and keep < len(batch) else array


DALIGenericIterator = NumpyIterator
