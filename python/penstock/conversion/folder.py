# SPDX-License-Identifier: Apache-2.0
"""Folders of pictures, a folder for each class."""

from __future__ import annotations

import os

from .. import _core, fn
from ..annotations import image_folder
from .fields import Field, sum_of, the_one
from .reading import Source
from .writing import PictureFiles, Target, safe_name


class FolderSource(Source):
    """Fields: image, label. The subfolders, sorted, are the classes; names of samples are paths without endings."""

    name = "folder"

    def open(self):
        """Lists the pictures; those that a manifest names, in its order."""
        self.fields = [Field("image", "image"), Field("label", "int")]
        if self.manifest is not None:
            classes = self.manifest.about.get("classes") or ()
            names = [name for entry in self.manifest.entries for name in entry["files"]]
            self.files = [os.path.join(self.path, name) for name in names]
            number = {name: k for k, name in enumerate(classes)}
            folders = [name.partition("/")[0] for name in names]
            self.labels = [number.get(f, int(f) if f.isdecimal() and not classes else -1) for f in folders]
            return
        table = image_folder(self.path)
        self.files, self.labels = table.files, [int(label) for label in table.columns["label"]]
        self.about = {"classes": table.classes}

    def counted(self):
        """Returns the number of pictures."""
        return len(self.files)

    def identity(self):
        """Returns a number that other names of files change."""
        return sum_of("\0".join(os.path.relpath(file, self.path) for file in self.files).encode())

    def nodes(self):
        """Reads files."""
        return fn.readers.file(files=self.files, labels=self.labels, name="reader")

    def choose(self, names):
        """Takes both fields, whatever the names.

        Args:
            names: Names of fields.
        """
        if {"image", "label"} - set(names):
            raise ValueError("only= cannot leave out fields of a folder of classes")

    def record(self, number):
        """Returns the file of a picture."""
        return self.files[number]

    def key(self, number, record):
        """Returns the path of the file below the folder, without its ending."""
        return os.path.splitext(os.path.relpath(self.files[number], self.path))[0]


class FolderTarget(Target):
    """A file for each picture, in the folder of its class."""

    name = "folder"

    def prepare(self):
        """Needs a picture and a label, and nothing else."""
        image = the_one(self.fields, "image", "image", self.options.get("image"))
        label = the_one(self.fields, "int", "label", self.options.get("label"))
        if image is None or label is None:
            raise ValueError(
                f"a folder of classes needs a picture and a label; name them by image= and label=. The fields are "
                f"{', '.join(f'{f.name} ({f})' for f in self.fields)}"
            )
        left = [f.name for f in self.fields if f not in (image, label)]
        if left:
            raise ValueError(
                f"a folder of classes cannot hold {', '.join(left)}: only={image.name},{label.name} omits them"
            )
        self._places = [self.fields.index(image), self.fields.index(label)]
        self.fields = [Field("image", "image"), Field("label", "int")]
        self._classes = self.about.get("classes")
        for name in self._classes or ():
            safe_name(name, "the names of the classes")
            if "/" in name:
                raise ValueError(f"the class {name!r} cannot be the name of a folder")
        self._pictures = PictureFiles(self.folder)

    def resume(self, entries):
        """Knows which files are there."""
        for entry in entries:
            self._pictures.taken.update(entry["files"])

    def stored(self, values):
        """Returns the picture and the label."""
        return [values[place] for place in self._places]

    def _class_of(self, label, record):
        if self._classes is None:
            if not 0 <= label < 100000:
                raise _core.DataError(f"the label {label} is not from 0 to 99999 (file: {record})")
            return f"{label:05d}"
        if not 0 <= label < len(self._classes):
            raise _core.DataError(f"the label {label} is not one of {len(self._classes)} classes (file: {record})")
        return self._classes[label]

    def write(self, number, samples):
        """Writes files."""
        files, total = [], 0
        for key, (picture, label), record in samples:
            folder = self._class_of(label, record)
            key = safe_name(key, record)
            key = key[len(folder) + 1 :] if key.startswith(folder + "/") else key
            files.append(self._pictures.write(f"{folder}/{key}", picture, record))
            total += len(picture)
        return {"files": files, "bytes": total}
