# SPDX-License-Identifier: Apache-2.0
"""WebDataset's tar archives: the files of a sample have its name, and endings that say what they are."""

from __future__ import annotations

import io
import tarfile

import numpy as np

from .. import _core, fn
from ..storage.files import opened
from .fields import PICTURES, Field, picture_ending
from .places import files_of
from .reading import Source
from .writing import Target, safe_name

_KINDS = {
    **dict.fromkeys(PICTURES, "image"),
    **dict.fromkeys(("cls", "cls2", "class", "count", "index", "inx", "id"), "int"),
    **dict.fromkeys(("txt", "text", "transcript"), "text"),
    "json": "json",
    "npy": "array",
}
_NAMES = {"image": "image", "int": "label", "text": "text", "json": "json", "array": "array"}
_ENDINGS = {"int": "index", "float": "json", "text": "txt", "json": "json", "bytes": "bin", "array": "npy"}
_JUDGED = 20  # samples of an archive without a manifest whose endings are taken for those of all


def split_name(name):
    """Returns the name of a sample and the ending of its file: from the first dot of the last part of the path.

    Args:
        name: The name of a file in an archive.
    """
    folder, slash, last = name.rpartition("/")
    base, _, ending = last.partition(".")
    return folder + slash + base, ending


def endings_of(field):
    """Returns the endings that a field may have.

    Args:
        field: The field.
    """
    if field.kind == "image":
        start = "" if field.name == "image" else field.name + "."
        return [start + ending for ending in PICTURES]
    if (field.name, field.kind) in (("label", "int"), ("text", "text"), ("json", "json")):
        return [{"int": "cls", "text": "txt", "json": "json"}[field.kind]]
    return [f"{field.name}.{_ENDINGS[field.kind]}"]


def field_of_ending(ending):
    """Returns the field that files with an ending are.

    Args:
        ending: What follows the first dot of a name.
    """
    name, _, last = ending.rpartition(".")
    kind = _KINDS.get(last.lower(), "bytes")
    return Field(name or _NAMES.get(kind, last), kind) if kind != "bytes" else Field(ending, kind)


class TarSource(Source):
    """A field for each ending. Without a manifest jpg, png ... are image, cls is label, txt text, json json."""

    name = "tar"
    endings = (".tar",)
    has_urls = True

    def open(self):
        """Lists the archives; the first samples of the first one show the endings."""
        self.files = files_of(self.path, self.endings)
        self._endings = {}
        if self.manifest is not None:
            self._endings = {field.name: endings_of(field) for field in self.manifest.fields}
            return
        for ending in self._first_endings():
            field = field_of_ending(ending)
            if field not in self.fields:
                self.fields.append(field)
            self._endings.setdefault(field.name, []).append(ending)

    def _first_endings(self):
        names, found = set(), {}
        try:
            with opened(self.files[0]) as file, tarfile.open(fileobj=file) as archive:
                for member in archive:
                    base, ending = split_name(member.name)
                    if not member.isfile() or not ending:
                        continue
                    names.add(base)
                    if len(names) > _JUDGED:
                        break
                    found[ending] = None
        except tarfile.TarError as error:
            raise _core.DataError(f"this is not a tar archive: {error} (file: {self.files[0]})") from error
        if not found:
            raise _core.DataError(f"the archive has no files of samples (file: {self.files[0]})")
        return found

    def nodes(self):
        """Reads archives."""
        return _as_list(
            fn.readers.webdataset(
                paths=self.files,
                ext=[";".join(self._endings[field.name]) for field in self.fields],
                missing_component_behavior="error",
                case_sensitive_extensions=False,
                name="reader",
            )
        )

    def decoded(self, field, array):
        """Returns the numbers that a file holds."""
        if field.kind == "array":
            return np.load(io.BytesIO(bytes(array)), allow_pickle=False)
        if field.kind in ("int", "float"):
            return np.array((int if field.kind == "int" else float)(bytes(array)))
        return array

    def key(self, number, record):
        """Returns the name of the sample in its archive."""
        name = record.partition(", byte ")[2].partition(", ")[2]
        return split_name(name)[0] if name else super().key(number, record)


class TarTarget(Target):
    """An archive for each piece."""

    name = "tar"
    ending = "tar"

    def prepare(self):
        """Gives fields names that can be endings."""
        names = [field.name.replace("/", "_").replace(".", "_") for field in self.fields]
        if len({ending for f in self.fields for ending in endings_of(f)}) < len(self.fields) or len({*names}) < len(
            names
        ):
            raise ValueError(f"fields cannot have the same ending in an archive: {', '.join(names)}")
        self.fields = [Field(n, f.kind, f.dtype, f.shape) for n, f in zip(names, self.fields)]

    def _file(self, field, value, record):
        if field.kind == "image":
            ending = picture_ending(value[:16])
            if not ending:
                raise _core.DataError(f"this is not a picture of a known format (file: {record})")
            return f"{field.name}.{ending}" if field.name != "image" else ending, value
        (ending,) = endings_of(field)
        if field.kind == "array":
            content = io.BytesIO()
            np.save(content, value, allow_pickle=False)
            value = content.getvalue()
        return ending, value if isinstance(value, bytes) else repr(value).encode()

    def write(self, number, samples):
        """Writes an archive."""
        before = None
        with self.new_file(self.file_of(number)) as file:
            for key, values, record in samples:
                folder, slash, last = safe_name(key, record).rpartition("/")
                name = again = folder + slash + last.replace(".", "_")
                if name == before:
                    again = f"{name}-{file.bytes}"
                before = name
                for field, value in zip(self.fields, values):
                    ending, content = self._file(field, value, record)
                    info = tarfile.TarInfo(f"{again}.{ending}")
                    info.size = len(content)
                    file.write(info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape"))
                    file.write(content)
                    file.write(bytes(-len(content) % tarfile.BLOCKSIZE))
            file.write(bytes(2 * tarfile.BLOCKSIZE))
        return file.entry()


def _as_list(values):
    return list(values) if isinstance(values, (list, tuple)) else [values]
