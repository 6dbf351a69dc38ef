# SPDX-License-Identifier: Apache-2.0
"""readers.hdf5, .zarr, .nifti and .dicom beside h5py, zarr, nibabel and pydicom. tests/readers/scientific.py puts them through
what all readers have in common: order, shards, checkpoints, damage."""

import os
import shutil
import zlib

import docstrings
import h5py
import nibabel
import numpy as np
import pydicom
import pytest
import zarr
from readers.scientific import dicom
from test_docstrings import run_example

import penstock
from penstock import Pipeline, fn

RANDOM = np.random.default_rng(5)


def take(read, batches=1, batch_size=2, pipeline=None, layouts=False):
    """The samples of each value that read() gives, in a list for each value."""
    pipe = Pipeline(batch_size=batch_size, num_threads=2, seed=1, **(pipeline or {}))
    with pipe:
        values = read()
        values = list(values.values()) if isinstance(values, dict) else values
        pipe.set_outputs(*(values if isinstance(values, list) else [values]))
    try:
        runs = [pipe.run() for _ in range(batches)]
        if layouts:
            return [batch.layout() for batch in runs[0]]
        return [
            [np.array(batch[i].numpy()) for r in runs for batch in [r[k]] for i in range(len(batch))]
            for k in range(len(runs[0]))
        ]
    finally:
        pipe.close()


@pytest.mark.parametrize("name", ["hdf5", "zarr", "nifti", "dicom"])
def test_the_docstring_and_its_example(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = getattr(fn.readers, name)
    assert docstrings.faults(function.__doc__, docstrings.parameters(function)) == []
    run_example(name, function.__doc__)


@pytest.mark.parametrize(
    "name, module, package",
    [
        ("hdf5", "h5py", "h5py"),
        ("zarr", "zarr", "zarr"),
        ("nifti", "nibabel", "nibabel"),
        ("dicom", "pydicom", "pydicom"),
    ],
)
def test_a_package_that_is_missing_is_named(name, module, package, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with Pipeline(batch_size=1, num_threads=1), pytest.raises(ImportError, match=f"pip install {package}"):
        getattr(fn.readers, name)("a")


@pytest.mark.parametrize("name", ["hdf5", "zarr", "nifti", "dicom"])
def test_files_that_are_not_there_or_not_of_the_format(name, tmp_path):
    read = getattr(fn.readers, name)
    (tmp_path / "a.nii").write_bytes(b"no such format" * 40)
    with Pipeline(batch_size=1, num_threads=1):
        with pytest.raises(FileNotFoundError, match=rf"\[readers.{name}\].*nothing"):
            read(str(tmp_path / "nothing.nii"))
        with pytest.raises(FileNotFoundError, match=rf"\[readers.{name}\] no file matches the pattern"):
            read(str(tmp_path / "*.none"))
        with pytest.raises(ValueError, match=rf"\[readers.{name}\] give at least one path"):
            read([])
        with pytest.raises(penstock.DataError, match=rf"\[readers.{name}\] .*a\.nii"):
            read(str(tmp_path / "a.nii"))
    with pytest.raises(RuntimeError, match="only possible inside a pipeline"):
        read(str(tmp_path / "a.nii"))


# --- HDF5 --------------------------------------------------------------------------------------------------------------


TEXTS = ["one", "zwei", "", "trois"]


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Two files of 4 rows; compressed chunks, text, lists, big-endian numbers, bools."""
    folder = tmp_path_factory.mktemp("hdf5")
    data = {
        "image": RANDOM.integers(0, 256, (8, 5, 4, 3), np.uint8),
        "deep/real": RANDOM.normal(size=(8, 3)).astype(">f8"),
        "flag": RANDOM.integers(0, 2, 8).astype(bool),
        "half": RANDOM.normal(size=(8,)).astype(np.float16),
    }
    for part in range(2):
        with h5py.File(folder / f"{part}.h5", "w") as file:
            rows = slice(4 * part, 4 * part + 4)
            file.create_dataset("image", data=data["image"][rows], chunks=(3, 5, 4, 3), compression="gzip")
            for name in ("deep/real", "flag", "half"):
                file[name] = data[name][rows]
            file.create_dataset("text", data=TEXTS, dtype=h5py.string_dtype())
            file["fixed"] = np.array(TEXTS, "S5")
            lists = file.create_dataset("list", (4,), h5py.vlen_dtype(np.int16))
            for k in range(4):
                lists[k] = np.arange(k, dtype=np.int16) + part
            file["one value"] = 3
    return str(folder / "*.h5"), data


@pytest.mark.parametrize("more", [{}, {"processes": True, "num_workers": 2}])
def test_rows_of_hdf5(cells, more):
    path, data = cells
    got = take(lambda: fn.readers.hdf5(path, datasets=[*data, "text", "fixed", "list"], **more), 2, 4)
    for values, name in zip(got, data):
        want = data[name]
        assert all(v.dtype == want.dtype.newbyteorder("=") for v in values)
        np.testing.assert_array_equal(np.stack(values), want)
    for values in got[4:6]:
        assert [v.tobytes().decode() for v in values] == TEXTS * 2 and values[0].dtype == np.uint8
    assert [v.tolist() for v in got[6]] == [[j + part for j in range(k)] for part in range(2) for k in range(4)]


def test_names_decide_the_result_of_hdf5(cells):
    path, data = cells
    with Pipeline(batch_size=1, num_threads=1):
        everything = fn.readers.hdf5(path)
        assert list(everything) == ["deep/real", "fixed", "flag", "half", "image", "list", "text"]
        assert isinstance(fn.readers.hdf5(path, datasets=["flag"]), list)
    np.testing.assert_array_equal(np.stack(take(lambda: fn.readers.hdf5(path, datasets="flag"), 4)[0]), data["flag"])


def test_hdf5_that_does_not_fit(cells, tmp_path):
    path, data = cells
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["image"], file["flag"], file["pair"] = np.zeros((3, 2)), np.zeros(4), np.zeros(3, "i4,f4")
        file.create_dataset("large", (3, 1 << 20, 1 << 20), np.uint8, chunks=(1, 64, 64))
    other, first = str(tmp_path / "a.h5"), path.replace("*", "0")
    for names, paths, message in (
        ("nothing", first, r"0\.h5: it has no array 'nothing'; it has 'deep/real'"),
        ("one value", first, "'one value' is one value, not rows"),
        ("pair", other, "'pair' has the type .* which is neither numbers nor text"),
        (["image", "flag"], other, "'flag' has 4 rows, 'image' has 3"),
        ("image", [first, other], r"a\.h5: 'image' is \(dtype\('float64'\).* in .*0\.h5 it is \(dtype\('uint8'\)"),
        ("large", other, "1048576 x 1048576 has more values than max_values=1073741824"),
    ):
        with Pipeline(batch_size=1, num_threads=1), pytest.raises(penstock.DataError, match=message):
            fn.readers.hdf5(paths, datasets=names)


@pytest.mark.parametrize("dtype", [h5py.string_dtype(), h5py.vlen_dtype(np.int64)], ids=["text", "list"])
@pytest.mark.parametrize(
    "stored", [{}, {"chunks": (2,)}, {"chunks": (2,), "compression": "gzip", "shuffle": True}], ids=str
)
def test_a_length_that_an_hdf5_file_cannot_hold(tmp_path, dtype, stored):
    """HDF5 itself fills memory of that length, 8 and 16 GiB here, before it finds the damage."""
    text = h5py.check_string_dtype(dtype) is not None
    values = [b"x" * k if text else np.arange(k) for k in (3, 5, 0, 700)]
    path = str(tmp_path / "whole.h5")
    with h5py.File(path, "w", userblock_size=512) as file:
        data = file.create_dataset("x", (6,), dtype, **stored)
        for row, value in enumerate(values):
            data[row] = value
    for batch, value in zip(take(lambda: fn.readers.hdf5(path, datasets="x"), 4, 1)[0], values):
        assert batch.tobytes() == bytes(value)
    for row in take(lambda: fn.readers.hdf5(path, datasets="x"), 3)[0][4:]:  # rows that nobody has written
        assert row.size == 0
    with pytest.raises(penstock.DataError, match="row 3, 'x': an array of 700 has more values than max_values=600"):
        take(lambda: fn.readers.hdf5(path, datasets="x", max_values=600), 4, 1)

    path = shutil.copy(path, tmp_path / "damaged.h5")  # the readers have the other one open
    with h5py.File(path, "r+") as file:
        data = file["x"]
        first = len(values[0]).to_bytes(4, "little")
        if stored:
            mask, chunk = data.id.read_direct_chunk((0,))
            if "compression" in stored:  # HDF5 does not shuffle references
                plain = bytearray(zlib.decompress(chunk))
                assert plain[:4] == first
                plain[3] = 0x7F
                chunk = zlib.compress(plain)
            else:
                chunk = chunk[:3] + b"\x7f" + chunk[4:]
            data.id.write_direct_chunk((0,), chunk, mask)
        else:
            place = data.id.get_offset()
    if not stored:
        with open(path, "r+b") as file:
            file.seek(place)
            assert file.read(4) == first
            file.seek(place + 3)
            file.write(b"\x7f")
    size = os.path.getsize(path)
    message = rf"damaged\.h5, row 0: .*{0x7F000003} elements of {1 if text else 8} bytes .* file's {size} bytes"
    with pytest.raises(penstock.DataError, match=message):
        take(lambda: fn.readers.hdf5(path, datasets="x"), 1, 1)


def test_bad_files_are_left_out(cells, tmp_path):
    """A whole batch, too."""
    path, _ = cells
    for part in "01":
        (tmp_path / f"{part}.h5").write_bytes(open(path.replace("*", part), "rb").read())
    pipe = Pipeline(batch_size=2, num_threads=1, on_error="skip", prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.readers.hdf5(str(tmp_path / "*.h5"), datasets="flag"))
    (tmp_path / "0.h5").write_bytes(b"cut")
    assert [len(pipe.run()[0]) for _ in range(4)] == [0, 0, 2, 2]
    assert [position for _, position, *_ in pipe.left_out()] == [0, 1, 2, 3]
    assert "0.h5: it cannot be opened" in pipe.left_out()[0][3]
    pipe.close()


def test_a_checkpoint_is_of_the_files_by_name_and_of_their_rows(tmp_path):
    for name, count in (("here/a", 4), ("there/a", 4), ("there/b", 4), ("longer/a", 5)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["x"] = np.arange(count)

    def made(name, **options):
        pipe = Pipeline(batch_size=2, num_threads=1, seed=1, enable_checkpointing=True, **options)
        with pipe:
            pipe.set_outputs(fn.readers.hdf5(str(tmp_path / f"{name}.h5"), datasets="x", name="reader"))
        return pipe

    first = made("here/a")
    first.run()
    state = first.checkpoint()
    assert made("there/a", checkpoint=state).run()[0].as_array().tolist() == [2, 3]
    for other in ("there/b", "longer/a"):
        with pytest.raises(ValueError, match="the checkpoint belongs to other data"):
            made(other, checkpoint=state).run()


def test_many_files_are_open_at_most_64_at_a_time(tmp_path):
    for k in range(70):
        with h5py.File(tmp_path / f"{k:02}.h5", "w") as file:
            file["x"] = [k]
    path = str(tmp_path / "*.h5")
    assert [int(v) for v in take(lambda: fn.readers.hdf5(path, datasets="x"), 3, 50)[0]] == [k % 70 for k in range(150)]


# --- Zarr --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_rows_of_zarr(tmp_path, version):
    data = {
        "deep/real": RANDOM.normal(size=(6, 3)).astype(">f4"),
        "image": RANDOM.integers(0, 256, (6, 5, 4), np.uint8),
    }
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=version)
    for name, values in data.items():
        group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=(4, *values.shape[1:]))[:] = values
    got = take(lambda: fn.readers.zarr(str(tmp_path / "a.zarr")), 3)
    for values, want in zip(got, data.values()):
        assert values[0].dtype == want.dtype.newbyteorder("=")
        np.testing.assert_array_equal(np.stack(values), want)
    one = take(lambda: fn.readers.zarr(str(tmp_path / "a.zarr" / "image"), processes=version == 3, num_workers=2), 3)
    np.testing.assert_array_equal(np.stack(one[0]), data["image"])


def test_shards_absent_chunks_and_text_of_zarr(tmp_path):
    values = RANDOM.integers(0, 99, (8, 4), np.int32)
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=(8, 4), shards=(4, 4), chunks=(1, 4), dtype="int32", fill_value=7
    )
    array[:4] = values[:4]  # the second shard is absent
    values[4:] = 7
    np.testing.assert_array_equal(np.stack(take(lambda: fn.readers.zarr(str(tmp_path / "a.zarr")), 4)[0]), values)
    text = zarr.create_array(tmp_path / "text.zarr", shape=(4,), dtype=str)
    text[:] = np.array(TEXTS, object)
    got = take(lambda: fn.readers.zarr(str(tmp_path / "text.zarr")), 2)[0]
    assert [v.tobytes().decode() for v in got] == TEXTS


def test_a_chunk_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", shape=(1 << 40, 2), chunks=(1 << 36, 2), dtype="int32")
    with (
        Pipeline(batch_size=1, num_threads=1),
        pytest.raises(penstock.DataError, match="a chunk: .*68719476736 x 2 has more"),
    ):
        fn.readers.zarr(str(tmp_path / "a.zarr"))


def test_a_damaged_chunk_of_zarr_names_the_store_and_the_row(tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", shape=(4, 300), chunks=(1, 300), dtype="int32")
    array[:] = RANDOM.integers(0, 9, (4, 300))
    (tmp_path / "a.zarr" / "c" / "2" / "0").write_bytes(b"damaged")
    with pytest.raises(penstock.DataError, match=r"\[readers.zarr\] .*a\.zarr, row 2: "):
        take(lambda: fn.readers.zarr(str(tmp_path / "a.zarr")), 2)


# --- NIfTI -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def heads(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nifti")
    images = []
    for k, ending in enumerate((".nii", ".nii.gz")):
        image = nibabel.Nifti1Image(
            RANDOM.integers(-99, 999, (4 + k, 3, 2), np.int16), np.diag([1.5, 2, 3, 1]) + np.eye(4, k=3) * k
        )
        image.header.set_slope_inter(0.5, 10)
        nibabel.save(image, folder / f"{k}{ending}")
        images.append(nibabel.load(folder / f"{k}{ending}"))
    return folder, images


@pytest.mark.parametrize("axes", ["xyz", "zyx"])
def test_volumes_of_nifti(heads, axes):
    folder, images = heads
    turned = (lambda a: a) if axes == "xyz" else np.transpose
    volumes, affines = take(lambda: list(fn.readers.nifti(str(folder), axes=axes)))
    stored = take(lambda: list(fn.readers.nifti(str(folder), axes=axes, raw=True)))[0]
    for k, image in enumerate(images):
        np.testing.assert_array_equal(volumes[k], turned(image.get_fdata(dtype=np.float32)))
        np.testing.assert_array_equal(stored[k], turned(np.asarray(image.dataobj.get_unscaled())))
        np.testing.assert_array_equal(affines[k], image.affine)
    assert volumes[0].dtype == np.float32 and stored[0].dtype == np.int16 and affines[0].dtype == np.float64
    assert (volumes[0] != stored[0]).any(), "the slope of the header counts"
    layouts = take(lambda: list(fn.readers.nifti(str(folder), axes=axes)), layouts=True)
    assert layouts == ["DHW" if axes == "zyx" else "", ""]


def test_nifti_that_does_not_fit(heads, tmp_path):
    folder, _ = heads
    nibabel.save(nibabel.Nifti1Image(np.zeros((2, 2, 2, 2), np.int16), np.eye(4)), tmp_path / "4d.nii.gz")
    nibabel.save(nibabel.Nifti1Image(np.zeros((2, 2, 2), np.uint8), np.eye(4)), tmp_path / "8.nii.gz")
    large = nibabel.Nifti1Image(np.zeros((2, 2, 2), np.int16), np.eye(4))
    data = bytearray(large.to_bytes())
    data[42:48] = np.int16([20000] * 3).tobytes()
    (tmp_path / "large.nii").write_bytes(data)
    for path, options, message in (
        (tmp_path / "4d.nii.gz", {}, r"4d\.nii\.gz: it has 4 dimensions, .*0\.nii has 3"),
        (tmp_path / "8.nii.gz", {"raw": True}, r"8\.nii\.gz: its values have the type uint8, those of .*0\.nii int16"),
        (tmp_path / "large.nii", {}, "20000 x 20000 x 20000 has more values than max_values"),
    ):
        with pytest.raises(penstock.DataError, match=message):
            take(lambda: list(fn.readers.nifti([str(folder / "0.nii"), str(path)], **options)))
    with Pipeline(batch_size=1, num_threads=1), pytest.raises(ValueError, match="axes must be 'xyz' or 'zyx'"):
        fn.readers.nifti(str(folder), axes="zxy")


# --- DICOM -------------------------------------------------------------------------------------------------------------


def saved(folder, name, pixels, **tags):
    made = dicom(pixels, **tags)
    made.save_as(folder / name, enforce_file_format=True)
    return made


STORED = RANDOM.integers(0, 4096, (6, 5), np.uint16)


def test_values_and_tags_of_dicom(tmp_path):
    file = saved(
        tmp_path, "a", STORED, RescaleSlope="2", RescaleIntercept="-1024", PixelSpacing=[0.5, 0.75], PatientID="x 1"
    )
    read = lambda **options: list(
        fn.readers.dicom(str(tmp_path), tags=["PixelSpacing", "PatientID", "Modality"], **options)
    )
    picture, spacing, name, absent = (v[0] for v in take(read, batch_size=1))
    np.testing.assert_array_equal(picture, pydicom.pixels.apply_modality_lut(STORED, file).astype(np.float32))
    assert picture.dtype == np.float32 and picture[0, 0] == STORED[0, 0] * 2.0 - 1024
    assert spacing.tolist() == [0.5, 0.75] and name.tobytes() == b"x 1" and absent.size == 0
    assert take(read, batch_size=1, layouts=True) == ["HW", "", "", ""]
    stored = take(lambda: fn.readers.dicom(str(tmp_path), raw=True), batch_size=1)[0][0]
    np.testing.assert_array_equal(stored, STORED)
    assert stored.dtype == np.uint16


@pytest.mark.parametrize("function", [None, "LINEAR", "LINEAR_EXACT", "SIGMOID"])
@pytest.mark.parametrize("photometric", ["MONOCHROME2", "MONOCHROME1"])
def test_windows_are_pydicoms(tmp_path, function, photometric):
    """pydicom's range is that of the stored bits."""
    tags = {"VOILUTFunction": function} if function else {}
    file = saved(
        tmp_path,
        "a",
        STORED,
        RescaleSlope="1",
        RescaleIntercept="-1024",
        WindowCenter=["40", "1"],
        WindowWidth=["400", "2"],
        **tags,
    )
    file.PhotometricInterpretation = photometric
    file.save_as(tmp_path / "a", enforce_file_format=True)
    values = pydicom.pixels.apply_modality_lut(STORED, file)
    low, high = -1024, 65535 - 1024
    want = (pydicom.pixels.apply_windowing(values, file) - low) / (high - low)
    want = 1 - want if photometric == "MONOCHROME1" else want
    got = take(lambda: fn.readers.dicom(str(tmp_path), window="file"), batch_size=1)[0][0]
    np.testing.assert_allclose(got, want, atol=1e-6)
    given = take(lambda: fn.readers.dicom(str(tmp_path), window=(40, 400)), batch_size=1)[0][0]
    np.testing.assert_array_equal(given, got)
    assert 0 <= got.min() < 0.1 and 0.9 < got.max() <= 1


def test_series_are_volumes_in_the_order_of_their_positions(tmp_path):
    """Names, numbers and positions differ in their order; the slices stand obliquely."""
    across = np.float64([[1, 0, 0], [0, np.cos(0.3), np.sin(0.3)]])
    normal = np.cross(*across)
    volumes = RANDOM.integers(0, 4096, (2, 5, 4, 3), np.uint16)
    for series in range(2):
        for k, place in enumerate((3, 0, 4, 1, 2)):
            saved(
                tmp_path,
                f"{series}{k}.dcm",
                volumes[series, place],
                SeriesInstanceUID=f"1.2.{series}",
                ImageOrientationPatient=[f"{v:.6f}" for v in across.ravel()],
                ImagePositionPatient=[f"{v:.4f}" for v in normal * 2.5 * (place - 2)],
                InstanceNumber=9 - k,
            )
    got, number = take(lambda: list(fn.readers.dicom(str(tmp_path), series=True, raw=True, tags="InstanceNumber")))
    np.testing.assert_array_equal(np.stack(got), volumes)
    assert [n.tolist() for n in number] == [[8.0], [8.0]], "of the first slice"
    assert take(lambda: fn.readers.dicom(str(tmp_path), series=True), layouts=True) == ["DHW"]
    (tmp_path / "numbers").mkdir()
    for k, place in enumerate((2, 0, 1)):
        saved(tmp_path / "numbers", str(k), volumes[0, place], SeriesInstanceUID="1.2.3", InstanceNumber=place)
    got = take(lambda: fn.readers.dicom(str(tmp_path / "numbers"), series=True, raw=True), batch_size=1)[0][0]
    np.testing.assert_array_equal(got, volumes[0, :3])
    saved(tmp_path / "numbers", "9", volumes[0, 0, :2], SeriesInstanceUID="1.2.3", InstanceNumber=9)
    with pytest.raises(penstock.DataError, match=r"numbers.9: the slice has 2 x 3 pixels"):
        take(lambda: fn.readers.dicom(str(tmp_path / "numbers"), series=True), batch_size=1)


def test_frames_and_colors_of_dicom(tmp_path):
    frames = RANDOM.integers(0, 4096, (3, 4, 5), np.int16)
    saved(tmp_path, "frames", frames, RescaleSlope="1", RescaleIntercept="5")
    read = lambda **options: fn.readers.dicom(str(tmp_path / "frames"), **options)
    np.testing.assert_array_equal(take(read, batch_size=1)[0][0], frames + np.float32(5))
    assert take(read, batch_size=1, layouts=True) == ["FHW"]
    colors = RANDOM.integers(0, 256, (4, 5, 3), np.uint8)
    made = dicom(colors[..., 0])
    made.SamplesPerPixel, made.PhotometricInterpretation, made.PlanarConfiguration = 3, "RGB", 0
    made.PixelData = colors.tobytes()
    made.save_as(tmp_path / "color", enforce_file_format=True)
    np.testing.assert_array_equal(take(lambda: fn.readers.dicom(str(tmp_path / "color")), batch_size=1)[0][0], colors)
    assert take(lambda: fn.readers.dicom(str(tmp_path / "color")), batch_size=1, layouts=True) == ["HWC"]


def test_dicom_that_is_refused(tmp_path):
    saved(tmp_path, "a", STORED)
    saved(tmp_path, "frames", np.zeros((2, 3, 3), np.uint16))
    made = saved(tmp_path, "packed", STORED)
    made.file_meta.TransferSyntaxUID = pydicom.uid.HTJ2KLossless
    made.PixelData = pydicom.encaps.encapsulate([bytes(40)])
    made["PixelData"].VR = "OB"
    made.save_as(tmp_path / "packed", enforce_file_format=True)
    a, frames, packed = (str(tmp_path / n) for n in ("a", "frames", "packed"))
    for read, message in (
        (lambda: fn.readers.dicom(packed), r"\[readers.dicom\] .*packed: "),
        (lambda: fn.readers.dicom([a, frames]), r"frames: float32 with 3 dimensions, but .*a has float32 with 2"),
        (lambda: fn.readers.dicom(a, window="file"), r"a: ValueError: the file has no window"),
        (lambda: fn.readers.dicom(a, series=True), r"a: it names no series \(SeriesInstanceUID\)"),
        (lambda: fn.readers.dicom(a, max_values=20), r"1 x 6 x 5 x 1 has more values than max_values=20"),
    ):
        with pytest.raises(penstock.DataError, match=message):
            take(read)
    with Pipeline(batch_size=1, num_threads=1):
        with pytest.raises(ValueError, match="no tag with the keyword 'Nothing'"):
            fn.readers.dicom(a, tags=["Nothing"])
        with pytest.raises(ValueError, match="a width above 0, got"):
            fn.readers.dicom(a, window=(40, 0))
        with pytest.raises(ValueError, match="raw=True and window are mutually exclusive"):
            fn.readers.dicom(a, raw=True, window="file")
        with pytest.raises(ValueError, match="num_workers must be an integer of at least 1"):
            fn.readers.dicom(a, num_workers=0)
