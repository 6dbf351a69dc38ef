# SPDX-License-Identifier: Apache-2.0
"""Operators of a few numbers a sample: all outputs and all errors are those of the CPU, wherever the inputs are."""

import numpy as np
import pytest
from test_decoded_bytes import BLOCK, SENTENCE, lz4_block

import penstock
from penstock import _core, fn, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

# What has no form for a GPU would run on the CPU with a warning.
pytestmark = pytest.mark.filterwarnings("error::penstock.DeviceWarning")

RNG = np.random.default_rng(5)
BOXES = [np.float32([[0.1, 0.2, 0.5, 0.6], [0.3, 0.3, 0.9, 0.8]]), np.float32([[0.0, 0.0, 1.0, 1.0]])]
LABELS = [np.int32([7, 3]), np.int32([1])]
IMAGES = [RNG.integers(0, 256, (40, 50, 3), np.uint8), RNG.integers(0, 256, (31, 22, 3), np.uint8)]
IMAGES_OF_ONE = [np.ascontiguousarray(m[..., 0]) for m in IMAGES]
ANCHORS = np.float32(np.random.default_rng(3).random((700, 2)) * 0.5)
ANCHORS = np.concatenate([ANCHORS, ANCHORS + np.float32(0.3)], 1).ravel().tolist()
POLYGONS = [np.int32([[0, 0, 3], [1, 3, 6], [0, 6, 9]]), np.int32([[2, 1, 4]])]
CORNERS = [RNG.random((9, 2)).astype(np.float32), RNG.random((5, 2)).astype(np.float32)]
MATRICES = [RNG.random((2, 3)).astype(np.float32) for _ in range(2)]
FRAMES = [RNG.random((3, 2, 3)).astype(np.float32) for _ in range(2)]
MASKS = [np.int32(RNG.random((30, 40)) < 0.1), np.int32(np.zeros((3, 4)))]
BYTES = [lz4_block(SENTENCE), np.frombuffer(BLOCK, np.uint8)]
CHUNKS = [lz4_block(bytes([k, 2]) * 125) for k in range(20)]

MANY = [np.float32(np.random.default_rng(n).random((n, 4)) * 30) for n in (700, 0, 65)]
MANY = [np.concatenate([b[:, :2], b[:, :2] + b[:, 2:]], 1) for b in MANY]
SCORES = [np.float32(np.random.default_rng(n).integers(-3, 40, len(b)) / 40) for n, b in enumerate(MANY)]
CLASSES = [np.random.default_rng(n).random((len(b), 3)).astype(np.float32) for n, b in enumerate(MANY)]
NAMES = [np.int64(np.arange(len(b)) % 3) for b in MANY]

ROWS = [np.random.default_rng(n).random((n, 35)).astype(np.float32) for n in (50, 0, 3, 301)]
BYTE_ROWS = [np.uint8(r * 3) for r in ROWS]
SMOOTH = [np.uint8((m + np.roll(m, 1, 0) + np.roll(m, 1, 1) + np.roll(m, 2, 1)) // 4) for m in map(np.float32, IMAGES)]
BLOBS = [
    np.float32(np.random.default_rng(n).random((h, w, 1))) for n, (h, w) in enumerate(((134, 140), (24, 530), (9, 7)))
]
BLOBS = [fn.gaussian_blur(penstock.tensor(m, layout="HWC"), sigma=1.6).numpy()[..., 0] for m in BLOBS]
BLOBS = [np.uint8((m - m.min()) / np.ptp(m) * 255) for m in BLOBS] + [np.zeros((0, 5), np.uint8)]
HOLES = [np.uint8(np.random.default_rng(3).random(m.shape[:2]) < 0.2) for m in IMAGES]
HOLES[0][10:25, 5:40] = 7

CALLS = {
    "nms": ([MANY, SCORES], {"iou_threshold": 0.2}),
    "nms_labels": ([MANY, SCORES, NAMES], {"score_threshold": 0.1, "max_detections": 40}),
    "nms_classes": ([MANY, CLASSES], {"iou_type": "giou", "score_threshold": 0.3, "bbox_layout": "xywh"}),
    "nms_mask": ([MANY, CLASSES], {"iou_type": "diou", "bbox_layout": "cxcywh", "output_mask": True}),
    "nms_soft": ([MANY, SCORES, NAMES], {"soft": "gaussian", "score_threshold": 0.1}),
    "nms_soft_mask": ([[c[:90] for c in MANY], [c[:90] for c in CLASSES]], {"soft": "linear", "output_mask": True}),
    "nms_soft_few": ([MANY, SCORES], {"soft": "linear", "output_mask": True, "score_threshold": 0.5}),
    "box_encoder": ([BOXES, LABELS], {"anchors": ANCHORS}),
    "box_encoder_offsets": ([BOXES, LABELS], {"anchors": ANCHORS, "offset": True, "scale": 3.0, "criteria": 0.2}),
    "random_bbox_crop": (
        [BOXES, LABELS],
        {"thresholds": [0.1, 0.5], "scaling": [0.3, 1.0], "output_bbox_indices": True},
    ),
    "ssd_random_crop": ([IMAGES, BOXES, LABELS], {"num_attempts": 5}),
    "bbox_rotate": ([BOXES, LABELS], {"angle": 30.0, "input_shape": [60, 80]}),
    "random_crop_generator": ([[np.int64([480, 640, 3]), np.int64([20, 10])]], {}),
    "segmentation.select_masks": ([[np.int32([1, 0]), np.int32([2])], POLYGONS, CORNERS], {"reindex_masks": True}),
    "segmentation.random_mask_pixel": ([MASKS], {"foreground": True}),
    "roi_random_crop": ([IMAGES], {"crop_shape": [10, 10], "roi_start": [2, 3], "roi_end": [9, 20]}),
    "transforms.rotation": ([MATRICES], {"angle": 33.0, "center": [1.0, 2.0]}),
    "transforms.scale": ([FRAMES], {"scale": [2.0, 0.3], "reverse_order": True}),
    "transforms.combine": ([MATRICES, FRAMES, MATRICES], {}),
    "random.choice": ([[np.arange(12).reshape(4, 3), np.arange(9).reshape(3, 3)]], {"shape": [50]}),
    "random.choice_weighted": ([[np.int16(3), np.int16(3)]], {"shape": [50], "p": [0.2, 0.3, 0.5]}),
    "random.choice_wide": ([[np.int64(3 << 40), np.int64(5)]], {"shape": [50]}),
    "random.beta": ([[np.zeros((3, 70)), np.zeros((2, 600))]], {"alpha": 0.4, "beta": 3.0}),
    "get_property": ([IMAGES], {"key": "layout"}),
    "shapes": ([IMAGES], {}),
    "decoders.inflate": ([BYTES], {"shape": [250]}),
    "decoders.inflate_bool": ([BYTES], {"shape": [250], "dtype": "bool"}),
    "decoders.inflate_chunks": (
        [[np.concatenate(CHUNKS)] * 2],
        {"shape": [125], "dtype": "int16", "chunk_sizes": [len(c) for c in CHUNKS]},
    ),
}
CALLS |= {
    "label_rows": ([[m % 3 for m in IMAGES_OF_ONE]], {"statistics": True, "min_size": 2}),
    "label_values": ([[m % 3 for m in IMAGES_OF_ONE]], {"statistics": True, "by_value": True, "connectivity": 4}),
    "min_area_rect": ([CORNERS], {}),
    "find_homography_ransac": (
        [CORNERS, [c * 2 + c[::-1] * np.float32(0.01) for c in CORNERS]],
        {"method": "ransac", "threshold": 0.1, "return_inliers": True},
    ),
    "find_homography": ([CORNERS, [c + c[::-1] for c in CORNERS]], {}),
    "draw_boxes_names": (
        [IMAGES, [b * 30 for b in BOXES], LABELS],
        {"names": ["a", "bc"], "thickness": 3, "fill_opacity": 0.5, "color": [9, 90, 255, 255, 0, 0]},
    ),
    "match": ([ROWS, ROWS[::-1]], {}),
    "match_three": ([ROWS, ROWS[::-1]], {"count": 3, "norm": "l1"}),
    "match_mutual": ([ROWS, ROWS[::-1]], {"cross_check": True}),
    "match_bytes": ([BYTE_ROWS, BYTE_ROWS[::-1]], {"cross_check": True}),
    "match_bits": ([BYTE_ROWS, BYTE_ROWS[::-1]], {"count": 2, "norm": "hamming"}),
    "canny": ([IMAGES], {"low": 150.0, "high": 700.0}),
    "canny_smooth": ([SMOOTH], {"low": 20.0, "high": 90.0, "squared_sizes": True}),
    "canny_five": ([SMOOTH], {"low": 200.0, "high": 900.0, "window_size": 5}),
    "canny_seven": ([IMAGES_OF_ONE], {"low": 900.0, "high": 9000.0, "window_size": 7, "squared_sizes": True}),
    "inpaint": ([IMAGES, HOLES], {}),
    "inpaint_wide": ([[np.float32(m) for m in IMAGES_OF_ONE], [h > 0 for h in HOLES]], {"radius": 6, "slopes": True}),
    "sift": ([BLOBS], {}),
    "sift_best": ([[m[..., None] for m in BLOBS]], {"max_features": 9, "octave_layers": 2, "edge_threshold": 15.0}),
    "sift_all": ([BLOBS[:2]], {"expand": False, "contrast_threshold": 0.0, "octave_layers": 4, "sigma": 1.3}),
    "sift_wide": ([BLOBS[:1]], {"sigma": 10.0, "octave_layers": 1, "contrast_threshold": 0.0}),
    "box_blur_regions": ([IMAGES, [b * 30 for b in BOXES]], {"window_size": [9]}),
}
SEEDED = {"random_bbox_crop", "ssd_random_crop", "random_crop_generator", "roi_random_crop"}


def call(name, inputs, arguments, moved=lambda b: b, **more):
    """All outputs as arrays, or the error as text."""
    operator = name
    while operator not in _core.operators(True):
        operator = operator.rpartition("_")[0]
    function = _core.operator_function(operator)
    batches = [moved(penstock.batch([np.asarray(v) for v in x])) for x in inputs]
    if _core.operator_schema(operator)["random"]:
        more["seed"] = 9
    try:
        out = function(*batches, **arguments, **more)
    except (ValueError, TypeError, penstock.DataError) as error:
        return type(error), str(error)
    out = out if isinstance(out, tuple) else (out,)
    return [[np.array(t.numpy()) for t in o.cpu()] for o in out]


def assert_same(got, want):
    assert isinstance(want, list) and isinstance(got, list), (got, want)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        for x, y in zip(a, b):
            assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())


@pytest.mark.parametrize("name", CALLS)
def test_all_outputs_are_those_of_the_cpu(name):
    inputs, arguments = CALLS[name]
    want = call(name, inputs, arguments)
    assert_same(call(name, inputs, arguments, device="gpu"), want)
    assert_same(call(name, inputs, arguments, moved=penstock.Batch.gpu), want)


def test_sift_refuses_more_extrema_than_it_has_room_for():
    y, x = np.mgrid[:70, :70]
    dots = np.uint8((x % 3 == 0) & (y % 3 == 0)) * np.uint8(255)
    given = {"sigma": 0.6, "expand": False, "contrast_threshold": 0.0, "edge_threshold": 1e6}
    kind, text = call("sift", [[BLOBS[0], dots]], given, device="gpu")
    assert kind is ValueError and "more than 1024 extrema" in text and "sample 1" in text
    assert len(call("sift", [[dots]], given)[0][0]) > 1024


@pytest.mark.parametrize("no_fixed_points", [False, True])
def test_permutations(no_fixed_points):
    def order(**more):
        return fn.batch_permutation(batch_size=9, seed=4, no_fixed_points=no_fixed_points, **more)

    there = order(device="gpu")
    assert there.device != "cpu"
    assert [int(t.numpy()) for t in there.cpu()] == [int(t.numpy()) for t in order()]


BAD = {
    "box_encoder": ([[BOXES[0], np.float32([[0.5, 0.1, 0.2, 0.6]])], LABELS], {"anchors": ANCHORS}),
    "random_bbox_crop": ([[BOXES[0], np.float32([[0.5, 0.1, 0.2, 0.6]])], LABELS], {}),
    "ssd_random_crop": ([IMAGES, [BOXES[0], np.float32([[0.5, 0.1, 0.2, 0.6]])], LABELS], {}),
    "bbox_rotate": ([[np.float32([[0, 0, 9, 1]]), BOXES[1]]], {"angle": 3.0, "input_shape": [6, 8]}),
    "random_crop_generator": ([[np.int64([480, 640]), np.int64([-20, 10])]], {}),
    "segmentation.select_masks": ([[np.int32([1, 5]), np.int32([2])], POLYGONS, CORNERS], {}),
    "segmentation.select_masks_twice": ([[np.int32([1, 1]), np.int32([2])], POLYGONS, CORNERS], {}),
    "roi_random_crop": ([IMAGES], {"crop_shape": [99, 10], "roi_start": [2, 3], "roi_end": [9, 20]}),
    "random.choice": ([[np.int32(4), np.int32(0)]], {}),
    "random.choice_p": ([[np.int32(4), np.int32(3)]], {"p": [0.5, 0.5]}),
    "random.beta": ([[np.zeros(3)]], {"alpha": -1.0}),
    "_take": ([IMAGES, [np.int32([3, -41]), np.int32([1])]], {}),
    "_take_later": ([IMAGES, [np.int32([3, 39]), np.int32([1] * 300 + [31, 32, 33])]], {}),
    "_assign_at": ([IMAGES, [np.int32([3, 40]), np.int32([1])], [np.uint8(1), np.uint8(2)]], {}),
    "decoders.inflate_short": ([[BYTES[0], BYTES[1][:-1]]], {"shape": [250]}),
    "decoders.inflate_long": ([BYTES], {"shape": [249]}),
    "decoders.inflate_back": ([[np.frombuffer(b"\x00\x01\x00", np.uint8)]], {"shape": [4]}),
    "decoders.inflate_more": ([BYTES], {"shape": [251]}),
    "decoders.inflate_none": ([[np.frombuffer(b"\x10", np.uint8)]], {"shape": [1]}),
    "decoders.inflate_chunk": ([BYTES], {"shape": [250], "chunk_sizes": [1000]}),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_are_those_of_the_cpu(name):
    inputs, arguments = BAD[name]
    want = call(name, inputs, arguments)
    assert isinstance(want, tuple)
    assert call(name, inputs, arguments, device="gpu") == want
    assert call(name, inputs, arguments, moved=penstock.Batch.gpu) == want


def test_damaged_blocks_never_give_other_bytes():
    rng = np.random.default_rng(8)
    blocks = []
    for data in [SENTENCE, bytes(rng.integers(0, 4, 250, np.uint8)), bytes(250)]:
        for _ in range(60):
            block = lz4_block(data).copy()
            for at in rng.integers(0, len(block), rng.integers(1, 4)):
                block[at] = rng.integers(0, 256)
            blocks.append(block[: rng.integers(1, len(block) + 1)] if rng.random() < 0.2 else block)
    kinds = set()
    for block in blocks:
        want = call("decoders.inflate", [[block]], {"shape": [250]})
        got = call("decoders.inflate", [[block]], {"shape": [250]}, moved=penstock.Batch.gpu)
        kinds.add(type(want))
        if isinstance(want, tuple):
            assert got == want
        else:
            assert_same(got, want)
    assert kinds == {tuple, list}


def given(arrays, layout="", **more):
    return fn.external_source(lambda: penstock.batch(arrays, layout=layout), device="cpu", **more)


def subscripts(image):
    chosen = image[[3, -1, 0, 3]]
    bright = image > 128
    some = image[bright]
    image[[1, 1, 2]] = 7
    image[bright] = 200
    return chosen, some, image


def crops(image, boxes, labels, device):
    window = fn.ssd_random_crop(image, boxes, labels, num_attempts=4, device=device)
    begin, extents, kept = fn.random_bbox_crop(boxes, scaling=[0.3, 1.0], seed=2, device=device)
    turned, names = fn.bbox_rotate(boxes, labels, angle=20.0, input_shape=[40, 50], device=device)
    return *window, begin, extents, kept, turned, names


def run(define):
    @penstock.pipeline_def(batch_size=2, num_threads=2, device_id=0, seed=11)
    def made():
        return tuple(v.gpu() for v in define())

    pipe = made()
    pipe.build()
    return [
        [(np.array(t.numpy()).shape, np.array(t.numpy()).tobytes()) for v in pipe.run() for t in v.cpu()]
        for _ in range(3)
    ]


def test_subscripts_in_a_pipeline():
    known = {"dtype": types.UINT8, "ndim": 3}  # what tells a mask from an index
    here = run(lambda: subscripts(given(IMAGES, **known)))
    assert run(lambda: subscripts(given(IMAGES, **known).gpu())) == here


@pytest.mark.parametrize("boxes_there", [False, True])
def test_crops_in_a_pipeline(boxes_there):
    def there():
        boxes, labels = given(BOXES), given(LABELS)
        if boxes_there:
            boxes, labels = boxes.gpu(), labels.gpu()
        return crops(given(IMAGES, "HWC").gpu(), boxes, labels, "gpu")

    assert run(there) == run(lambda: crops(given(IMAGES, "HWC"), given(BOXES), given(LABELS), "cpu"))


def test_boxes_that_the_host_has_are_not_copied():
    @penstock.pipeline_def(batch_size=2, num_threads=2, device_id=0)
    def made():
        return fn.ssd_random_crop(given(IMAGES, "HWC").gpu(), given(BOXES), given(LABELS), device="gpu")

    pipe = made()
    pipe.build()
    moved = [line for line in pipe.plan().splitlines() if "transfer" in line or "copy" in line]
    assert len(moved) == 1, pipe.plan()
