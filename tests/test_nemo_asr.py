# SPDX-License-Identifier: Apache-2.0
"""readers.nemo_asr against DALI's CPU reader, and manifests that are wrong."""

import json
import os

import audio_files
import numpy as np
import pytest
from audio_files import RATE, STEREO, recorded
from damaged_bytes import damaged
from format_names import shown
from test_recordio_tar import run

import penstock
from penstock import fn, pipeline_def

FORMATS = [("WAV", "PCM_16"), ("FLAC", "PCM_16"), ("WAV", "FLOAT"), ("OGG", "VORBIS")]


def write(folder, lines, name="all.json"):
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


@pytest.fixture
def recordings(tmp_path):
    paths = []
    for i, (kind, subtype) in enumerate(FORMATS):
        path = tmp_path / f"{i}.sound"
        path.write_bytes(recorded(STEREO[: 6000 + 500 * i], kind, subtype))
        paths.append(str(path))
    return paths


def lines_of(recordings):
    return [
        {"audio_filepath": p, "duration": 1.0 + i, "text": f"säge {i}", "lang": {"is": ["de"]}}
        for i, p in enumerate(recordings)
    ]


def same(got, want, tolerance):
    assert len(got) == len(want)
    for ours, theirs in zip(got, want):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            a, b = np.asarray(a), np.asarray(b)
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_allclose(a.astype(np.float64), b, rtol=0, atol=tolerance)


def both(oracle, manifests, count=4, tolerance=3e-7, **more):
    arguments = {"manifest_filepaths": manifests, "read_idxs": True, **more}
    got = run(fn.readers.nemo_asr, count, **arguments)
    same(got, oracle.call("readers.nemo_asr", [], batch_size=count, **arguments), tolerance)
    return got


# DALI adds up its position in float32; its error shows most where a recording ends abruptly, as these do.
RESAMPLED = 3e-4


@pytest.mark.parametrize(
    "more, tolerance",
    [
        ({}, 3e-7),
        ({"downmix": False}, 3e-7),
        ({"sample_rate": 16000.0}, RESAMPLED),
        ({"sample_rate": 8000.0, "quality": 80.0}, RESAMPLED),
        ({"downmix": False, "sample_rate": 44100.0}, RESAMPLED),
        ({"sample_rate": float(RATE)}, 3e-7),
        ({"sample_rate": -1.0}, 3e-7),
        ({"normalize_text": True}, 3e-7),
    ],
)
def test_outputs_are_dalis(tmp_path, recordings, oracle, more, tolerance):
    got = both(oracle, [write(tmp_path, lines_of(recordings))], tolerance=tolerance, **more)
    assert [bytes(np.asarray(t)).decode() for t in got[2]] == [f"säge {i}" for i in range(4)]
    assert all(float(r) == RATE for r in got[1])  # as it was recorded


@pytest.mark.parametrize("dtype, tolerance", [("int16", 1), ("int32", 512)])
def test_integers_are_dalis(tmp_path, recordings, oracle, dtype, tolerance):
    lines = [
        line for i, line in enumerate(lines_of(recordings)) if FORMATS[i] != ("WAV", "FLOAT")
    ]  # DALI does not scale it
    for downmix in (True, False):
        both(oracle, [write(tmp_path, lines)], count=3, tolerance=tolerance, dtype=dtype, downmix=downmix)


def test_durations_choose_lines(tmp_path, recordings, oracle):
    manifest = write(tmp_path, lines_of(recordings))
    got = both(oracle, [manifest], count=2, min_duration=2.0, max_duration=3.0)
    assert [bytes(np.asarray(t))[-1:] for t in got[2]] == [b"1", b"2"] and [int(i[0]) for i in got[3]] == [0, 1]
    both(oracle, [manifest], count=3, max_duration=3.0)
    both(oracle, [manifest], count=3, min_duration=2.0)


@pytest.mark.parametrize(
    "part",
    [
        {"offset": 0.1},
        {"offset": 0.1, "duration": 0.05},
        {"offset": 0.10003, "duration": 0.050031},
        {"offset": -0.5, "duration": 0.05},
        {"duration": 0},
        {"duration": -1, "offset": 0.2},
        {"duration": 100},
    ],
)
def test_parts_are_dalis(tmp_path, recordings, oracle, part):
    manifest = write(tmp_path, [{"audio_filepath": p, **part} for p in recordings])
    for more in ({}, {"downmix": False}, {"sample_rate": 16000.0}):
        if part.get("duration") == 0 and "sample_rate" in more:
            continue
        both(oracle, [manifest], tolerance=RESAMPLED if "sample_rate" in more else 3e-7, **more)


def test_several_manifests_and_patterns(tmp_path, recordings, oracle):
    lines = lines_of(recordings)
    paths = [write(tmp_path, lines[:3], "a.json"), write(tmp_path, lines[3:], "b.json")]
    got = both(oracle, paths)
    assert [int(i[0]) for i in got[3]] == [0, 1, 2, 0]
    listed = run(fn.readers.nemo_asr, 4, manifest_filepaths=str(tmp_path / "*.json"), read_idxs=True)
    same(listed, got, 0)


def test_outputs_are_those_asked_for(tmp_path, recordings):
    manifest = write(tmp_path, lines_of(recordings))
    for rate in (False, True):
        for text in (False, True):
            for idxs in (False, True):
                got = run(
                    fn.readers.nemo_asr,
                    4,
                    manifest_filepaths=manifest,
                    read_sample_rate=rate,
                    read_text=text,
                    read_idxs=idxs,
                )
                got = got if rate + text + idxs else [got] if len(got) == 4 else got
                assert len(got) == 1 + rate + text + idxs


def test_relative_paths_and_lines_without_text(tmp_path, recordings, monkeypatch):
    names = [os.path.basename(p) for p in recordings]
    manifest = tmp_path / "all.json"
    manifest.write_text("\n" + "\r\n \n".join(json.dumps({"audio_filepath": n, "text": None}) for n in names))
    got = run(fn.readers.nemo_asr, 4, manifest_filepaths=str(manifest))
    assert [len(t) for t in got[2]] == [0] * 4 and [len(a) for a in got[0]] == [6000, 6500, 7000, 7500]
    other = tmp_path / "other"
    other.mkdir()
    (other / names[0]).write_bytes(recorded(STEREO[:100], "WAV", "PCM_16"))
    monkeypatch.chdir(other)  # what is in the working folder comes first
    assert len(run(fn.readers.nemo_asr, 4, manifest_filepaths=str(manifest))[0][0]) == 100


def test_shards_and_shuffles_give_each_line_once(tmp_path, recordings):
    manifest = write(tmp_path, [{"audio_filepath": recordings[0], "duration": 0.01, "text": str(i)} for i in range(23)])

    @pipeline_def(batch_size=3, num_threads=2, seed=5)
    def pipe(shard):
        return fn.readers.nemo_asr(manifest_filepaths=manifest, random_shuffle=True, num_shards=2, shard_id=shard)[2]

    seen = []
    for shard in range(2):
        p = pipe(shard)
        p._set_epoch_mode("partial")
        seen += [int(bytes(np.asarray(t))) for (texts,) in p for t in texts]
        p.close()
    assert sorted(seen) == list(range(23)) and seen != sorted(seen)


@pytest.mark.parametrize(
    "text, said",
    [
        ('{"audio_filepath": "x"', "line 2: it is not a JSON object"),
        ("[1]", "line 2: it is not a JSON object"),
        ('{"text": "hi"}', "line 2: it has no audio_filepath"),
        ('{"audio_filepath": 5}', "line 2: audio_filepath is not a string"),
        ('{"audio_filepath": ""}', "line 2: audio_filepath is not a path"),
        ('{"audio_filepath": "a\\u0000b"}', "audio_filepath is not a path"),
        ('{"audio_filepath": "x", "text": 5}', "line 2: text is not a string"),
        ('{"audio_filepath": "x", "duration": "1.5"}', "line 2: duration is not a number"),
        ('{"audio_filepath": "x", "offset": [1]}', "line 2: offset is not a number"),
        ('{"audio_filepath": "x", "offset": 1e999}', "line 2: "),
        ("\xff\xfe", "line 2: it is not a JSON object"),
        ('{"audio_filepath": "x", "a": ' + "[" * 100_000 + "}", "line 2: it nests deeper than 32"),
    ],
)
def test_a_line_that_is_wrong_is_named(tmp_path, text, said):
    manifest = tmp_path / "bad.json"
    manifest.write_text("\n" + text)
    with pytest.raises(penstock.DataError, match=f"bad.json.*{said}|{said}"):
        run(fn.readers.nemo_asr, 1, manifest_filepaths=str(manifest))


def test_manifests_that_give_nothing(tmp_path, recordings):
    empty = tmp_path / "empty.json"
    empty.write_text("\n\n")
    with pytest.raises(penstock.DataError, match="all lines of the manifests are omitted"):
        run(fn.readers.nemo_asr, 1, manifest_filepaths=str(empty))
    with pytest.raises(penstock.DataError, match="all lines of the manifests are omitted"):
        run(fn.readers.nemo_asr, 1, manifest_filepaths=write(tmp_path, lines_of(recordings)), min_duration=99.0)
    with pytest.raises(FileNotFoundError, match="nothing.json"):
        run(fn.readers.nemo_asr, 1, manifest_filepaths=str(tmp_path / "nothing.json"))
    with pytest.raises(TypeError, match="dtype must be int16, int32 or float32, got uint8"):
        run(fn.readers.nemo_asr, 1, manifest_filepaths=write(tmp_path, lines_of(recordings)), dtype="uint8")


def test_recordings_that_are_wrong_are_named_or_left_out(tmp_path, recordings):
    lines = lines_of(recordings)
    with open(recordings[1], "wb") as file:
        file.write(b"no sound")
    os.remove(recordings[2])
    lines[3]["offset"] = 10.0
    for bad, said in (
        (1, f"not a {shown('sound', 'or')} file"),
        (2, "cannot open"),
        (3, "starts at sample 220500, but the recording has"),
    ):
        manifest = write(tmp_path, [lines[bad]])
        with pytest.raises(
            (penstock.DataError, FileNotFoundError), match=f"(?s){said}.*{bad}.sound|{bad}.sound.*{said}"
        ):
            run(fn.readers.nemo_asr, 1, manifest_filepaths=manifest)
    manifest = write(tmp_path, lines)

    @pipeline_def(batch_size=4, num_threads=2, seed=5, on_error="skip")
    def pipe():
        return fn.readers.nemo_asr(manifest_filepaths=manifest, read_idxs=True)[3]

    p = pipe()
    (batch,) = p.run()
    left = p.left_out()
    p.close()
    assert [int(np.asarray(b)[0]) for b in batch] == [0] and {e[1] for e in left[:3]} == {1, 2, 3}


def test_damaged_manifests_and_recordings_end_in_typed_errors(tmp_path, recordings):
    text = np.frombuffer(open(write(tmp_path, lines_of(recordings)), "rb").read(), np.uint8)
    sound = np.frombuffer(audio_files.recorded(STEREO[:500], "WAV", "PCM_16"), np.uint8)
    refused = 0
    for k, (bad, name) in enumerate(
        [(b, "bad.json") for b in damaged(text, 60, 400, 1)] + [(b, "bad.wav") for b in damaged(sound, 60, 60, 2)]
    ):
        path = tmp_path / name
        path.write_bytes(bad.tobytes())
        manifest = str(path) if name == "bad.json" else write(tmp_path, [{"audio_filepath": str(path)}], "one.json")
        try:
            run(fn.readers.nemo_asr, 1, manifest_filepaths=manifest)
        except (penstock.DataError, FileNotFoundError) as error:
            refused += 1
            assert name in str(error) or name == "bad.json" and "(file: " in str(error)  # a path with a bit turned
    assert refused > 30


def test_other_fields_of_a_line(tmp_path, recordings):
    """Any field: a text is as it is, another value is JSON, a line without it has nothing."""
    speakers, ages, kinds = ["eva", "jürgen", None, ""], [20, 31.5, -1e300, None], [{"a": [1]}, True, 5, "x"]
    lines = lines_of(recordings)
    for line, speaker, age, kind in zip(lines, speakers, ages, kinds):
        line |= {"age": age, "kind": kind} | ({} if speaker is None else {"speaker": speaker})
    manifest = write(tmp_path, lines)
    arguments = {"read_idxs": True, "read_fields": ["speaker", "kind"], "read_numbers": ["age"]}
    got = run(fn.readers.nemo_asr, 4, manifest_filepaths=manifest, **arguments)
    texts = [[bytes(np.asarray(t)).decode() for t in output] for output in (got[2], got[4], got[5])]
    assert texts == [[line["text"] for line in lines], ["eva", "jürgen", "", ""], ['{"a":[1]}', "true", "5", "x"]]
    np.testing.assert_array_equal([np.asarray(n) for n in got[6]], [20, 31.5, -1e300, np.nan])
    only = run(fn.readers.nemo_asr, 4, manifest_filepaths=manifest, read_text=False, read_numbers=["duration"])
    assert [float(np.asarray(n)) for n in only[2]] == [1, 2, 3, 4]


def test_wrong_fields_of_a_line(tmp_path, recordings):
    manifest = write(tmp_path, [{**line, "age": "old"} for line in lines_of(recordings)])
    with pytest.raises(ValueError, match="no line of the manifests has the field 'speakr'"):
        run(fn.readers.nemo_asr, 4, manifest_filepaths=manifest, read_fields=["speakr"])
    with pytest.raises(penstock.DataError, match="line 1: age is not a number"):
        run(fn.readers.nemo_asr, 4, manifest_filepaths=manifest, read_numbers=["age"])
