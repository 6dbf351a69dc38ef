# SPDX-License-Identifier: Apache-2.0
"""tfrecord2idx, rec2idx and wds2idx: DALI's commands of these names, which write index files for its readers and ours."""

import argparse
import os
import struct
import sys
import tarfile

from .._core import DataError
from ..progress import steps

_MAGIC = 0xCED7230A  # of each part of a record of a RecordIO file


def _taken(file, size, path, at):
    data = file.read(size)
    if len(data) != size:
        raise DataError(f"{path}: the record at {at} is truncated: {size - len(data)} bytes are missing")
    return data


def _skip(file, size, path, at, end):
    if file.tell() + size > end:
        raise DataError(f"{path}: the record at {at} is truncated: {file.tell() + size - end} bytes are missing")
    file.seek(size, os.SEEK_CUR)


def tfrecord_lines(path):
    """Offset and size of each record with its frame of 16 bytes."""
    end = os.path.getsize(path)
    with open(path, "rb") as file:
        while file.tell() < end:
            at = file.tell()
            (size,) = struct.unpack("<Q", _taken(file, 12, path, at)[:8])
            _skip(file, size + 4, path, at, end)
            yield f"{at} {file.tell() - at}"


def recordio_lines(path):
    """Number and offset of each record. A record in several parts begins with the first part."""
    end, number = os.path.getsize(path), 0
    with open(path, "rb") as file:
        while file.tell() < end:
            at, part = file.tell(), None
            while part not in (0, 3):  # whole, or the last one
                magic, word = struct.unpack("<II", _taken(file, 8, path, at))
                if magic != _MAGIC:
                    raise DataError(f"{path}: no record begins at {file.tell() - 8}")
                part, size = word >> 29, word & (1 << 29) - 1
                _skip(file, size + -size % 4, path, at, end)
            yield f"{number}\t{at}"
            number += 1


def webdataset_lines(path):
    """The version and number of samples; a line for each, with extension, offset, size and name of its files."""
    samples, last = [], None
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                folder, slash, file = member.name.rpartition("/")
                stem, _, extension = file.partition(".")
                if not member.isreg() or not stem:
                    continue
                if any(c.isspace() for c in member.name):
                    raise DataError(f"{path}: '{member.name}' has blanks in its name, which an index file cannot hold")
                if folder + slash + stem != last:
                    last = folder + slash + stem
                    samples.append([])
                samples[-1].append(f"{extension} {member.offset_data} {member.size} {member.name}")
    except tarfile.TarError as error:
        raise DataError(f"{path}: {error}") from None
    if not samples:
        raise DataError(f"{path}: the archive has no samples")
    yield f"v1.2 {len(samples)}"
    for files in samples:
        yield " ".join(files)


def write(lines, source, index):
    """Writes the index file of `source`, as a whole or not at all."""
    begun = f"{index}.{os.getpid()}"
    try:
        with open(begun, "w", encoding="utf-8", errors="surrogateescape") as file:
            for line in steps(lines(source), f"index of {source}", unit="record"):
                file.write(line + "\n")
        os.replace(begun, index)
    finally:
        if os.path.exists(begun):
            os.remove(begun)


def _command(name, lines, what, index_optional):
    def run(arguments=None):
        p = argparse.ArgumentParser(prog=name, description=f"Makes the index file of {what}.")
        p.add_argument("source")
        p.add_argument(
            "index",
            nargs="?" if index_optional else None,
            help="default: beside the source, .idx in the place of what follows the name" if index_optional else None,
        )
        args = p.parse_args(arguments)
        folder, file = os.path.split(args.source)
        try:
            write(
                lines, args.source, args.index or os.path.join(folder, file[:1] + file[1:].partition(".")[0] + ".idx")
            )
        except (DataError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        return 0

    return run


tfrecord2idx = _command("tfrecord2idx", tfrecord_lines, "a TFRecord file", False)
rec2idx = _command("rec2idx", recordio_lines, "a RecordIO file", False)
wds2idx = _command("wds2idx", webdataset_lines, "a tar archive of a WebDataset", True)
COMMANDS = {"tfrecord2idx": tfrecord2idx, "rec2idx": rec2idx, "wds2idx": wds2idx}
