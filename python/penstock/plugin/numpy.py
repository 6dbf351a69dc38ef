# SPDX-License-Identifier: Apache-2.0
"""An iterator that yields NumPy arrays."""

from .base_iterator import BaseIterator, LastBatchPolicy

__all__ = ["DALIGenericIterator", "LastBatchPolicy", "NumpyIterator"]


class NumpyIterator(BaseIterator):
    """Gives a list with one dict for each pipeline, from the names of output_map to arrays.

    An array is a whole batch over the memory of the pipeline, or over a copy of what lies on a GPU. A batch of
    samples that differ in shape is a list of arrays.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, fill_last_batch, dynamic_shape,
            last_batch_padded, last_batch_policy, prepare_first_batch, refill: As those of BaseIterator.

    Example:
        >>> from penstock.plugin.numpy import NumpyIterator
        >>> @pipeline_def(batch_size=2, num_threads=1)
        ... def numbers():
        ...     return fn.readers.indices(size=4, name="reader")
        >>> for batch, in NumpyIterator(numbers(), ["index"], reader_name="reader"):
        ...     print(batch["index"].tolist())
        [0, 1]
        [2, 3]
    """

    def convert(self, batch, keep):
        """Makes an array of a batch.

        Args:
            batch: The batch.
            keep: How many samples count; None: all.
        """
        batch = batch.as_cpu()
        if not batch.is_uniform():
            return [t.numpy() for t in batch][:keep]
        array = batch.as_array()
        return array[:keep] if keep is not None and keep < len(batch) else array


DALIGenericIterator = NumpyIterator
