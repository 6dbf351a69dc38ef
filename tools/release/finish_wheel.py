# SPDX-License-Identifier: Apache-2.0
"""Makes of a built wheel the one to upload: checked, with the licenses and the list of what it holds, small.

    python tools/release/finish_wheel.py WHEEL ARCHITECTURE FOLDER     writes the wheel into FOLDER

The same input gives the same bytes.
"""

import base64
import hashlib
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import bill_of_materials
import elf
import zopfli.zlib

EPOCH = (1980, 1, 1, 0, 0, 0)


def compressed(data):
    return zopfli.zlib.compress(data, numiterations=5)[2:-4]  # without zlib's frame


class Zopfli:
    """What zipfile asks of a compressor. A member is compressed as a whole, when its end is known."""

    def __init__(self):
        self.pieces = []

    def compress(self, piece):
        self.pieces.append(bytes(piece))
        return b""

    def flush(self):
        return compressed(b"".join(self.pieces))


def tagged(name, text, platform):
    """The wheel's name and its WHEEL file with the platform that the check of binaries stands for."""
    text = re.sub(r"^(Tag: \S+-\S+-)\S+$", rf"\g<1>{platform}", text, flags=re.MULTILINE)
    return re.sub(r"-linux_\w+\.whl$", f"-{platform}.whl", name), text


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write(path, root):
    """The files of a folder as a wheel: RECORD is written anew and comes last."""
    record = next(root.glob("*.dist-info")) / "RECORD"
    files = [p for p in sorted(root.rglob("*")) if p.is_file() and p != record]
    names = [p.relative_to(root).as_posix() for p in files]
    lines = [f"{n},{digest(p.read_bytes())},{p.stat().st_size}" for n, p in zip(names, files)]
    record_name = record.relative_to(root).as_posix()
    record.write_text("\n".join([*lines, f"{record_name},,"]) + "\n")
    zipfile._get_compressor = lambda *_: Zopfli()
    with zipfile.ZipFile(path, "w") as wheel:
        for name, file in [*zip(names, files), (record_name, record)]:
            member = zipfile.ZipInfo(name, EPOCH)
            is_program = elf.is_elf(file) and ".so" not in file.name
            member.external_attr = (0o100755 if is_program else 0o100644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(member, file.read_bytes())


def main(built, architecture, folder):
    built, folder = Path(built), Path(folder)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        with zipfile.ZipFile(built) as wheel:
            wheel.extractall(root)
        elf.check(root)
        info = next(root.glob("*.dist-info"))
        name, text = tagged(built.name, (info / "WHEEL").read_text(), f"manylinux_2_28_{architecture}")
        (info / "WHEEL").write_text(text)
        bill_of_materials.add(info, architecture, has_gpu=any(root.rglob("libpenstock_cuda.so.*")))
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / name, root)
    print(f"{folder / name}: {(folder / name).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
