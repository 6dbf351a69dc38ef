# SPDX-License-Identifier: Apache-2.0
"""Augmentations and policies for either library: run with DALI's Python, it writes DALI's results to a file.

python auto_aug_oracle.py FILE
"""

import sys

import numpy as np

BINS = 7
SIZES = ((31, 40), (17, 23), (64, 33), (5, 8), (40, 40), (1, 1), (24, 90))


def images(seed=0):
    """One image for each bin: noise over a ramp, so that neither its extremes nor its mean are special."""
    rng = np.random.default_rng(seed)
    made = []
    for h, w in SIZES:
        ramp = np.linspace(20, 180, h * w * 3).reshape(h, w, 3)
        made.append((ramp + rng.integers(0, 60, (h, w, 3))).astype(np.uint8))
    return made


def videos():
    return [np.stack([image, image[::-1], 255 - image]) for image in images(1)]


VIDEO = ("shear_y", "rotate", "contrast", "sharpness", "auto_contrast", "equalize", "translate_x", "solarize_add")


def results(fn, pipeline_def, augmentations, suites):
    """Each augmentation of each suite, with all bins and both signs, from one pipeline."""
    signed, names = signed_bin(pipeline_def), []

    def source(values, **given):
        return fn.external_source(lambda: values, batch=True, **given)

    @pipeline_def(batch_size=BINS, num_threads=1, device_id=None)
    def pipe():
        pictures, clips, outputs = source(images(), layout="HWC"), source(videos(), layout="FHWC"), []
        shape = source([np.int32(size) for size in SIZES])
        bins = source([np.int32(k) for k in range(BINS)])
        signs = [source([np.int32(sign)] * BINS) for sign in (0, 1)]

        def add(name, augmentation, data, sign, **given):
            names.append(name)
            magnitude = {"magnitude_bin": signed(bins, signs[sign]), "num_magnitude_bins": BINS}
            outputs.append(augmentation(data, **magnitude, shape=shape, **given))

        for suite, all_ in suites.items():
            for k, augmentation in enumerate(all_):
                for sign in (0, 1):
                    add(f"{suite} {k} {augmentation.name} {sign}", augmentation, pictures, sign)
        for name in VIDEO:
            add(f"video {name}", getattr(augmentations, name), clips, 1)
        add("rotate, border", augmentations.rotate, pictures, 0, fill_value=None)
        add("solarize_add", augmentations.solarize_add, pictures, 0)
        return tuple(outputs)

    pipe = pipe()
    pipe.build()
    return {name: [np.array(batch.at(i)) for i in range(BINS)] for name, batch in zip(names, pipe.run())}


def signed_bin(pipeline_def):
    if pipeline_def.__module__.startswith("penstock"):
        from penstock.dali.auto_aug.core import signed_bin
    else:
        from nvidia.dali.auto_aug.core import signed_bin
    return signed_bin


def suites(rand_augment, trivial_augment):
    return {
        "rand": rand_augment.get_rand_augment_suite(),
        "rand_shape": rand_augment.get_rand_augment_suite(True)[:2],
        "not_monotonic": rand_augment.get_rand_augment_non_monotonic_suite()[5:11],
        "trivial": trivial_augment.get_trivial_augment_wide_suite(),
    }


def policies(auto_augment):
    """The policies as data."""
    made = {
        "image_net": auto_augment.get_image_net_policy(),
        "reduced_image_net": auto_augment.get_reduced_image_net_policy(),
        "svhn": auto_augment.get_svhn_policy(True),
        "reduced_cifar10": auto_augment.get_reduced_cifar10_policy(False, (10, 20)),
    }
    return {
        name: repr([[(a.name, p, m, a.mag_range, a.randomly_negate) for a, p, m in s] for s in policy.sub_policies])
        for name, policy in made.items()
    }


if __name__ == "__main__":
    from nvidia.dali import fn, pipeline_def
    from nvidia.dali.auto_aug import augmentations, auto_augment, rand_augment, trivial_augment

    found = results(fn, pipeline_def, augmentations, suites(rand_augment, trivial_augment))
    arrays = {f"{name}|{i}": a for name, all_ in found.items() for i, a in enumerate(all_)}
    np.savez(sys.argv[1], **arrays, **{f"policy {k}": np.array(v) for k, v in policies(auto_augment).items()})
