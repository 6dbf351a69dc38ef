# SPDX-License-Identifier: Apache-2.0
"""Which keypoint takes each place in a mirrored image."""


def mirrored_by_name(names):
    """flip_indices of names such as left_eye and right_eye: those that differ by the side alone change places."""
    number = {name.lower(): k for k, name in enumerate(names)}
    return tuple(number.get(_other_side(name.lower()), k) for k, name in enumerate(names))


def _other_side(name):
    if "left" in name:
        return name.replace("left", "right")
    return name.replace("right", "left")


def flip_indices_of(table, pairs, indices):
    """The flip_indices of a table's keypoints: as given, else by their names, else each keeps its place."""
    if pairs is not None and indices is not None:
        raise ValueError("flip_pairs and flip_indices both say what a mirror does: give one of them")
    table.check(["points"])
    count = table.columns["points"].values.shape[1]
    if indices is None and pairs is None:
        return mirrored_by_name(table.keypoints)
    if indices is None:
        indices = list(range(count))
        for pair in pairs:
            if len(pair) != 2 or not all(0 <= k < count for k in pair):
                raise ValueError(f"flip_pairs must be pairs of numbers from 0 to {count - 1}, got {pair!r}")
            indices[pair[0]], indices[pair[1]] = pair[1], pair[0]
    if len(indices) and sorted(indices) != list(range(count)):
        raise ValueError(f"flip_indices must have each number from 0 to {count - 1} once, got {list(indices)}")
    return tuple(int(k) for k in indices)
