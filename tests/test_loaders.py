# SPDX-License-Identifier: Apache-2.0
"""One-line loaders: what they print is a program that gives the same batches, bit for bit."""

import itertools
import json
import re

import annotation_files
import cv2
import numpy as np
import pytest
import torch

import penstock
from penstock import DataError, fn, pipeline_def

COUNTS = {"cats": 9, "dogs": 4, "owls": 2}


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        a, b = list(a.values()), list(b.values())
    if isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype and a.shape == b.shape and a.numpy().tobytes() == b.numpy().tobytes()
    else:
        assert a == b


def check_program(loader):
    """The text, run by itself, gives the batches of two epochs."""
    names = dict(loader.given)
    exec(loader.program, names)
    first, second = ([b for _ in range(2) for b in one] for one in (loader, names["loader"]))
    assert len(first) == 2 * len(loader)
    same(first, second)
    return first


def test_a_batch_is_a_dict_as_torch_makes_one(photos):
    batch = next(iter(penstock.image_folder(photos, size=8, batch_size=4, shuffle=False)))
    assert type(batch) is dict and [*batch] == ["image", "label"]
    images, labels = batch.values()
    assert images is batch["image"] and labels.tolist() == [0, 0, 0, 0]


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return annotation_files.class_folders(tmp_path_factory.mktemp("photos"), COUNTS)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"limit": 7},
        {"where": {"label": ["cats", "owls"]}},
        {"sampler": "balanced"},
        {"augment": "trivial_augment_wide"},
        {"weights": {"cats": 1, "dogs": 0, "owls": 3}},
        {"where": lambda row: row["label"] > 0},
        {"augment": lambda x: fn.invert(x)},
        {"weights": list(range(15))},
    ],
    ids=lambda more: "_".join([*more, *(type(v).__name__ for v in more.values())]) if isinstance(more, dict) else None,
)
def test_image_folder(photos, training, more):
    loader = penstock.image_folder(photos, batch_size=4, size=(16, 24), training=training, num_threads=1, **more)
    assert loader.classes == list(COUNTS) and loader.class_to_idx["dogs"] == 1
    for batch in check_program(loader):
        assert batch["image"].shape[1:] == (3, 16, 24) and batch["image"].dtype == torch.float32
        assert batch["label"].dtype == torch.int64 and batch["label"].ndim == 1


def test_validation_is_each_image_once_in_order(photos):
    loader = penstock.image_folder(photos, batch_size=4, size=16, training=False)
    assert torch.cat([b["label"] for b in loader]).tolist() == [0] * 9 + [1] * 4 + [2] * 2


def test_weights_draw_as_often_as_they_say(photos):
    loader = penstock.image_folder(
        photos, batch_size=15, size=8, weights={"cats": 1, "dogs": 0, "owls": 3}, num_threads=1
    )
    drawn = torch.cat([b["label"] for _ in range(60) for b in loader])
    counts = torch.bincount(drawn, minlength=3).tolist()
    # a cat weighs 1, an owl 3: 9 to 6 of 15
    assert counts[1] == 0 and abs(counts[0] / sum(counts) - 0.6) < 0.08
    epochs = drawn.reshape(60, 15)
    assert len({tuple(e.tolist()) for e in epochs}) > 50  # each epoch draws anew


def test_resume_is_exact_with_weights(photos):
    def make():
        return penstock.image_folder(photos, batch_size=4, size=8, sampler="balanced", seed=3)

    one, two = make(), make()
    batches = []
    for k, batch in enumerate(one):
        batches.append(batch)
        if k == 1:
            state = one.state_dict()
    two.load_state_dict(state)
    same(batches[2:], list(two))


def test_shards_cover_the_files_once(photos):
    labels = [
        b["label"]
        for r in range(2)
        for b in penstock.image_folder(photos, batch_size=4, size=8, shard_id=r, num_shards=2, limit=14)
    ]
    assert len(torch.cat(labels)) == 14


def test_shards_draw_different_rows_by_weight(tmp_path):
    annotation_files.class_folders(tmp_path, {"a": 20, "b": 20})
    drawn = []
    for rank in range(2):
        table = penstock.annotations.image_folder(str(tmp_path))

        @pipeline_def(batch_size=20, num_threads=1, seed=5)
        def rows(table=table, rank=rank):
            return table.read(weights=[1] * 40, shard_id=rank, num_shards=2)[1]

        drawn.append([int(t.numpy()) for t in rows().run()[0]])
    assert len(set(drawn[0]) - set(drawn[1])) > 3 and drawn[0] != drawn[1]


def test_manifest_of_images_has_texts(photos, tmp_path):
    lines = [f"{photos}/cats/00{k}.png,cat {k},{'a' if k % 2 else 'b'}" for k in range(4)]
    (tmp_path / "list.csv").write_text("path,caption,label\n" + "\n".join(lines))
    loader = penstock.image_folder(tmp_path / "list.csv", batch_size=4, size=8, training=False, text=["caption"])
    batch = check_program(loader)[0]
    assert batch["caption"] == [f"cat {k}" for k in range(4)] and batch["label"].tolist() == [
        1 if k % 2 == 0 else 0 for k in range(4)
    ]


@pytest.mark.parametrize("training", [True, False])
def test_detection_of_coco(tmp_path, training):
    root = annotation_files.coco(tmp_path)
    loader = penstock.detection(tmp_path / "coco.json", tmp_path / "images", size=64, batch_size=6, training=training)
    batches = check_program(loader)
    assert loader.classes == ["cat", "dog", "bus"] and batches[0]["image"].shape == (6, 3, 64, 64)
    assert all(l.dtype == torch.int64 and len(l) == len(b) for l, b in zip(batches[0]["labels"], batches[0]["boxes"]))
    if not training:
        for k, (h, w) in enumerate(annotation_files.SIZES):
            scale = 64 / max(h, w)
            # the crop begins at a whole pixel
            left, top = (64 - w * scale) / 2, (64 - h * scale) / 2
            boxes = np.array([a["bbox"] for a in root["annotations"] if a["image_id"] == 10 + k]).reshape(-1, 4)
            boxes[:, 2:] += boxes[:, :2]
            expected = boxes * scale + [left, top, left, top]
            np.testing.assert_allclose(batches[0]["boxes"][k], expected, atol=0.501)


def test_detection_of_yolo_voc_labelme(tmp_path):
    annotation_files.images(tmp_path / "images", [(40, 40), (20, 40)])
    (tmp_path / "images" / "000.txt").write_text("0 0.5 0.5 0.5 0.25\n")
    loader = penstock.detection(tmp_path / "images", size=80, training=False, batch_size=2)
    np.testing.assert_allclose(check_program(loader)[0]["boxes"][0], [[20, 30, 60, 50]], atol=1e-3)
    text = "<annotation><filename>000.png</filename><object><name>dog</name><bndbox><xmin>11</xmin><ymin>16</ymin><xmax>30</xmax>"
    (tmp_path / "Annotations").mkdir()
    (tmp_path / "Annotations" / "a.xml").write_text(text + "<ymax>25</ymax></bndbox></object></annotation>")
    loader = penstock.detection(tmp_path / "Annotations", tmp_path / "images", size=80, training=False)
    np.testing.assert_allclose(check_program(loader)[0]["boxes"][0], [[20, 30, 60, 50]], atol=1e-3)
    shape = {"label": "dog", "shape_type": "rectangle", "points": [[10, 15], [30, 25]]}
    root = {"imagePath": "000.png", "imageHeight": 40, "imageWidth": 40, "shapes": [shape]}
    (tmp_path / "images" / "000.json").write_text(json.dumps(root))
    loader = penstock.detection(tmp_path / "images", format="labelme", size=80, training=False, pad=-1)
    np.testing.assert_allclose(check_program(loader)[0]["boxes"][0], [[20, 30, 60, 50]], atol=1e-3)


@pytest.mark.parametrize("training", [True, False])
def test_segmentation(tmp_path, training):
    for name in annotation_files.images(tmp_path / "images", [(40, 60), (33, 57), (64, 31)]):
        image = cv2.imread(str(tmp_path / "images" / name))
        (tmp_path / "masks").mkdir(exist_ok=True)
        cv2.imwrite(str(tmp_path / "masks" / name), (np.indices(image.shape[:2]).sum(0) // 20).astype(np.uint8))
    loader = penstock.segmentation(tmp_path / "images", tmp_path / "masks", size=32, batch_size=3, training=training)
    batch = check_program(loader)[0]
    assert batch["mask"].shape == (3, 32, 32) and batch["mask"].dtype == torch.int64 and batch["mask"].max() <= 5


def test_segmentation_of_coco(tmp_path):
    annotation_files.coco(tmp_path)
    loader = penstock.segmentation(tmp_path / "images", tmp_path / "coco.json", size=32, batch_size=6, training=False)
    assert check_program(loader)[0]["mask"].max() <= 3


def test_segmentation_of_labelme(tmp_path):
    annotation_files.images(tmp_path, [(40, 80)])
    shapes = [
        {"label": "owl", "shape_type": "rectangle", "points": [[40, 10], [60, 30]]},
        {"label": "dog", "shape_type": "polygon", "points": [[0, 0], [20, 0], [20, 40], [0, 40]]},
    ]
    root = {"imagePath": "000.png", "imageHeight": 40, "imageWidth": 80, "shapes": shapes}
    (tmp_path / "000.json").write_text(json.dumps(root))
    loader = penstock.segmentation(tmp_path, tmp_path, size=(40, 80), training=False)
    expected = np.zeros((1, 40, 80), np.int64)
    expected[:, 10:30, 40:60], expected[:, :, :20] = 2, 1
    assert loader.classes == ["dog", "owl"]
    np.testing.assert_array_equal(check_program(loader)[0]["mask"], expected)


def test_masks_with_a_palette_are_refused(tmp_path):
    name = annotation_files.images(tmp_path / "images", [(8, 8)])[0]
    annotation_files.images(tmp_path / "masks", [(8, 8)])
    with pytest.raises(DataError, match="three colors.*one channel"):
        penstock.segmentation(tmp_path / "images", tmp_path / "masks")
    (tmp_path / "masks" / name).unlink()
    annotation_files.images(tmp_path / "masks" / "other", [(8, 8)])
    with pytest.raises(DataError, match="no file 000"):
        penstock.segmentation(tmp_path / "images", tmp_path / "masks")


def test_speech(tmp_path):
    names = annotation_files.recordings(tmp_path, [0.3, 0.5, 0.2])
    rows = [{"audio_filepath": n, "text": f"ä {n}", "speaker": f"s{k}", "age": 20 + k} for k, n in enumerate(names)]
    (tmp_path / "m.json").write_text("".join(json.dumps(r) + "\n" for r in rows))
    loader = penstock.speech(tmp_path / "m.json", columns=["text", "speaker", "age"], batch_size=3, training=False)
    batch = check_program(loader)[0]
    assert batch["text"] == ["ä 0.wav", "ä 1.wav", "ä 2.wav"] and batch["speaker"] == ["s0", "s1", "s2"]
    assert batch["age"].tolist() == [20, 21, 22] and batch["lengths"].tolist() == [31, 51, 21]
    assert batch["features"].shape == (3, 80, 51) and batch["features"][2, :, 21:].abs().max() == 0
    for f, n in zip(batch["features"], batch["lengths"]):
        np.testing.assert_allclose(f[:, :n].mean(1), 0, atol=1e-4)


def test_speech_reads_the_part_that_a_row_names(tmp_path):
    annotation_files.recordings(tmp_path, [1.0])
    rows = [{"audio_filepath": "0.wav", "offset": o, "duration": 0.25} for o in (0, 0.5)]
    (tmp_path / "m.json").write_text("".join(json.dumps(r) + "\n" for r in rows))
    batch = check_program(penstock.speech(tmp_path / "m.json", batch_size=2, training=False))[0]
    assert batch["lengths"].tolist() == [26, 26] and not torch.equal(*batch["features"])


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"num_workers": 4}, "use num_threads"),
        ({"drop_last": True}, "use last_batch='drop'"),
        ({"batchsize": 4}, "did you mean 'batch_size'"),
        ({"colour": 1}, "the arguments are batch_size"),
        ({"device": "cuda"}, "'cpu' or 'gpu', got 'cuda': device='gpu', device_id=0 is torch's 'cuda:0'"),
        ({"device": torch.device("cuda")}, "device='gpu', device_id=0"),
        ({"device": "tpu"}, "'cpu' or 'gpu', got 'tpu'$"),
        ({"pin_memory": True}, "use device='gpu'"),
        ({"collate_fn": list}, "use a pipeline of your own: .program"),
        ({"rank": 1}, "use shard_id"),
        ({"sampler": "equal"}, "'balanced'"),
        ({"weights": [1]}, "one number for each of 15 rows"),
        ({"weights": {"cats": 1}}, "all classes: cats, dogs, owls"),
        ({"weights": [-1] * 15}, "not negative"),
        ({"size": "big"}, "size must be"),
        ({"augment": "rand"}, "rand_augment"),
        ({"where": {"color": 1}}, "no column 'color': the columns are label"),
        ({"where": {"label": "cows"}}, "no class 'cows': the classes are cats"),
        ({"where": {"label": 7}}, "leave none"),
        ({"limit": 0}, "at least 1"),
        ({"text": ["caption"]}, "no column 'caption'"),
    ],
)
def test_wrong_arguments_say_what_to_write(photos, arguments, said):
    with pytest.raises((TypeError, ValueError), match=said):
        penstock.image_folder(photos, **arguments)


def test_detection_of_no_format(tmp_path):
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(ValueError, match="or give format="):
        penstock.detection(tmp_path / "a.csv")


def test_missing_folders():
    for call in (penstock.image_folder, penstock.detection):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            call("nowhere/at_all")


@pytest.mark.parametrize("what", ["picture", "sound", "shard", "augment"])
def test_errors_name_the_line_of_the_call(photos, tmp_path, what):
    """Not a line of the loader's program; that of the function, where a function of the user's is at fault."""
    annotation_files.class_folders(tmp_path, {"a": 1})
    (tmp_path / "a" / "torn.jpg").write_bytes(b"\xff\xd8\xff no picture")
    (tmp_path / "torn.wav").write_bytes(b"RIFF no sound")
    (tmp_path / "list.csv").write_text(f"file,text\n{tmp_path}/torn.wav,hello\n")
    calls = {
        "picture": (lambda: penstock.image_folder(tmp_path, size=8), r"\[decoders.image\] .*torn.jpg"),
        "sound": (lambda: penstock.speech(tmp_path / "list.csv"), r"\[decoders.audio\] .*torn.wav"),
        "shard": (lambda: penstock.image_folder(photos, shard_id=2, num_shards=2), r"\[readers.file\] shard_id"),
        "augment": (lambda: penstock.image_folder(photos, augment=blurred), r"\[gaussian_blur\] sigma"),
    }
    blurred = lambda image: fn.gaussian_blur(image, sigma=-1.0)  # noqa: E731
    call, cause = calls[what]
    line = (blurred if what == "augment" else call).__code__.co_firstlineno
    with pytest.raises((DataError, ValueError), match=rf"(?s){cause}.*\n  at {re.escape(__file__)}:{line}$"):
        list(call())


def test_the_seed_of_a_loader_decides_the_order_of_all_shards(photos, tmp_path):
    files = sorted(photos.rglob("*.png"))
    (tmp_path / "list.csv").write_text(
        "file,label,name\n" + "".join(f"{f},x,{f.parent.name}/{f.name}\n" for f in files)
    )

    def names(shards, **seed):
        given = {"size": 8, "batch_size": 4, "text": ["name"], "num_shards": shards, **seed}
        loaders = [penstock.image_folder(tmp_path / "list.csv", shard_id=r, **given) for r in range(shards)]
        dealt = [[n for b in loader for n in b["name"]] for loader in loaders]
        return [n for turn in itertools.zip_longest(*dealt) for n in turn if n]

    orders = [names(1, seed=seed) for seed in (0, 3, 4)]
    assert [names(shards, seed=seed) for shards in (2, 3) for seed in (0, 3, 4)] == orders * 2
    assert len(set(map(tuple, orders))) == 3 and len(set(orders[0])) == 15
