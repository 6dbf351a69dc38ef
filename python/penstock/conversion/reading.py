# SPDX-License-Identifier: Apache-2.0
"""Data sets as they are read: by a pipeline over the reader of their format."""

from __future__ import annotations

import os

import numpy as np

from .. import _core
from .._pipeline import Pipeline
from .fields import KEY, OF_BYTES, Field, array_of, picture_ending, sum_of
from .places import size_of

BATCH = 32


class Source:
    """A data set that is read. A format derives a class of its own from this one.

    Attributes:
        path: What the program named.
        files: The files of the data set, sorted.
        fields: What a sample consists of.
        about: What is known of all samples, such as "classes"; it can be written as JSON.
        key_field: The name of a field of text that names the samples; None: the format has names of its own, or none.
    """

    name = ""
    endings = ()  # of the names of its files
    key_field = None
    has_urls = False  # whether it is read from remote storage

    def __init__(self, path, manifest=None, **options):
        self.path, self.manifest = os.fspath(path), manifest
        self.files, self.fields, self.about = [], [], {}
        self.options = options
        self.open()
        if manifest is not None:
            self.fields, self.about = manifest.fields, manifest.about
        self.count = self.counted()
        if manifest is None:
            self._judge()

    def open(self):
        """Finds the files, the fields and what is known of all samples."""
        raise NotImplementedError

    def nodes(self):
        """Adds the reader to the pipeline that is being defined.

        Returns:
            A value of the pipeline for each of stored_fields().
        """
        raise NotImplementedError

    def stored_fields(self):
        """Returns the fields as the format stores them, without the one with the names of samples."""
        return self.fields

    def value(self, field, array):
        """Returns the value of a field.

        Args:
            field: The field.
            array: What the reader returned.

        Raises:
            DataError: The array is not a value of this field.
        """
        if field.kind in OF_BYTES:
            return array.tobytes()
        array = self.decoded(field, array)
        if field.kind == "array":
            return array_of(field, np.array(array))
        if array.size != 1:
            raise _core.DataError(f"field '{field.name}': {array.size} numbers instead of one")
        return int(array.reshape(-1)[0]) if field.kind == "int" else float(array.reshape(-1)[0])

    def decoded(self, field, array):
        """Returns the numbers that a value is made of.

        Args:
            field: The field.
            array: What the reader returned.
        """
        return array

    def joined(self, values):
        """Returns the values of the fields from those of stored_fields()."""
        return values

    def key(self, number, record):
        """Returns the name of a sample.

        Args:
            number: Its number.
            record: The file or record that its reader names.
        """
        return f"{number:08d}"

    def record(self, number):
        """Returns the file or record of a sample, for messages where its reader does not say it.

        Args:
            number: Its number.
        """
        return f"{self.path}, sample {number}"

    def counted(self):
        """Returns the number of samples."""
        pipe = Pipeline(batch_size=1, num_threads=1)
        with pipe:
            pipe.set_outputs(*self.nodes())
        try:
            return next(iter(pipe.reader_meta().values()))["epoch_size"]
        finally:
            pipe.close()

    def _judge(self):
        """What the format does not say of its fields: the first samples show which bytes are pictures, and shapes."""
        unknown = [k for k, f in enumerate(self.fields) if f.kind == "bytes" or (f.kind == "array" and not f.shape)]
        if not unknown or not self.count:
            return
        pipe = Pipeline(batch_size=min(BATCH, self.count), num_threads=1)
        with pipe:
            pipe.set_outputs(*self.nodes())
        try:
            outputs = pipe.run()
        finally:
            pipe.close()
        for k in unknown:
            field = self.fields[k]
            arrays = [self.decoded(field, value.numpy()) for value in outputs[k]]
            if field.kind == "array":
                shapes = [a.shape for a in arrays]
                inner = tuple(n if all(s[d : d + 1] == (n,) for s in shapes) else -1 for d, n in enumerate(shapes[0]))
                self.fields[k] = Field(field.name, "array", arrays[0].dtype.name, (-1, *inner[1:]))
            elif all(picture_ending(a[:16].tobytes()) for a in arrays):
                self.fields[k] = Field(field.name, "image")

    def choose(self, names):
        """Leaves out all fields but these.

        Args:
            names: Names of fields.

        Raises:
            ValueError: There is no such field.
        """
        there = {field.name: field for field in self.fields}
        for name in names:
            if name not in there:
                raise ValueError(f"there is no field {name!r} in {self.path}; there are {', '.join(there)}")
        self.fields = [field for field in self.fields if field.name in names]

    def identity(self):
        """Returns a number that differs where other data have taken the place of these."""
        total = 0
        for file in self.files:
            total = sum_of(f"{os.path.basename(file)}:{size_of(file)};".encode(), total)
        return sum_of(";".join(f"{f.name}={f}" for f in self.fields).encode(), total)

    def samples(self, first=0, threads=0, scaling=None, batch=BATCH):
        """Reads the samples in their order.

        Args:
            first: The number of the first one.
            threads: How many threads read, decode and encode; 0: as many as the process may use.
            scaling: What makes pictures smaller, or None.
            batch: How many samples the pipeline reads at a time; none of them comes where one of them has an error.

        Returns:
            A generator of (name, values, the file or record).

        Raises:
            DataError: A sample cannot be read; the text names it and the cause.
        """
        if first >= self.count:
            return
        pipe = Pipeline(batch_size=batch, num_threads=threads or len(os.sched_getaffinity(0)), seed=0)
        with pipe:
            nodes = list(self.nodes())
            changed = scaling.add(self.fields, nodes) if scaling is not None else []
            pipe.set_outputs(*nodes, *changed)
        try:
            pipe.seek(batch=first // batch)
            place = first - first % batch
            while place < self.count:
                outputs = pipe.run()
                for i in range(max(0, first - place), min(batch, self.count - place)):
                    yield self._sample(outputs, i, place + i, len(nodes), scaling)
                place += batch
        finally:
            pipe.close()

    def _sample(self, outputs, i, number, most, scaling):
        named = (output[i].source_info() for output in outputs)
        record = next(filter(None, named), None) or self.record(number)
        arrays = [output[i].numpy() for output in outputs]
        try:
            stored = self.stored_fields()
            values = self.joined([self.value(f, a) for f, a in zip(stored, arrays)])
            key = arrays[len(stored)].tobytes().decode() if self.key_field else self.key(number, record)
            if scaling is not None:
                values = scaling.changed(self.fields, values, self.about, arrays[most:])
        except (ValueError, UnicodeDecodeError) as error:
            raise _core.DataError(f"{error} (file: {record})") from error
        except _core.DataError as error:
            raise _core.DataError(f"{error} (file: {record})") from None
        return key, values, record


def without_key(fields):
    """Returns the fields without the one that names the samples, and its name or None.

    Args:
        fields: The fields.
    """
    return [f for f in fields if f.name != KEY], KEY if any(f.name == KEY for f in fields) else None
