# SPDX-License-Identifier: Apache-2.0
"""The lengths of the samples of a data set, as bucket_by of fn.readers.dataset gives them."""

from .. import graph


def lengths_of(dataset, bucket_by):
    """One float32 for each sample of the data set: of an array, of a function of a sample's number, or of a column."""
    import numpy

    if isinstance(bucket_by, str):
        bucket_by = _column(dataset, bucket_by)
    elif callable(bucket_by):
        with graph.outside():
            bucket_by = numpy.fromiter((bucket_by(i) for i in range(len(dataset))), numpy.float32, len(dataset))
    try:
        lengths = numpy.asarray(bucket_by, numpy.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"[readers.dataset] bucket_by is an array with a number for each sample, a function of the number of a sample, "
            f"or the name of a column, got {type(bucket_by).__name__}"
        ) from error
    if lengths.shape != (len(dataset),):
        raise ValueError(
            f"[readers.dataset] bucket_by has the shape {lengths.shape}, but the data set has {len(dataset)} samples: it "
            "needs one number for each"
        )
    return lengths


def _column(dataset, name):
    try:
        with graph.outside():
            return dataset[name]
    except Exception as error:
        raise ValueError(
            f"[readers.dataset] bucket_by={name!r} names a column, but dataset[{name!r}] raised {type(error).__name__}: "
            "give an array with a number for each sample, or a function of the number of a sample"
        ) from error
