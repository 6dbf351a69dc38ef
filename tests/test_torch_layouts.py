# SPDX-License-Identifier: Apache-2.0
"""What the axes of torch tensors are: the rule of docs/reference/layouts.md, for every operator on images."""

import copy
import io
import warnings

import numpy as np
import pytest
import torch

import penstock
from penstock import _core, fn

IMAGES = [n for n in _core.operators() if _core.operator_schema(n)["images"]]
BOXES, LABELS = torch.tensor([[0.1, 0.1, 0.8, 0.9]]), torch.tensor([1], dtype=torch.int32)
MAP = torch.zeros(5, 6)
# What an operator needs beside the image: (further inputs, arguments).
NEEDS = {
    "color_space_conversion": ((), {"image_type": "RGB", "output_type": "BGR"}),
    "crop": ((), {"crop": (4, 4)}),
    "crop_mirror_normalize": ((), {"crop": (4, 4)}),
    "rotate": ((), {"angle": 30.0}),
    "resize": ((), {"size": (5, 7)}),
    "resize_crop_mirror": ((), {"size": (5, 7), "crop": (4, 4)}),
    "random_resized_crop": ((), {"size": (5, 7)}),
    "warp_affine": ((), {"matrix": [0.9, 0.1, 0.0, -0.1, 0.9, 1.0]}),
    "paste": ((), {"ratio": 1.5, "fill_value": (1, 2, 3)}),
    "warp_perspective": ((), {"matrix": [1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]}),
    "ssd_random_crop": ((BOXES, LABELS), {}),
    "multi_paste": ((), {"output_size": (9, 9), "in_ids": [0]}),
    "slice": ((), {"start": (1, 1), "shape": (3, 3)}),
    "gaussian_blur": ((), {"sigma": 1.0}),
    "remap": ((MAP, MAP), {}),
    "grid_mask": ((), {"tile": 4}),
    "debayer": ((), {"blue_position": (0, 0)}),
    "jpeg_compression_distortion": ((), {"quality": 50}),
}


def picture(*shape):
    return torch.from_numpy(np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8))


def outcome(call):
    """The first output, or why there is none."""
    try:
        out = call()
    except (TypeError, ValueError) as error:
        return str(error)
    out = out[0] if isinstance(out, tuple) else out
    layout = out.layout() if isinstance(out, penstock.Tensor) else penstock.tensor(out).layout()
    return layout, array(out)


def array(x):
    return x.numpy() if isinstance(x, torch.Tensor) else np.array(x)


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return a[0] == b[0] and np.array_equal(a[1], b[1])


@pytest.mark.parametrize("name", IMAGES)
def test_every_operator_of_images_follows_the_rule(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # dump_image writes files
    function, (more, arguments) = _core.operator_function(name), NEEDS.get(name, ((), {}))
    if _core.operator_schema(name)["random"]:
        arguments = {**arguments, "seed": 5}

    def call(x):
        return lambda: function(x, *more, **arguments)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = picture(3, 12, 20)  # only the first extent can be channels
        assert same(outcome(call(x)), outcome(call(penstock.tensor(x, "CHW"))))
    x = picture(12, 20, 3)  # only the last
    want = outcome(call(penstock.tensor(x, "HWC")))
    numpys = outcome(call(x.numpy()))
    assert name in ("gaussian_blur", "laplacian") or (
        want == numpys if isinstance(want, str) else np.array_equal(want[1], numpys[1])
    )
    with pytest.warns(UserWarning, match="is read as HWC"):
        assert same(outcome(call(x)), want)
    for shape in ((3, 12, 4), (12, 20, 7)):  # both, and none
        with pytest.raises(TypeError, match=rf"\[{name}\] a torch tensor of shape \({shape[0]}, .* are ambiguous"):
            call(picture(*shape))()


def test_the_generic_test_sees_the_operators():
    assert {
        "resize",
        "flip",
        "rotate",
        "random_resized_crop",
        "crop_mirror_normalize",
        "gaussian_blur",
        "color_twist",
        "equalize",
        "remap",
        "slice",
        "paste",
        "water",
    } <= set(IMAGES)
    assert not {"cast", "reshape", "brightness", "transpose", "cat", "decoders.image", "bb_flip"} & set(IMAGES)


@pytest.mark.parametrize("lists", [False, True])
def test_batches_of_torch_are_taken_image_by_image(lists):
    x = picture(5, 3, 12, 20)
    given = list(x) if lists else x
    y = fn.flip(given)
    assert (
        (isinstance(y, penstock.Batch) and y.layout() == "CHW")
        if lists
        else (isinstance(y, torch.Tensor) and y.shape == x.shape)
    )
    assert np.array_equal(array(y), x.flip(3).numpy())
    drawn = fn.random_resized_crop(torch.from_numpy(np.stack([picture(3, 12, 20).numpy()] * 4)), size=(6, 6), seed=1)
    drawn = array(drawn)
    assert drawn.shape == (4, 3, 6, 6) and not np.array_equal(drawn[0], drawn[1])  # one draw for each
    ragged = fn.rotate(x, angle=penstock.per_sample([0.0, 10.0, 20.0, 30.0, 40.0]))
    assert isinstance(ragged, penstock.Batch) and ragged.layout() == "CHW"
    again = fn.flip(fn.flip(x))
    assert torch.equal(again, x) and penstock.tensor(again).layout() == "NCHW"


def test_returned_arrays_keep_their_layout():
    x = np.random.default_rng(1).integers(0, 256, (6, 3, 4), dtype=np.uint8)  # its extents do not show the layout
    t = penstock.tensor(x, "HWC").torch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = fn.flip(t)
        assert np.array_equal(y.numpy(), x[:, ::-1])
        assert torch.equal(fn.flip(y), t)
        planes = fn.crop_mirror_normalize(y, std=[1.0])
        assert planes.shape == (4, 6, 3) and penstock.tensor(planes).layout() == "CHW"
        assert penstock.tensor(penstock.batch([x, x], "HWC").torch()).layout() == "NHWC"
        out = pipe_of(x).run()[0].torch()
        assert penstock.tensor(out).layout() == "NHWC" and fn.resize(out, size=(8, 9)).shape == (2, 8, 9, 4)
    for change in (
        lambda t: t.transpose_(0, 2),
        lambda t: t.transpose_(0, 1),
        lambda t: t.t_() if t.ndim == 2 else t.swapaxes_(0, 2),
        lambda t: t.unsqueeze_(0),
        lambda t: t.resize_(3, 4, 6),
    ):
        t = penstock.tensor(x, "HWC").torch().clone()
        assert not hasattr(t, "_penstock_layout")  # clone() makes a new tensor
        t = fn.copy(penstock.tensor(x, "HWC")).torch()
        change(t)
        assert penstock.tensor(t).layout() in ("", "CHW", "NCHW")  # by its extents, if at all
    assert penstock.tensor(copy.deepcopy(y)).layout() == "HWC"
    kept = io.BytesIO()
    torch.save({"x": y}, kept)
    kept.seek(0)
    assert torch.equal(torch.load(kept, weights_only=True)["x"], y)


def pipe_of(x):
    @penstock.pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        return fn.external_source(lambda: [x, x], layout="HWC", batch=True)

    return pipe()


def test_elementwise_operators_do_not_ask():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for shape in ((3, 5, 3), (5, 6, 7), (5, 6, 3), (3, 5, 6), (2, 5, 6, 7)):
            x = torch.rand(*shape)
            assert torch.equal(fn.cast(x, dtype="float64"), x.double())
            assert fn.reductions.sum(x, axes=[0]).shape == shape[1:]
            assert fn.transpose(x, perm=list(range(len(shape)))[::-1]).shape == shape[::-1]
        assert fn.slice(torch.rand(5, 6, 7), axes=[0], start=[1], shape=[2]).shape == (2, 6, 7)
        assert fn.reductions.mean(torch.rand(3, 5, 6), axis_names="HW").shape == (3,)


def test_numpy_and_pillow_stay_hwc_and_feeds_are_dalis():
    x = np.random.default_rng(1).integers(0, 256, (3, 12, 20), dtype=np.uint8)
    assert np.array_equal(fn.flip(x), x[:, ::-1])

    @penstock.pipeline_def(batch_size=2, num_threads=1)
    def pipe(feed):
        return fn.flip(fn.external_source(feed, batch=True))

    fed = pipe(lambda: [torch.from_numpy(x)] * 2).run()[0]
    assert fed.layout() == "HWC" and np.array_equal(fed.at(0), x[:, ::-1])
    kept = penstock.tensor(x, "CHW").torch()
    fed = pipe(lambda: [kept] * 2).run()[0]
    assert fed.layout() == "CHW" and np.array_equal(fed.at(0), x[:, :, ::-1])


def test_data_sets_and_containers_of_torch():
    x = picture(3, 12, 20)
    assert penstock.tensor(x).layout() == "CHW" and penstock.batch(torch.stack([x, x])).layout() == "CHW"
    assert penstock.batch([x, x[:, :6]]).layout() == "CHW" and penstock.tensor(x, "HWC").layout() == "HWC"
    assert penstock.tensor(picture(3, 5, 3)).layout() == "" and penstock.tensor(x.numpy()).layout() == ""

    class Set:
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return x, i

    @penstock.pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        image, label = fn.readers.dataset(Set())
        return fn.flip(image), fn.flip(x)

    image, constant = pipe().run()
    for out in (image, constant):
        assert out.layout() == "CHW" and np.array_equal(out.at(0), x.flip(2).numpy())


def test_a_slice_of_a_batch():
    b = penstock.batch([np.full((2, 3, 3), k, np.uint8) for k in range(5)], "HWC")
    for s in (slice(0, 3), slice(None, None, 2), slice(-2, None), slice(None, None, -1)):
        part = b[s]
        assert (
            isinstance(part, penstock.Batch)
            and part.layout() == "HWC"
            and [int(t.numpy()[0, 0, 0]) for t in part] == list(range(5))[s]
        )
    with pytest.raises(TypeError, match="the index of a batch must be a sample number or a slice, not str"):
        b["x"]
    with pytest.raises(IndexError):
        b[5:]
