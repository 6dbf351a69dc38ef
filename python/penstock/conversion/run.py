# SPDX-License-Identifier: Apache-2.0
"""convert() and verify()."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor

from .. import _core
from ..progress import Work
from ..storage.files import opened
from .fields import sum_of, sum_of_sample
from .formats import open_source, target_class
from .manifest import NAME, VERSION, Journal, read_manifest
from .marks import Marks
from .pieces import LARGEST, block_size, pieces, written
from .places import as_target
from .processes import Processes, raised
from .scaling import Scaling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_BLOCK = 1 << 22
_READ_AT_ONCE = 8  # objects in a bucket
_PARTS = ".penstock.pieces"  # what processes have written, until its turn comes


@dataclasses.dataclass(frozen=True)
class Finding:
    """A fault that verify() found.

    Args:
        file: The file of the data set.
        sample: The number of the sample in the data set, or None.
        cause: What is wrong.
    """

    file: str
    sample: int | None
    cause: str

    def __str__(self) -> str:
        where = "" if self.sample is None else f", sample {self.sample}"
        return f"{self.file}{where}: {self.cause}"


class ConversionError(_core.DataError):
    """Raised where the files that convert() has written are not what it wrote.

    Args:
        folder: The target.
        findings: What verify() found.
    """

    def __init__(self, folder: str, findings: Sequence[Finding]) -> None:
        self.findings = list(findings)
        super().__init__(f"{folder}: {len(self.findings)} faults after writing, such as {self.findings[0]}")


def convert(
    source: Any,
    target: Any,
    to: str,
    *,
    format: str | None = None,
    shorter: int | None = None,
    quality: int = 95,
    shard_size: int = 64 << 20,
    threads: int = 0,
    workers: int = 1,
    only: Sequence[str] | None = None,
    image: str | None = None,
    label: str | None = None,
    images: str | None = None,
    check: bool = True,
) -> int:
    """Converts a data set to another format.

    Samples keep their order. A run that was killed goes on where it was when it is called again with the same
    arguments, and the files are those of a run that was not. The file penstock.manifest in the target has the fields,
    and the CRC-32C of each file and of each sample.

    Args:
        source: A folder, a file, a pattern with * or ?, or a URL: of files of "tar", "tfrecord" or "parquet", of a
            folder of them in a bucket, or of a set of MDS.
        target: The folder to write, which is new or was begun by the same call; or for "tar", "tfrecord", "parquet"
            and "mds" its URL in a bucket, s3://bucket/folder or gs://bucket/folder.
        to: "folder" (a folder for each class), "coco", "tar" (WebDataset), "tfrecord", "parquet" or "mds".
        format: The format of the source: one of those, or "ffcv"; None: judged by the names of the files.
        shorter: Pictures whose shorter side has more pixels are scaled to so many and written as JPEG files; others
            keep their bytes.
        quality: Of those JPEG files, 1 to 100.
        shard_size: Bytes of samples in a file of the target, at most; a sample that is larger has a file of its own.
        threads: How many threads read, decode and encode; 0: as many as the process may use. Workers share them.
        workers: How many processes convert, for targets "tar", "tfrecord", "parquet" and "mds". The files do not depend
            on it, and a run may be continued with another number.
        only: The names of the fields that are converted; None: all.
        image: The name of the field of pictures, for targets that hold one picture.
        label: The name of the field of labels, for a folder of classes.
        images: The folder of the pictures of a source in COCO's form; None: "images" beside the file, or its folder.
        check: Read all that was written at the end, and compare it with what was to be written.

    Returns:
        The number of samples.

    Raises:
        ValueError: The target cannot hold the fields, or has something else in its folder.
        FileNotFoundError: There is no source.
        DataError: A sample cannot be read; the text names the file or record. What was written before stays.
        ConversionError: What was written is not what is read.

    Example:
        penstock.conversion.convert("photos/train", "shards/train", "mds", shorter=512)
    """
    if not 1 <= shard_size <= LARGEST:
        raise ValueError(f"shard_size must be from 1 to {LARGEST} bytes, got {shard_size}")
    if shorter is not None and not 1 <= shorter <= 65500:
        raise ValueError(f"shorter must be from 1 to 65500 pixels, got {shorter}")
    if not 1 <= quality <= 100:
        raise ValueError(f"quality must be from 1 to 100, got {quality}")
    target = as_target(os.fspath(target))
    kind = target_class(to)
    if "://" in target and kind.ending is None:
        raise ValueError(f"a bucket takes files of many samples, so {to!r} is written to a folder alone")
    if workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    if workers > 1 and kind.ending is None:
        raise ValueError(f"workers= is for files of many samples; one process writes {to!r}, with several threads")
    data = open_source(source, format, images=images, only=only)
    if data.name == "folder" and _is_below(target, source):
        raise ValueError(f"{target} lies in {source}, where it would be a class of the source: give a folder elsewhere")
    scaling = Scaling(shorter, quality) if shorter is not None else None
    about = data.about
    options = {"shard_size": shard_size, "image": image, "label": label}
    result = kind(target, data.fields, about, options)
    head = {
        "penstock": "conversion",
        "version": VERSION,
        "format": to,
        "fields": [[field.name, str(field)] for field in result.fields],
        "about": result.about,
        "keys": True,
        "source": {"format": data.name, "samples": data.count, "crc32c": f"{data.identity():08x}"},
        "options": {
            **options,
            "shorter": shorter,
            "quality": quality if scaling else None,
            "only": only and list(only),
        },
    }
    job = {
        "do": "convert",
        "workers": workers,
        "threads": threads_of_each(threads, workers),
        "source": os.fspath(source),
        "format": format,
        "images": images and os.fspath(images),
        "only": only and list(only),
        "to": to,
        "options": options,
        "shorter": shorter,
        "quality": quality,
    }
    journal = (Marks if "://" in target else Journal)(target, head)
    try:
        if not journal.complete:
            result.resume(journal.entries)
            _write(data, result, journal, scaling, threads, shard_size, job if workers > 1 else None)
            result.finish(journal.entries)
            journal.finish()
        result.clean()
    finally:
        journal.close()
    findings = verify(target, threads=threads, workers=workers) if check else []
    if findings:
        raise ConversionError(target, findings)
    return data.count


def _is_below(target, source):
    inner, outer = os.path.realpath(target), os.path.realpath(os.fspath(source))
    return "://" not in target and inner != outer and os.path.commonpath([inner, outer]) == outer


def _write(data, target, journal, scaling, threads, shard_size, workers):
    first = sum(entry["samples"] for entry in journal.entries)
    block = block_size(data, target, scaling, shard_size)
    left = range(first, data.count)
    with Work(f"convert to {target.name}", total=data.count, unit="sample") as work:
        work.add(first)
        if not workers:
            for piece in pieces(data, target, left, block, threads, scaling, shard_size):
                journal.add(written(target, len(journal.entries), piece))
                work.add(len(piece))
            return
        for entry in _of_workers(target, journal, left, {**workers, "block": block, "state": target.state()}):
            journal.add(entry)
            work.add(entry["samples"])


def _of_workers(target, journal, left, job):
    """What the manifest says of the pieces that processes write, in their order; each has its name then."""
    block = job["block"]
    if "://" in target.folder:
        folder = tempfile.mkdtemp(prefix="penstock-convert-")
    else:
        folder = os.path.join(target.folder, _PARTS)
        shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
    begins = [left.start, *range(left.start - left.start % block + block, left.stop, block)]
    tasks = [
        {"first": first, "last": last, "folder": os.path.join(folder, str(first))}
        for first, last in zip(begins, [*begins[1:], left.stop])
        if first < last
    ]
    try:
        with contextlib.closing(Processes(min(job["workers"], len(tasks)), job)) as processes:
            for task, answer in zip(tasks, processes.answers(tasks)):
                for entry in answer["entries"]:
                    own = target.renamed(entry, len(journal.entries))
                    target.take(os.path.join(task["folder"], entry["file"]), own["file"])
                    yield own
                if answer["error"]:
                    raise raised(answer["error"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sum_of_file(path):
    """The CRC-32C of a file and its size, or why it cannot be read."""
    total = size = 0
    try:
        with opened(path) as file:
            while block := file.read(_BLOCK):
                total, size = sum_of(block, total), size + len(block)
    except (OSError, _core.DataError) as error:
        return getattr(error, "strerror", None) or str(error)
    return total, size


def threads_of_each(threads, workers):
    """Returns how many threads each process has.

    Args:
        threads: How many all have; 0: as many as the process may use.
        workers: How many processes.
    """
    return max(1, (threads or len(os.sched_getaffinity(0))) // workers)


def verify(target: Any, *, threads: int = 0, workers: int = 1) -> list[Finding]:
    """Compares a data set that convert() has written with its manifest.

    The bytes of each file are compared, and each sample as the reader of its format returns it.

    Args:
        target: Its folder, or its URL in a bucket.
        threads: How many threads read; 0: as many as the process may use. Workers share them.
        workers: How many processes compare.

    Returns:
        What is wrong; an empty list where nothing is.

    Raises:
        ValueError: The folder has no manifest.
        DataError: The manifest is damaged.

    Example:
        assert penstock.conversion.verify("shards/train") == []
    """
    target = as_target(os.fspath(target))
    manifest = read_manifest(target)
    if manifest is None:
        raise ValueError(f"{target} has no {NAME}: convert() writes it when it has finished")
    found = list(_faults_of_files(target, manifest))
    bad = {finding.file for finding in found}
    try:
        data = open_source(target, manifest.format)
    except (OSError, ValueError, _core.DataError) as error:
        return [*found, Finding(target, None, str(error))]
    if data.count != manifest.count:
        found.append(Finding(target, None, f"{data.count} samples instead of {manifest.count}"))
        return found
    with Work(f"verify {manifest.format}", total=manifest.count, unit="sample") as work:
        for faults, samples in _faults_of_parts(data, manifest, sorted(bad), threads, workers):
            found += faults
            work.add(samples)
    return found


def _faults_of_parts(data, manifest, bad, threads, workers):
    """(faults, number of samples) of parts of the data set."""
    count = len(manifest.entries)
    step = max(1, -(-count // (4 * workers))) if workers > 1 else 1
    parts = [range(k, min(k + step, count)) for k in range(0, count, step)]
    sizes = [sum(manifest.entries[k]["samples"] for k in part) for part in parts]
    firsts = itertools.accumulate(sizes, initial=0)
    if workers == 1 or len(parts) < 2:
        with contextlib.closing(_Readings(data, threads)) as readings:
            for part, first, size in zip(parts, firsts, sizes):
                yield _faults_of_entries(readings, manifest, part, bad, first), size
        return
    job = {"do": "verify", "source": data.path, "bad": bad, "threads": threads_of_each(threads, workers)}
    tasks = [{"first": part.start, "last": part.stop} for part in parts]
    with contextlib.closing(Processes(min(workers, len(tasks)), job)) as processes:
        for answer, size in zip(processes.answers(tasks), sizes):
            yield [Finding(*fault) for fault in answer["faults"]], size


def faults_of_pieces(data, manifest, numbers, bad, threads):
    """Compares the samples of pieces.

    Args:
        data: The data set.
        manifest: Its manifest.
        numbers: Those of the pieces, one after another.
        bad: Names of files that are known to be damaged.
        threads: How many threads read.

    Returns:
        A list of what is wrong.
    """
    with contextlib.closing(_Readings(data, threads)) as readings:
        first = sum(entry["samples"] for entry in manifest.entries[: numbers.start])
        return _faults_of_entries(readings, manifest, numbers, bad, first)


def _faults_of_entries(readings, manifest, numbers, bad, first):
    found = []
    for entry in manifest.entries[numbers.start : numbers.stop]:
        if not set(bad).intersection(entry.get("files", [entry.get("file")])):
            found += _faults_of_samples(readings, manifest, entry, first)
        first += entry["samples"]
    return found


def _faults_of_files(target, manifest):
    known, many = set(), _READ_AT_ONCE if "://" in target else 1
    files = [entry["file"] for entry in manifest.entries if "file" in entry]
    with ThreadPoolExecutor(many) as pool:
        read = dict(zip(files, pool.map(lambda name: _sum_of_file(os.path.join(target, name)), files)))
    for entry in manifest.entries:
        known.update(entry.get("files", [entry.get("file")]))
        for name in entry.get("files", ()):
            if not os.path.isfile(os.path.join(target, name)):
                yield Finding(name, None, "there is no such file")
        if "file" not in entry:
            continue
        found = read[entry["file"]]
        if isinstance(found, str):
            yield Finding(entry["file"], None, f"it cannot be read: {found}")
            continue
        total, size = found
        if size != entry["bytes"]:
            yield Finding(entry["file"], None, f"it has {size} bytes, but {entry['bytes']} were written")
        elif f"{total:08x}" != entry["crc32c"]:
            yield Finding(entry["file"], None, "its bytes are not those that were written")
    folders = {name.partition("/")[0] for name in known if "/" in name}
    for folder in sorted(folders):
        for path, _, names in os.walk(os.path.join(target, folder)):
            for name in sorted(names):
                inside = os.path.relpath(os.path.join(path, name), target)
                if inside not in known:
                    yield Finding(inside, None, "the manifest does not have it")


class _Readings:
    """Samples from any place on; one pipeline reads as long as each follows the one before."""

    def __init__(self, data, threads):
        self._data, self._threads, self._samples, self._at = data, threads, None, -1

    def next_at(self, number):
        """Returns (name, values, record) of a sample.

        Args:
            number: Its number.
        """
        if self._samples is None or self._at != number:
            self._begin(number)
        try:
            return self._next()
        except (OSError, ValueError, _core.DataError):  # of this sample, or of another one in its batch
            self._begin(number, batch=1)
            return self._next()

    def _begin(self, number, **batch):
        self.close()
        self._samples, self._at = self._data.samples(number, self._threads, **batch), number

    def _next(self):
        self._at += 1
        try:
            return next(self._samples)
        except BaseException:
            self.close()
            raise

    def close(self):
        """Ends the pipeline."""
        if self._samples is not None:
            self._samples.close()
        self._samples = None


def _faults_of_samples(readings, manifest, entry, first):
    """The samples of a piece."""
    for k, wanted in enumerate(manifest.sums(entry)):
        name = entry["files"][k] if "files" in entry else entry["file"]
        try:
            _, values, _ = readings.next_at(first + k)
        except (OSError, ValueError, _core.DataError) as error:
            yield Finding(name, first + k, str(error))
            continue
        if sum_of_sample(manifest.fields, values) != wanted:
            yield Finding(name, first + k, "its values are not those that were written")
