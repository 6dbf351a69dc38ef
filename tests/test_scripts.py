# SPDX-License-Identifier: Apache-2.0
"""penstock bench and show: the pipelines of a script, as a user runs them."""

import json
import os
import sys
import textwrap

import pytest
from PIL import Image

from penstock import _commands as commands
from penstock._command_line import bench
from test_entropy_index import write_jpeg

SCRIPT = """
    import numpy as np
    import penstock
    from penstock import fn, pipeline_def

    @pipeline_def(batch_size=4, num_threads=1)
    def photos(folder={folder!r}):
        files, labels = fn.readers.file(file_root=folder)
        return {{"images": fn.decoders.image_random_crop(files), "labels": labels}}

    @pipeline_def(batch_size=3, num_threads=1)
    def numbers():
        return fn.external_source([np.ones((3, 2), np.float32)] * 2)

    @pipeline_def(batch_size=2, num_threads=2)
    def sized(size):
        return fn.random.uniform(range=[0.0, 1.0], shape=[size])

    made = sized(5)
    again = photos
    loader = penstock.image_folder({folder!r}, batch_size=2, framework="numpy", num_threads=1)
    if __name__ == "__main__":
        raise SystemExit("the training has begun")
"""


@pytest.fixture
def script(tmp_path):
    for i in range(6):
        folder = tmp_path / "set" / f"class{i % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        write_jpeg(folder / f"{i}.jpg", i)

    def write(text=SCRIPT):
        file = tmp_path / "train.py"
        file.write_text(textwrap.dedent(text).format(folder=str(tmp_path / "set")))
        return str(file)

    return write


def run(capsys, *arguments):
    code = commands.main([str(a) for a in arguments])
    return code, *capsys.readouterr()


def test_bench_measures_what_a_script_has_at_its_top_level(script, capsys, tmp_path):
    before = list(sys.path)
    code, out, err = run(capsys, "bench", script(), "--seconds", "0.05", "--json")
    rows = {row["pipeline"]: row for row in json.loads(out)}
    assert (code, err) == (0, "") and list(rows) == ["photos", "numbers", "made", "loader"]
    assert [rows[n]["batch_size"] for n in rows] == [4, 3, 2, 2] and rows["made"]["threads"] == 2
    for row in rows.values():
        assert row["batches"] >= 5 and row["samples"] >= row["batches"] and row["samples_per_second"] > 0
        assert row["samples"] / row["seconds"] == pytest.approx(row["samples_per_second"])
        assert 0 < row["median_ms"] <= row["p99_ms"] and row["cores"] >= 0 and "the loop" in row["verdict"]
        assert row["samples_per_core_second"] * row["cores"] == pytest.approx(row["samples_per_second"], rel=1e-3)
    sizes = [p.stat().st_size for p in tmp_path.rglob("*.jpg")]
    assert min(sizes) <= rows["photos"]["bytes_read_per_sample"] <= max(sizes)
    assert rows["made"]["bytes_ready_per_sample"] == 20 and rows["numbers"]["bytes_ready_per_sample"] == 8
    assert sys.path == before


def test_bench_says_it_for_people(script, capsys):
    code, out, _ = run(capsys, "bench", script(), "--seconds", "0.01", "--pipeline", "photos", "--threads", "1,2")
    assert code == 0
    first, second = (line for line in out.splitlines() if line.startswith("photos:"))
    assert first.startswith("photos: 1 threads, batches of 4: ") and first.endswith(" samples/s")
    assert second.startswith("photos: 2 threads") and out.count("cores used") == out.count("(p99)") == 2


def test_threads_of_pipelines_that_the_script_has_made(script, capsys):
    code, out, _ = run(
        capsys, "bench", script(), "--seconds", "0.01", "--pipeline", "made", "--threads", "1,3", "--json"
    )
    assert code == 0 and [row["threads"] for row in json.loads(out)] == [1, 3]
    code, _, err = run(capsys, "bench", script(), "--seconds", "0.01", "--pipeline", "loader", "--threads", "2")
    assert code == 1 and "a loader has started its threads" in err
    used = "from penstock import Pipeline, fn\npipe = Pipeline(batch_size=1, num_threads=1)\nwith pipe:\n"
    used += "    pipe.set_outputs(fn.random.uniform(range=[0.0, 1.0]))\npipe.run()\n"
    code, _, err = run(capsys, "bench", script(used), "--seconds", "0.01", "--threads", "2")
    assert code == 1 and "the script has run it already" in err
    assert run(capsys, "bench", script(used), "--seconds", "0.01")[0] == 0


@pytest.mark.parametrize(
    "text, said",
    [
        ("x = 1\n", "has no pipeline at its top level"),
        ("x = 1\nraise KeyError('no such key')\n", "line 2: KeyError: 'no such key'"),
        ("import sys\nsys.exit(3)\n", "sys.exit(3)"),
        ("def f(:\n", "SyntaxError"),
    ],
)
def test_scripts_that_cannot_be_used(script, capsys, text, said):
    for command in ("bench", "show"):
        code, out, err = run(capsys, command, script(text))
        assert (code, out) == (2, "") and err.startswith(f"penstock {command}: ") and said in err, err


def test_a_name_that_is_not_there(script, capsys, tmp_path):
    code, _, err = run(capsys, "bench", script(), "--pipeline", "photo")
    assert code == 2 and "has no pipeline 'photo'; it has photos, numbers, sized, made, again, loader" in err
    code, _, err = run(capsys, "bench", tmp_path / "none.py")
    assert code == 2 and "there is no such file" in err
    for wrong in (("--threads", "0"), ("--threads", "two"), ("--seconds", "0"), ("--seconds", "long")):
        with pytest.raises(SystemExit):
            commands.main(["bench", "x.py", *wrong])
        assert wrong[1] in capsys.readouterr().err


PROBLEMS = """
    from penstock import fn, pipeline_def

    @pipeline_def(batch_size=1, num_threads=1)
    def needs(folder, size):
        return fn.decoders.image(fn.readers.file(file_root=folder)[0])

    @pipeline_def(batch_size=1, num_threads=1)
    def fed():
        return fn.external_source(name="x") + 1

    @pipeline_def(batch_size=1, num_threads=1)
    def nowhere():
        return fn.readers.file(file_root="/no/such/folder")[0]
"""


def test_pipelines_that_cannot_run(script, capsys, tmp_path):
    code, out, err = run(capsys, "bench", script(PROBLEMS), "--seconds", "0.01")
    lines = [line for line in err.splitlines() if line.startswith("penstock bench: ")]
    assert (code, out) == (1, "") and len(lines) == 2
    assert "fed: ValueError: the program feeds 'x'" in lines[0] and "/no/such/folder" in lines[1]
    code, _, err = run(capsys, "bench", script(PROBLEMS), "--pipeline", "needs")
    assert code == 1 and "needs() needs 'folder' and 'size'" in err and "needs(folder=..., size=...)" in err


def test_show_draws_the_pipelines(script, capsys, tmp_path):
    code, out, err = run(capsys, "show", script(), "--out", tmp_path / "pictures")
    assert (code, err) == (0, "") and "stage: %1 decoders.image_random_crop" in out
    assert sorted(os.listdir(tmp_path / "pictures")) == sorted(
        f"{name}.{ending}" for name in ("photos", "numbers", "made", "loader") for ending in ("png", "svg")
    )
    for name in ("photos", "loader"):
        assert Image.open(tmp_path / "pictures" / f"{name}.png").size > (100, 100)
        assert (tmp_path / "pictures" / f"{name}.svg").read_text().startswith("<svg")
    code, _, err = run(capsys, "show", script(PROBLEMS), "--pipeline", "fed", "--out", tmp_path)
    assert code == 1 and "the program feeds 'x'" in err and (tmp_path / "fed.svg").exists()


def test_quantiles():
    times = list(range(100, 0, -1))
    assert bench.quantile(times, 0.5) == 50 and bench.quantile(times, 0.99) == 99
    assert bench.quantile([7], 0.5) == bench.quantile([7], 0.99) == 7 and bench.quantile([1, 2, 3], 0.5) == 2
