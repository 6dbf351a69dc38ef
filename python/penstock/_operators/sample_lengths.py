# SPDX-License-Identifier: Apache-2.0
"""The lengths of the samples of a data set, as fn.readers.dataset and fn.readers.packed take them."""

from .. import _graph as graph


def lengths_of(dataset, given, argument="bucket_by", operator="readers.dataset"):
    """One float32 for each sample of the data set: of an array, of a function of a sample's number, or of a column."""
    import numpy

    if isinstance(given, str):
        given = _column(dataset, given, f"[{operator}] {argument}")
    elif callable(given):
        with graph.outside():
            given = numpy.fromiter((given(i) for i in range(len(dataset))), numpy.float32, len(dataset))
    try:
        lengths = numpy.asarray(given, numpy.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"[{operator}] {argument} is an array with a number for each sample, a function of the number of a sample, "
            f"or the name of a column, got {type(given).__name__}"
        ) from error
    if lengths.shape != (len(dataset),):
        raise ValueError(
            f"[{operator}] {argument} has the shape {lengths.shape}, but the data set has {len(dataset)} samples: it "
            "needs one number for each"
        )
    return lengths


def _column(dataset, name, argument):
    try:
        with graph.outside():
            return dataset[name]
    except Exception as error:
        raise ValueError(
            f"{argument}={name!r} names a column, but dataset[{name!r}] raised {type(error).__name__}: "
            "give an array with a number for each sample, or a function of the number of a sample"
        ) from error
