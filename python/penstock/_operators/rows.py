# SPDX-License-Identifier: Apache-2.0
"""Rows of arrays in files, as fn.readers.hdf5 and fn.readers.zarr read them: sample k is row k of each array."""

from __future__ import annotations

import bisect
import itertools
import os
import threading
from collections import OrderedDict

from .. import _core
from .file_samples import MOST_VALUES, FileSamples

MOST_OPEN = 64  # files at a time


class FileRows(FileSamples):
    """The rows of files, which count through all of them. Each process opens the files by itself, when it reads them.

    A reader's class opens a file (`open_file`), closes it (`close_file`), lists its arrays (`names_in`), finds one
    (`array`), and tells how the values of one become arrays of NumPy (`kind_of`) and how long they are (`lengths_in`).
    """

    # The library reads on several threads at a time.
    parallel = True

    def __init__(self, paths, names, most_values=MOST_VALUES):
        self.paths, self.most_values = paths, most_values
        self._forget()
        self.single, self.names = self._looked_at(0, lambda file: self._chosen(file, names))
        if not self.names:
            self.refuse(paths[0], "it has no array with at least one dimension")
        self.counts, self.kinds = [], None
        for number, path in enumerate(paths):
            count, kinds = self._looked_at(number, lambda file: self._described(path, file))
            self.counts.append(count)
            self.kinds = self.kinds or kinds
            for name, kind, other in zip(self.names, self.kinds, kinds):
                if kind != other:
                    self.refuse(path, f"{self._shown(name)} is {other}, in {paths[0]} it is {kind}")
        self.ends = list(itertools.accumulate(self.counts))
        self._forget()  # workers that are forked must not share open files

    def _looked_at(self, number, look):
        """What `look` finds in a file."""
        try:
            with self.held(number) as opened:
                return look(opened.file)
        except (_core.DataError, FileNotFoundError):
            raise
        except Exception as error:  # the library's own types
            self.refuse(self.paths[number], f"{type(error).__name__}: {error}", error)

    def _chosen(self, file, names):
        """Whether the file is one array, and the names of the arrays."""
        single = names is None and self.is_array(file)
        return single, [""] if single else list(names or self.names_in(file))

    def _shown(self, name):
        return repr(name) if name else "the array"

    def _described(self, path, file):
        """The number of rows, and of each array what its rows are: (type of NumPy, "" or "bytes", dimensions)."""
        count, kinds = None, []
        for name in self.names:
            try:
                array = self.array(file, name)
            except KeyError:
                there = ", ".join(map(repr, self.names_in(file)))
                self.refuse(path, f"it has no array {name!r}; it has {there}")
            shape = tuple(array.shape)
            if not shape:
                self.refuse(path, f"{self._shown(name)} is one value, not rows")
            if count is not None and shape[0] != count:
                self.refuse(path, f"{self._shown(name)} has {shape[0]} rows, {self._shown(self.names[0])} has {count}")
            count = shape[0]
            self._check_sizes(path, name, array)
            kind = self.kind_of(array)
            if kind is None:
                self.refuse(path, f"{self._shown(name)} has the type {array.dtype}, which is neither numbers nor text")
            if kind[1] and len(shape) > 1:
                self.refuse(path, f"{self._shown(name)} has several texts or lists in a row")
            kinds.append((*kind, 1 if kind[1] else len(shape) - 1))
        return count, kinds

    def lengths_in(self, array):
        """What tells the length of a text or list before it is read, `of(row)`; None: reading takes no more than there is."""
        return None

    def _check_sizes(self, path, name, array):
        """Those of a row, and of the chunk that is decompressed for it."""
        where = f"{path}, {self._shown(name)}"
        self.check_size(where, array.shape[1:])
        if chunks := getattr(array, "chunks", None):
            self.check_size(f"{where}, a chunk", chunks)

    # --- open files -----------------------------------------------------------------------------------------------

    def _forget(self):
        for opened in getattr(self, "files", {}).values():
            self.close_file(opened.file)
        self.files, self.users, self.process = OrderedDict(), {}, os.getpid()
        self.lock = threading.Lock()

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k not in ("files", "users", "lock", "process")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._forget()

    def held(self, number):
        """A context in which the file of this number is open."""
        if self.process != os.getpid():
            self.files = {}  # those of another process
            self._forget()
        return _Held(self, number)

    # --- samples --------------------------------------------------------------------------------------------------

    def __len__(self):
        return self.ends[-1]

    def content(self):
        names = map(os.path.basename, self.paths)
        return [*self.names, *(f"{n} {count}" for n, count in zip(names, self.counts))]

    def _row(self, index):
        number = bisect.bisect_right(self.ends, index)
        return number, index - (self.ends[number - 1] if number else 0)

    def place(self, index):
        number, row = self._row(index)
        return f"{self.paths[number]}, row {row}"

    @property
    def blank(self):
        import numpy

        return tuple(numpy.zeros((0,) * ndim, dtype) for dtype, _, ndim in self.kinds)

    def read(self, index):
        number, row = self._row(index)
        with self.held(number) as opened:
            return [self._value(number, opened, name, row, kind) for name, kind in zip(self.names, self.kinds)]

    def _value(self, number, opened, name, row, kind):
        import numpy

        dtype, how, ndim = kind
        if name not in opened.arrays:
            array = self.array(opened.file, name)
            self._check_sizes(self.paths[number], name, array)
            opened.arrays[name] = array, self.lengths_in(array) if how else None
        array, lengths = opened.arrays[name]
        if row >= array.shape[0] or len(array.shape) - 1 != (0 if how else ndim):
            raise ValueError(f"{self._shown(name)} has changed since the pipeline was made")
        if lengths:
            self.check_size(f"{self.paths[number]}, row {row}, {self._shown(name)}", (lengths.of(row),))
        value = array[row]
        if how == "bytes":
            value = value.item() if hasattr(value, "item") else value
            value = value.encode() if isinstance(value, str) else bytes(value)
            return numpy.frombuffer(value, numpy.uint8)
        return numpy.array(value, dtype, order="C")


class _Opened:
    """A file, and the arrays in it that were read before: finding one can cost as much as reading a row."""

    def __init__(self, file):
        self.file, self.arrays = file, {}


class _Held:
    """A file while it is read: of more than MOST_OPEN the one that was not used for longest is closed, unless others read it."""

    def __init__(self, rows, number):
        self.rows, self.number = rows, number

    def __enter__(self):
        rows, number = self.rows, self.number
        rows.lock.acquire()
        try:
            if number not in rows.files:
                rows.files[number] = _Opened(self._opened())
            rows.files.move_to_end(number)
            rows.users[number] = rows.users.get(number, 0) + 1
            for other in list(rows.files)[: max(0, len(rows.files) - MOST_OPEN)]:
                if not rows.users.get(other):
                    rows.close_file(rows.files.pop(other).file)
        except BaseException:
            rows.lock.release()
            raise
        if rows.parallel:
            rows.lock.release()
        return rows.files[number]

    def _opened(self):
        rows, path = self.rows, self.rows.paths[self.number]
        if "://" not in path and not os.path.exists(path):
            raise FileNotFoundError(f"[{rows.operator}] the file does not exist: {path}")
        try:
            return rows.open_file(path)
        except Exception as error:  # the library's own types
            rows.refuse(path, f"it cannot be opened: {error}", error)

    def __exit__(self, *_):
        if self.rows.parallel:
            self.rows.lock.acquire()
        self.rows.users[self.number] -= 1
        self.rows.lock.release()


def element_type(dtype):
    """The type of NumPy with the byte order of this machine; None if it is neither a number nor a bool."""
    return dtype.newbyteorder("=") if dtype.kind in "biuf" and dtype.itemsize <= 8 else None


def values_of(rows, columns, made):
    """What a reader of rows returns: a value, a list, or without names a dict."""
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    if rows.single or isinstance(columns, str):
        return made[0]
    if columns is None:
        return dict(zip(rows.names, made))
    return made
