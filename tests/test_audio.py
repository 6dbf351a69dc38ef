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

import penstock
from penstock import fn, pipeline_def, types

FILES = {name: np.frombuffer(file, np.uint8) for name, file in audio_files.all_files().items()}
LOSSY = ("vorbis", "opus", "mp3", "mp3 mono")  # their decoders add in floating point, and so may differ in the last place


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
    for options, tolerance in (({}, 3e-7), ({"downmix": True}, 3e-7), ({"downmix": True, "sample_rate": 16000.0}, 1.5e-4),
                               ({"sample_rate": 44100.0, "quality": 80.0}, 1.5e-4)):
        want, rate = (np.asarray(v[0]) for v in oracle.call("decoders.audio", [FILES[name]], **options))
        got, got_rate = (np.asarray(v) for v in fn.decoders.audio(FILES[name], **options))
        assert got.shape == want.shape and got_rate == rate
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance)  # resampling: DALI adds up float32 steps


def test_resampling_is_dali(oracle):
    signal = audio_files.STEREO[:, 0].astype(np.float32)
    for options in ({"scale": 0.5}, {"scale": 2.0}, {"in_rate": 44100.0, "out_rate": 16000.0}, {"scale": 0.7, "quality": 90.0},
                    {"scale": 1.3, "quality": 0.0}):
        want = np.asarray(oracle.call("audio_resample", [signal], **options)[0])
        np.testing.assert_allclose(np.asarray(fn.audio_resample(signal, **options)), want, rtol=0, atol=2e-4)  # DALI adds up its position in float32


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


@pytest.mark.parametrize("file, message", [
    (np.zeros(0, np.uint8), "empty"), (np.frombuffer(b"ID3\x04" + bytes(20), np.uint8), "MP3: the file has no frames"),
    (wav([(b"data", bytes(4))]), "WAV: the samples stand before their format"), (wav([FMT]), "WAV: the file of 36 bytes ends before the samples"),
    (wav([FMT, (b"data", bytes(8))])[:-3], "WAV: premature end of file: 5 bytes of 8"),
    (wav([(b"fmt ", struct.pack("<HHIIHH", 2, 1, 8000, 0, 0, 4)), (b"data", bytes(4))]), "samples of kind 2 with 4 bits"),
    (wav([(b"fmt ", struct.pack("<HHIIHH", 1, 0, 8000, 0, 0, 16)), (b"data", bytes(4))]), "WAV: 0 channels"),
    (np.frombuffer(b"OggS" + bytes(60), np.uint8), "Ogg: neither Vorbis nor Opus nor FLAC"),
    (np.frombuffer(b"fLaC" + bytes(60), np.uint8), "FLAC"),
])
def test_messages(file, message):
    with pytest.raises(penstock.DataError, match=message):
        fn.decoders.audio(file)


def test_streams_one_behind_the_other_are_one_recording():
    chains = {name: np.frombuffer(file, np.uint8) for name, file in audio_files.chains().items()}
    second = np.frombuffer(audio_files.recorded(audio_files.STEREO[4000::-1], "OGG", "VORBIS"), np.uint8)
    parts = [np.asarray(fn.decoders.audio(file)[0]) for file in (FILES["vorbis"], second)]
    np.testing.assert_array_equal(np.asarray(fn.decoders.audio(chains["vorbis chain"])[0]), np.concatenate(parts))
    with pytest.raises(penstock.DataError, match="Vorbis: the header is damaged"):
        fn.decoders.audio(chains["vorbis chain cut"])
    mono = np.frombuffer(audio_files.recorded(audio_files.STEREO[:, 0], "OGG", "VORBIS"), np.uint8)
    with pytest.raises(penstock.DataError, match="Vorbis: channels or rate change in stream 1"):
        fn.decoders.audio(np.concatenate([FILES["vorbis"], mono]))


PCM = FILES["wav PCM_16"].tobytes()
RF64 = FILES["wav RF64"].tobytes()
FLAC = FILES["flac PCM_16"].tobytes()
LONG = {kind: audio_files.recorded(np.tile(audio_files.STEREO, (20, 1)), "OGG", kind, 48000) for kind in ("VORBIS", "OPUS")}


@pytest.mark.parametrize("file, message", [
    *((audio_files.with_bytes(PCM, 22, struct.pack("<H", n)), f"WAV: {n} channels") for n in (0, 256, 65535)),
    (audio_files.with_bytes(PCM, 24, bytes(4)), "WAV: 0 samples a second"),
    *((audio_files.with_bytes(PCM, PCM.index(b"data") + 4, struct.pack("<I", n)), f"WAV: premature end of file: 32044 bytes of {n}")
      for n in (32045, 2**31, 2**32 - 2)),
    (audio_files.with_bytes(PCM, 16, b"\xff" * 4), "WAV: a chunk of 4294967295 bytes at byte 12 leaves the file"),
    *((audio_files.with_bytes(RF64, RF64.index(b"ds64") + 16, struct.pack("<Q", n)), f"WAV: premature end of file: 32044 bytes of {n}")
      for n in (2**32, 2**63, 2**64 - 1)),
    *((audio_files.with_flac_length(FLAC, n), "FLAC: premature end of file") for n in (8012, 10**6, len(FLAC) // 11 * 65535, 2**36 - 1)),
    (audio_files.with_flac_length(FLAC + bytes(5 << 20), 10**9), "FLAC: .* near sample 8011"),  # 8 GB if believed
    *((audio_files.with_last_granule(file, n), f"{kind.title()}: ") for kind, file in LONG.items() for n in (10**6, 10**8, 2**40, 2**62)),
])
def test_hostile_lengths(file, message):
    """No length is believed: sizes of memory follow from what the file's bytes can hold."""
    with pytest.raises(penstock.DataError, match=message):
        fn.decoders.audio(np.frombuffer(file, np.uint8))


def test_a_made_up_rate_does_not_make_gigabytes():
    slow = np.frombuffer(audio_files.with_bytes(PCM, 24, struct.pack("<I", 1)), np.uint8)
    with pytest.raises(penstock.DataError, match="8011 samples, 1 a second, would become 384528000"):
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
    """Behind a tag; and without the encoder's delay, where libsndfile guesses the length from the first frame's bit rate."""
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
        np.testing.assert_allclose(got[:len(want)], want, rtol=0, atol=3e-7)


def test_without_libmpg123_an_mp3_file_says_so():
    program = ("import sys, numpy as np, penstock; from penstock import fn\n"
               "try: fn.decoders.audio(np.frombuffer(sys.stdin.buffer.read(), np.uint8))\n"
               "except penstock.DataError as error: print(error)\n")
    for setting, message in (("off", "PENSTOCK_MPG123 is off"), ("/no/such.so", "/no/such.so")):
        done = subprocess.run([sys.executable, "-c", program], input=FILES["mp3"].tobytes(), capture_output=True,
                              env={**os.environ, "PENSTOCK_MPG123": setting}, check=True)
        assert b"MP3 files need libmpg123" in done.stdout and message.encode() in done.stdout


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
        power = fn.spectrogram(fn.preemphasis_filter(sound[begin:begin + n]), nfft=512, window_length=320, window_step=160)
        want = fn.normalize(fn.to_decibels(fn.mel_filter_bank(power, sample_rate=16000, nfilter=64), cutoff_db=-80.0), axes=[1])
        assert float(np.asarray(rate[i])) == 16000 and int(np.asarray(length[i])) == n
        np.testing.assert_array_equal(np.asarray(mel[i]), np.asarray(want))


@pytest.mark.parametrize("seconds", [0.05, 1.0], ids=["short", "long"])  # one thread takes a short batch, all of them a long one
@pytest.mark.parametrize("reader", ["file", "tfrecord"])
def test_one_file_that_is_no_recording_does_not_end_the_epoch(tmp_path, reader, seconds):
    rng = np.random.default_rng(1)
    content, paths = [], []
    for k in range(6):
        signal = rng.integers(-20000, 20000, int(16000 * seconds) + 10 * k).astype(np.int16)
        paths.append(str(tmp_path / f"{k}.wav"))
        soundfile.write(paths[-1], signal, 16000)
        content.append(signal)
    for k in (1, 4):
        (tmp_path / f"{k}.wav").write_bytes(b"this is no recording")
    if reader == "tfrecord":
        container_files.write_tfrecord(tmp_path / "a.tfrecord", [container_files.example({"x": open(p, "rb").read()}) for p in paths])

    def pipe(on_error):
        @pipeline_def(batch_size=6, num_threads=2, device_id=None, on_error=on_error, seed=3)
        def decode():
            if reader == "file":
                files = fn.readers.file(files=paths)[0]
            else:
                files = fn.readers.tfrecord(path=str(tmp_path / "a.tfrecord"), features={
                    "x": penstock.tfrecord.FixedLenFeature((), penstock.tfrecord.string, "")})["x"]
            return fn.decoders.audio(files, dtype=types.INT16, downmix=True)
        return decode()
    with pytest.raises(penstock.DataError, match=r"\[decoders.audio\] not a WAV.*" + ("1.wav" if reader == "file" else "a.tfrecord, byte")):
        pipe("raise").run()
    skipped = [np.asarray(x) for x in pipe("skip").run()[0]]
    assert len(skipped) == 4
    for got, k in zip(skipped, (0, 2, 3, 5)):
        np.testing.assert_array_equal(got, content[k])
    replaced = [np.asarray(x) for x in pipe("replace").run()[0]]
    assert len(replaced) == 6
    for k, got in enumerate(replaced):
        assert any(np.array_equal(got, content[j]) for j in ((k,) if k not in (1, 4) else (0, 2, 3, 5)))
