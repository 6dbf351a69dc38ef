# SPDX-License-Identifier: Apache-2.0
"""From what show() gets to pictures with their marks."""

import numpy as np

from .. import _core
from .._base.element_types import DType
from .captions import captions_of
from .marks import corners, draw_boxes, draw_mask, draw_points
from .pixels import kind_of, pictures_of
from .sheet import beside, fitted, sheet_of


def arrays_of(values, layout=""):
    """(the samples as arrays, their layout)"""
    if isinstance(values, (_core.Batch, _core.Tensor)) and values.dtype == DType.BFLOAT16:
        values = type(values)(values.cpu(), values.layout(), "float32")  # NumPy may lack the type
    if isinstance(values, _core.Batch):
        batch = values.cpu()
        return [np.asarray(s.numpy()) for s in batch], layout or batch.layout()
    if isinstance(values, _core.Tensor):
        tensor = values.cpu()
        return [np.asarray(tensor.numpy())], layout or tensor.layout()
    if isinstance(values, (list, tuple)):
        parts = [arrays_of(v, layout) for v in values]
        return [s for samples, _ in parts for s in samples], parts[0][1] if parts else layout
    return [_array(values)], layout


def _array(value):
    if hasattr(value, "detach"):  # a tensor of torch, wherever it is
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    if isinstance(value, str):
        return np.frombuffer(value.encode(), np.uint8)
    made = np.asarray(value)
    if made.dtype.name == "bfloat16":
        made = made.astype(np.float32)
    if made.dtype.kind not in "biuf":
        raise TypeError(f"show() takes a Batch, a Tensor, arrays or a Sample, got {type(value).__name__}")
    return made


def _for_each(name, values, count):
    """A mark of each sample, or None. One sample takes its mark without a list around it."""
    if values is None:
        return [None] * count
    if isinstance(values, str):
        values = [values]
    if isinstance(values, _core.Batch):
        values = [s.numpy() for s in values.cpu()]
    elif isinstance(values, _core.Tensor):
        values = values.cpu().numpy()
    elif hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    deep = {"boxes": 2, "points": 2, "masks": 2, "box_labels": 1, "labels": 0}[name]
    if count == 1 and (np.ndim(values) == deep if not isinstance(values, list) else _depth(values) == deep):
        values = [values]
    if not isinstance(values, (list, tuple)) and np.ndim(values) == 0:
        raise TypeError(f"show(): {name} needs one entry for each of {count} samples, got {values!r}")
    if len(values) != count:
        raise ValueError(f"show(): {name} has {len(values)} entries for {count} samples: it needs one for each")
    return list(values)


def _depth(values):
    if not isinstance(values, (list, tuple)):
        return np.ndim(values)
    return 1 + (_depth(values[0]) if len(values) else 0)


def _of_sample(sample, marks):
    """(the image of a Sample, its other parts as marks, how its boxes are meant)"""
    from ..sample import Boxes, Image, Mask, Points, Sample, Volume
    from ..sample.layouts import as_volume

    kinds = sample.kinds if isinstance(sample, Sample) else {}
    first = lambda kind: next((n for n, k in kinds.items() if isinstance(k, kind)), None)  # noqa: E731
    image, mask, boxes, points = first(Image), first(Mask), first(Boxes), first(Points)
    if isinstance(kinds.get(image), Volume):  # slices, which have no marks
        return as_volume(sample, image), marks, ("ltrb", False)
    found = {"masks": mask if image else None, "boxes": boxes, "points": points}
    settings = ("ltrb", False)
    if boxes:
        kind = kinds[boxes]
        settings = (kind.layout, kind.normalized)
        names = (kind.labels,) if isinstance(kind.labels, str) else kind.labels
        found["box_labels"] = next((n for n in names if n in sample), None)
    made = {name: sample[part] for name, part in found.items() if part is not None}
    return sample[image or mask], {**marks, **{n: v for n, v in made.items() if marks.get(n) is None}}, settings


def shown(values, columns, size, marks, names, box_settings, before, layout, params=None):
    """The sheet of show()."""
    if isinstance(values, dict):
        if not hasattr(values, "kinds"):
            raise TypeError("show() takes a Sample, not a dict: penstock.Sample(**parts) says which part is what")
        values, marks, box_settings = _of_sample(values, marks)
    if isinstance(before, dict) and hasattr(before, "kinds"):
        before, marks_before, settings_before = _of_sample(before, {})
    else:
        marks_before, settings_before = {}, box_settings
    pictures = _marked(values, layout, size, marks, names, box_settings)
    if before is not None:
        first = _marked(before, layout, size, marks_before, names, settings_before)
        if len(first) != len(pictures):
            raise ValueError(f"show(): before has {len(first)} samples for {len(pictures)}")
        pictures = [beside([a, b]) for a, b in zip(first, pictures)]
    captions = None
    if marks["labels"] is not None or params is not None:
        labels = None if marks["labels"] is None else _for_each("labels", marks["labels"], len(pictures))
        captions = captions_of(labels, names, _params_of(params, len(pictures)))
    return sheet_of(pictures, captions, columns, size)


def _params_of(params, count):
    """The params of each sample: of Pipeline.params, or Sample.params of the only one."""
    if params is None:
        return None
    alone = isinstance(params, dict) or (params and isinstance(params[0], dict) and "op" in params[0])
    entries = [params] if alone else list(params)
    if len(entries) != count:
        raise ValueError(f"show(): params has {len(entries)} entries for {count} samples: it needs one for each")
    return entries


def _marked(values, layout, size, marks, names, box_settings):
    samples, layout = arrays_of(values, layout)
    low, high = _range([s for s in samples if s.size and s.dtype != np.uint8 and s.ndim >= 2])
    given = {n: _for_each(n, marks.get(n), len(samples)) for n in ("boxes", "box_labels", "masks", "points")}
    made = []
    for k, sample in enumerate(samples):
        own = {n: v[k] for n, v in given.items()}
        kind = kind_of(sample, layout)
        pictures = []
        for picture in pictures_of(sample, layout, low, high, size):
            extent = picture.size
            picture = fitted(picture, size)
            pictures.append(
                _with_marks(picture, extent, own, names, box_settings) if kind in ("image", "frames") else picture
            )
        made.append(beside(pictures))
    return made


def _range(samples):
    finite = [s[np.isfinite(s)] for s in samples]
    ends = [(s.min(), s.max()) for s in finite if s.size]
    return (float(min(e[0] for e in ends)), float(max(e[1] for e in ends))) if ends else (0.0, 0.0)


def _with_marks(picture, extent, own, names, box_settings):
    if own["masks"] is not None:
        picture = draw_mask(picture, np.asarray(own["masks"]))
    if own["boxes"] is not None:
        labels = own["box_labels"]
        flat = None if labels is None else labels if isinstance(labels, (list, tuple)) else np.ravel(labels).tolist()
        draw_boxes(picture, corners(np.asarray(own["boxes"]), *box_settings, extent), extent, flat, names)
    if own["points"] is not None:
        draw_points(picture, np.asarray(own["points"]), extent)
    return picture
