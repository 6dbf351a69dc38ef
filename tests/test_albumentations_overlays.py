# SPDX-License-Identifier: Apache-2.0
"""Pictures and texts that are laid over images, and colors of light, beside Albumentations."""

import sys

import cv2
import numpy as np
import penstock
import pytest
from albumentations_oracle import theirs
from albumentations.augmentations import functional
from penstock import albumentations as ours
from penstock import fn
from penstock.albumentations import illuminants, overlays
from PIL import ImageFont
from test_albumentations import smooth

RNG = np.random.default_rng(5)
PICTURE, SHAPE = RNG.integers(0, 256, (10, 16, 3), np.uint8), np.uint8(np.eye(10, 16) > 0)


@pytest.fixture(scope="module", autouse=True)
def font(tmp_path_factory):
    """The font that Pillow brings along, as a file."""
    global FONT
    FONT = tmp_path_factory.mktemp("fonts") / "default.ttf"
    FONT.write_bytes(ImageFont.load_default(12).font_bytes)


@pytest.fixture(autouse=True)
def seeded():
    """The same draws in each run."""
    penstock.seed(5)


def laid(module, rows, **data):
    return module.Compose([module.OverlayElements(p=1.0)])(overlay_metadata=rows, **data)


def test_elements_in_boxes_are_theirs():
    image, mask = smooth(40, 60), np.zeros((40, 60), np.uint8)
    exact = {"image": PICTURE, "bbox": [0.25, 0.5, (15.5 + 16) / 60, (20.5 + 10) / 40]}  # of its own size
    for row in (exact, exact | {"mask": SHAPE}, exact | {"mask": SHAPE, "mask_id": 4}):
        got, want = (laid(m, row, image=image, mask=mask) for m in (ours, theirs))
        np.testing.assert_array_equal(got["image"], want["image"])
        np.testing.assert_array_equal(got["mask"], want["mask"])
        assert (got["image"] != image).any() and (got["mask"] != 0).any() == ("mask_id" in row)
    smaller = {"image": cv2.resize(smooth(40, 60), (32, 20)), "bbox": [0.1, 0.2, 0.5, 0.6]}
    got, want = (laid(m, [smaller, exact], image=image)["image"] for m in (ours, theirs))
    assert np.abs(got.astype(int) - want).max() <= 1


def test_elements_without_a_box_are_anywhere():
    image, seen = np.zeros((12, 18, 3), np.uint8), set()
    for _ in range(80):
        made = laid(ours, {"image": PICTURE | 1}, image=image)["image"]
        top, left = np.argwhere(made.any(-1))[0]
        np.testing.assert_array_equal(made[top : top + 10, left : left + 16], PICTURE | 1)
        seen.add((int(top), int(left)))
    assert seen == {(y, x) for y in range(3) for x in range(3)}
    large = laid(ours, {"image": np.full((30, 40, 3), 7, np.uint8)}, image=image)["image"]
    assert (large == 7).all()


def test_elements_in_a_pipeline_are_values():
    images = [smooth(40, 60), smooth(33, 47)]

    @penstock.pipeline_def(batch_size=2, num_threads=1, seed=3)
    def pipeline():
        feed = lambda values: fn.external_source(lambda: values, layout="HWC", dtype=penstock.types.UINT8, ndim=3)  # noqa: E731
        picture, shape = feed([PICTURE] * 2), feed([SHAPE[..., None]] * 2)
        rows = {"image": picture, "mask": shape, "bbox": [0.2, 0.3, 0.7, 0.9]}
        anywhere = laid(ours, {"image": picture}, image=feed(images))["image"]
        return laid(ours, rows, image=feed(images))["image"], anywhere

    made, anywhere = pipeline().run()
    for image, got, other in zip(images, made, anywhere):
        want = laid(ours, {"image": PICTURE, "mask": SHAPE, "bbox": [0.2, 0.3, 0.7, 0.9]}, image=image)["image"]
        np.testing.assert_array_equal(np.asarray(got), want)
        assert 0 < (np.asarray(other) != image).any(-1).sum() <= 160


WORDS = {"bbox": (0.05, 0.1, 0.9, 0.5), "text": "one two three four"}


def written(module, rows, image, **arguments):
    transform = module.TextImage(font_path=FONT, **arguments, p=1.0)
    return module.Compose([transform])(image=image, textimage_metadata=rows)["image"]


@pytest.mark.parametrize("color", ["red", (10, 200, 30)])
def test_texts_are_theirs(color):
    image, other = smooth(80, 120), {"bbox": (0.3, 0.6, 0.8, 0.9), "text": "five"}
    given = {"font_size_fraction_range": (0.5, 0.5), "font_color": color}
    got, want = (written(m, [WORDS, other], image, **given) for m in (ours, theirs))
    np.testing.assert_array_equal(got, want)
    assert (got != image).any()
    gray = {**given, "font_color": 255}
    got, want = (written(m, WORDS, image[..., 0], **gray) for m in (ours, theirs))
    np.testing.assert_array_equal(got, want)
    floats = written(ours, WORDS, np.float32(image) / 255, **given)
    np.testing.assert_allclose(floats * 255, written(ours, WORDS, image, **given), atol=0.01)
    assert (written(ours, [], image) == image).all()


def test_words_are_changed_as_theirs():
    rng, words = np.random.default_rng(1), WORDS["text"].split()
    for _ in range(20):
        made = overlays._said(WORDS["text"], "insertion", ["zero"], rng).split()
        assert len(made) == 6 and [w for w in made if w != "zero"] == words
        made = overlays._said(WORDS["text"], "deletion", ["zero"], rng).split()
        assert len(made) == 2 and [w for w in words if w in made] == made
        made = overlays._said(WORDS["text"], "swap", ["zero"], rng).split()
        assert made == [] or (sorted(made) == sorted(words) and made != words)
    assert overlays._said("alone", "swap", ["zero"], rng) == ""
    images = {
        written(ours, WORDS, smooth(80, 120), augmentations=["deletion"], font_size_fraction_range=(0.5, 0.5)).tobytes()
        for _ in range(30)
    }
    assert 2 <= len(images) <= 6


def test_texts_in_a_pipeline():
    image = smooth(80, 120)
    given = {"font_size_fraction_range": (0.5, 0.5), "font_color": "white"}

    @penstock.pipeline_def(batch_size=2, num_threads=1, seed=3)
    def pipeline():
        images = fn.external_source(lambda: [image] * 2, layout="HWC", dtype=penstock.types.UINT8, ndim=3)
        return written(ours, WORDS, images, **given)

    (made,) = pipeline().run()
    for got in made:
        np.testing.assert_array_equal(np.asarray(got), written(ours, WORDS, image, **given))


def test_light_is_of_the_colors_of_cie():
    """Chromaticities of CIE 15 (D50, D65, D75) and of Planck's law (2856 K is illuminant A)."""
    for kelvin, place in ((5003, (0.3457, 0.3585)), (6504, (0.3127, 0.3290)), (7504, (0.2990, 0.3149))):
        np.testing.assert_allclose(illuminants._daylight(float(kelvin)), place, atol=4e-4)
    np.testing.assert_allclose(illuminants._planck(2856.0), (0.4476, 0.4074), atol=4e-4)
    np.testing.assert_allclose(illuminants.gains("cied", 6504.0), (1, 1), atol=4e-3)
    for mode, table in functional.PLANCKIAN_COEFFS.items():
        for kelvin, (red, green, blue) in table.items():
            if kelvin >= 4000:
                np.testing.assert_allclose(
                    illuminants.gains(mode, float(kelvin)), (red / green, blue / green), rtol=0.17
                )


@pytest.mark.parametrize("method", ["uniform", "gaussian"])
def test_temperatures_are_drawn_as_theirs(monkeypatch, method):
    seen = []
    monkeypatch.setattr(illuminants, "gains", lambda mode, kelvin: seen.append(kelvin) or (2.0, 0.5))
    made = ours.PlanckianJitter(sampling_method=method, p=1.0)
    image = np.uint8([[[50, 60, 70]]])
    for _ in range(600):
        np.testing.assert_array_equal(made(image=image)["image"], [[[100, 60, 35]]])
    transform = theirs.PlanckianJitter(sampling_method=method, p=1.0)
    transform.set_random_seed(5)
    want = [transform.get_params()["temperature"] for _ in range(6000)]
    quantiles = [0.1, 0.3, 0.5, 0.7, 0.9]
    np.testing.assert_allclose(np.quantile(seen, quantiles), np.quantile(want, quantiles), rtol=0.15)
    assert 3000 <= min(seen) and max(seen) <= 15000


IMAGE = smooth(40, 60)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: ours.OverlayElements(p=1.0)(image=IMAGE), ValueError, "no overlay_metadata="),
        (lambda: laid(ours, [{"bbox": [0, 0, 1, 1]}], image=IMAGE), ValueError, "dicts with image"),
        (lambda: laid(ours, {"image": PICTURE, "bbox": [0, 0, 2, 1]}, image=IMAGE), ValueError, "parts of the image"),
        (lambda: laid(ours, {"image": PICTURE, "bbox": [0, 0, 1e-3, 1]}, image=IMAGE), ValueError, "no pixel"),
        (lambda: written(ours, {"bbox": [0, 0, 1, 1]}, IMAGE), ValueError, "bbox and text"),
        (lambda: written(ours, WORDS, IMAGE, clear_bg=True), ValueError, "fn.inpaint"),
        (lambda: written(ours, WORDS, IMAGE, augmentations=["shuffle"]), ValueError, "'deletion'"),
        (lambda: written(ours, WORDS, IMAGE[..., :2]), ValueError, "1 or 3 channels"),
        (lambda: ours.TextImage("none.ttf", p=1.0)(image=IMAGE, textimage_metadata=WORDS), ValueError, "none.ttf"),
        (lambda: ours.PlanckianJitter("sun", p=1.0)(image=IMAGE), ValueError, "'blackbody' or 'cied'"),
        (lambda: ours.PlanckianJitter(temperature_limit=(2000, 9000), p=1.0)(image=IMAGE), ValueError, "hold 6000"),
        (lambda: ours.PlanckianJitter(p=1.0)(image=IMAGE[..., 0]), ValueError, "three channels"),
    ],
)
def test_refusals_of_overlays_say_what_to_write(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_texts_need_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="pip install pillow"):
        written(ours, WORDS, IMAGE)
