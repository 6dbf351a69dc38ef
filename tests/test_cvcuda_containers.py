# SPDX-License-Identifier: Apache-2.0
"""CV-CUDA's containers over memory of the host: shapes, pitches, formats, exchange with other libraries, `_into`, refusals."""

import subprocess
import sys
import textwrap

import numpy as np
import penstock
import penstock.cvcuda as cvcuda
import pytest
import torch
from penstock._base.errors import OperatorError
from penstock.cvcuda.calls import ROWS

Format, Type = cvcuda.Format, cvcuda.Type
RNG = np.random.default_rng(3)


def pixels(*shape, dtype=np.uint8):
    return RNG.integers(0, 256, shape).astype(dtype)


def test_tensors_are_made_by_shape_or_for_images():
    tensor = cvcuda.Tensor((5, 3, 2), np.float32, "HWC")
    assert (tensor.shape, tensor.dtype, tensor.layout, tensor.ndim) == ((5, 3, 2), np.float32, "HWC", 3)
    for size, format, shape, layout in (
        ((32, 16), Format.RGBA8, (2, 16, 32, 4), "NHWC"),
        ((8, 7), Format.RGB8p, (2, 3, 7, 8), "NCHW"),
    ):
        made = cvcuda.Tensor(2, size, format)
        assert (made.shape, made.layout, made.dtype) == (shape, layout, np.uint8)
    assert cvcuda.Tensor(layout=None, shape=(3,), dtype=np.complex64).layout is None
    assert cvcuda.Tensor((3, 5), np.dtype("2f4"), "NW").shape == (3, 5)


@pytest.mark.parametrize("align, row", [(0, 33), (1, 33), (32, 64), (256, 256)])
def test_rows_begin_at_multiples_of_rowalign(align, row):
    tensor = cvcuda.Tensor((4, 11, 3), np.uint8, "HWC", rowalign=align)
    assert tensor.cuda().strides == (row, 3, 1)
    image = cvcuda.Image((11, 4), Format.RGB8, rowalign=align)
    assert image.cuda().strides == (row, 3, 1)
    source = pixels(4, 11, 3)
    assert cvcuda.invert_into(tensor, cvcuda.as_tensor(source, "HWC")) is tensor
    np.testing.assert_array_equal(tensor.cpu(), 255 - source)


def test_arrays_of_other_libraries_are_wrapped_without_a_copy():
    array, other = pixels(4, 5, 3), torch.zeros((4, 5, 3), dtype=torch.uint8)
    for memory, address in (
        (array, array.ctypes.data),
        (other, other.data_ptr()),
        (penstock.tensor(array), array.ctypes.data),
    ):
        tensor = cvcuda.as_tensor(memory, "HWC")
        assert tensor.cuda().ctypes.data == address
        assert torch.from_dlpack(tensor.cuda()).data_ptr() == torch.as_tensor(tensor.cuda()).data_ptr() == address
    cvcuda.flip_into(cvcuda.as_tensor(other, "HWC"), cvcuda.as_tensor(array, "HWC"), 1)
    np.testing.assert_array_equal(other.numpy(), array[:, ::-1])
    wide = pixels(4, 10, 3)
    np.testing.assert_array_equal(cvcuda.invert(cvcuda.as_tensor(wide[:, ::2], "HWC")).cpu(), 255 - wide[:, ::2])


def test_into_writes_where_the_program_says_and_gives_it_back():
    source = pixels(2, 9, 8, 3)
    tensor, result = cvcuda.as_tensor(source, "NHWC"), np.zeros((2, 4, 6, 3), np.uint8)
    into = cvcuda.as_tensor(result, "NHWC")
    assert cvcuda.resize_into(into, tensor) is into
    np.testing.assert_array_equal(result, cvcuda.resize(tensor, (2, 4, 6, 3)).cpu())
    same = cvcuda.as_tensor(source.copy(), "NHWC")
    assert cvcuda.invert_into(dst=same, src=same) is same
    np.testing.assert_array_equal(same.cpu(), 255 - source)
    scaled = cvcuda.Tensor((2, 3, 9, 8), np.float32, "NCHW")
    cvcuda.reformat_into(scaled, cvcuda.convertto(tensor, np.float32))
    np.testing.assert_array_equal(scaled.cpu(), source.transpose(0, 3, 1, 2))
    images = cvcuda.as_images([np.zeros((5, 4, 3), np.uint8), np.zeros((2, 7, 3), np.uint8)])
    assert cvcuda.resize_into(images, cvcuda.as_images(list(source))) is images
    np.testing.assert_array_equal(images[1].cpu(), cvcuda.resize(tensor, (2, 2, 7, 3)).cpu()[1])


def test_a_reshape_is_a_view_and_gaps_stay():
    tensor = cvcuda.Tensor((10, 10, 3), np.uint8, "HWC", rowalign=32)
    assert tensor.reshape((2, 5, 10, 3), "NHWC").cuda().strides == (160, 32, 3, 1)
    assert tensor.reshape((1, 10, 10, 3), "NHWC").cuda().ctypes.data == tensor.cuda().ctypes.data
    for shape, layout in (((300,), "W"), ((7, 7), "HW"), ((10, 10, 3), "HW"), ((100, 3), None)):
        with pytest.raises(RuntimeError):
            tensor.reshape(shape, layout)


@pytest.mark.parametrize(
    "shape, dtype, format",
    [
        ((5, 7), np.uint8, Format.U8),
        ((5, 7, 1), np.uint16, Format.U16),
        ((1, 5, 7), np.uint8, Format.U8),
        ((1, 5, 7, 4), np.uint8, Format.RGBA8),
        ((5, 7, 3), np.float32, Format.RGBf32),
        ((3, 5, 7), np.float16, Format.RGBf16p),
        ((5, 7, 2), np.int16, Format._2S16),
        ((5, 7), np.float64, Format.F64),
    ],
)
def test_the_format_of_an_image_follows_from_the_array(shape, dtype, format):
    array = pixels(*shape, dtype=dtype)
    image = cvcuda.as_image(array)
    assert image.format is format and image.size == (7, 5)
    copied = cvcuda.Image(array)
    assert copied.format is format and copied.cuda().ctypes.data != array.ctypes.data
    np.testing.assert_array_equal(copied.cpu().reshape(shape), array)


def test_planes_of_an_image_have_their_own_extents():
    image = cvcuda.Image((8, 6), Format.NV12)
    assert [p.shape for p in image.cuda()] == [(6, 8, 1), (3, 4, 2)]
    assert [p.shape for p in image.cuda("CHW")] == [(1, 6, 8), (2, 3, 4)]
    wrapped = cvcuda.as_image([pixels(6, 8), pixels(3, 4, 2)])
    assert wrapped.format is Format.NV12_ER and wrapped.size == (8, 6)
    assert cvcuda.Image((8, 6), Format.YUYV).cuda().shape == (6, 8, 2)
    assert cvcuda.Image.zeros((3, 2), Format.RGBA8p).cpu().tolist() == np.zeros((4, 2, 3)).tolist()
    assert cvcuda.as_tensor(cvcuda.Image((8, 6), Format.RGB8p)).shape == (1, 3, 6, 8)
    assert Format.NV12.planes == 2 and Format.RGBA8.channels == 4


def test_arrays_that_are_no_images_are_refused():
    for array, format in (
        (pixels(2, 3, 4, 5), None),
        (pixels(8, 7, 9), None),
        (np.zeros((0,), np.uint8), None),
        (pixels(5, 7, 4), Format.RGB8),
        (pixels(5, 7), Format.F32),
        (pixels(6, 4), Format.NV12),
        (pixels(6, 4), Format.Y8_BL),
        (pixels(6, 8)[:, ::2], None),
    ):
        with pytest.raises(ValueError):
            cvcuda.as_image(array, format)


def test_batches_have_a_capacity_and_one_kind_of_tensor():
    images = cvcuda.ImageBatchVarShape(3)
    images.pushback([cvcuda.Image((4, 9), Format.U8), cvcuda.Image((6, 2), Format.U8)])
    assert (len(images), images.capacity, images.maxsize, images.uniqueformat) == (2, 3, (6, 9), Format.U8)
    images.pushback(cvcuda.Image((1, 1), Format.RGB8))
    assert images.uniqueformat is None and [i.size for i in images] == [(4, 9), (6, 2), (1, 1)]
    with pytest.raises(RuntimeError):
        images.pushback(cvcuda.Image((1, 1), Format.RGB8))
    images.popback(2)
    assert len(images) == 1
    images.clear()
    assert len(images) == 0 and images.maxsize == (0, 0)
    tensors = cvcuda.as_tensors([pixels(4, 5, 3), pixels(2, 9, 3)], "HWC")
    assert (tensors.dtype, tensors.layout, tensors.ndim) == (np.uint8, "HWC", 3)
    with pytest.raises(RuntimeError):
        tensors[0] = cvcuda.Tensor((4, 5), np.uint8, "HW")
    small = cvcuda.hq_resize(tensors, [(3, 3), (4, 4)], antialias=True)
    assert [t.shape for t in small] == [(3, 3, 3), (4, 4, 3)]


def test_elements_may_be_pixels():
    array = pixels(2, 4, 5, 3)
    tensor = cvcuda.Tensor((2, 4, 5, 1), Type._3U8, "NHWC")
    cvcuda.flip_into(tensor, cvcuda.as_tensor(array, "NHWC"), 0)
    np.testing.assert_array_equal(tensor.cpu().reshape(array.shape), array[:, ::-1])
    again = cvcuda.flip(tensor, 0)
    assert again.shape == (2, 4, 5, 1) and again.dtype == Type._3U8
    np.testing.assert_array_equal(again.cpu().reshape(array.shape), array)


def test_wrong_calls_say_what_is_wrong():
    tensor = cvcuda.as_tensor(pixels(4, 5, 3), "HWC")
    plain = cvcuda.as_tensor(pixels(4, 5, 3))
    fixed = pixels(4, 5, 3)
    fixed.flags.writeable = False
    read_only = cvcuda.as_tensor(fixed, "HWC")
    cases = [
        (lambda: cvcuda.resize(plain, (2, 2, 3)), "has no layout: give one"),
        (lambda: cvcuda.resize(tensor, (2, 2)), "2 extents for the layout HWC"),
        (lambda: cvcuda.flip(tensor), "missing a required argument: 'flipCode'"),
        (lambda: cvcuda.flip(pixels(4, 5, 3), 1), "src is a ndarray"),
        (lambda: cvcuda.flip_into(cvcuda.Tensor((9, 5, 3), np.uint8, "HWC"), tensor, 1), "has the shape"),
        (lambda: cvcuda.customcrop(tensor, cvcuda.RectI(3, 3, 9, 9)), "is not inside an image of 4 x 5"),
        (lambda: cvcuda.cvtcolor(tensor, cvcuda.ColorConversion.RGBA2mRGBA), "RGBA2mRGBA is not there"),
        (lambda: cvcuda.convertto(tensor, np.int64, 2.0, round=cvcuda.Round.NEAREST_WRAP), "up to 32 bits"),
        (lambda: cvcuda.stack([tensor, cvcuda.as_tensor(pixels(3, 5, 3), "HWC")]), "differ in their shapes"),
        (lambda: cvcuda.resize(cvcuda.ImageBatchVarShape(2), []), "the batch is empty"),
        (lambda: cvcuda.warp_affine(tensor, np.eye(3), 1), "xform has 6 numbers"),
        (lambda: cvcuda.Tensor((2, 3)), "dtype must be given"),
        (lambda: cvcuda.invert_into(read_only, read_only), "read-only array"),
    ]
    for call, words in cases:
        with pytest.raises((RuntimeError, TypeError), match=words):
            call()
    with pytest.raises(OperatorError):
        cvcuda.resize(plain, (2, 2, 3))
    with pytest.raises(RuntimeError, match="no plane"):
        cvcuda.as_image([])
    with pytest.raises(TypeError, match="reshape takes a Tensor, got ndarray"):
        cvcuda.reshape(pixels(4, 5, 3), (60,))
    with pytest.raises(AttributeError, match="operators need no object"):
        _ = cvcuda.get_findhomography_operator


def test_streams_and_the_cache_are_accepted():
    stream = cvcuda.Stream()
    tensor = cvcuda.as_tensor(pixels(4, 5, 3), "HWC")
    with stream:
        assert cvcuda.Stream.current is stream
        assert cvcuda.invert(tensor, stream=cvcuda.as_stream(0)).shape == (4, 5, 3)
    stream.sync()
    stream.wait_stream(cvcuda.Stream())
    cvcuda.clear_cache(cvcuda.ThreadScope.LOCAL)
    assert cvcuda.cache_size() == 0 and cvcuda.Stream.current is not stream


PROGRAM = """
    import sys
    import numpy as np
    import cvcuda, nvcv
    from cvcuda import tv
    import cvcuda.tv as again
    image = cvcuda.as_tensor(np.arange(24, dtype=np.uint8).reshape(2, 4, 3), "HWC")
    assert nvcv.Tensor is cvcuda.Tensor and again is tv
    print(cvcuda.flip(image, 1).cpu()[0, 0].tolist(), sys.argv[1:], __name__)
    try:
        import cvcuda.samples
    except ModuleNotFoundError as error:
        print(error)
"""


def test_a_program_runs_unchanged(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cvcuda", path, "--fast"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "[9, 10, 11] ['--fast'] __main__" and "no counterpart of 'cvcuda.samples'" in second


def test_install_and_uninstall():
    cvcuda.install()
    try:
        import cvcuda as named

        assert named is cvcuda and cvcuda.__spec__.name == "penstock.cvcuda"
    finally:
        cvcuda.uninstall()
    assert "cvcuda" not in sys.modules


def test_an_argument_of_a_wrong_kind_names_the_call():
    """Of every function: a TypeError, ValueError or the like, that is a RuntimeError too and begins with a name."""
    tensor, wrong = cvcuda.as_tensor(pixels(4, 5, 3), "HWC"), [None, "x", b"zz", (), {}, -1, float("nan"), object()]
    refused = 0
    for name, row in ROWS.items():
        for function, first in ((getattr(cvcuda, name), 1), (getattr(cvcuda, name + "_into"), 2)):
            for value in wrong:
                parameters = function.signatures[0][1].parameters.values()
                count = sum(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters)
                try:
                    function(*([tensor] * first + [value] * (count - first))[:count])
                except NotImplementedError:
                    continue
                except OperatorError as error:
                    assert str(error).startswith((name, "[")), error
                    refused += 1
    assert refused > 500


def test_a_wrong_argument_is_shown_with_the_call():
    tensor = cvcuda.as_tensor(pixels(4, 5, 3), "HWC")
    with pytest.raises(TypeError, match=r"customcrop\(src: Tensor, rect: bytes, stream: NoneType\)"):
        cvcuda.customcrop(tensor, b"a")
    for number in (float("nan"), float("inf"), 2**31):
        with pytest.raises(ValueError, match=f"quality: .*{number} is not an int32"):
            cvcuda.jpeg_compression_distortion(tensor, number)
    with pytest.raises(TypeError, match=r"bndbox_into\(dst: float, src: Tensor, bboxes: int"):
        cvcuda.bndbox_into(1.5, tensor, 7)
