# SPDX-License-Identifier: Apache-2.0
"""Geometry inside pipelines: fused stages and regions pushed into the decoder give the bytes of single operators."""

import io

import numpy as np
import pytest
from PIL import Image

from penstock import fn, pipeline_def, types

generator = np.random.default_rng(5)
IMAGES = [generator.integers(0, 256, (h, w, 3), np.uint8) for h, w in ((47, 83), (64, 40), (41, 41), (90, 71))]
MATRICES = [np.float32([[0.9, 0.1 * i, 2], [-0.1, 1.1, 3 - i]]) for i in range(4)]
ANGLES = [np.float32(a) for a in (0, 33, 90, -140)]


def jpeg(image):
    data = io.BytesIO()
    Image.fromarray(image).save(data, "JPEG", quality=90)
    return np.frombuffer(data.getvalue(), np.uint8)


FILES = [jpeg(i) for i in IMAGES]


def values(rows):
    return fn.external_source(lambda: rows, batch=True)


CHAINS = {
    "slice flip pixel": lambda x: fn.brightness_contrast(
        fn.flip(fn.slice(x, start=[3, 2], shape=[30, 20])), contrast=1.3
    ),
    "flip slice wrap pixel": lambda x: fn.brightness_contrast(
        fn.slice(fn.flip(x), start=[-3, -2], shape=[130, 120], out_of_bounds_policy="wrap"), contrast=1.3
    ),
    "slice reflect flip": lambda x: fn.flip(
        fn.slice(x, start=[-30, -2], shape=[130, 120], out_of_bounds_policy="reflect_101"), vertical=1
    ),
    "channels wrap, color": lambda x: fn.hue(
        fn.slice(x, start=[-1], shape=[3], axes=[2], out_of_bounds_policy="wrap"), hue=40.0
    ),
    "slice pad pixel": lambda x: fn.brightness_contrast(
        fn.slice(x, start=[-3, -2], shape=[130, 120], out_of_bounds_policy="pad", fill_values=9), contrast=1.3
    ),
    "slice outside": lambda x: fn.slice(x, start=[500, 2], shape=[13, 12], out_of_bounds_policy="pad", fill_values=9),
    "slice by input": lambda x: fn.slice(
        x,
        values([np.float32([0.1 * i, 0.2]) for i in range(4)]),
        values([np.float32([0.5, 0.3 + 0.1 * i]) for i in range(4)]),
    ),
    "rotate pixel cast": lambda x: fn.cast(
        fn.brightness_contrast(fn.rotate(x, angle=values(ANGLES), fill_value=4), contrast=1.3), dtype=types.FLOAT
    ),
    "rotate flip": lambda x: fn.flip(fn.rotate(x, angle=33.0, fill_value=4)),
    "slice rotate": lambda x: fn.rotate(fn.slice(x, start=[3, 2], shape=[30, 20]), angle=33.0),
    "rotate slice": lambda x: fn.slice(fn.rotate(x, angle=33.0), start=[3, 2], shape=[30, 20]),
    "warp normalize": lambda x: fn.crop_mirror_normalize(
        fn.warp_affine(x, values(MATRICES)), crop=(20, 20), mirror=1, mean=[1.0, 2.0, 3.0], std=[3.0, 4.0, 5.0]
    ),
    "rotate slice flip pixel slice": lambda x: fn.slice(
        fn.brightness_contrast(
            fn.flip(fn.slice(fn.rotate(x, angle=values(ANGLES)), start=[3, 2], shape=[31, 29]), vertical=1),
            contrast=1.3,
        ),
        start=[1, 2],
        shape=[25, 19],
    ),
    "rotate crop trim cast": lambda x: fn.crop(
        fn.rotate(x, angle=33.0, interp_type=types.INTERP_NN),
        crop=[70, 50],
        crop_pos_x=0.9,
        out_of_bounds_policy="trim_to_shape",
        dtype=types.INT32,
    ),
    "warp flip rows and channels": lambda x: fn.slice(
        fn.flip(fn.warp_affine(x, values(MATRICES))), start=[3, 1], shape=[30, 2], axis_names="HC"
    ),
    "warp crop outside": lambda x: fn.crop(
        fn.warp_affine(x, values(MATRICES), fill_value=7), crop=[120, 30], out_of_bounds_policy="pad", fill_values=9
    ),
    "warp crop reflected": lambda x: fn.crop(
        fn.warp_affine(x, values(MATRICES)), crop=[120, 30], out_of_bounds_policy="reflect"
    ),
    "quarter turn crop flip": lambda x: fn.flip(
        fn.crop(fn.warp_affine(x, matrix=[0.0, 1, 0, -1, 0, 40]), crop=[31, 33], crop_pos_x=0.2), vertical=1
    ),
    "copy": lambda x: fn.copy(fn.copy(x)),
    "index": lambda x: x[2:20:3, ::-2, 0],
    "shape": lambda x: fn.reshape(fn.transpose(x, perm=[1, 0, 2]), x.shape()),
    "pad": lambda x: fn.pad(fn.transpose(x, perm=[2, 0, 1]), align=16, fill_value=3),
    "cat stack": lambda x: fn.stack(fn.cat(x, x, axis=1), fn.cat(fn.flip(x), x, axis=1)),
    "erase": lambda x: fn.erase(fn.flip(x), anchor=values([np.float32([3, i]) for i in range(4)]), shape=[10.0, 10.0]),
}


@pytest.mark.parametrize("decode", [False, True])
@pytest.mark.parametrize("chain", CHAINS)
def test_fused_is_single(monkeypatch, chain, decode):
    @pipeline_def(batch_size=4, num_threads=2, device_id=None)
    def pipeline():
        if decode:
            return CHAINS[chain](fn.decoders.image(fn.external_source(lambda: FILES, batch=True)))
        return CHAINS[chain](fn.external_source(lambda: IMAGES, batch=True, layout="HWC"))

    results = []
    for mode in ("", "simple"):
        monkeypatch.setenv("PENSTOCK_EXEC", mode)
        (out,) = pipeline().run()
        results.append([np.array(out.at(i)) for i in range(4)])
    for fused, single in zip(*results):
        assert fused.dtype == single.dtype and fused.size
        np.testing.assert_array_equal(fused, single)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64, np.int64])
def test_windows_after_the_warp_of_a_volume(monkeypatch, dtype):
    matrix = [0.9, 0.1, 0.2, 1.5, -0.1, 1.1, 0.1, 2.5, 0.2, 0.0, 1.2, -1.0]
    volumes = [generator.integers(0, 120, (9, 13 + 60 * i, 70 + i, 2)).astype(dtype) for i in range(2)]

    @pipeline_def(batch_size=2, num_threads=1)
    def pipeline(kind):
        x = fn.external_source(lambda: volumes, layout="DHWC")
        x = fn.flip(fn.warp_affine(x, matrix=matrix, interp_type=kind), depthwise=1, horizontal=1)
        return fn.flip(fn.slice(x, start=[2, 3, 1], shape=[6, 9, 66], axis_names="DHW"), vertical=1)

    for kind in (types.INTERP_NN, types.INTERP_LINEAR):
        results = []
        for mode in ("", "simple"):
            monkeypatch.setenv("PENSTOCK_EXEC", mode)
            (out,) = pipeline(kind).run()
            results.append([np.array(out.at(i)) for i in range(2)])
        for fused, single in zip(*results):
            np.testing.assert_array_equal(fused, single)


def test_a_crop_after_a_warp_makes_no_more_than_the_crop():
    """One stage: the warp computes the pixels that the crop keeps."""

    @pipeline_def(batch_size=4, num_threads=1)
    def pipeline():
        x = fn.external_source(lambda: IMAGES, layout="HWC")
        x = fn.flip(fn.crop(fn.warp_affine(x, values(MATRICES)), crop=[20, 20]))
        return fn.crop_mirror_normalize(fn.brightness_contrast(x, contrast=1.3), mean=[1.0, 2.0, 3.0])

    pipe = pipeline()
    pipe.build()
    names = ["warp_affine", "crop", "flip", "brightness_contrast", "crop_mirror_normalize"]
    assert any(all(name in line for name in names) for line in str(pipe.plan()).splitlines())
