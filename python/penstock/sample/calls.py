# SPDX-License-Identifier: Apache-2.0
"""Calls of one operator for the parts of a sample."""

from .. import _core
from .._graph import building, scope

# Arguments of operators that move pixels whose numbers are of pixels: a mask moves without them.
OF_PIXELS = {"mean", "std", "scale", "shift", "output_layout", "pad_output", "dtype", "output_dtype"}
# Its arithmetic is in float32, which has not all class numbers: a mask is cropped and flipped.
WITHOUT_ARITHMETIC = ("crop_mirror_normalize",)
INTERPOLATIONS = ("interp_type", "interp", "min_filter", "mag_filter")
FILLS = ("fill_value", "fill_values")


class Calls:
    """Calls of an operator for the parts of one sample: all draw the same random numbers."""

    def __init__(self, op, schema, arguments, in_pipeline):
        if arguments.get("save_attrs"):
            raise TypeError(
                f"[{op}] save_attrs adds an output, for which a Sample has no part: it moves boxes and points"
            )
        self.op, self.in_pipeline, self.first = op, in_pipeline, -1
        self.arguments = building.stacked_once(op, arguments) if in_pipeline else dict(arguments)
        self.takes = {a["name"] for a in schema["args"]}
        self.required = {a["name"] for a in schema["args"] if a["required"]}
        # A mask's own fill takes the place of a color that is there by default; None: nothing is filled by default.
        self.colors = {a["name"]: a["default"] for a in schema["args"] if a["name"] in FILLS}
        self.outputs = schema["outputs"]
        self.may_follow_batch = schema["family"] == "whole" and "shape" in self.takes  # the largest of a batch, without
        # Without a cast the moves of a mask that follow one another form one stage.
        has_type = any(a["default"] is not None for a in schema["args"] if a["name"] == "dtype")
        self.keeps_type = op in WITHOUT_ARITHMETIC or not has_type
        self.in_a_field = schema["moves_points"] and _core.operator_schema(f"points.{op}")["outputs"] == 1
        # A stage gives the extents of what it reads; with debug=True values are there, and so are their shapes.
        pipeline = scope.current()
        debug = pipeline is not None and pipeline.definition.options["debug"]
        self.gives_size = in_pipeline and schema["family"] == "stage" and not debug
        if not in_pipeline and schema["random"] and arguments.get("seed") is None:
            self.arguments["seed"] = _core.unseeded() >> 2  # a seed is a number of 63 bits

    def __call__(self, name, inputs, arguments):
        if not self.in_pipeline:
            return _core.operator_function(name)(*inputs, **arguments)
        return building.add_node(name, inputs, arguments)

    def of_pixels(self, inputs, arguments, sized=False, op=None):
        """(the result, the extents of the input or None)"""
        op = op or self.op
        if not self.in_pipeline:
            return self(op, inputs, arguments), None
        made = building.add_node(op, inputs, arguments, self.first, self.outputs + 1 if sized else 0)
        result = made[0] if isinstance(made, list) else made
        if self.first < 0:
            self.first = result.node
        return result, made[-1] if sized else None

    def of_mask_pixels(self, inputs, kind, sized):
        """What of_pixels gives, for a mask."""
        arguments = self.of_mask(kind)
        if self.op not in WITHOUT_ARITHMETIC:
            return self.of_pixels(inputs, arguments, sized)
        own = {a["name"] for a in _core.operator_schema("crop")["args"]}
        window = {k: v for k, v in arguments.items() if k in own}
        cut, size = self.of_pixels(inputs, window, sized, "crop")
        if "mirror" not in arguments:
            return cut, size
        return self("flip", (cut,), {"horizontal": arguments["mirror"]}), size

    def of_map(self, inputs, arguments):
        name = f"points.{self.op}"
        if not self.in_pipeline:
            return self(name, inputs, arguments)
        return building.add_node(name, inputs, arguments, self.first)

    def of_points(self):
        """The arguments of the map of points, which knows no channels."""
        without = {*OF_PIXELS, *FILLS, "name"} - self.required
        return {k: v for k, v in self.arguments.items() if k not in without}

    def of_image(self, kind):
        """The arguments with which an image moves."""
        if kind.interp_type is None:
            return self.arguments
        interpolation = kind.interp_type if isinstance(kind.interp_type, str) else int(kind.interp_type)
        own = {k: interpolation for k in INTERPOLATIONS if k in self.takes}
        return {**self.arguments, **own}

    def of_mask(self, kind):
        """The arguments with which a mask moves as the image does."""
        given = {k: v for k, v in self.arguments.items() if k not in OF_PIXELS and k != "name"}
        given |= {k: 0 for k in INTERPOLATIONS if k in self.takes}
        given |= {k: v for k, v in {"antialias": False, "output_layout": ""}.items() if k in self.takes}
        black = [None] if kind.fill else [None, 0.0, [0.0]]  # a fill of 0 need not be said
        fills = {k for k, default in self.colors.items() if self.in_a_field or default not in black}
        return given | {k: kind.fill for k in FILLS if k in fills or self.arguments.get(k) is not None}
