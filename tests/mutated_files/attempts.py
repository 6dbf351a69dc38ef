# SPDX-License-Identifier: Apache-2.0
"""Shared by all groups of damaged files: the damage of a number, and the allowed results. Needs only NumPy and Penstock."""

import struct
import tempfile
import zlib
from pathlib import Path

import numpy as np

FINE = ("decoded", "error", "skipped")
MIRRORED = bytes(int(f"{n:08b}"[::-1], 2) for n in range(256))


def mutated(file, number):
    """The bytes of `file` (uint8) with the damage of this number."""
    random = np.random.default_rng(number)
    bad, size = file.copy(), len(file)
    how = random.integers(12)
    if how < 4:  # most damage of disks and memory
        for _ in range([1, 1, 3, 12][how]):
            bad[random.integers(size)] ^= 1 << random.integers(8)
    elif how < 7:
        at, length = random.integers(size), [16, 512, 40][how - 4]
        bad[at : at + length] = 0 if how < 6 else random.integers(0, 256, len(bad[at : at + length]))
    elif how == 7:
        bad = bad[: random.integers(size)]
    elif how == 8:  # the head, which has sizes and types
        for _ in range(random.integers(1, 4)):
            bad[random.integers(min(size, 64))] ^= 1 << random.integers(8)
    elif how == 9:  # a hostile number
        hostile = [
            b"\xff" * 4,
            b"\x7f\xff\xff\xff",
            b"\xff\xff\xff\x7f",
            b"\x00\x01\x00\x00",
            b"\x80\0\0\0",
            b"\xff\xff",
            b"\0\0",
        ]
        value = np.frombuffer(hostile[random.integers(len(hostile))], np.uint8)
        at = random.integers(min(size, 200 if random.integers(2) else size))
        bad[at : at + len(value)] = value[: len(bad) - at]
    elif how == 10:
        at, length = random.integers(size), random.integers(1, 20)
        bad = np.delete(bad, np.s_[at : at + length])
    else:
        at, length = random.integers(size), random.integers(1, 20)
        bad = np.insert(bad, at, random.integers(0, 256, length).astype(np.uint8))
    return with_checksums(bad) if random.integers(2) else bad


def with_checksums(bad):
    """Those of PNG and Ogg are corrected, so that damage reaches what they protect."""
    data = bytearray(bad.tobytes())
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        at = 8
        while at + 12 <= len(data):
            end = at + 8 + struct.unpack_from(">I", data, at)[0]
            if end + 4 > len(data):
                break
            struct.pack_into(">I", data, end, zlib.crc32(data[at + 4 : end]))
            at = end + 4
    at = data.find(b"OggS")
    while at >= 0:
        after = data.find(b"OggS", at + 4)
        end = after if after >= 0 else len(data)
        if at + 27 <= end:
            data[at + 22 : at + 26] = bytes(4)
            turned = zlib.crc32(data[at:end].translate(MIRRORED), 0xFFFFFFFF) ^ 0xFFFFFFFF
            struct.pack_into("<I", data, at + 22, int(f"{turned:032b}"[::-1], 2))
        at = after
    return np.frombuffer(bytes(data), np.uint8)


class Wrong(Exception):
    """The result of a file is neither valid samples nor a valid error."""


class Attempts:
    """Tries damaged files of one group in all ways; check() gives one of FINE or what is wrong.

    A group has WAYS, the names of its methods way(bad, number) -> one of FINE, and OPERATORS: what an error may name.
    """

    WAYS, OPERATORS = (), {}

    def __init__(self, folder, kinds):
        files = {path.stem: path for path in Path(folder).iterdir()}
        self.kinds, self.paths = list(kinds), {kind: files[kind] for kind in kinds}
        self.whole = {kind: np.fromfile(path, np.uint8) for kind, path in self.paths.items()}
        self.own = tempfile.TemporaryDirectory()
        self.kind = self.path = None  # of the number that is tried; the path where its way needs a file

    @classmethod
    def what(cls, kinds, number):
        """(kind, way) of a number, and how often they were tried before it."""
        turn, kind = divmod(number, len(kinds))
        turn, way = divmod(turn, len(cls.WAYS))
        return kinds[kind], cls.WAYS[way], turn

    def stored(self, bad, number):
        """The path of a file that has the damaged bytes."""
        self.path = Path(self.own.name) / f"{number}{self.paths[self.kind].suffix}"
        bad.tofile(self.path)
        return self.path

    def fed(self, pipe, bad):
        """What a pipeline gives of the damaged file and a whole one."""
        pipe.feed_input("files", [bad, self.whole[self.kind]])
        return pipe.run()

    def check(self, number):
        import penstock

        self.kind, way, turn = self.what(self.kinds, number)
        bad = mutated(self.whole[self.kind], number)
        try:
            return getattr(self, way)(bad, turn)
        except penstock.DataError as error:
            text = str(error)
            named = any(f"[{operator}]" in text for operator in self.OPERATORS[way])
            named = named and (self.path is None or self.path.name in text)
            return "error" if named else f"an error that does not name what is wrong: {text}"
        except ValueError as error:  # the file is truncated before its first byte
            return "error" if len(bad) == 0 else f"{type(error).__name__}: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            if self.path:
                self.path.unlink()
                self.path = None
