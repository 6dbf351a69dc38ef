# SPDX-License-Identifier: Apache-2.0
"""The one list of formats: `penstock verify` of each, healthy, truncated and with a wrong name; and the other lists of formats."""

import io
import os
import pathlib
import subprocess
import sys
import threading

import audio_files
import heif_files
import image_files
import numpy as np
import pytest
from PIL import Image

from penstock import _commands as commands, _core, fn

FORMATS = {name: (kind, shown, endings) for kind, name, shown, endings in _core.file_formats()}
ROOT = pathlib.Path(__file__).parent.parent


def pillow(format, **options):
    file = io.BytesIO()
    Image.fromarray(image_files.ramp(160, 200)[..., :3]).save(file, format, **options)
    return file.getvalue()


def healthy():
    """Format -> name of a case -> bytes."""
    files = {name: {} for name in FORMATS}
    files["jpeg"] = {"jpeg": pillow("JPEG"), "jpeg progressive": pillow("JPEG", progressive=True)}
    files["png"] = {"png": pillow("PNG"), "png interlaced": image_files.saved(image_files.ramp(), "PNG")}
    files["heif"] = heif_files.small_files()
    for name, file in {**image_files.all_files(), **audio_files.all_files()}.items():
        first = name.split()[0]
        files[{"vorbis": "ogg", "opus": "ogg", "lossless": "jpeg"}.get(first, first)][name] = file
    return files


HEALTHY = healthy()
CASES = [(format, name) for format, files in HEALTHY.items() for name in files]


def findings(path, max_pixels=1 << 28):
    return [kind for kind, _ in _core.verify_file(str(path), max_pixels)]


def test_every_format_has_healthy_files():
    assert all(HEALTHY.values()), [name for name, files in HEALTHY.items() if not files]


@pytest.mark.parametrize("format, name", CASES, ids=[name for _, name in CASES])
def test_verdicts(tmp_path, format, name):
    file = HEALTHY[format][name]
    for ending in FORMATS[format][2]:
        path = tmp_path / ("file" + ending.upper())
        path.write_bytes(file)
        assert _core.verify_file(str(path), 1 << 28) == [] == _core.verify_file(str(path), 2**63 - 1), ending
    half = tmp_path / ("half" + FORMATS[format][2][0])
    half.write_bytes(file[: len(file) // 2])
    assert findings(half) == ["truncated"], _core.verify_file(str(half), 1 << 28)
    wrong = tmp_path / ("wrong" + next(e for n, (_, _, ends) in FORMATS.items() for e in ends if n != format))
    wrong.write_bytes(file)
    assert _core.verify_file(str(wrong), 1 << 28) == [
        ("extension", f"the name says {next(n for n in FORMATS if n != format)}, but the bytes are {format}")
    ]
    if FORMATS[format][0] == "picture":
        assert findings(wrong, 5) == ["extension", "too large"]


def test_folders_are_searched_for_every_ending(tmp_path, capfd):
    for i, (format, name) in enumerate(CASES):
        for ending in FORMATS[format][2]:
            (tmp_path / f"{i}{ending}").write_bytes(HEALTHY[format][name])
    expected = sum(len(FORMATS[format][2]) for format, _ in CASES)
    (tmp_path / "notes.txt").write_bytes(b"no picture")
    (tmp_path / "LICENSE").write_bytes(b"no picture")
    assert commands.main(["verify", str(tmp_path)]) == 0
    out, err = capfd.readouterr()
    assert out == "" and f"{expected} files, 0 with something wrong; 2 files of other kinds not looked at: " in err
    assert ".txt 1" in err and "without an ending 1" in err


def test_a_folder_with_nothing_to_look_at_is_said(tmp_path, capfd):
    for name in ("a.txt", "b.psd", "c.psd"):
        (tmp_path / name).write_bytes(b"something")
    assert commands.main(["verify", str(tmp_path)]) == 1
    err = capfd.readouterr().err
    assert "no file to look at" in err and "3 files of other kinds not looked at: .psd 2, .txt 1" in err


def test_everybody_names_the_same_formats():
    """Readers, the command, the documents: each suffix and each format."""
    endings = {e for _, _, ends in FORMATS.values() for e in ends}
    page = (ROOT / "docs/reference/operators/readers.file.md").read_text()
    line = next(x for x in page.splitlines() if x.startswith("| `file_filters`"))
    taken = {f[1:] for f in line.split("'") if f.startswith("*.")}
    assert len(taken) >= 15 and taken <= endings
    how_to = (ROOT / "docs/how_to/prepare_image_files.md").read_text().replace("(", " ").replace(")", " ").split()
    assert endings <= set(how_to)
    texts = {
        "README": (ROOT / "README.md").read_text(),
        "how to": (ROOT / "docs/how_to/decode_images.md").read_text(),
        "decoders.image": (ROOT / "docs/reference/operators/decoders.image.md").read_text(),
    }
    sounds = {
        "README": texts["README"],
        "decoders.audio": (ROOT / "docs/reference/operators/decoders.audio.md").read_text(),
    }
    for kind, shown, _ in FORMATS.values():
        for where, text in (texts if kind == "picture" else sounds).items():
            assert all(part in text for part in shown.split(", ")), (shown, where)
    for name, (_, _, own) in FORMATS.items():
        assert len(set(own)) == len(own) and not any(
            set(own) & set(ends) for n, (_, _, ends) in FORMATS.items() if n != name
        )


def verified_with_libraries_named(folder, name):
    """`penstock verify` of a file that libheif reads and one that mpg123 reads."""
    (folder / "a.avif").write_bytes(next(iter(HEALTHY["heif"].values())))
    (folder / "a.mp3").write_bytes(HEALTHY["mp3"]["mp3"])
    return subprocess.run(
        [sys.executable, "-m", "penstock", "verify", str(folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "PENSTOCK_HEIF": name, "PENSTOCK_MPG123": name},
    )


def test_a_missing_decoder_is_not_damage(tmp_path):
    done = verified_with_libraries_named(tmp_path, "off")
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and len(lines) == 2 and all(": undecodable: " in line for line in lines), done


def test_an_empty_setting_names_no_library(tmp_path):
    """An empty name opened the program itself."""
    done = verified_with_libraries_named(tmp_path, "")
    assert done.returncode == 0 and "undecodable" not in done.stdout, done


def umask():
    return next(int(x.split()[1], 8) for x in open("/proc/self/status") if x.startswith("Umask:"))


def test_new_files_have_the_rights_that_the_umask_leaves(tmp_path, capfd):
    """With 16 threads, of which none may see another's umask; the process' own stays what it was."""
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    for i in range(200):
        (source / f"{i}.png").write_bytes(b"any bytes are copied")
    before = os.umask(0o027)
    seen, done = set(), threading.Event()

    def watch():
        while not done.is_set():
            seen.add(umask())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        assert commands.main(["transcode", "--baseline", "--threads", "16", str(source), str(copy)]) == 0
        assert umask() == 0o027
    finally:
        done.set()
        watcher.join()
        os.umask(before)
    assert seen <= {0o027}
    assert {p.stat().st_mode & 0o7777 for p in copy.iterdir()} == {0o640} and len(list(copy.iterdir())) == 200


def test_transcode_keeps_links_and_says_what_it_leaves_out(tmp_path, capfd):
    tree, elsewhere = tmp_path / "tree", tmp_path / "elsewhere"
    tree.mkdir(), elsewhere.mkdir()
    (elsewhere / "real.jpg").write_bytes(pillow("JPEG", progressive=True))
    os.chmod(elsewhere / "real.jpg", 0o600)
    (tree / "link.jpg").symlink_to("../elsewhere/real.jpg")
    (tree / "own.jpg").write_bytes(pillow("JPEG", progressive=True))
    for name in ("labels.json", "a.txt", "b.txt", "c.webp"):
        (tree / name).write_bytes(b"left as it is")
    assert commands.main(["transcode", "--baseline", str(tree), str(tree)]) == 0
    assert (
        capfd.readouterr().out == "3 files, 2 transcoded, 0 failed; 3 files of other kinds left out: .txt 2, .json 1\n"
    )
    assert os.readlink(tree / "link.jpg") == "../elsewhere/real.jpg" and not (tree / "own.jpg").is_symlink()
    assert not Image.open(elsewhere / "real.jpg").info.get("progressive")
    assert (elsewhere / "real.jpg").stat().st_mode & 0o7777 == 0o600
    assert (
        sorted(p.name for p in elsewhere.iterdir()) == ["real.jpg"]
        and (tree / "c.webp").read_bytes() == b"left as it is"
    )
    (tree / "nowhere.jpg").symlink_to("none.jpg")
    assert commands.main(["transcode", "--baseline", str(elsewhere / "real.jpg"), str(tree / "nowhere.jpg")]) == 1
    assert "cannot follow the link" in capfd.readouterr().err


def test_errors_of_tiff_name_rows_that_there_are():
    for name, file in HEALTHY["tiff"].items():
        for n in range(len(file) // 3, len(file), max(1, len(file) // 17)):
            for bad in (file[:n], file[:n] + bytes(40) + file[n + 40 :]):
                try:
                    fn.decoders.image(np.frombuffer(bad, np.uint8))
                except Exception as error:
                    assert "4294967295" not in str(error), (name, n)
