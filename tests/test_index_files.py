# SPDX-License-Identifier: Apache-2.0
"""tfrecord2idx, rec2idx and wds2idx: the files are those of DALI's commands, and readers use them."""

import os
import struct
import subprocess
import sys
import tarfile

import container_files
import dali_oracle
import numpy as np
import pytest

from penstock import pipeline_def
from penstock.dali import fn, index_files

BYTES = [bytes(range(k)) for k in (3, 0, 8, 5)]


def tfrecord(folder):
    from penstock import tfrecord as tfrec

    path = folder / "a.tfrecord"
    container_files.write_tfrecord(
        path, [container_files.example({"x": np.array([k])}) for k in range(4)], folder / "theirs"
    )
    return (
        path,
        lambda index: fn.readers.tfrecord(
            path=str(path), index_path=str(index), features={"x": tfrec.FixedLenFeature([1], tfrec.int64, 0)}
        )["x"],
        [[0], [1], [2], [3]],
    )


def recordio(folder):
    path, data = folder / "a.rec", b""
    payloads = [struct.pack("<IfQQ", 0, float(k), k, 0) + BYTES[2] for k in range(4)]
    for k, payload in enumerate(payloads):
        parts = [payload] if k != 2 else [payload[:9], payload[9:20], payload[20:]]
        for i, part in enumerate(parts):
            flag = 0 if len(parts) == 1 else 1 if i == 0 else 3 if i + 1 == len(parts) else 2
            data += struct.pack("<II", 0xCED7230A, flag << 29 | len(part)) + part + bytes(-len(part) % 4)
    path.write_bytes(data)
    return path, lambda index: fn.readers.mxnet(path=str(path), index_path=str(index))[1], [[0.0], [1.0], [2.0], [3.0]]


def webdataset(folder):
    import io

    path = folder / "a.tar"
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo(".hidden"))
        directory = tarfile.TarInfo("d")
        directory.type = tarfile.DIRTYPE
        archive.addfile(directory)
        for k in range(4):
            for ending, data in ((".seg.bin", BYTES[k]), (".cls", bytes([k]))):
                member = tarfile.TarInfo(f"d/s{k}{ending}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return (
        path,
        lambda index: fn.readers.webdataset(paths=str(path), index_paths=str(index), ext=["cls"]),
        [[0], [1], [2], [3]],
    )


KINDS = {"tfrecord2idx": tfrecord, "rec2idx": recordio, "wds2idx": webdataset}


@pytest.mark.parametrize("command", KINDS)
def test_readers_take_the_index(command, tmp_path):
    path, read, want = KINDS[command](tmp_path)
    assert index_files.COMMANDS[command]([str(path), str(tmp_path / "ours")]) == 0

    @pipeline_def(batch_size=4, num_threads=1)
    def pipe():
        return read(tmp_path / "ours")

    assert pipe().run()[0].as_array().tolist() == want


@pytest.mark.skipif(not dali_oracle.available(), reason="DALI is not installed")
@pytest.mark.parametrize("command", ["tfrecord2idx", "wds2idx"])  # DALI's rec2idx needs MXNet
def test_as_dalis_command(command, tmp_path):
    path, _, _ = KINDS[command](tmp_path)
    subprocess.run(
        [
            dali_oracle.interpreter(),
            os.path.join(os.path.dirname(dali_oracle.interpreter()), command),
            str(path),
            str(tmp_path / "dalis"),
        ],
        check=True,
        capture_output=True,
    )
    index_files.COMMANDS[command]([str(path), str(tmp_path / "ours")])
    assert (tmp_path / "ours").read_text() == (tmp_path / "dalis").read_text()


def test_numbers_and_offsets_of_records_in_parts(tmp_path):
    path, _, _ = recordio(tmp_path)
    index_files.rec2idx([str(path), str(tmp_path / "ours")])
    assert (tmp_path / "ours").read_text() == "0\t0\n1\t40\n2\t80\n3\t140\n"


def test_damaged_files_and_names(tmp_path, capsys):
    for command, kind in KINDS.items():
        path, _, _ = kind(tmp_path)
        path.write_bytes(
            path.read_bytes()[: -600 if command == "wds2idx" else -3][: 1030 if command == "wds2idx" else None]
        )
        index = tmp_path / f"{command}.idx"
        assert index_files.COMMANDS[command]([str(path), str(index)]) == 1 and not index.exists()
        assert str(path) in capsys.readouterr().err
    assert index_files.tfrecord2idx([str(tmp_path / "no such"), str(tmp_path / "i")]) == 1
    path, _, _ = webdataset(tmp_path)
    done = subprocess.run([sys.executable, "-m", "penstock.dali", "wds2idx", str(path)], capture_output=True, text=True)
    assert done.returncode == 0 and (tmp_path / "a.idx").read_text().startswith("v1.2 4\n"), done.stderr
