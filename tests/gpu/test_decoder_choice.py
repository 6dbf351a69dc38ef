# SPDX-License-Identifier: Apache-2.0
"""decoder="auto" | "cuda" | "hardware" | "cpu": who decodes for a GPU, what happens if it does not exist, and when what it
fails on is found."""

import numpy as np
import pytest

import penstock
from decoded import batches, equal, run
from penstock import fn, pipeline_def
from test_decoding import EMULATED, files, saved  # noqa: F401  (a fixture)

if not EMULATED:
    pytest.skip("machine: a real GPU has what it has", allow_module_level=True)


@pipeline_def(num_threads=3, device_id=0, batch_size=12, seed=7)
def decoding(files, device="mixed", **arguments):
    data, number = fn.readers.file(files=files, labels=list(range(len(files))), name="reader")
    return fn.decoders.image(data, device=device, **arguments), number


@pytest.mark.parametrize(
    "decoder, engine",
    [
        ("auto", "jpeg/emulated-cuda"),
        ("cuda", "jpeg/emulated-cuda"),
        ("hardware", "jpeg/emulated-hardware"),
        ("cpu", None),
    ],
)
def test_who_decodes(files, decoder, engine):
    pipe = decoding(files, decoder=decoder)
    assert ("decode on the GPU" in str(pipe.plan())) == (engine is not None)
    equal(batches(pipe), batches(decoding(files, "cpu", decoder=decoder)))
    names = [stage["name"] for stage in pipe.stats()["stages"]]
    assert (f"decoders.image by {engine}" in names) == (engine is not None), names


def test_an_unknown_name_is_an_error(files):
    with pytest.raises(ValueError, match="'auto', 'cuda', 'hardware' or 'cpu', got 'gpu'"):
        decoding(files, decoder="gpu")


def test_an_engine_that_is_not_there_is_an_error_that_says_what_is(files):
    script = f"""
files = {files!r}
with pytest.raises(ValueError, match=r"decoders.image.*decoder='hardware'.*available are 'cuda', 'cpu' and 'auto'"):
    decoding(files, decoder="hardware").run()
equal(batches(decoding(files)), batches(decoding(files, "cpu")))
"""
    run(script, __name__, PENSTOCK_EMULATED_DECODER="cuda")
    script = f"""
files = {files!r}
with pytest.raises(ValueError, match=r"decoder='cuda'.*available are 'cpu' and 'auto'"):
    decoding(files, decoder="cuda").run()
equal(batches(decoding(files)), batches(decoding(files, "cpu")))
"""
    run(script, __name__, PENSTOCK_EMULATED_DECODER="0")


@pytest.mark.parametrize("decoder", ["cuda", "hardware"])
@pytest.mark.parametrize("lanes, latency", [(1, 0), (2, 300), (4, 2000)])
def test_what_the_decoder_fails_on_is_decoded_by_the_cpu(files, decoder, lanes, latency):
    script = f"""
files = {files!r}
for size, depth in ((12, 1), (3, 3)):
    pipe = decoding(files, decoder={decoder!r}, batch_size=size, prefetch_queue_depth=depth)
    equal(batches(pipe, 60 // size), batches(decoding(files, "cpu", batch_size=size), 60 // size))
"""
    run(
        script,
        __name__,
        PENSTOCK_EMULATED_DECODER_FAILS="3",
        PENSTOCK_EMULATED_LANES=str(lanes),
        PENSTOCK_EMULATED_GROUP="8",
        PENSTOCK_EMULATED_LATENCY=str(latency),
    )


@pytest.mark.parametrize("policy", [dict(on_error="replace"), dict(on_error="skip", uneven=True)])
@pytest.mark.parametrize("decoder", ["cuda", "hardware"])
def test_damaged_files_in_the_middle_of_a_group(files, tmp_path, policy, decoder):
    """Truncated: the hardware declines such a file; the decoder that learns of errors later accepts it and finds them."""
    mixed = list(files)
    for at in (4, 17, 18, 30):
        whole = saved(at)
        bad = tmp_path / f"cut{at}.jpg"
        bad.write_bytes(whole[: len(whole) // 2])
        mixed[at] = str(bad)
    got, want = decoding(mixed, decoder=decoder, **policy), decoding(mixed, "cpu", **policy)
    equal(batches(got), batches(want))
    with pytest.raises(penstock.DataError, match="cut4.jpg"):
        decoding(mixed, decoder=decoder).run()


@pytest.mark.parametrize("decoder", ["cuda", "hardware"])
def test_a_memory_limit_holds_back_what_is_read_ahead(files, decoder):
    """Files in flight count, on the GPU or not: with room for little more than a batch, few are made at a time, and all are right."""
    pipe = decoding(files, decoder=decoder, memory_limit=1_200_000, prefetch_queue_depth=4)
    equal(batches(pipe), batches(decoding(files, "cpu")))


def test_groups_span_iterations(files):
    """A decoder that wants more than one batch gets the files of several, and each iteration its own pictures."""
    script = f"""
files = {files!r}
for size in (1, 3, 12):
    pipe = decoding(files, batch_size=size)
    equal(batches(pipe, 60 // size), batches(decoding(files, "cpu", batch_size=size), 60 // size))
"""
    run(script, __name__, PENSTOCK_EMULATED_GROUP="40", PENSTOCK_EMULATED_LATENCY="3000", PENSTOCK_EMULATED_LANES="1")


def test_files_that_a_program_gives(files):
    @pipeline_def(num_threads=2, device_id=0, batch_size=4)
    def given(device):
        data = fn.external_source(
            [[np.fromfile(f, np.uint8) for f in files[k : k + 4]] for k in (0, 4, 8)],
            dtype=penstock.types.UINT8,
            ndim=1,
        )
        return fn.decoders.image(data, device=device)

    got, want = given("mixed"), given("cpu")
    for _ in range(3):
        for a, b in zip(got.run()[0].as_cpu(), want.run()[0], strict=True):
            np.testing.assert_array_equal(np.array(a), np.array(b))


@pytest.mark.parametrize("limit", [0, 400_000])
def test_records_of_a_container(files, tmp_path, limit):
    import tarfile

    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        for i, f in enumerate(files):
            archive.add(f, f"{i:03d}.{'jpg' if f.endswith('jpg') else 'png'}")

    @pipeline_def(num_threads=3, device_id=0, batch_size=12, seed=7, memory_limit=limit)
    def records(device):
        data = fn.readers.webdataset(paths=str(tmp_path / "all.tar"), ext=["jpg;png"], random_shuffle=True)
        return fn.crop(fn.decoders.image(data, device=device), crop=[40, 50])

    got, want = records("mixed"), records("cpu")
    for _ in range(12):
        np.testing.assert_array_equal(np.array(got.run()[0].as_cpu().as_array()), np.array(want.run()[0].as_array()))
