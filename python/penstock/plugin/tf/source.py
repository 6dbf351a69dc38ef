# SPDX-License-Identifier: Apache-2.0
"""What a data set knows of its pipeline: the saved form, and what its outputs are."""

from __future__ import annotations

import tensorflow as tf

from ..._pipeline import Pipeline
from ..interface import user_line

_TYPES = {
    "UINT8": tf.uint8,
    "UINT16": tf.uint16,
    "UINT32": tf.uint32,
    "UINT64": tf.uint64,
    "INT8": tf.int8,
    "INT16": tf.int16,
    "INT32": tf.int32,
    "INT64": tf.int64,
    "FLOAT16": tf.float16,
    "BFLOAT16": tf.bfloat16,
    "FLOAT": tf.float32,
    "FLOAT64": tf.float64,
    "BOOL": tf.bool,
}
EPOCHS = {"fill": "stream", "drop": "drop", "partial": "even"}  # as the reader cuts them


def _text_of(pipeline, what):
    if isinstance(pipeline, Pipeline):
        return pipeline.to_json()
    if isinstance(pipeline, (bytes, str)):
        return pipeline.decode() if isinstance(pipeline, bytes) else pipeline
    name = getattr(pipeline, "__name__", "")
    hint = f": call it, {what}({name}(...))" if getattr(pipeline, "_is_pipeline_def", False) else ""
    raise TypeError(
        f"{what} takes a Pipeline, or what Pipeline.serialize() returned, got {type(pipeline).__name__} {name}".rstrip()
        + hint
    )


class Source:
    """A saved pipeline. options: arguments of Pipeline that replace saved ones."""

    def __init__(self, pipeline, last_batch, options, what="PenstockDataset"):
        saved = _text_of(pipeline, what)
        own = Pipeline.deserialize(saved, **{k: v for k, v in options.items() if v is not None})
        try:
            driver = own.driver(epochs=EPOCHS[last_batch])
            self.text = own.to_json()
            self.infos = driver.output_infos()
            self.inputs = driver.inputs
            self.batches_per_epoch = driver.batches_per_epoch()
            self.batch_size = own.max_batch_size
            self.threads = own.num_threads or tf.data.AUTOTUNE
        finally:
            own.close()
        self.form = pipeline.driver().output_form if isinstance(pipeline, Pipeline) else self._plain_form()
        self.last_batch = last_batch

    def _plain_form(self):
        return 0 if len(self.infos) == 1 else tuple(range(len(self.infos)))

    def types(self, declared):
        """The element type of each output. declared: those that the program gives, None for one that it does not."""
        found = []
        for k, (info, given) in enumerate(zip(self.infos, declared)):
            known = _TYPES.get(info.dtype.name)
            given = None if given is None else tf.as_dtype(given)
            if known is None and given is None:
                raise TypeError(
                    f"the type of output {k} is not known before data flow: say dtype= in fn.external_source, or "
                    f"output_dtypes=\n  at {user_line()}"
                )
            if None not in (known, given) and known != given:
                raise TypeError(
                    f"output {k} is {known.name}, and output_dtypes says {given.name}: fn.cast changes the type\n"
                    f"  at {user_line()}"
                )
            found.append(known or given)
        return found

    def shapes(self, declared):
        """The static shape of each output with the samples in front, or None where the rank is not known."""
        full = self.last_batch in ("fill", "drop") and not self.inputs
        found = []
        for k, (info, given) in enumerate(zip(self.infos, declared)):
            known = tf.TensorShape(None if info.shape is None else [self.batch_size if full else None, *info.shape])
            given = tf.TensorShape(given)
            if not known.is_compatible_with(given):
                raise ValueError(
                    f"output {k} has the shape {known}, and output_shapes says {given}\n  at {user_line()}"
                )
            found.append(known.merge_with(given))
        return found


def per_output(value, count, name, one):
    """A value for each output. value: None, one for all, or a list; one: whether a value is a single one."""
    if value is None:
        return [None] * count
    listed = [value] * count if one(value) else list(value)
    if len(listed) != count:
        raise ValueError(f"{name} has {len(listed)} values, the pipeline has {count} outputs\n  at {user_line()}")
    return listed
