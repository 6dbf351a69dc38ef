# SPDX-License-Identifier: Apache-2.0
"""Long work is shown by a bar with tqdm's protocol: counts add up, quick work shows nothing, bars are closed."""

import contextlib
import os
import sys

import numpy as np
import pytest

from penstock import DataError, _core, annotations, fn, pipeline_def, progress


class Bar:
    """What tqdm is, as far as it is used."""

    made = []

    def __init__(self, desc, total, unit, leave):
        self.what, self.total, self.unit, self.done, self.closed = desc, total, unit, 0, False
        assert leave is False
        Bar.made.append(self)

    def update(self, n):
        assert not self.closed and n >= 0
        self.done += n

    def close(self):
        self.closed = True


@contextlib.contextmanager
def shown(monkeypatch, quiet=0.0, bar=Bar):
    """The bars that are made."""
    monkeypatch.setattr(progress, "_QUIET", quiet)
    monkeypatch.setattr(progress, "_BETWEEN", 0.0)
    Bar.made = []
    progress.show(bar)
    progress.listen()
    try:
        yield Bar.made
    finally:
        progress.show()
        monkeypatch.undo()
        progress.listen()


def test_work_in_python(monkeypatch):
    with shown(monkeypatch) as bars:
        assert list(progress.steps(range(5), "count", unit="number")) == list(range(5))
        assert list(progress.steps(iter("abc"), "read")) == ["a", "b", "c"]
        with pytest.raises(KeyError), progress.Work("fail", total=3) as work:
            work.add(2)
            raise KeyError
    assert [(b.what, b.total, b.unit, b.done, b.closed) for b in bars] == [
        ("count", 5, "number", 5, True),
        ("read", None, "file", 3, True),
        ("fail", 3, "file", 2, True),
    ]


def test_quick_work_shows_nothing(monkeypatch):
    with shown(monkeypatch, quiet=60.0) as bars:
        assert len(list(progress.steps(range(1000), "count"))) == 1000
    assert not bars


def folder_of_classes(folder, count):
    for k in range(count):
        (folder / f"{k}").mkdir()
        (folder / f"{k}" / "a.jpg").write_bytes(b"x")
    return str(folder)


def test_work_of_the_library(monkeypatch, tmp_path):
    root = folder_of_classes(tmp_path, 40)

    @pipeline_def(batch_size=1, num_threads=1)
    def read():
        return fn.readers.file(file_root=root, name="reader")[1]

    with shown(monkeypatch) as bars:
        read().build()
        (bar,) = bars
        assert bar.what.startswith("list ") and root in bar.what
        assert (bar.total, bar.unit, bar.closed) == (40, "folder", True) and 0 < bar.done <= 40
        assert not progress._bars
    with shown(monkeypatch, bar=False) as bars:
        read().build()
        assert not bars


def test_a_bar_that_fails_ends_no_work(monkeypatch, tmp_path, capfd):
    class Failing(Bar):
        def update(self, n):
            raise ValueError("no room for a bar")

    root = folder_of_classes(tmp_path, 20)

    @pipeline_def(batch_size=1, num_threads=1)
    def read():
        return fn.readers.file(file_root=root, name="reader")[1]

    raised = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)
    with shown(monkeypatch, bar=Failing):
        assert read().run()[0].as_array().tolist() == [[0]]
        monkeypatch.setattr(sys, "unraisablehook", raised.append)
        read().build()
    assert all(isinstance(r.exc_value, ValueError) for r in raised) and raised


def test_folders_of_annotations(monkeypatch, tmp_path):
    from PIL import Image

    for name in ("a", "b", "c"):
        Image.fromarray(np.zeros((4, 5, 3), np.uint8)).save(tmp_path / f"{name}.png")
        (tmp_path / f"{name}.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    with shown(monkeypatch) as bars:
        assert len(annotations.yolo(str(tmp_path), classes=["thing"])) == 3
    assert [(b.unit, b.done, b.closed) for b in bars] == [("folder", 1, True), ("image", 3, True)]
    with shown(monkeypatch), pytest.raises(DataError):
        annotations.yolo(str(tmp_path / "."), str(tmp_path / "."), classes=[])


def test_what_makes_bars(monkeypatch):
    with pytest.raises(TypeError, match="got int"):
        progress.show(3)
    assert progress._maker() is None or os.isatty(2)  # a test has no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    tqdm = pytest.importorskip("tqdm.auto")
    assert progress._maker() is tqdm.tqdm
    progress.show(False)
    assert progress._maker() is None
    progress.show()
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert progress._maker() is None
    assert _core.set_progress is not None


@pytest.mark.parametrize("lengths", [True, False])
def test_large_downloads_are_shown_by_the_names_of_their_files(monkeypatch, tmp_path, lengths):
    pytest.importorskip("obstore")
    from penstock import storage
    from penstock.storage import limits, web_request
    from remote_server import RemoteServer

    (tmp_path / "set").mkdir()
    for name, size in (("large é.bin", 300_000), ("small.bin", 999)):
        (tmp_path / "set" / name).write_bytes(bytes(size))
    monkeypatch.setattr(limits, "LARGE", 100_000)
    with RemoteServer(tmp_path) as server, shown(monkeypatch) as bars:
        for name in ("large%20%C3%A9.bin", "small.bin"):
            url = f"{server.url}/set/{name}"
            if lengths:
                storage._client.get(url, 0, -1, 1 << 30, None)
            else:  # as servers that obstore does not take are asked
                web_request.get(f"{url}?key=secret", 0, -1, 1 << 30, storage._settings)
    assert [(b.what, b.total, b.unit, b.done, b.closed) for b in bars] == [
        ("download large é.bin", 300_000, "B", 300_000, True)
    ]
