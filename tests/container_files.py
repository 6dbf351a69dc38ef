# SPDX-License-Identifier: Apache-2.0
"""Writes container files from their specifications, for tests: TFRecord with Example, RecordIO, tar, Caffe's Datum."""

import io
import struct
import tarfile

import numpy as np


def _crc_table():
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ 0x82F63B78, table >> 1).astype(np.uint32)
    return [int(t) for t in table]


_TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, data):
    """A field of a protocol buffer: bytes, a whole number, or a float."""
    if isinstance(data, (bytes, bytearray)):
        return varint(number << 3 | 2) + varint(len(data)) + bytes(data)
    if isinstance(data, float):
        return varint(number << 3 | 5) + struct.pack("<f", data)
    return varint(number << 3) + varint(int(data))


def feature(value, packed=True):
    """One tf.train.Feature: bytes, a list of bytes, an int64 array or a float array."""
    if isinstance(value, (bytes, bytearray)):
        value = [value]
    if isinstance(value, list) and all(isinstance(v, (bytes, bytearray)) for v in value):
        return field(1, b"".join(field(1, v) for v in value))
    value = np.atleast_1d(value)
    if value.dtype.kind == "f":
        values = [struct.pack("<f", v) for v in value]
        return field(2, field(1, b"".join(values)) if packed else b"".join(varint(1 << 3 | 5) + v for v in values))
    values = [varint(int(v)) for v in value]
    return field(3, field(1, b"".join(values)) if packed else b"".join(varint(1 << 3) + v for v in values))


def example(features, packed=True):
    """A tf.train.Example of {name: bytes, list of bytes, int or float array}."""
    entries = (field(1, field(1, name.encode()) + field(2, feature(value, packed))) for name, value in features.items())
    return field(1, b"".join(entries))


def write_tfrecord(path, records, index=None):
    """Frames each record as TFRecord does; `index`: also writes the text that tfrecord2idx gives."""
    lines = []
    with open(path, "wb") as file:
        for record in records:
            start = file.tell()
            length = struct.pack("<Q", len(record))
            file.write(length + struct.pack("<I", _masked(length)) + record + struct.pack("<I", _masked(record)))
            lines.append(f"{start} {file.tell() - start}\n")
    if index:
        with open(index, "w") as file:
            file.writelines(lines)


def write_recordio(path, index, records):
    """(labels, payload) pairs as MXNet's im2rec writes them; payloads that hold the magic number are split."""
    magic = struct.pack("<I", 0xCED7230A)
    with open(path, "wb") as file, open(index, "w") as lines:
        for number, (labels, payload) in enumerate(records):
            lines.write(f"{number}\t{file.tell()}\n")
            labels = np.atleast_1d(np.float32(labels))
            if labels.size == 1:
                data = struct.pack("<IfQQ", 0, float(labels[0]), number, 0) + payload
            else:
                data = struct.pack("<IfQQ", labels.size, 0.0, number, 0) + labels.tobytes() + payload
            # The magic number at a multiple of four is taken out and the parts around it become chunks.
            cuts, at = [], 0
            while (at := data.find(magic, at)) >= 0:
                if at % 4 == 0:
                    cuts.append(at)
                    at += 4
                else:
                    at += 1
            starts = [0] + [c + 4 for c in cuts]
            ends = cuts + [len(data)]
            for k, (start, end) in enumerate(zip(starts, ends)):
                part = data[start:end]
                kind = 0 if len(starts) == 1 else 1 if k == 0 else 3 if k == len(starts) - 1 else 2
                file.write(magic + struct.pack("<I", kind << 29 | len(part)) + part + bytes(-len(part) % 4))


def write_tar(path, members, format=tarfile.USTAR_FORMAT, index=None):
    """(name, bytes) pairs; `index`: also writes what wds2idx gives (version 1.2)."""
    with tarfile.open(path, "w", format=format) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    if index:
        samples = {}
        with tarfile.open(path) as tar:
            for info in tar:
                base, _, ext = _split(info.name)
                samples.setdefault(base, []).append((ext, info.offset_data, info.size, info.name))
        with open(index, "w") as file:
            file.write(f"v1.2 {len(samples)}\n")
            for parts in samples.values():
                file.write(" ".join(f"{e} {o} {s} {n}" for e, o, s, n in parts) + "\n")


def _split(name):
    folder, slash, last = name.rpartition("/")
    base, dot, ext = last.partition(".")
    return folder + slash + base, dot, ext


def caffe_datum(data, label, encoded=True, shape=(0, 0, 0)):
    """Caffe's Datum: channels 1, height 2, width 3, data 4, label 5, encoded 7."""
    channels, height, width = shape
    return (
        field(1, channels)
        + field(2, height)
        + field(3, width)
        + field(4, data)
        + field(5, label)
        + field(7, int(encoded))
    )


def caffe2_tensor(value):
    """Caffe2's TensorProto: dims 1, data_type 2 (1 float, 2 int32, 3 byte, 4 string), float_data 3, int32_data 4,
    byte_data 5, string_data 6."""
    if isinstance(value, (bytes, bytearray)):
        return field(1, 1) + field(2, 4) + field(6, value)
    value = np.asarray(value)
    dims = b"".join(field(1, n) for n in value.shape)
    if value.dtype == np.uint8:
        return dims + field(2, 3) + field(5, value.tobytes())
    if value.dtype.kind == "f":
        return dims + field(2, 1) + field(3, np.float32(value).tobytes())
    return dims + field(2, 2) + field(4, b"".join(varint(int(v)) for v in value.ravel()))


def caffe2_record(*values):
    """Caffe2's TensorProtos: protos 1."""
    return b"".join(field(1, caffe2_tensor(v)) for v in values)
