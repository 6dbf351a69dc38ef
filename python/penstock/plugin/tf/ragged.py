# SPDX-License-Identifier: Apache-2.0
"""Batches of unlike samples as ragged tensors."""

import tensorflow as tf

from ..interface import user_line


def chosen(wish, names, infos):
    """Which outputs are ragged. wish: the argument `ragged`."""
    if wish in (None, False):
        return [False] * len(infos)
    differs = [info.shape is None or None in info.shape for info in infos]
    if wish is not True:
        wanted = [wish] if isinstance(wish, (str, int)) else list(wish)
        for name in wanted:
            if name not in names:
                raise ValueError(
                    f"ragged names {name!r}; the outputs are {', '.join(map(repr, names))}\n  at {user_line()}"
                )
        differs = [name in wanted for name in names]
    for k, info in enumerate(infos):
        if differs[k] and info.shape is None:
            raise ValueError(
                f"output {names[k]!r} cannot be ragged: its number of dimensions is not known before data flow. Say ndim= "
                f"in fn.external_source\n  at {user_line()}"
            )
    return differs


def put_together(flat, extents, shape):
    """A ragged tensor. flat: the elements of all samples, extents: int64 (samples, rank), shape: what is known of a sample's."""
    ragged = max((axis + 1 for axis, extent in enumerate(shape) if extent is None), default=0)
    if not ragged:
        return tf.reshape(flat, [-1, *shape])
    made = tf.reshape(flat, [-1, *shape[ragged:]])
    for axis in reversed(range(ragged)):
        rows = tf.reduce_prod(extents[:, :axis], axis=1)
        made = tf.RaggedTensor.from_row_lengths(made, tf.repeat(extents[:, axis], rows), validate=False)
    return made
