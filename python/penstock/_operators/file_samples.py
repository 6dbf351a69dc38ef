# SPDX-License-Identifier: Apache-2.0
"""What the readers have in common whose files a package of Python decodes: readers.hdf5, zarr, nifti and dicom.

fn.readers.indices gives the order, and a function of this package reads the samples.
"""

from __future__ import annotations

import glob
import hashlib
import os

from .. import _core, _graph as graph
from .._workers.calls import Function, name_of

MOST_VALUES = 1 << 30  # of a sample


def matching_paths(operator, given, endings=None):
    """Returns the paths that a reader's argument names.

    Args:
        operator: The operator, for messages.
        given: One path or several; patterns with * or ? stand for the files that match, sorted.
        endings: Where a folder stands for its files: how their names end, () for any; None: a folder is a path like
            any other.

    Raises:
        FileNotFoundError: No file matches a pattern, or a folder has no such file.
        ValueError: There is no path.
    """
    paths = [given] if isinstance(given, (str, os.PathLike)) else list(given)
    found = []
    for path in map(os.fspath, paths):
        is_url = "://" in path
        is_pattern = not is_url and any(c in path for c in "*?[") and not os.path.exists(path)
        matching = sorted(glob.glob(path)) if is_pattern else _core.remote_matching(path) if is_url else [path]
        if endings is not None and os.path.isdir(path):
            matching = sorted(
                os.path.join(folder, name)
                for folder, _, names in os.walk(path)
                for name in names
                if name.endswith(tuple(endings) or "")
            )
        if not matching:
            what = "no file matches the pattern" if is_pattern else "no file of this kind is in the folder"
            raise FileNotFoundError(f"[{operator}] {what} {path}\n  at {graph.user_line()}")
        found += matching
    if not found:
        raise ValueError(f"[{operator}] give at least one path\n  at {graph.user_line()}")
    return found


def needed_package(operator, module, package=None):
    """Imports the module that a reader needs.

    Args:
        operator: The operator, for messages.
        module: The module's name.
        package: What pip installs; None: what the module is called.

    Raises:
        ImportError: It is not installed.
    """
    import importlib

    try:
        importlib.import_module(module.partition(".")[0])
        return importlib.import_module(module)
    except ImportError as error:
        package = package or module
        raise ImportError(f"fn.{operator} needs {package} ({error}): pip install {package}") from None


class FileSamples:
    """The samples of files, by number. It is picklable: a worker process gets it once, and opens the files itself.

    A reader's class has `operator`, `__len__`, `content`, `place` and `read`, and `blank`: values with the types of a
    sample, which take the place of those that cannot be read until the pipeline leaves the samples out.
    """

    operator, noun = "", "files"
    most_values = MOST_VALUES

    def content(self):
        """Texts that stand for the samples: a checkpoint of others is refused."""
        raise NotImplementedError

    def place(self, index):
        """The file of a sample, and its place there."""
        raise NotImplementedError

    def read(self, index):
        """The values of a sample."""
        raise NotImplementedError

    def refuse(self, where, why, error=None):
        """Raises the DataError that names the operator, the file and the cause."""
        raise _core.DataError(f"[{self.operator}] {where}: {why}") from error

    def check_size(self, where, shape):
        """Refuses an array that is larger than a sample may be, before there is memory for it."""
        count = 1
        for extent in shape:
            count *= int(extent)
        if count > self.most_values:
            shown = " x ".join(map(str, shape))
            self.refuse(where, f"an array of {shown} has more values than max_values={self.most_values}")

    def __call__(self, index):
        index = int(index)
        try:
            return tuple(self.read(index))
        except _core.DataError:
            raise
        except Exception as error:  # each package has its own
            self.refuse(self.place(index), f"{type(error).__name__}: {error}", error)

    @property
    def __name__(self):
        return self.operator


class FileReads(Function):
    """Reads the samples of a batch."""

    def blank(self):
        return self.function.blank


def read_samples(samples, outputs, layouts, num_workers, processes, name, arguments):
    """Adds the nodes that read samples in the order of a reader.

    Args:
        samples: The FileSamples.
        outputs: How many values a sample has.
        layouts: The layouts of the values, "" for none.
        num_workers: Threads, or processes, that read; None: as many as the pipeline has threads.
        processes: Reads in processes.
        name: The name of the reader.
        arguments: Those of every reader.

    Returns:
        A value of the pipeline, or a list of them.
    """
    op = samples.operator
    pipeline = graph.current()
    if len(samples) < 1:
        raise ValueError(f"[{op}] the files hold no sample\n  at {graph.user_line()}")
    if num_workers is None:
        threads = pipeline.definition.options["num_threads"]
        num_workers = threads if isinstance(threads, int) and threads > 0 else _core.usable_cores()
    if isinstance(num_workers, bool) or not hasattr(num_workers, "__index__") or num_workers < 1:
        raise ValueError(f"[{op}] num_workers must be an integer of at least 1, got {num_workers!r}")
    told = hashlib.sha256("\n".join(samples.content()).encode("utf-8", "surrogateescape")).digest()
    content = int.from_bytes(told[:8], "little") >> 1
    index = _core.operator_function("readers.indices")(size=len(samples), content=content, name=name, **arguments)
    made = FileReads(op, samples, outputs, False, int(num_workers), bool(processes))
    given = {"function": name_of(samples), "num_outputs": outputs, "num_workers": int(num_workers)}
    if processes:
        given["processes"] = True
    if any(layouts):
        given["output_layouts"] = list(layouts)
    return graph.add_call("python_function", (index,), given, made)
