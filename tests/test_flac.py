# SPDX-License-Identifier: Apache-2.0
"""Our decoder of FLAC: files with everything that RFC 9639 allows, files of other encoders, and damaged ones."""

import io
import random
import subprocess

import audio_files
import flac_files
import numpy as np
import pytest
import soundfile
from damaged_bytes import damaged

import penstock
from penstock import fn

TAG = b"ID3\x04\0\x10\0\0\0\x05" + b"fLaC\0" + b"3DI\x04\0\x10\0\0\0\x05"  # five bytes, and a footer after them


def decoded(file):
    return np.asarray(fn.decoders.audio(np.frombuffer(file, np.uint8), dtype="int32")[0])


def wanted(planes, bits):
    return (np.array(planes, np.int64).T << 32 - bits).astype(np.int32)


def bits_of(file):
    return (int.from_bytes(file[18:26], "big") >> 36 & 31) + 1


@pytest.mark.parametrize("seed", range(80))
def test_drawn_files_give_their_samples(seed):
    file, planes = flac_files.drawn_file(seed, is_counted=seed % 4 > 0)
    np.testing.assert_array_equal(decoded(file), wanted(planes, bits_of(file)))


@pytest.mark.parametrize("bits", range(4, 33))
def test_every_number_of_bits_in_every_pairing(bits):
    for k, pairing in enumerate(flac_files.PAIRINGS):
        for kind in flac_files.KINDS:
            file, planes = flac_files.drawn_file(
                100 * bits + k, bits, 2, [64, 64, 16, 1], kinds=[kind], pairing=pairing, escapes=0.2
            )
            np.testing.assert_array_equal(decoded(file), wanted(planes, bits))


@pytest.mark.parametrize("order", range(1, 33))
def test_every_order_of_prediction(order):
    """With few and many channels and frames side by side, of one length and of several."""
    for bits, channels, lengths in (
        (16, 1, [200] * 9 + [77]),
        (24, 2, [100, 100, 33]),
        (16, 8, [60, 40]),
        (30, 1, [90] * 5),
        (16, 1, [3, 40, 41]),
    ):
        file, planes = flac_files.drawn_file(
            order, bits, channels, lengths, kinds=["linear"], orders=[order, max(1, order - 3)], escapes=0
        )
        np.testing.assert_array_equal(decoded(file), wanted(planes, bits))


def test_frames_of_all_lengths():
    for lengths in (
        [1],
        [2, 1],
        [65535],
        [40000, 65535, 1],
        [15] * 300,
        [192, 576, 1152, 2304, 4608, 256, 512, 8192, 32768, 5],
    ):
        file, planes = flac_files.drawn_file(len(lengths), 16, 1, lengths, kinds=["fixed", "constant"])
        np.testing.assert_array_equal(decoded(file), wanted(planes, 16))
    assert decoded(flac_files.stream_head(3, 16, 0)).shape == (0, 3)


@pytest.mark.parametrize("bits", [8, 16, 24])
def test_libflac_gives_the_same(bits):
    for seed in range(12):
        file, _ = flac_files.drawn_file(seed, bits)
        want = soundfile.read(io.BytesIO(file), dtype="int32", always_2d=True)[0]
        np.testing.assert_array_equal(decoded(file), want)


@pytest.mark.parametrize("level", range(9))
def test_files_of_libflac(level):
    noise = np.random.default_rng(level).normal(size=(20011, 2)) * 0.01
    sound = np.tile(audio_files.STEREO, (3, 1))[:20011] + noise
    for kind, bits in (("PCM_S8", 8), ("PCM_16", 16), ("PCM_24", 24)):
        for channels in (sound, sound[:, :1], np.repeat(sound, 4, axis=1)):
            file = io.BytesIO()
            soundfile.write(file, channels, 48000, format="FLAC", subtype=kind, compression_level=level / 8)
            want = soundfile.read(io.BytesIO(file.getvalue()), dtype="int32", always_2d=True)[0]
            np.testing.assert_array_equal(decoded(file.getvalue()), want)


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-compression_level", "12"],
        ["-lpc_type", "cholesky", "-max_prediction_order", "32"],
        ["-lpc_type", "none"],
        ["-lpc_type", "fixed"],
        ["-frame_size", "16"],
        ["-frame_size", "65535"],
        ["-ch_mode", "mid_side"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("container", ["flac", "ogg"])
def test_files_of_ffmpeg(tmp_path, options, container):
    """Also from a pipe, where the encoder cannot write the number of samples, and in Ogg."""
    sound = np.tile(audio_files.STEREO, (9, 1)) + np.random.default_rng(3).normal(size=(9 * 8011, 2)) * 0.003
    for kind, bits in (("s16", 16), ("s32", 24)):
        samples = (np.rint(sound * 0.8 * 2 ** (bits - 1)).astype(np.int64) << 32 - bits).astype("<i4")
        for target in ("pipe:1", str(tmp_path / f"{kind}.{container}")):
            command = [
                "ffmpeg",
                "-v",
                "error",
                "-y",
                "-f",
                "s32le",
                "-ar",
                "44100",
                "-ac",
                "2",
                "-i",
                "-",
                "-c:a",
                "flac",
                "-sample_fmt",
                kind,
                *options,
                "-f",
                container,
                target,
            ]
            file = subprocess.run(command, input=samples.tobytes(), stdout=subprocess.PIPE, check=True).stdout
            if target != "pipe:1":
                with open(target, "rb") as written:
                    file = written.read()
            np.testing.assert_array_equal(decoded(file), samples)


def small(seed=1, **how):
    return flac_files.drawn_file(seed, 16, 2, [40, 40, 7], kinds=["fixed", "linear"], **how)


def test_what_stands_before_and_after():
    file, planes = small()
    frames, want = file[42:], wanted(planes, 16)
    blocks = b"\x03\0\0\x12" + bytes(18) + b"\x06\0\x01\0" + b"\xff\xf8" * 128 + b"\x81\0\0\x05" + bytes(5)
    for with_more in (
        TAG + file,
        file + b"TAG" + bytes(125),
        file[:4] + b"\0" + file[5:42] + blocks + frames,
        flac_files.stream_head(2, 16, 87, more=b"more") + frames,
    ):
        np.testing.assert_array_equal(decoded(with_more), want)
    np.testing.assert_array_equal(decoded(audio_files.with_flac_length(file, 50)), want[:50])


def frame_of(samples=(1, 2, 3, 4), channel_code=0, bits_code=4, subframe=None, head=None):
    """A frame of 16 samples whose checksums are right, whatever else is wrong."""
    out = flac_files.Bits()
    for value, bits in subframe or [(0, 8), (5, 16)]:
        out.add(value, bits)
    head = head or flac_files.frame_head(16, channel_code, bits_code, 0, random.Random(0))
    return flac_files.with_frame_sum(head + out.bytes())


def head_of(*fields):
    out = flac_files.Bits()
    for value, bits in fields:
        out.add(value, bits)
    return out.bytes() + flac_files.checksum(out.bytes(), 8, 7)


ONE = flac_files.stream_head(1, 16, 16)
FIXED = [(8 << 1, 8), (0, 2), (0, 4)]  # of order 0, in one part


@pytest.mark.parametrize(
    "frame, message",
    [
        (b"", "premature end of file at sample 0 of 16"),
        (frame_of()[:-1], "premature end of file in a frame at byte 42 near sample 0"),
        (frame_of()[:5], "premature end of file in a frame"),
        (b"\0" + frame_of(), "expected a frame at byte 42 near sample 0"),
        (frame_of()[:-1] + b"\0", "the checksum of a frame is wrong at byte 42"),
        (audio_files.with_bytes(frame_of(), 4, b"\x01"), "the checksum of a frame header is wrong"),
        (audio_files.with_bytes(frame_of(), 4, b"\xff"), "the frame number is damaged"),
        (audio_files.with_bytes(frame_of(), 4, b"\xc3\x01"), "the frame number is damaged"),
        (frame_of(channel_code=1, subframe=[(0, 8), (0, 16)] * 2), "channels or bits change at sample 0"),
        (frame_of(bits_code=6, subframe=[(0, 8), (0, 24)]), "channels or bits change at sample 0"),
        *(
            (
                frame_of(
                    head=head_of(
                        (0xFFF8, 16),
                        (length, 4),
                        (rate, 4),
                        (channels, 4),
                        (bits, 3),
                        (reserved, 1),
                        (0, 8),
                        (0xFFFF, more),
                    )
                ),
                "a frame header has reserved values",
            )
            for length, rate, channels, bits, reserved, more in (
                (0, 0, 0, 0, 0, 0),
                (8, 15, 0, 0, 0, 16),
                (8, 0, 11, 0, 0, 0),
                (8, 0, 0, 3, 0, 0),
                (8, 0, 0, 0, 1, 0),
                (7, 0, 0, 0, 0, 16),
            )
        ),
        (frame_of(subframe=[(128, 8), (0, 16)]), "a subframe begins with a one bit"),
        (frame_of(subframe=[(2 << 1, 8), (0, 16)]), "a subframe has a reserved type"),
        (frame_of(subframe=[(1, 8), (1, 16), (0, 16)]), "a subframe wastes all of its bits"),
        (frame_of(subframe=[(1, 8), (0, 200), (1, 1)]), "a subframe wastes all of its bits"),
        (frame_of(subframe=[(8 << 1, 8), (2, 2), (0, 4)]), "a residual has a reserved coding method"),
        (frame_of(subframe=[(8 << 1, 8), (0, 2), (5, 4)]), "the partitions of a residual do not fit the frame"),
        (
            frame_of(subframe=[(12 << 1, 8), (0, 64), (0, 2), (3, 4)]),
            "the partitions of a residual do not fit the frame",
        ),
        (
            frame_of(subframe=[(8 << 1, 8), (1, 2), (0, 4), (30, 5), (0, 4), (1, 1), (0, 600)]),
            "a residual has more than 32 bits",
        ),
        (frame_of(subframe=[(63 << 1, 8), (0, 600)]), "the order of a predictor exceeds the frame"),
        (frame_of(subframe=[(32 << 1, 8), (0, 16), (15, 4), (0, 200)]), "a predictor has reserved values"),
        (frame_of(subframe=[(32 << 1, 8), (0, 16), (3, 4), (16, 5), (0, 200)]), "a predictor has reserved values"),
        (frame_of(subframe=[*FIXED, (0, 4), (0, 300)]), "premature end of file in a frame"),  # ones are missing
    ],
)
def test_what_is_wrong_with_a_frame(frame, message):
    np.testing.assert_array_equal(decoded(ONE + frame_of()), np.full((16, 1), 5 << 16))
    with pytest.raises(penstock.DataError, match=f"FLAC: {message}"):
        decoded(ONE + frame)


@pytest.mark.parametrize(
    "head, message",
    [
        (ONE[:20], "the file ends in the header"),
        (b"fLaC", "the file ends in the header"),
        (ONE[:4] + b"\0" + ONE[5:], "the file ends in the header"),
        (b"fLaC\x81\0\0\x04" + bytes(4), "no STREAMINFO block precedes the frames"),
        (b"fLaC\x80\0\0\x08" + bytes(8), "the STREAMINFO block has only 8 bytes"),
        (flac_files.stream_head(1, 3, 16), "1 channels of 3 bits"),
        (flac_files.stream_head(1, 16, 16, rate=0), "of 16 bits, 0 samples per second"),
    ],
)
def test_what_is_wrong_with_the_header(head, message):
    with pytest.raises(penstock.DataError, match=f"FLAC: .*{message}"):
        decoded(head)


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_made_up_checksum_does_not_let_damage_through(place):
    """Each bit of a frame flipped, its checksum corrected: samples or an error, and no more samples than there are."""
    file, planes = small(2)
    at = 42 if place == "first" else file.rindex(b"\xff\xf8")
    end = file.index(b"\xff\xf8", 43) if place == "first" else len(file)
    for bit in range(8 * (end - at - 2)):
        frame = bytearray(file[at : end - 2])
        frame[bit // 8] ^= 128 >> bit % 8
        try:
            assert decoded(file[:at] + flac_files.with_frame_sum(bytes(frame)) + file[end:]).shape == (87, 2)
        except penstock.DataError as error:
            assert "FLAC: " in str(error)


def test_damage_is_found():
    """A frame's checksum finds all single bits and most other damage."""
    for seed in range(6):
        file, planes = flac_files.drawn_file(seed)
        want = wanted(planes, bits_of(file))
        for bad in damaged(np.frombuffer(file, np.uint8), 60, len(file), seed):
            try:
                got = decoded(bad.tobytes())
            except penstock.DataError as error:
                assert len(str(error)) > 20
            else:  # of the header alone
                assert bad[42:].tobytes() == file[42:] or got.shape[0] < want.shape[0] or np.array_equal(got, want)


@pytest.mark.parametrize("seed", range(6))
def test_drawn_files_in_ogg(seed):
    file, planes = flac_files.drawn_file(seed, lengths=[60] * 20, is_counted=seed % 2)
    np.testing.assert_array_equal(decoded(flac_files.in_ogg(file)), wanted(planes, bits_of(file)))


def ogg_pages(file):
    return [b"OggS" + page for page in file.split(b"OggS")[1:]]


def test_ogg_pages():
    """Other streams' pages, and bytes that are not a page, are skipped; samples of a missing page are missing."""
    file = subprocess.run(
        [
            "ffmpeg",
            "-v",
            "error",
            "-f",
            "s16le",
            "-ar",
            "16000",
            "-ac",
            "2",
            "-i",
            "-",
            "-c:a",
            "flac",
            "-frame_size",
            "256",
            "-f",
            "ogg",
            "-page_duration",
            "1",
            "pipe:1",
        ],
        input=(audio_files.STEREO * 30000).astype("<i2").tobytes(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    want, pages = decoded(file), ogg_pages(file)
    assert len(pages) > 8 and len(want) == 8011
    other = ogg_pages(audio_files.recorded(audio_files.STEREO, "OGG", "VORBIS"))
    mixed = b"".join(b for page, more in zip(pages, [*other, *[b"OggS?"] * len(pages)]) for b in (page, more))
    np.testing.assert_array_equal(decoded(mixed), want)
    fewer = decoded(b"".join(pages[:4] + pages[5:]))
    assert 7000 < len(fewer) < len(want)
    bad = bytearray(pages[4])
    bad[-1] ^= 1
    np.testing.assert_array_equal(decoded(b"".join([*pages[:4], bytes(bad), *pages[5:]])), fewer)


@pytest.mark.parametrize("packet", [b"\x7fFLAC\2\0\0\0" + ONE, b"\x7fFLAC", b"\x7fFLAC\1\0\0\0" + ONE[1:]])
def test_the_first_packet_in_ogg(packet):
    frame = flac_files.ogg_page([frame_of()], 1, 4)
    assert decoded(flac_files.ogg_page([b"\x7fFLAC\1\0\0\0" + ONE], 0, 2) + frame).shape == (16, 1)
    page = flac_files.ogg_page([packet], 0, 2)
    for file in (page, page + frame, audio_files.with_bytes(page, 22, b"\0") + frame):
        with pytest.raises(penstock.DataError, match="FLAC: Ogg: the first packet is damaged"):
            decoded(file)
