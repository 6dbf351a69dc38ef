# SPDX-License-Identifier: Apache-2.0
"""decoders.audio against libsndfile and DALI, and damaged recordings."""

import io
import os
import struct
import subprocess
import sys

import audio_files
import container_files
import numpy as np
import pytest
import soundfile
from damaged_bytes import damaged
from format_names import shown

import penstock
from penstock import fn, pipeline_def, types

FILES = {name: np.frombuffer(file, np.uint8) for name, file in audio_files.all_files().items()}
LOSSY = (
    "vorbis",
    "opus",
    "mp3",
    "mp3 mono",
)  # their decoders add in floating point, and so may differ in the last place


@pytest.mark.parametrize("name", FILES)
def test_samples_are_libsndfiles(name):
    for dtype in ("int16", "int32", "float32"):
        got, rate = fn.decoders.audio(FILES[name], dtype=dtype)
        if name in ("wav FLOAT", "wav DOUBLE") and dtype != "float32":
            continue  # read there without scaling
        want, wanted_rate = soundfile.read(io.BytesIO(FILES[name].tobytes()), dtype=dtype, always_2d=True)
        got = np.asarray(got)
        assert got.shape == want.shape and got.dtype == want.dtype and float(rate) == wanted_rate
        if name in LOSSY:
            limit = {"int16": 1, "int32": 512, "float32": 3e-7}[dtype]
            assert np.abs(got.astype(np.float64) - want).max() <= limit
        else:
            np.testing.assert_array_equal(got, want)
    for dtype, top in (("int16", 32767), ("int32", 2**31 - 1)):
        if name == "wav FLOAT":
            got = np.asarray(fn.decoders.audio(FILES[name], dtype=dtype)[0])
            np.testing.assert_array_equal(got, np.rint(audio_files.STEREO.astype(np.float32).astype(np.float64) * top))


@pytest.mark.parametrize("name", [n for n in FILES if not n.startswith("mp3")])  # which DALI does not read
def test_dali_gives_the_same(oracle, name):
    for options, tolerance in (
        ({}, 3e-7),
        ({"downmix": True}, 3e-7),
        ({"downmix": True, "sample_rate": 16000.0}, 1.5e-4),
        ({"sample_rate": 44100.0, "quality": 80.0}, 1.5e-4),
    ):
        want, rate = (np.asarray(v[0]) for v in oracle.call("decoders.audio", [FILES[name]], **options))
        got, got_rate = (np.asarray(v) for v in fn.decoders.audio(FILES[name], **options))
        assert got.shape == want.shape and got_rate == rate
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance)  # resampling: DALI adds up float32 steps


def test_resampling_is_dali(oracle):
    signal = audio_files.STEREO[:, 0].astype(np.float32)
    for options in (
        {"scale": 0.5},
        {"scale": 2.0},
        {"in_rate": 44100.0, "out_rate": 16000.0},
        {"scale": 0.7, "quality": 90.0},
        {"scale": 1.3, "quality": 0.0},
    ):
        want = np.asarray(oracle.call("audio_resample", [signal], **options)[0])
        np.testing.assert_allclose(
            np.asarray(fn.audio_resample(signal, **options)), want, rtol=0, atol=2e-4
        )  # DALI adds up its position in float32


def resampled(signal, step, length):
    """In float64, with the weights that the operator interpolates."""
    places = np.arange(16 * 64 + 2) / 64
    table = np.where(places <= 16, np.sinc(places) * 0.5 * (1 + np.cos(np.pi * places / 16)), 0)
    at = np.arange(length) * step
    taps = np.floor(at).astype(int)[:, None] + np.arange(-16, 18)
    distances = np.minimum(np.abs(taps - at[:, None]), 16)
    weights = np.interp(distances * 64, np.arange(len(table)), table)
    return (weights * np.pad(signal, (16, 18))[np.clip(taps + 16, 0, len(signal) + 33)]).sum(1)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
def test_resampling_is_that_of_float64(dtype):
    noise = np.random.default_rng(3).uniform(-0.4, 0.4, 60_000)
    unit, zero = {np.float32: (1, 0), np.int16: (1 / 32767, 0), np.uint8: (2 / 255, 1)}[dtype]
    signal = ((noise + zero) / unit).astype(dtype)
    got = np.asarray(fn.audio_resample(signal, in_rate=44100.0, out_rate=48000.0))
    want = (resampled(signal * unit - zero, 44100 / 48000, len(got)) + zero) / unit
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-6 if dtype == np.float32 else 0.51)


@pytest.mark.parametrize("name", FILES)
def test_damage_ends_in_a_typed_error_or_in_samples(name):
    file, refused = FILES[name], 0
    for bad in damaged(file, 40, 100, len(name)):
        try:
            out, _ = fn.decoders.audio(bad)
            assert np.asarray(out).size <= 70000 * len(file)
        except penstock.DataError as error:
            refused += 1
            assert len(str(error)) > 20
    assert refused > 3


def wav(chunks):
    body = b"WAVE" + b"".join(name + struct.pack("<I", len(data)) + data for name, data in chunks)
    return np.frombuffer(b"RIFF" + struct.pack("<I", len(body)) + body, np.uint8)


FMT = (b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16))


@pytest.mark.parametrize(
    "file, message",
    [
        (np.zeros(0, np.uint8), "empty"),
        (np.frombuffer(b"ID3\x04" + bytes(20), np.uint8), "MP3: the file has no frames"),
        (wav([(b"data", bytes(4))]), "WAV: the samples precede their format"),
        (wav([FMT]), "WAV: the file of 36 bytes ends before the samples"),
        (wav([FMT, (b"data", bytes(80))])[:-53], "WAV: premature end of file: 27 of 80 bytes"),
        (
            wav([(b"fmt ", struct.pack("<HHIIHH", 0x55, 1, 8000, 0, 0, 4)), (b"data", bytes(4))]),
            "format tag 85 with 4 bits",
        ),
        (
            wav([(b"fmt ", struct.pack("<HHIIHH", 2, 1, 8000, 0, 64, 4)), (b"data", bytes(64))]),
            "MS ADPCM: 0 predictors",
        ),
        (
            wav([(b"fmt ", struct.pack("<HHIIHHHHH4x", 2, 1, 8000, 0, 64, 4, 8, 114, 9)), (b"data", bytes(64))]),
            "MS ADPCM: 9 predictors",
        ),
        (
            wav([(b"fmt ", struct.pack("<HHIIHHHHH4x", 2, 1, 8000, 0, 64, 4, 8, 114, 1)), (b"data", b"\1" * 64)]),
            "predictor 1 does not exist",
        ),
        (
            wav([(b"fmt ", struct.pack("<HHIIHH", 2, 9, 8000, 0, 62, 4)), (b"data", bytes(62))]),
            "format tag 2 cannot have blocks of 62 bytes with 9 channels",
        ),
        (
            wav([(b"fmt ", struct.pack("<HHIIHH", 17, 1, 8000, 0, 0, 4)), (b"data", bytes(64))]),
            "format tag 17 cannot have blocks of 0 bytes with 1 channels",
        ),
        (
            wav([(b"fmt ", struct.pack("<HHIIHH", 17, 1, 8000, 0, 64, 4)), (b"data", b"Y" * 64)]),
            "IMA ADPCM: step 89 is not between 0 and 88",
        ),
        (
            wav([(b"fmt ", struct.pack("<HHIIHH", 49, 2, 8000, 0, 65, 0)), (b"data", bytes(65))]),
            "format tag 49 cannot have blocks of 65 bytes with 2 channels",
        ),
        (wav([(b"fmt ", struct.pack("<HHIIHH", 1, 0, 8000, 0, 0, 16)), (b"data", bytes(4))]), "WAV: 0 channels"),
        (np.frombuffer(b"OggS" + bytes(60), np.uint8), "Ogg: the stream is not Vorbis, Opus or FLAC"),
        (np.frombuffer(b"fLaC" + bytes(60), np.uint8), "FLAC"),
    ],
)
def test_messages(file, message):
    with pytest.raises(penstock.DataError, match=message):
        fn.decoders.audio(file)


def test_consecutive_streams_are_one_recording():
    chains = {name: np.frombuffer(file, np.uint8) for name, file in audio_files.chains().items()}
    second = np.frombuffer(audio_files.recorded(audio_files.STEREO[4000::-1], "OGG", "VORBIS"), np.uint8)
    parts = [np.asarray(fn.decoders.audio(file)[0]) for file in (FILES["vorbis"], second)]
    np.testing.assert_array_equal(np.asarray(fn.decoders.audio(chains["vorbis chain"])[0]), np.concatenate(parts))
    with pytest.raises(penstock.DataError, match="Vorbis: the header is damaged"):
        fn.decoders.audio(chains["vorbis chain cut"])
    mono = np.frombuffer(audio_files.recorded(audio_files.STEREO[:, 0], "OGG", "VORBIS"), np.uint8)
    with pytest.raises(
        penstock.DataError, match="Vorbis: the number of channels or the sample rate changes in stream 1"
    ):
        fn.decoders.audio(np.concatenate([FILES["vorbis"], mono]))


PCM = FILES["wav PCM_16"].tobytes()
RF64 = FILES["wav RF64"].tobytes()
FLAC = FILES["flac PCM_16"].tobytes()
LONG = {
    kind: audio_files.recorded(np.tile(audio_files.STEREO, (20, 1)), "OGG", kind, 48000) for kind in ("VORBIS", "OPUS")
}


@pytest.mark.parametrize(
    "file, message",
    [
        *((audio_files.with_bytes(PCM, 22, struct.pack("<H", n)), f"WAV: {n} channels") for n in (0, 256, 65535)),
        (audio_files.with_bytes(PCM, 24, bytes(4)), "WAV: a sample rate of 0 is not positive"),
        *(
            (
                audio_files.with_bytes(PCM, PCM.index(b"data") + 4, struct.pack("<I", n)),
                f"WAV: premature end of file: 32044 of {n} bytes",
            )
            for n in (32045 + 44, 2**31 - 2**17, 2**31 + 2**17, 2**32 - 2**17)
        ),
        (audio_files.with_bytes(PCM, 16, b"\xff" * 4), "WAV: a chunk of 4294967295 bytes at byte 12 exceeds the file"),
        *(
            (
                audio_files.with_bytes(RF64, RF64.index(b"ds64") + 16, struct.pack("<Q", n)),
                f"WAV: premature end of file: 32044 of {n} bytes",
            )
            for n in (2**32, 2**63, 2**64 - 1)
        ),
        *(
            (audio_files.with_flac_length(FLAC, n), "FLAC: premature end of file")
            for n in (8012, 10**6, len(FLAC) // 11 * 65535, 2**36 - 1)
        ),
        (audio_files.with_flac_length(FLAC + bytes(5 << 20), 10**9), "FLAC: .* near sample 8011"),  # 8 GB if trusted
        *(
            (audio_files.with_last_granule(file, n), f"{kind.title()}: ")
            for kind, file in LONG.items()
            for n in (10**6, 10**8, 2**40, 2**62)
        ),
    ],
)
def test_hostile_lengths(file, message):
    """No length is trusted: sizes of memory follow from what the file's bytes can contain."""
    with pytest.raises(penstock.DataError, match=message):
        fn.decoders.audio(np.frombuffer(file, np.uint8))


def test_a_made_up_rate_does_not_make_gigabytes():
    slow = np.frombuffer(audio_files.with_bytes(PCM, 24, struct.pack("<I", 1)), np.uint8)
    with pytest.raises(penstock.DataError, match="8011 samples at 1 hertz would become 384528000"):
        fn.decoders.audio(slow, sample_rate=48000.0)
    fast = np.frombuffer(audio_files.with_bytes(PCM, 24, b"\xff" * 4), np.uint8)
    assert np.asarray(fn.decoders.audio(fast, sample_rate=48000.0)[0]).shape == (1, 2)


@pytest.mark.parametrize("name", FILES)
def test_every_cut_of_the_header_and_some_of_the_rest(name):
    file = FILES[name]
    for n in [*range(0, min(len(file), 400), 3), *np.linspace(400, len(file) - 1, 30).astype(int)]:
        try:
            got = np.asarray(fn.decoders.audio(file[:n])[0])
        except penstock.DataError as error:
            assert len(str(error)) > 20
        else:
            assert got.shape[0] <= 2 * 8011  # Ogg pages, and frames of MP3, that are whole


def test_mp3_files_of_all_kinds():
    """After a tag; and without the encoder's delay, where libsndfile guesses the length from the first frame's bit rate."""
    for rate, channels in ((8000, 1), (22050, 2), (48000, 2)):
        file = audio_files.recorded(audio_files.STEREO[:, :channels], "MP3", "MPEG_LAYER_III", rate)
        want = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)[0]
        got, got_rate = fn.decoders.audio(np.frombuffer(audio_files.tagged(file), np.uint8))
        assert got_rate == rate and want.shape == audio_files.STEREO[:, :channels].shape
        np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=3e-7)
        bare = audio_files.without_info(file)
        want = soundfile.read(io.BytesIO(bare), dtype="float32", always_2d=True)[0]
        got = np.asarray(fn.decoders.audio(np.frombuffer(bare, np.uint8))[0])
        assert len(got) > len(audio_files.STEREO) and len(got) % 576 == 0
        np.testing.assert_allclose(got[: len(want)], want, rtol=0, atol=3e-7)


def test_without_libmpg123_an_mp3_file_says_so():
    program = (
        "import sys, numpy as np, penstock; from penstock import fn\n"
        "try: fn.decoders.audio(np.frombuffer(sys.stdin.buffer.read(), np.uint8))\n"
        "except penstock.DataError as error: print(error)\n"
    )
    for setting, message in (("off", "PENSTOCK_MPG123 is off"), ("/no/such.so", "/no/such.so")):
        done = subprocess.run(
            [sys.executable, "-c", program],
            input=FILES["mp3"].tobytes(),
            capture_output=True,
            env={**os.environ, "PENSTOCK_MPG123": setting},
            check=True,
        )
        assert b"MP3 files need libmpg123" in done.stdout and message.encode() in done.stdout


def check_against_libsndfile(file, dtype="int16"):
    got, rate = fn.decoders.audio(np.frombuffer(file, np.uint8), dtype=dtype)
    want, wanted_rate = soundfile.read(io.BytesIO(file), dtype=dtype, always_2d=True)
    assert len(want) and float(rate) == wanted_rate
    if b"WAVEfmt \x14\0\0\0\x31" in file and len(file) % 2 == 0 and file[-1] == 0 and len(want) % 640 == 0:
        want = want[: len(got)] if len(got) % 640 == 320 else want  # it reads the byte that pads a chunk as a block
    np.testing.assert_array_equal(np.asarray(got), want)


def check_against_ffmpeg(file, channels=2, tolerance=1e-4):
    got = np.asarray(fn.decoders.audio(np.frombuffer(file, np.uint8))[0])
    raw = subprocess.run(
        ["ffmpeg", "-v", "quiet", "-i", "-", "-f", "f32le", "-"], input=file, capture_output=True, check=True
    ).stdout
    want = np.frombuffer(raw, np.float32).reshape(-1, channels)
    assert got.shape == want.shape and len(got)
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    "size",
    [
        0x7FFF0000,
        0x7FFFF000,
        0x7FFFFFFF,
        0x80000000,
        0x80000024,
        0xFFFF0000,
        0xFFFFFFFE,
        0xFFFFFFFF,
        32044 + 32,
        32044 + 44,
        32044 - 4,
    ],
)
def test_sizes_of_streams_and_of_recorders_that_count_their_header(size):
    """sox, arecord, ffmpeg and others that could not go back, or counted wrong: the bytes that are there are the recording."""
    file = audio_files.with_bytes(PCM, PCM.index(b"data") + 4, struct.pack("<I", size))
    check_against_libsndfile(audio_files.with_bytes(file, 4, struct.pack("<I", min(size + 36, 2**32 - 1))))
    check_against_libsndfile(file)


@pytest.mark.parametrize("kind", ["MS_ADPCM", "IMA_ADPCM", "GSM610"])
def test_coded_blocks_are_libsndfiles(kind):
    """Loud noise, silence and steps, lengths from one sample on, and blocks of other sizes."""
    rng = np.random.default_rng(7)
    for length in (1, 2, 159, 160, 321, 1000, 5000):
        for channels in (1,) if kind == "GSM610" else (1, 2):
            for samples in (
                rng.uniform(-1, 1, (length, channels)),
                np.zeros((length, channels)),
                np.sign(rng.standard_normal((length, channels))),
            ):
                for rate in (8000, 44100):
                    check_against_libsndfile(audio_files.recorded(samples, "WAV", kind, rate))
    raw = audio_files.recorded(rng.uniform(-1, 1, (4000, 1)), "WAV", kind, 8000)
    at = raw.index(b"data") + 8
    noise = rng.integers(0, 256, len(raw) - at, np.uint8)
    if kind == "MS_ADPCM":  # codes of which the step does not grow: libsndfile's wraps around at 16 bits
        noise = rng.choice([0, 1, 2, 3, 13, 14, 15], len(noise)) * 16 + rng.choice([0, 1, 2, 3, 13, 14, 15], len(noise))
    noise = bytearray(noise.astype(np.uint8).tobytes())
    block = struct.unpack("<H", raw[32:34])[0]
    for i in range(0, len(noise), block):  # the heads of blocks stay what they may be
        noise[i : i + 8] = raw[at + i : at + i + 8]
    check_against_libsndfile(raw[:at] + bytes(noise))


def test_ogg_whose_last_page_ends_no_packet():
    """RFC 3533: its granule position is -1. libsndfile and ffmpeg decode all packets that there are."""
    for samples in (audio_files.STEREO, audio_files.STEREO[:, :1], np.tile(audio_files.STEREO, (9, 1))):
        file = audio_files.with_last_granule(audio_files.recorded(samples, "OGG", "VORBIS"), -1)
        got = np.asarray(fn.decoders.audio(np.frombuffer(file, np.uint8))[0])
        assert len(samples) <= len(got) < len(samples) + 8192
        check_against_ffmpeg(file, samples.shape[1])
    chain = file + audio_files.with_last_granule(
        audio_files.recorded(audio_files.STEREO[:, [1, 0]][:3000], "OGG", "VORBIS"), -1
    )
    assert len(np.asarray(fn.decoders.audio(np.frombuffer(np.frombuffer(chain, np.uint8), np.uint8))[0])) >= len(got)


@pytest.mark.parametrize("kind", ["VORBIS", "OPUS"])
def test_chained_streams_are_what_libsndfile_gives_of_each(kind):
    """ffmpeg continues with the state of the previous stream, which RFC 3533 does not have, and loses samples of Vorbis."""
    files = [audio_files.recorded(audio_files.STEREO[i::-1], "OGG", kind, 48000) for i in (8000, 4001, 977)]
    want = np.concatenate([soundfile.read(io.BytesIO(f), dtype="float32")[0] for f in files])
    got = np.asarray(fn.decoders.audio(np.frombuffer(b"".join(files), np.uint8))[0])
    assert got.shape == want.shape == (8001 + 4002 + 978, 2)
    np.testing.assert_allclose(got, want, rtol=0, atol=3e-7)


JUNK = {
    "zeros": bytes(187),
    "one byte": b"\0",
    "noise": np.random.default_rng(5).integers(0, 255, 3000, np.uint8).tobytes(),
    "text": b"station said nothing\r\n" * 40,
    "a tag with a wrong length": b"ID3\3\0\0\0\0\0\5" + bytes(700),
    "a long tag and zeros": b"ID3\4\0\0\0\5\0\0" + bytes(5 * 16384 + 100),
    "a frame's half": None,
    "two tags": audio_files.tagged(audio_files.tagged(b"")),
    "far": bytes(60000),
}


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("name", ["mp3", "mp3 mono"])
def test_mp3_after_bytes_that_belong_to_nothing(name, junk):
    file = FILES[name].tobytes()
    before = file[300:500] if JUNK[junk] is None else JUNK[junk]
    got = np.asarray(fn.decoders.audio(np.frombuffer(before + file, np.uint8))[0])
    np.testing.assert_array_equal(got, np.asarray(fn.decoders.audio(FILES[name])[0]))


def test_bytes_that_are_not_mp3_stay_an_error():
    """Frames far inside, a single frame, and frames inside other containers are not the file's sound."""
    mp3 = FILES["mp3"].tobytes()
    for file in (
        bytes(70000) + mp3,
        bytes(100) + mp3[:300],
        b"RIFF\0\0\0\0AVI " + bytes(100) + mp3,
        bytes(4) + b"ftypisom" + bytes(90) + mp3,
        b"\x1aE\xdf\xa3" + bytes(100) + mp3,
        b"\x89PNG\r\n\x1a\n" + bytes(100) + mp3,
        b"text only " * 30,
        bytes(range(256)) * 300,
    ):
        with pytest.raises(penstock.DataError, match=f"not a {shown('sound', 'or')} file"):
            fn.decoders.audio(np.frombuffer(file, np.uint8))


def test_a_recording_of_no_length_and_a_stream():
    out, rate = fn.decoders.audio(wav([FMT, (b"data", b"")]))
    assert np.asarray(out).shape == (0, 1) and float(rate) == 8000
    stream = wav([FMT, (b"data", bytes(range(8)))]).copy()
    stream[40:44] = 255  # a recorder that could not go back
    assert np.asarray(fn.decoders.audio(stream, dtype="int16")[0]).tobytes() == bytes(range(8))


def test_a_pipeline_for_speech(tmp_path):
    """Files to normalized mel spectrograms, as a speech model's training reads them."""
    names = [n for n in FILES if n != "opus"]
    for i, name in enumerate(names):
        (tmp_path / f"{i:02}").write_bytes(FILES[name].tobytes())

    @pipeline_def(batch_size=len(names), num_threads=2, device_id=None)
    def speech():
        files, _ = fn.readers.file(files=sorted(str(p) for p in tmp_path.iterdir()))
        sound, rate = fn.decoders.audio(files, downmix=True, sample_rate=16000)
        begin, length = fn.nonsilent_region(sound, cutoff_db=-60)
        sound = fn.slice(sound, begin, length, axes=[0])
        sound = fn.preemphasis_filter(sound, preemph_coeff=0.97)
        power = fn.spectrogram(sound, nfft=512, window_length=320, window_step=160)
        mel = fn.to_decibels(fn.mel_filter_bank(power, sample_rate=16000, nfilter=64), multiplier=10.0, cutoff_db=-80.0)
        return fn.normalize(mel, axes=[1]), rate, length

    p = speech()
    p.build()
    mel, rate, length = p.run()
    for i, name in enumerate(names):
        sound = np.asarray(fn.decoders.audio(FILES[name], downmix=True, sample_rate=16000)[0])
        begin, n = (int(v) for v in fn.nonsilent_region(sound, cutoff_db=-60))
        power = fn.spectrogram(
            fn.preemphasis_filter(sound[begin : begin + n]), nfft=512, window_length=320, window_step=160
        )
        want = fn.normalize(
            fn.to_decibels(fn.mel_filter_bank(power, sample_rate=16000, nfilter=64), cutoff_db=-80.0), axes=[1]
        )
        assert float(np.asarray(rate[i])) == 16000 and int(np.asarray(length[i])) == n
        np.testing.assert_array_equal(np.asarray(mel[i]), np.asarray(want))


@pytest.mark.parametrize(
    "seconds", [0.05, 1.0], ids=["short", "long"]
)  # one thread takes a short batch, all of them a long one
@pytest.mark.parametrize("reader", ["file", "tfrecord"])
def test_one_file_that_is_not_a_recording_does_not_end_the_epoch(tmp_path, reader, seconds):
    rng = np.random.default_rng(1)
    content, paths = [], []
    for k in range(6):
        signal = rng.integers(-20000, 20000, int(16000 * seconds) + 10 * k).astype(np.int16)
        paths.append(str(tmp_path / f"{k}.wav"))
        soundfile.write(paths[-1], signal, 16000)
        content.append(signal)
    for k in (1, 4):
        (tmp_path / f"{k}.wav").write_bytes(b"this is not a recording")
    if reader == "tfrecord":
        container_files.write_tfrecord(
            tmp_path / "a.tfrecord", [container_files.example({"x": open(p, "rb").read()}) for p in paths]
        )

    def pipe(on_error):
        @pipeline_def(batch_size=6, num_threads=2, device_id=None, on_error=on_error, seed=3)
        def decode():
            if reader == "file":
                files = fn.readers.file(files=paths)[0]
            else:
                files = fn.readers.tfrecord(
                    path=str(tmp_path / "a.tfrecord"),
                    features={"x": penstock.tfrecord.FixedLenFeature((), penstock.tfrecord.string, "")},
                )["x"]
            return fn.decoders.audio(files, dtype=types.INT16, downmix=True)

        return decode()

    with pytest.raises(
        penstock.DataError,
        match=r"\[decoders.audio\] not a WAV.*" + ("1.wav" if reader == "file" else "a.tfrecord, byte"),
    ):
        pipe("raise").run()
    skipped = [np.asarray(x) for x in pipe("skip").run()[0]]
    assert len(skipped) == 4
    for got, k in zip(skipped, (0, 2, 3, 5)):
        np.testing.assert_array_equal(got, content[k])
    replaced = [np.asarray(x) for x in pipe("replace").run()[0]]
    assert len(replaced) == 6
    for k, got in enumerate(replaced):
        assert any(np.array_equal(got, content[j]) for j in ((k,) if k not in (1, 4) else (0, 2, 3, 5)))
