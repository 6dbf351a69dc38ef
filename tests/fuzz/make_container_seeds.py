# SPDX-License-Identifier: Apache-2.0
"""usage: make_container_seeds.py FOLDER: writes the first inputs of the fuzzers of containers, images and recordings into FOLDER/tfrecord ..."""

import gzip
import io
import json
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import arrow_files  # noqa: E402
import audio_files  # noqa: E402
import container_files as files  # noqa: E402
import fits_compressed  # noqa: E402
import fits_files  # noqa: E402
import flac_files  # noqa: E402
import heif_files  # noqa: E402
import image_files  # noqa: E402
import mds_files  # noqa: E402
import readers  # noqa: E402
import video_files  # noqa: E402


def lmdb_page(number, kind, body=b"", lower=16, upper=4096):
    return (struct.pack("<QHHHH", number, 0, kind, lower, upper) + body).ljust(4096, b"\0")


def lmdb_seed():
    """A tree of one branch, two leaves and a page of a large value."""

    def database(root, depth, entries):
        return struct.pack("<IHHQQQQQ", 4096, 0, depth, 1, 2, 1, entries, root)

    def meta(number, transaction):
        body = struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, 1 << 20) + database(2**64 - 1, 0, 0) + database(2, 2, 3)
        return lmdb_page(number, 8, body + struct.pack("<QQ", 5, transaction))

    def page(number, kind, nodes):
        pointers, heap, at = b"", b"", 4096
        for node in nodes:
            node += bytes(len(node) % 2)
            at -= len(node)
            heap, pointers = node + heap, pointers + struct.pack("<H", at)
        content = lmdb_page(number, kind, pointers, 16 + len(pointers), at)
        return content[:at] + heap

    leaf = lambda key, value, flags=0, size=None: (
        struct.pack("<IHH", len(value) if size is None else size, flags, len(key)) + key + value
    )
    return (
        meta(0, 1)
        + meta(1, 2)
        + page(2, 1, [leaf(b"", b"", 0, 3), leaf(b"c", b"", 0, 4)])
        + page(3, 2, [leaf(b"a", b"one"), leaf(b"b", struct.pack("<Q", 5), 1, 4000)])
        + page(4, 2, [leaf(b"c", b"three")])
        + struct.pack("<QHHI", 5, 0, 4, 1)
        + bytes(4080)
    )


def parquet_pages(version):
    """Three values of a column of Parquet, without compression and encoding, after the number of rows."""
    values = b"".join(struct.pack("<I", len(value)) + value for value in (b"one", b"", bytes(20)))
    number = lambda field, n: bytes([field << 4 | 5, 2 * n])  # Thrift's compact protocol, of a field after the last one
    if version == 1:
        of_page = bytes([0x2C]) + number(1, 3) + number(1, 0) + number(1, 3) + number(1, 3) + b"\0"
    else:
        of_page = (
            bytes([0x5C])
            + number(1, 3)
            + number(1, 0)
            + number(1, 3)
            + number(1, 0)
            + number(1, 0)
            + number(1, 0)
            + b"\0"
        )
    header = number(1, 0 if version == 1 else 3) + number(1, len(values)) + number(1, len(values)) + of_page + b"\0"
    return bytes([3]) + header + values


def main(folder):
    folder = Path(folder)

    def write(kind, name, content):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / kind / name).write_bytes(content)

    scratch = folder / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    example = files.example({"a": b"abc", "label": np.arange(3), "": np.float32([1, 2])})
    files.write_tfrecord(scratch / "a", [example, b"", example], scratch / "a.idx")
    write("tfrecord", "a", (scratch / "a").read_bytes())
    write("container_index", "tfrecord", (scratch / "a.idx").read_bytes())
    write("example", "a", example)
    write(
        "example",
        "unpacked",
        files.example({"a": b"abc", "label": np.arange(300), "": np.float32([1, 2])}, packed=False),
    )
    write("example", "datum", files.caffe_datum(bytes(12), 3, False, (3, 2, 2)))
    write(
        "example", "tensors", files.caffe2_record(b"abc", np.int32([3]), np.float32([1]), np.zeros((2, 2, 3), np.uint8))
    )
    magic = struct.pack("<I", 0xCED7230A)
    files.write_recordio(scratch / "a", scratch / "a.idx", [(1, b"abc"), ([1, 2], b"x" * 8 + magic + b"y" * 8 + magic)])
    write("recordio", "a", (scratch / "a").read_bytes())
    write("container_index", "recordio", (scratch / "a.idx").read_bytes())
    for name, kind in readers.kinds().items():
        at = scratch / name
        at.mkdir(exist_ok=True)
        kind.write(at, [b"one", b"", bytes(20)])
        for file in at.iterdir():
            if file.stat().st_size < 1 << 16:
                write("container", f"{name}_{file.name}", file.read_bytes())
    mds_files.write(
        scratch,
        {"a": "jpeg", "b": "int", "c": "ndarray", "d": "ndarray:uint16"},
        [[{"a": b"abc", "b": 3, "c": np.zeros((2, 3), np.int8), "d": np.ones(4, np.uint16)}] * 2],
    )
    shard = (scratch / "shard.00000.mds").read_bytes()
    places = struct.unpack("<III", shard[4:16])
    write("mds", "index", b"\0\0" + (scratch / "index.json").read_bytes())
    write("mds", "places", b"\1\xfa" + shard)  # 2 samples, in at most 496 bytes
    write("mds", "sample", b"\2\0" + shard[places[0] : places[1]])
    write("mds", "zstd", b"\3\x08" + mds_files.zstd(bytes(16)))
    write("mds", "gz", b"\4\x08" + gzip.compress(bytes(16)))
    noise, half = np.random.default_rng(3).bytes(496), np.random.default_rng(4).bytes(248)
    write("mds", "blocks", b"\5\xf8" + mds_files.zstd(noise))
    write("mds", "frames", b"\5\xf8" + mds_files.zstd(half) + mds_files.raw_frame([half[:100], b"x" * 99, half[199:]]))
    for stream in (True, False):
        write("arrow", f"stream_{stream}", arrow_files.every_type(stream))
    for version in (1, 2):
        write("parquet", f"pages_{version}", parquet_pages(version))
    for number, format in enumerate((0, 1, 2)):
        files.write_tar(
            scratch / "a", [("d/a.b", b"1234"), ("d/" + "n" * 90 + ".c", bytes(600))], format, scratch / "a.idx"
        )
        write("tar", str(number), b"\1" + (scratch / "a").read_bytes()[:8192])
    write("container_index", "tar", (scratch / "a.idx").read_bytes())
    write(
        "container_index",
        "kept",
        b"PSTKCIX1"
        + b"tfrecord".ljust(16, b"\0")
        + struct.pack("<qqqq", 1000, 7, 2, 4)
        + struct.pack("<qqqq", 0, 500, 10, 20)
        + b"a\0b\0"
        + bytes(4),
    )
    write("lmdb", "a", lmdb_seed())
    for array in (np.zeros((3, 4), np.float32), np.asfortranarray(np.zeros((2, 2), bool)), np.int64(3)):
        stream = io.BytesIO()
        np.save(stream, array)
        write("npy", f"{array.dtype}{array.ndim}", stream.getvalue())
    for name, (stored, cards, _) in fits_files.every_type().items():
        content = fits_files.file(fits_files.hdu(first=True), fits_files.hdu(stored, **cards))
        write("fits", name.replace(" ", "_"), b"\1" + content)
    for name, (content, _) in fits_compressed.ALL.items():
        write("fits", "compressed_" + name.replace(" ", "_"), b"\1" + content)
    write("lz4", "literals", bytes([5, 0, 0x50]) + b"abcde")
    write("lz4", "overlap", bytes([21, 0, 0x1A]) + b"a" + bytes([1, 0, 0x60]) + b"bcdefg")
    write("lz4", "long", bytes([44, 1, 0xF0, 255, 30]) + bytes(range(256)) + bytes(44))
    write(
        "text",
        "manifest",
        b'{"audio_filepath": "a.wav", "text": "x", "duration": 1.5, "offset": 0.5}\n\n{"audio_filepath": "b"}',
    )
    for name, shuffle, legs in (("dealt", "every_epoch", []), ("shards", "none", [[2, 4]])):
        write(
            "text",
            name,
            json.dumps(
                {
                    "epoch": 3,
                    "consumed": 8,
                    "size": 23,
                    "seed": 5,
                    "list_hash": 9,
                    "shuffle": shuffle,
                    "stick_to_shard": False,
                    "legs": legs,
                }
            ).encode(),
        )
    for name, content in audio_files.all_files().items():
        write("audio", name.replace(" ", "_"), content)
    vorbis = audio_files.all_files()["vorbis"]
    write("audio", "vorbis_open_ended", audio_files.with_last_granule(vorbis, -1))
    write("audio", "mp3_after_zeros", bytes(187) + audio_files.all_files()["mp3"])
    for name, content in audio_files.chains().items():
        write("audio", name.replace(" ", "_"), content)
    for seed in range(24):
        write(
            "audio",
            f"drawn_flac_{seed}",
            flac_files.drawn_file(seed, lengths=[48] * 4 + [seed + 1], is_counted=seed % 3 > 0)[0],
        )
    write("audio", "flac_in_ogg", flac_files.in_ogg(flac_files.drawn_file(1, lengths=[100, 100, 50])[0]))
    for number, (name, content) in enumerate([*image_files.all_files().items(), *heif_files.small_files().items()]):
        write(
            "image",
            name.replace(" ", "_"),
            content + bytes([number * 7 % 256, number * 5 % 256, 200, 255, number, number, 0, 0]),
        )
    for kind in ("h264", "h264_b_avi", "hevc", "vp8", "vp9_mp4", "av1", "mpeg4_b_avi", "mjpeg", "h264_ts"):
        video = video_files.make(scratch, kind, count=6, size=(48, 32)).read_bytes()
        write("video", kind, video)
        for name, changes in (("same", b""), ("fewer", b"\xff"), ("numbers", bytes(17 + 6 * 48))):
            write("video_index", f"{kind}_{name}", video + changes + struct.pack("<H", len(changes)))
    small = dict(count=4, size=(48, 32))
    links = [
        video_files.encode(scratch / f"{k}.ogg", "libtheora", "-q:v", 2 + 3 * k, "-serial_offset", k, **small)
        for k in range(2)
    ]
    write("video", "chained", b"".join(link.read_bytes() for link in links))
    write(
        "video",
        "raw",
        video_files.encode(scratch / "raw.264", "libx264", "-g", 3, "-pix_fmt", "yuv420p", **small).read_bytes(),
    )
    write("video", "xvid", video_files.encode(scratch / "xvid.avi", "libxvid", "-g", 3, **small).read_bytes())
    write(
        "coco",
        "a",
        json.dumps(
            {
                "images": [{"id": 1, "file_name": "a", "width": 9, "height": 7}],
                "categories": [{"id": 4}],
                "annotations": [
                    {"image_id": 1, "category_id": 4, "bbox": [1, 2, 3, 4], "segmentation": [[1, 2, 3, 4, 5, 1]]},
                    {
                        "image_id": 1,
                        "category_id": 4,
                        "bbox": [1, 2, 3, 4],
                        "segmentation": {"size": [7, 9], "counts": "0a0m0"},
                    },
                ],
            }
        ).encode(),
    )


if __name__ == "__main__":
    main(sys.argv[1])
