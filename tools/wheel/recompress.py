# SPDX-License-Identifier: Apache-2.0
"""Writes a wheel again with the same members, compressed by zopfli: pip unpacks them as before, and they are some 3 % smaller.

python tools/wheel/recompress.py WHEEL
"""

import os
import sys
import zipfile

import zopfli.zlib


class Zopfli:
    """What zipfile asks of a compressor. A member is compressed as a whole, when its end is known."""

    def __init__(self):
        self.pieces = []

    def compress(self, piece):
        self.pieces.append(bytes(piece))
        return b""

    def flush(self):
        return zopfli.zlib.compress(b"".join(self.pieces), numiterations=3)[2:-4]  # without the frame of zlib


path = sys.argv[1]
before = os.path.getsize(path)
zipfile._get_compressor = lambda *_: Zopfli()
with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED) as smaller:
    for member in wheel.infolist():
        smaller.writestr(member, wheel.read(member), zipfile.ZIP_DEFLATED)
with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(path + ".new") as smaller:
    assert wheel.namelist() == smaller.namelist()
    assert all(wheel.read(name) == smaller.read(name) for name in wheel.namelist())
os.replace(path + ".new", path)
print(f"recompressed: {before / 1e6:.2f} MB became {os.path.getsize(path) / 1e6:.2f} MB")
