# SPDX-License-Identifier: Apache-2.0
"""Manifests: CSV, TSV, JSON lines and Parquet with a file in each row and any other columns."""

from __future__ import annotations

import csv
import io
import json
import os

import numpy as np

from .records import fault, file_below, shortened, text_of
from .table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FILES = ("file", "path", "audio_filepath", "image", "file_name", "filename", "filepath")
_LABELS = ("label", "class", "category")


def manifest(
    file: str,
    *,
    path: str | None = None,
    label: str | None = None,
    folder: str | None = None,
    classes: Sequence[str] | None = None,
) -> Table:
    """Reads a list of files with any columns: .csv, .tsv, .jsonl, .json (one object a line) or .parquet.

    Numbers become int64 or float64, texts stay texts, lists of numbers become rows of different lengths. The
    column of labels becomes "label", which counts the classes. Where a row has no value, a number is NaN and
    a text is empty.

    Args:
        file: The list. CSV and TSV have the names of the columns in their first line.
        path: The column of the files; default: the first of file, path, audio_filepath, image, file_name,
            filename, filepath.
        label: The column of the labels; default: label, class or category if there is one.
        folder: Where relative paths begin; default: the folder of the list.
        classes: Names of the classes in their order; default: the labels that occur, sorted.

    Returns:
        A Table.

    Raises:
        DataError: The list is broken; the text names the line and the cause.
        ImportError: It is a Parquet file and pyarrow is not installed.

    Example:
        table = penstock.annotations.manifest("train.csv", path="file", label="species")
    """
    ending = os.path.splitext(file)[1].lower()
    read = {".csv": _csv, ".tsv": _tsv, ".jsonl": _lines, ".json": _lines, ".parquet": _parquet}.get(ending)
    if read is None:
        raise ValueError(f"a manifest ends in .csv, .tsv, .jsonl, .json or .parquet, got {file!r}")
    columns, where = read(file)
    if not columns or not next(iter(columns.values())):
        raise fault(file, "", "the manifest has no row")
    name = _chosen("path", path, _FILES, columns, file)
    if name is None:
        raise fault(file, "", f"no column names the files: say path=; the columns are {', '.join(columns)}")
    start = os.path.dirname(file) if folder is None else folder
    paths = [file_below(start, p, file, where(k), outside=True) for k, p in enumerate(columns.pop(name))]
    name = _chosen("label", label, _LABELS, columns, file)
    values, classes = {}, list(classes or ())
    if name is not None:
        values["label"], classes = _labels(columns.pop(name), classes, file, where)
    values.update({n: _values(n, c, file, where) for n, c in columns.items()})
    return Table(paths, values, classes)


def _chosen(argument, given, usual, columns, file):
    if given is not None and given not in columns:
        raise fault(file, "", f"{argument}={given!r} is not a column: the columns are {', '.join(columns)}")
    return given if given is not None else next((n for n in usual if n in columns), None)


def _labels(texts, classes, file, where):
    for k, t in enumerate(texts):
        if t is None or t == "" or t != t:
            raise fault(file, where(k), "the row has no label: leave it out, or name a class for such rows")
    if all(isinstance(t, float) and t.is_integer() for t in texts):  # as pandas writes whole numbers beside empty ones
        texts = [int(t) for t in texts]
    if all(isinstance(t, int) and not isinstance(t, bool) for t in texts) and not classes:
        if min(texts) < 0 or max(texts) > 1 << 24:
            raise fault(file, "", f"labels are numbers from 0 on, got {min(texts)} to {max(texts)}")
        return np.array(texts, np.int32), [str(k) for k in range(max(texts) + 1)]
    classes = classes or sorted({str(t) for t in texts})
    number = {name: k for k, name in enumerate(classes)}
    for k, t in enumerate(texts):
        if str(t) not in number:
            raise fault(file, where(k), f"the label {t!r} is none of classes: {', '.join(classes)}")
    return np.array([number[str(t)] for t in texts], np.int32), classes


def _values(name, values, file, where):
    given = [v for v in values if v is not None]
    kinds = {bool if isinstance(v, bool) else float if isinstance(v, (int, float)) else type(v) for v in given}
    if kinds == {float} and len(given) == len(values) and all(isinstance(v, int) for v in given):
        if all(abs(v) < 1 << 63 for v in given):
            return np.array(values, np.int64)
    if kinds == {float}:
        return np.array([np.nan if v is None else v for v in values], np.float64)
    if kinds == {bool} and len(given) == len(values):
        return np.array(values, bool)
    if kinds == {list}:
        return _lists(name, values, file, where)
    # a mixture, or what is not a value of a column, such as an object: as its text in JSON
    return ["" if v is None else v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values]


def _lists(name, values, file, where):
    made = []
    for k, v in enumerate(values):
        try:
            made.append(np.asarray(v or [], np.float32))
        except (TypeError, ValueError):
            raise fault(file, where(k), f"column '{name}': expected numbers in a list, got {shortened(v)}") from None
        if made[-1].ndim != 1:
            raise fault(file, where(k), f"column '{name}': expected a flat list, got {shortened(v)}")
    return made


def _csv(file, delimiter=","):
    rows = csv.reader(
        io.StringIO(text_of(file), newline=""),
        delimiter=delimiter,
        strict=delimiter == ",",
        quoting=csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE,
    )
    lines, table = [], []
    try:
        for row in rows:
            if row:
                lines.append(rows.line_num)
                table.append(row)
    except csv.Error as error:
        raise fault(file, f"line {rows.line_num}", str(error)) from None
    head, table = (table[0], table[1:]) if table else ([], [])
    if len(set(head)) != len(head):
        raise fault(file, "line 1", f"a column's name occurs twice: {', '.join(head)}")
    for line, row in zip(lines[1:], table):
        if len(row) != len(head):
            raise fault(file, f"line {line}", f"{len(row)} values for {len(head)} columns")
    return {n: _numbers_of([r[k] for r in table]) for k, n in enumerate(head)}, lambda k: f"line {lines[k + 1]}"


def _tsv(file):
    return _csv(file, "\t")


def _numbers_of(texts):
    """Texts as numbers, where all are such; an empty one is not a value. A number that does not come back as it is written, such
    as 007, is a text."""
    given = [t for t in texts if t]
    try:
        if given and all(str(int(t)) == t for t in given):
            return [int(t) if t else None for t in texts]
    except ValueError:
        pass
    try:
        if given and not any(t[0] == "0" and t[1:2].isdigit() or "_" in t for t in given):
            return [float(t) if t else None for t in texts]
    except ValueError:
        pass
    return texts


def _lines(file):
    rows, lines = [], []
    for k, line in enumerate(text_of(file).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise fault(file, f"line {k}", f"the line is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise fault(file, f"line {k}", f"a line must be a JSON object, got {shortened(row)}")
        rows.append(row)
        lines.append(k)
    names = dict.fromkeys(n for r in rows for n in r)
    return {n: [r.get(n) for r in rows] for n in names}, lambda k: f"line {lines[k]}"


def _parquet(file):
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ImportError(f"reading {file} needs pyarrow: pip install pyarrow") from None
    try:
        return parquet.read_table(file).to_pydict(), lambda k: f"row {k}"
    except pyarrow.ArrowException as error:
        raise fault(file, "", f"the file is not Parquet: {error}") from None
