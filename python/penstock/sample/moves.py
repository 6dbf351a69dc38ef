# SPDX-License-Identifier: Apache-2.0
"""Where the parts of a sample go when an operator moves its pixels."""

from __future__ import annotations

from .. import _core
from .._base.frames import at_line, user_line
from .calls import Calls
from .checks import check, check_extents, of_part
from .layouts import images_of, pixel_parts, rows_of, wanted, with_layout
from .parts import Boxes, Image, Instances, Keypoints, Points
from .waiting import Waiting, region_now
from .way_back import described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sample import Sample


_TAKE_NO_FRAMES = ("paste",)


def _as_frames(value, calls):
    """(a stack of masks as an operator takes it, what makes of the result what the stack was)"""
    frames, as_before = with_layout(value, "FHW", calls)
    if calls.op not in _TAKE_NO_FRAMES:
        return frames, as_before
    channels = calls("reshape", (calls("transpose", (frames,), {"perm": [1, 2, 0]}),), {"layout": "HWC"})
    back = lambda made: calls("transpose", (made,), {"perm": [2, 0, 1]})  # noqa: E731
    return channels, lambda made: as_before(calls("reshape", (back(made),), {"layout": "FHW"}))


def _taken(sample, name, value, calls):
    """(a part of pixels as operators take it, what makes of their result what the part was)"""
    layout = wanted(sample, name, value)
    frames = layout == "FHW" and not isinstance(sample.kinds[name], Image)
    return _as_frames(value, calls) if frames else with_layout(value, layout, calls)


def _move_masks(kind, frames, rest, calls, sized):
    result, size = calls.of_mask_pixels((frames, *rest), kind, sized)
    return result if calls.keeps_type else calls("cast_like", (result, frames), {}), size


def _compare(seen, calls):
    """Refuses parts that have not the height and the width of the first one."""
    first, *others = seen
    for name in others:
        calls("_same_extents", (seen[first], seen[name]), {"names": [first, name], "checked_for": calls.op})


def _compare_rows(sample, parts, calls):
    """Refuses parts that have not a row for each box, where that is known when the pipeline runs."""
    for boxes, kind in sample.kinds.items():
        if isinstance(kind, Boxes):
            for name in rows_of(sample, boxes):
                given = {"names": [boxes, name], "checked_for": calls.op, "rows": True}
                with of_part(name):
                    calls("_same_extents", (parts[boxes], parts[name]), given)


def _move_pixels(sample, rest, calls, parts):
    """The images and masks, moved; and what the map of points reads of each: the part itself, or its extents."""
    taken = {name: _taken(sample, name, parts[name], calls) for name in pixel_parts(sample)}
    seen = {name: value for name, (value, _) in taken.items()}
    compared = sample._compared or len(seen) == 1
    if not (compared or calls.in_pipeline):
        _compare(seen, calls)
    made = {}
    for name, (value, as_before) in taken.items():
        kind, sized = sample.kinds[name], calls.gives_size and not (made and compared)
        if isinstance(kind, Image):
            result, size = calls.of_pixels((value, *rest), calls.of_image(kind), sized)
        else:
            with of_part(name):
                result, size = _move_masks(kind, value, rest, calls, sized)
        made[name] = as_before(result)
        seen[name] = value if size is None else size
    return made, seen


# Operators whose fields jump: what moves points and boxes with them, and the arguments that it needs.
_FIELDS = {"shuffle_tiles": ("_shuffle_points", "_shuffle_boxes", ("columns", "rows", "order"))}


def _mover(calls, read, rest):
    """Functions that move the points and the boxes of a kind."""
    arguments = calls.of_points()
    if calls.in_a_field:
        field = calls.of_map((read, *rest), arguments)
        points_by, boxes_by, how = _FIELDS.get(calls.op, ("_displace_points", "_displace_boxes", ()))
        given = {name: arguments[name] for name in how}
        displaced = lambda value: calls(points_by, (value, field), given)  # noqa: E731
        boxes = lambda kind, value: calls(boxes_by, (value, field), {**given, **limits_of(kind)})  # noqa: E731
        place = {"shape_layout": "CHW", "output_shape": calls("shapes", (field,), {})}
        return _points_mover(calls, displaced, place), boxes
    matrix, before, after = calls.of_map((read, *rest), arguments)
    moved = lambda value: calls("transform_points", (value,), {"matrix": matrix})  # noqa: E731
    place = {"shape_layout": "WHD", "matrix": matrix, "input_shape": before, "output_shape": after}
    boxes = lambda kind, value: calls("transform_boxes", (value,), {**limits_of(kind), **place})  # noqa: E731
    return _points_mover(calls, moved, {"matrix": matrix, "output_shape": after}), boxes


def _points_mover(calls, moved, place):
    def move(kind, value):
        made = moved(value)
        if not isinstance(kind, Keypoints):
            return made
        return calls("_keypoints_after_move", (made,), {**place, "flip_indices": list(kind.flip_indices)})

    return move


def limits_of(kind):
    """How an operator takes boxes: the arguments that say it."""
    given = {"bbox_layout": kind.layout, "bbox_normalized": kind.normalized}
    return {**given, "min_area": kind.min_area, "min_visibility": kind.min_visibility}


def _move_others(sample, rest, calls, read, parts):
    """The boxes with their labels, instances and keypoints, and the points."""
    move_points, move_boxes = _mover(calls, read, rest)
    kinds = sample.kinds
    made = {}
    for name, kind in kinds.items():
        if isinstance(kind, Points):
            with of_part(name):
                made[name] = move_points(kind, parts[name])
    for name, kind in kinds.items():
        if isinstance(kind, Boxes):
            with of_part(name):
                made[name], rows = move_boxes(kind, parts[name])
            for row in rows_of(sample, name):
                with of_part(row):
                    made[row] = calls("_take", (made.get(row, parts[row]), rows), {})
    return made


def _moved(sample, op, rest, calls):
    waiting = sample._waiting
    if waiting.moves and waiting.region != region_now():
        sample, waiting = sample._with(sample._settled(), Waiting()), Waiting()
    check_extents(sample, calls)
    if not sample._compared:
        check(sample)
    kinds = sample.kinds
    others = any(isinstance(kind, (Boxes, Points)) for kind in kinds.values())
    made, seen = _move_pixels(sample, rest, calls, sample._there())
    compares = calls.in_pipeline and not sample._compared
    if others or (compares and len(seen) > 1):
        line = user_line()

        def move(parts):
            with at_line(line):
                if compares:
                    _compare(seen, calls)
                    _compare_rows(sample, parts, calls)
                return _move_others(sample, rest, calls, next(iter(seen.values())), parts) if others else {}

        if calls.in_pipeline:
            waiting = Waiting((*waiting.moves, move), region_now())
        else:
            made |= move({**sample._there(), **{k: v for k, v in made.items() if isinstance(kinds[k], Instances)}})
    place = None if calls.in_pipeline else described(sample)
    moved = sample._after(made, waiting, op, rest, calls.arguments, (op, rest, calls.of_points(), place))
    moved._compared = True
    return moved


def apply(op: str, inputs: tuple, arguments: dict[str, Any]) -> Sample:
    """Applies an operator to a Sample; fn.name(sample, ...) calls it.

    Args:
        op: The operator.
        inputs: The Sample, and further inputs.
        arguments: Its arguments, by name.

    Raises:
        TypeError: The operator does not say where the parts of a sample move.
    """
    sample, *rest = inputs
    schema = _core.operator_schema(op)
    calls = Calls(
        op,
        schema,
        arguments,
        _core.is_building() or any(isinstance(v, _core.NodeRef) for v in sample._there().values()),
    )
    if schema["moves_points"]:
        return _moved(sample, op, rest, calls)
    if schema["keeps_positions"]:
        made, parts = {}, sample._there()
        for name in images_of(sample):
            taken, as_before = with_layout(parts[name], wanted(sample, name, parts[name]), calls)
            made[name] = as_before(calls.of_pixels((taken, *rest), calls.arguments)[0])
        return sample._after(made, sample._waiting, op, rest, calls.arguments)
    raise TypeError(
        f"[{op}] does not say where the parts of a Sample move: call it with one part, as in "
        f"fn.{op}(sample['{next(iter(sample))}'])"
    )
