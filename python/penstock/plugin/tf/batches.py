# SPDX-License-Identifier: Apache-2.0
"""The tensors of a batch, from the operator."""

import tensorflow as tf

from .library import load
from .ragged import put_together


class Batches:
    """Calls the operator. What it returns depends on its arguments alone."""

    def __init__(self, source, names, types, shapes, ragged, inputs=None):
        self._call = load().penstock_next
        self._types = [t for t, is_ragged in zip(types, ragged) for t in ([t, tf.int64] if is_ragged else [t])]
        self._shapes, self._ragged, self._infos = shapes, ragged, source.infos
        self._attributes = dict(
            pipeline=source.text,
            input_names=inputs.names if inputs else [],
            input_layouts=inputs.layouts if inputs else [],
            ragged_inputs=inputs.ragged if inputs else [],
            output_names=[f"{name!r}" for name in names],
            ragged_outputs=ragged,
            Tout=self._types,
        )

    def at(self, position, inputs=(), stride=1):
        """(whether there is such a batch, its outputs)"""
        more, made = self._call(position=position, inputs=list(inputs), stride=stride, **self._attributes)
        left, outputs = list(made), []
        for shape, ragged, info in zip(self._shapes, self._ragged, self._infos):
            if ragged:
                outputs.append(put_together(left.pop(0), left.pop(0), info.shape))
                continue
            outputs.append(left.pop(0))
            if shape.rank is not None:
                outputs[-1].set_shape(shape)
        return more, outputs
