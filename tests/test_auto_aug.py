# SPDX-License-Identifier: Apache-2.0
"""penstock.dali.auto_aug: each augmentation against DALI's, all bins and signs; policies, draws, errors."""

import subprocess

import auto_aug_oracle as oracle
import dali_oracle
import numpy as np
import pytest

import penstock
import penstock.dali
from penstock import fn
from penstock.dali.auto_aug import augmentations as a
from penstock.dali.auto_aug import auto_augment, rand_augment, trivial_augment
from penstock.dali.auto_aug.core import Policy, augmentation, select, signed_bin

# Augmentations of integers alone. The others round a half to even, and DALI away from zero: they may differ by one.
EXACT = ("posterize", "solarize", "solarize_add", "invert", "equalize", "identity")
IMAGES = [*oracle.images(), *oracle.images(5)]


def run(function, batch_size=len(IMAGES), **options):
    @penstock.pipeline_def(batch_size=batch_size, num_threads=1, **{"seed": 3, **options})
    def pipe():
        made = function(fn.external_source(lambda: IMAGES[:batch_size], layout="HWC"))
        return tuple(made) if isinstance(made, (list, tuple)) else made

    return [[np.array(b.at(i)) for i in range(batch_size)] for b in pipe().run()]


@pytest.fixture(scope="module")
def of_dali(tmp_path_factory):
    path = tmp_path_factory.mktemp("auto_aug") / "dali.npz"
    subprocess.run(
        [dali_oracle.interpreter(), "-W", "ignore", oracle.__file__, str(path)], check=True, capture_output=True
    )
    return np.load(path)


def test_augmentations_are_dalis(of_dali):
    ours = oracle.results(fn, penstock.pipeline_def, a, oracle.suites(rand_augment, trivial_augment))
    for name, arrays in ours.items():
        exact = any(word in name.split() for word in EXACT)
        for i, array in enumerate(arrays):
            theirs = of_dali[f"{name}|{i}"].astype(int)
            assert array.shape == theirs.shape and array.dtype == np.uint8, name
            difference = np.abs(array.astype(int) - theirs)
            assert difference.max() <= (0 if exact else 1) and (difference > 0).mean() < 0.25, (name, i)
    assert {n.partition("|")[0] for n in of_dali if not n.startswith("policy")} == set(ours)


def test_policies_are_dalis(of_dali):
    for name, policy in oracle.policies(auto_augment).items():
        assert policy == str(of_dali[f"policy {name}"]), name


@augmentation(mag_range=(0, 100))
def plus(data, shift):
    return fn.cast_like(data + shift, data)


@augmentation(mag_range=np.array([0, 1, 4]), mag_to_param=lambda m: np.uint8([m, m, 2 * m]), param_device="auto")
def tinted(data, tint, more=0):
    if more > 0:
        data = data | 128
    return data ^ tint


def test_magnitudes():
    bins = [np.int32(i % 3) for i in range(len(IMAGES))]

    def calls(data):
        index = fn.external_source(lambda: bins)
        return (
            plus(data, magnitude_bin=index, num_magnitude_bins=3),
            tinted(data, magnitude_bin=1, num_magnitude_bins=3),
            tinted(data, magnitude_bin=index, num_magnitude_bins=3, more=1, unused=3),
            plus.augmentation(mag_range=(0, 1), mag_to_param=lambda m: 7.0)(
                data, magnitude_bin=1, num_magnitude_bins=2
            ),
            plus.augmentation(randomly_negate=True)(
                data, magnitude_bin=signed_bin(1, random_sign=index), num_magnitude_bins=11
            ),
        )

    shifted, one, each, seven, signed = run(lambda data: calls(data))
    for i, image in enumerate(IMAGES):
        wide, k = image.astype(int), i % 3
        assert (shifted[i] == np.clip(wide + 50 * k, 0, 255)).all()
        assert (one[i] == image ^ np.uint8([1, 1, 2])).all()
        m = np.uint8([0, 1, 4])[k]
        assert (each[i] == (image | 128) ^ np.uint8([m, m, 2 * m])).all()
        assert (seven[i] == np.clip(wide + 7, 0, 255)).all()
        if k < 2:  # a sign is 0 or 1
            assert (signed[i] == np.clip(wide + (-10 if k else 10), 0, 255)).all()


def test_select_takes_the_function_of_each_sample():
    index = [np.int32(i % 5) for i in range(len(IMAGES))]
    functions = [lambda x, y, f=f, k=k: f(x, y) + k for k, f in enumerate([lambda x, y: x, lambda x, y: x - y] * 2)]
    functions.append(lambda x, y: y * 0)
    (result,) = run(lambda data: select(functions, fn.external_source(lambda: index), data, y=data & 1))
    for i, image in enumerate(IMAGES):
        x, y, k = image, image & 1, i % 5
        assert (result[i] == (y * 0 if k == 4 else (x - y if k % 2 else x) + np.uint8(k))).all()


def marks(count):
    """Augmentations that each add a number of their own, so that a sum tells which of them ran."""
    return [augmentation(lambda data, _, k=k: data + (1 << (2 * k)), name=f"m{k}") for k in range(count)]


def of_zeros(function, n=2000):
    @penstock.pipeline_def(batch_size=n, num_threads=1, seed=11)
    def pipe():
        return function(fn.external_source(lambda: [np.int32(0)] * n))

    return pipe().run()[0].as_array()


def shares(values):
    return {int(v): round((values == v).mean(), 2) for v in np.unique(values)}


def test_rand_augment_draws_with_replacement():
    values = of_zeros(lambda data: rand_augment.apply_rand_augment(marks(3), data, n=2, m=0))
    expected = {2: 1 / 9, 8: 1 / 9, 32: 1 / 9, 5: 2 / 9, 17: 2 / 9, 20: 2 / 9}
    assert shares(values) == pytest.approx(expected, abs=0.04)


def test_trivial_augment_draws_an_operation_and_a_bin():
    wide = [
        augmentation(lambda data, m, k=k: data + fn.cast_like(m + k * 10, data), mag_range=(0, 3), name=f"{k}")
        for k in range(2)
    ]
    values = of_zeros(lambda data: trivial_augment.apply_trivial_augment(wide, data, num_magnitude_bins=4))
    assert shares(values) == pytest.approx({k: 1 / 8 for k in (0, 1, 2, 3, 10, 11, 12, 13)}, abs=0.04)


def test_auto_augment_takes_the_steps_of_a_sequence():
    x, y, z = marks(3)
    policy = Policy("p", 3, [[(x, 1.0, None), (y, 0.5, None)], [(z, 0.8, None)]])
    values = of_zeros(lambda data: auto_augment.apply_auto_augment(policy, data))
    assert shares(values) == pytest.approx({1: 0.25, 5: 0.25, 16: 0.4, 0: 0.1}, abs=0.04)


@pytest.mark.parametrize("scheme", ["auto_augment", "rand_augment", "trivial_augment_wide"])
def test_draws_follow_the_seed(scheme):
    call = {
        "auto_augment": auto_augment.auto_augment,
        "rand_augment": lambda data, **given: rand_augment.rand_augment(data, 2, 20, **given),
        "trivial_augment_wide": trivial_augment.trivial_augment_wide,
    }[scheme]
    (one,), (same,), (other,) = (
        run(lambda data, s=s: call(data, seed=s, fill_value=None), seed=k) for k, s in enumerate((7, 7, 8))
    )
    assert all((p == q).all() for p, q in zip(one, same)) and any((p != q).any() for p, q in zip(one, other))
    shape = {"shape": (30, 30), "max_translate_rel": (0.2, 0.1), "interp_type": penstock.types.INTERP_NN}
    assert [r.shape for r in run(lambda data: call(data, **shape))[0]] == [i.shape for i in IMAGES]


def test_two_steps_of_one_seed_differ():
    values = of_zeros(lambda data: rand_augment.apply_rand_augment(marks(2), data, n=2, m=0, seed=5))
    assert shares(values) == pytest.approx({2: 0.25, 8: 0.25, 5: 0.5}, abs=0.05)


def test_policies_number_augmentations_of_one_name():
    policy = Policy("x", 5, [[(a.translate_x, 0.5, 1), (a.translate_x_no_shape, 0.5, 1)], [(a.invert, 1, None)]])
    assert list(policy.augmentations) == ["0__translate_x", "1__translate_x", "invert"]
    assert repr(policy).startswith(
        "Policy(name='x', num_magnitude_bins=5, sub_policies=[\n\t[('0__translate_x', 0.5, 1)"
    )
    with pytest.warns(UserWarning, match="`invert` has no magnitudes"):
        Policy("x", 5, [[(a.invert, 0.5, 3)]])


@pytest.mark.parametrize(
    ("kind", "message", "call"),
    [
        (TypeError, "`rotate` has magnitudes: pass `magnitude_bin`", lambda d: a.rotate(d)),
        (TypeError, "pass `num_magnitude_bins`", lambda d: a.rotate(d, magnitude_bin=3)),
        (IndexError, "must be from 0 to 2, got 3", lambda d: a.rotate(d, magnitude_bin=3, num_magnitude_bins=3)),
        (TypeError, "must be an integer or a value", lambda d: a.rotate(d, magnitude_bin=1.5, num_magnitude_bins=3)),
        (TypeError, "needs the argument `shape`", lambda d: a.translate_x(d, magnitude_bin=1, num_magnitude_bins=3)),
        (ValueError, "has 3 magnitudes, but", lambda d: tinted(d, magnitude_bin=1, num_magnitude_bins=5)),
        (ValueError, "policy_name must be one of", lambda d: auto_augment.auto_augment(d, "mnist")),
        (
            ValueError,
            "has no translations",
            lambda d: auto_augment.auto_augment(d, "reduced_image_net", max_translate_abs=3),
        ),
        (
            ValueError,
            "use `max_translate_rel`",
            lambda d: auto_augment.auto_augment(d, shape=(2, 3), max_translate_abs=3),
        ),
        (ValueError, "use `max_translate_abs`", lambda d: rand_augment.rand_augment(d, 1, 1, max_translate_rel=0.5)),
        (ValueError, r"from 0 to 30, got 35", lambda d: rand_augment.rand_augment(d, 2, 35)),
        (ValueError, "`n` must be an integer that is not negative", lambda d: rand_augment.rand_augment(d, -1, 5)),
        (
            ValueError,
            "none of RandAugment's augmentations",
            lambda d: rand_augment.rand_augment(d, 2, 5, excluded=["x"]),
        ),
        (ValueError, "list is empty", lambda d: rand_augment.apply_rand_augment([], d, 2, 5)),
        (ValueError, "list is empty", lambda d: trivial_augment.apply_trivial_augment([], d)),
        (ValueError, "positive integer, got 0", lambda d: trivial_augment.trivial_augment_wide(d, 0)),
        (TypeError, "`foo`, which none", lambda d: rand_augment.apply_rand_augment([a.rotate], d, 2, 5, foo=3)),
        (ValueError, "policy with steps", lambda d: auto_augment.apply_auto_augment(Policy("x", 5, []), d)),
        (ValueError, "select needs functions", lambda d: select([], d)),
        (ValueError, "needs a bin", lambda d: Policy("x", 5, [[(a.rotate, 0.5, None)]])),
        (ValueError, "from 0 to 4, got 6", lambda d: Policy("x", 5, [[(a.rotate, 0.5, 6)]])),
        (ValueError, "from 0 to 1, got 1.5", lambda d: Policy("x", 5, [[(a.invert, 1.5, None)]])),
        (TypeError, "must be a triple", lambda d: Policy("x", 5, [[(a.invert, 0.5)]])),
        (TypeError, "must be a triple", lambda d: Policy("x", 5, [(a.invert, 0.5, None)])),
        (TypeError, "needs an augmentation", lambda d: Policy("x", 5, [[("rotate", 0.5, 3)]])),
        (ValueError, "positive integer, got 0", lambda d: Policy("x", 0, [])),
        (TypeError, "two arguments by position", lambda d: augmentation(lambda x: x)),
        (TypeError, "`rotate.augmentation", lambda d: augmentation(a.rotate)),
        (ValueError, '"cpu", "gpu" or "auto"', lambda d: augmentation(param_device="tpu")(lambda x, y: x)),
        (
            ValueError,
            "a pair",
            lambda d: augmentation(mag_range=3)(lambda x, y: x)(d, magnitude_bin=0, num_magnitude_bins=3),
        ),
        (
            ValueError,
            "one type and shape",
            lambda d: a.rotate.augmentation(mag_to_param=lambda m: [m] * int(m + 1))(
                d, magnitude_bin=signed_bin(fn.random.uniform(values=[0.0, 1.0])), num_magnitude_bins=3
            ),
        ),
    ],
)
def test_refusals(kind, message, call):
    with pytest.raises(kind, match=message):
        run(call)


def test_scripts_for_dali_find_the_modules():
    penstock.dali.install()
    try:
        from nvidia.dali import auto_aug
        from nvidia.dali.auto_aug.core import signed_bin as theirs
        from nvidia.dali.auto_aug.rand_augment import rand_augment as function

        assert auto_aug.augmentations is a and theirs is signed_bin and function is rand_augment.rand_augment
    finally:
        penstock.dali.uninstall()
