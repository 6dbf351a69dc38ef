# SPDX-License-Identifier: Apache-2.0
"""readers.fits against what the standard says about each header, files that astropy wrote, and files that are wrong."""

import gzip

import fits_compressed
import fits_files as files
import numpy as np
import pytest
from damaged_bytes import damaged
from fits_files import file, hdu
from test_recordio_tar import run

import penstock
from penstock import fn, pipeline_def, types

TYPES = files.every_type()
TYPE = {
    "uint8": types.UINT8,
    "int8": types.INT8,
    "float32": types.FLOAT,
    "float64": types.FLOAT64,
    **{f"{u}int{n}": getattr(types, f"{u.upper()}INT{n}") for u in ("", "u") for n in (16, 32, 64)},
}
SMALL = np.arange(6, dtype=np.int16).reshape(2, 3)


def read(tmp_path, content, name="a.fits", **more):
    path = tmp_path / name
    path.write_bytes(content)
    if "dtypes" in more:
        more["dtypes"] = [TYPE[name] for name in more["dtypes"]]
    return [batch[0] for batch in run(fn.readers.fits, 1, files=[str(path)], **more)]


@pytest.mark.parametrize("name", TYPES)
def test_values_are_what_the_header_means(tmp_path, name):
    stored, cards, want = TYPES[name]
    for content, more in (
        (file(hdu(first=True), hdu(stored, **cards)), {}),
        (file(hdu(stored, first=True, **cards)), {"hdu_indices": 1}),
        (file(hdu(SMALL, first=True), hdu(SMALL), hdu(stored, **cards)), {"hdu_indices": [3]}),
    ):
        for dtypes in ({}, {"dtypes": [want.dtype.name]}):
            (got,) = read(tmp_path, content, **more, **dtypes)
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_array_equal(got, want)


def test_files_of_astropy(tmp_path):
    (got,) = read(tmp_path, files.ASTROPY_UINT16)
    want = (np.arange(6).reshape(2, 3) * 1000 + 30000).astype(np.uint16)
    assert got.dtype == np.uint16
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(
        read(tmp_path, files.ASTROPY_COMPRESSED)[0], np.arange(64, dtype=np.int16).reshape(8, 8)
    )
    with pytest.raises(penstock.DataError, match="HDU 2 is 'BINTABLE', not an image"):
        read(tmp_path, files.ASTROPY_TABLE)


@pytest.mark.parametrize("name", [n for n in fits_compressed.ALL if "smoothing" not in n])
def test_compressed_images_are_what_astropy_reads(tmp_path, name):
    content, want = fits_compressed.ALL[name]
    (got,) = read(tmp_path, content, dtypes=[want.dtype.name])
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "name, old, new, said",
    [
        ("HCOMPRESS_1 with smoothing", "", "", "HCOMPRESS_1 with smoothing is not supported"),
        (
            "HCOMPRESS_1 int32",
            "ZNAXIS1 =                   14",
            "ZNAXIS1 =                   13",
            "a tile of HCOMPRESS_1 is damaged",
        ),
        ("HCOMPRESS_1 int32", "'HCOMPRESS_1'", "'HCOMPRESS_9'", "the compression 'HCOMPRESS_9' is not supported"),
        ("RICE_1 int16", "ZBITPIX =                   16", "ZBITPIX =                   15", "ZBITPIX is 15"),
        ("RICE_1 int16", "ZNAXIS1 ", "ZNAXOS1 ", "has no ZNAXIS1"),
        ("RICE_1 int16", "ZNAXIS1 =                   14", "ZNAXIS1 =           2147483648", "ZNAXIS1 is 2147483648"),
        ("RICE_1 int16", "ZNAXIS1 =                   14", "ZNAXIS1 =           2147483647", "elements|tile"),
        ("RICE_1 int16", "ZNAXIS2 =                    9", "ZNAXIS2 =                   10", "10 tiles in 9 rows"),
        ("RICE_1 int16", "ZTILE1  =                   14", "ZTILE1  =                   -1", "ZTILE1 is -1"),
        ("RICE_1 int16", "'COMPRESSED_DATA'", "'COMPRESSED_DUST'", "has no COMPRESSED_DATA"),
        ("RICE_1 int16", "TFORM1  = '1PB", "TFORM1  = '2PB", "their columns"),
        ("GZIP_1 int64", "ZBITPIX =                   64", "ZBITPIX =                   32", "do not decompress to"),
        ("PLIO_1 int16", "ZNAXIS1 =                   14", "ZNAXIS1 =                   13", "too many elements"),
    ],
)
def test_compressed_images_that_are_wrong(tmp_path, name, old, new, said):
    content = fits_compressed.ALL[name][0]
    assert old.encode() in content
    with pytest.raises(penstock.DataError, match=f"(?s)readers.fits.*({said}).*a.fits"):
        read(tmp_path, content.replace(old.encode(), new.encode()))


@pytest.mark.parametrize("name", ["RICE_1 uint32 cube", "PLIO_1 int16", "HCOMPRESS_1 int32", "GZIP_2 float32 dithered"])
def test_damaged_compressed_images_end_in_typed_errors_or_in_images(tmp_path, name):
    content = np.frombuffer(fits_compressed.ALL[name][0], np.uint8)
    for bad in damaged(content[2880:], 60, 4000, 5):
        try:
            read(tmp_path, content[:2880].tobytes() + bad.tobytes())
        except penstock.DataError as error:
            assert "a.fits" in str(error)


def test_several_hdus_are_several_outputs(tmp_path):
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    content = file(hdu(SMALL, first=True), hdu(cube), hdu(SMALL.astype(np.uint8)))
    got = read(tmp_path, content, hdu_indices=[3, 1, 2, 1], dtypes=["uint8", "int16", "float32", "int16"])
    for a, b in zip(got, (SMALL, SMALL, cube, SMALL), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_end_need_not_be_padded_and_many_cards_are_read(tmp_path):
    content = file(hdu(first=True), hdu(SMALL, **{f"KEY{k}": k for k in range(500)}))
    (got,) = read(tmp_path, content[: -2880 + SMALL.nbytes])
    np.testing.assert_array_equal(got, SMALL)


def test_files_come_from_a_folder_a_list_or_names(tmp_path):
    (tmp_path / "sub").mkdir()
    for k, name in enumerate(("b.fits", "sub/a.fits", "c.FIT", "sub/d.fits")):
        (tmp_path / name).write_bytes(file(hdu(first=True), hdu(SMALL + k)))
    (tmp_path / "list.txt").write_text("sub/d.fits\nb.fits\n")
    first = lambda **more: [int(a[0, 0]) for a in run(fn.readers.fits, 2, **more)[0]]
    assert first(file_root=str(tmp_path)) == [0, 1]
    assert first(file_list=str(tmp_path / "list.txt")) == [3, 0]
    assert first(file_root=str(tmp_path), files=["c.FIT", "b.fits"]) == [2, 0]
    assert first(file_root=str(tmp_path), file_filter="*.FIT") == [2, 2]
    assert [int(a[0, 0]) for a in run(fn.experimental.readers.fits, 1, files=[str(tmp_path / "b.fits")])[0]] == [0]


def test_one_batch_has_one_type_and_rank(tmp_path):
    for name, image in (("a", SMALL), ("b", SMALL.astype(np.float32)), ("c", SMALL[0])):
        (tmp_path / name).write_bytes(file(hdu(first=True), hdu(image)))
    for others, said in (("b", "arrays of int16 and of float32"), ("c", "2 and of 1 dimensions")):
        with pytest.raises(penstock.DataError, match=said):
            run(fn.readers.fits, 2, files=[str(tmp_path / "a"), str(tmp_path / others)])
    with pytest.raises(penstock.DataError, match="HDU 2 has the type int16, dtypes requires uint8"):
        run(fn.readers.fits, 1, files=[str(tmp_path / "a")], dtypes=types.UINT8)


def changed(old, new, content=None):
    content = content or file(hdu(first=True), hdu(SMALL))
    assert old.encode() in content
    at = content.rindex(old.encode())
    return content[:at] + new.ljust(len(old)).encode() + content[at + len(old) :]


@pytest.mark.parametrize(
    "content, said",
    [
        (b"", "not a FITS file|ends inside a header|empty"),
        (b"x" * 5000, "not a FITS file"),
        (
            gzip.compress(bytes(np.random.default_rng(0).integers(0, 255, 5000, np.uint8))),
            "not a FITS file; the whole file is compressed by gzip",
        ),
        (file(hdu(first=True)), "the file has 1 HDUs, HDU 2 was requested"),
        (file(hdu(first=True), hdu()), "HDU 2 has no elements"),
        (file(hdu(first=True), hdu(SMALL))[:5760], "12 bytes of HDU 2 do not lie inside"),
        (file(hdu(first=True), hdu(SMALL))[:4000], "ends inside a header"),
        (file(hdu(first=True), hdu(SMALL))[: 2880 * 2 + 5], "do not lie inside"),
        (changed("BITPIX  =                   16", "BITPIX  =                   17"), "BITPIX is 17"),
        (changed("BITPIX  =", "BITPYX  ="), "a header has no BITPIX"),
        (changed("NAXIS   =", "NAXOS   ="), "a header has no NAXIS"),
        (changed("NAXIS2  =", "NAXOS2  ="), "a header has no NAXIS2"),
        (changed("NAXIS2  =                    2", "NAXIS2  =                   -2"), "NAXIS2 is -2"),
        (
            changed("NAXIS2  =                    2", "NAXIS2  =  9223372036854775807"),
            "the number of elements is too large",
        ),
        (
            changed("NAXIS2  =                    2", "NAXIS2  =  1073741824000000000"),
            "do not lie inside|more elements",
        ),
        (changed("NAXIS2  =                    2", "NAXIS2  =                  two"), "NAXIS2 is 'two', not a number"),
        (changed("NAXIS   =                    2", "NAXIS   =                 1000"), "1000 axes"),
        (changed("NAXIS   =                    2", "NAXIS   =                    9"), "has no NAXIS3"),
        (
            changed("GCOUNT  =                    1", "GCOUNT  =  4611686018427387904"),
            "the number of elements is too large",
        ),
        (
            changed("GCOUNT  =                    1", "GCOUNT  =                    0"),
            "an image has PCOUNT 0 and GCOUNT 0",
        ),
        (changed("XTENSION", "XTENSIOM"), "a header begins with 'XTENSIOM'"),
        (changed("'IMAGE   '", "'IMAGE    "), "is not terminated"),
        (changed("'IMAGE   '", "'TABLE   '"), "is 'TABLE', not an image"),
        (changed("nothing here", "nothing\0here"), "a header has the invalid byte 0x00"),
        (file(hdu(first=True), hdu(np.zeros((1,) * 9, np.int16))), "9 axes, but at most 8"),
        (changed("END" + " " * 77, "", file(hdu(first=True), hdu(SMALL)))[:5760], "ends inside a header"),
        (file(hdu(first=True), hdu(SMALL, BSCALE="1e999")), "BSCALE is '1e999', not a number"),
        (file(hdu(first=True), hdu(SMALL, BZERO="nan")), "BZERO is 'nan', not a number"),
        (file(hdu(first=True), hdu(SMALL, GROUPS="T")), ""),
    ],
)
def test_files_that_are_wrong(tmp_path, content, said):
    if not said:
        return np.testing.assert_array_equal(read(tmp_path, content)[0], SMALL)
    with pytest.raises(penstock.DataError, match=f"(?s)readers.fits.*({said}).*a.fits"):
        read(tmp_path, content)


def test_arguments_that_are_wrong(tmp_path):
    (tmp_path / "a").write_bytes(file(hdu(first=True), hdu(SMALL)))
    for more, said in (
        ({"hdu_indices": [0]}, "counted from 1, got 0"),
        ({"hdu_indices": []}, "at least one HDU"),
        ({"dtypes": [types.UINT8, types.INT8]}, "2 dtypes for 1 HDUs"),
        ({"file_root": str(tmp_path), "file_list": "x"}, "exactly one"),
    ):
        with pytest.raises(ValueError, match=said):
            run(fn.readers.fits, 1, files=[str(tmp_path / "a")], **more)
    with pytest.raises(FileNotFoundError, match="nothing.fits"):
        run(fn.readers.fits, 1, files=["nothing.fits"])
    with pytest.raises(penstock.DataError, match="random groups"):
        content = hdu(np.zeros((2, 3, 1), np.int16), first=True, GROUPS=True, PCOUNT=0, GCOUNT=1)
        read(
            tmp_path,
            content.replace(b"NAXIS1  =                    1", b"NAXIS1  =                    0"),
            hdu_indices=1,
        )


def test_damaged_files_end_in_typed_errors_or_in_images(tmp_path):
    content = np.frombuffer(file(hdu(first=True), hdu(TYPES["scaled int16"][0], BSCALE=0.5, BZERO=3)), np.uint8)
    refused = 0
    for bad in damaged(content, 150, 4000, 3):
        try:
            read(tmp_path, bad.tobytes())
        except penstock.DataError as error:
            refused += 1
            assert "a.fits" in str(error)
    assert refused > 50


def test_a_bad_file_can_be_left_out(tmp_path):
    for k in range(6):
        content = file(hdu(first=True), hdu(SMALL + k))
        (tmp_path / f"{k}.fits").write_bytes(content if k != 3 else content[:5000])

    @pipeline_def(batch_size=6, num_threads=2, seed=1, on_error="skip")
    def pipe():
        return fn.readers.fits(file_root=str(tmp_path))

    p = pipe()
    (batch,) = p.run()
    p.close()
    assert [int(np.asarray(b)[0, 0]) for b in batch] == [0, 1, 2, 4, 5]
