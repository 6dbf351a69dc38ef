# SPDX-License-Identifier: Apache-2.0
"""The text of a program, line by line."""

from . import configuration as kinds

FILTERS = {
    kinds.NEAREST: "interp_type=types.INTERP_NN",
    kinds.BILINEAR: 'interp_type=types.INTERP_LINEAR, outside="cut"',
    kinds.BICUBIC: 'interp_type=types.INTERP_CUBIC, outside="cut"',
    kinds.LANCZOS: 'interp_type=types.INTERP_LANCZOS3, outside="cut"',
}
HEAD = """from functools import partial

from penstock import fn, types
from penstock.plugin.transformers import geometry


def preprocess({argument}):
"""


def _numbers(values):
    return [float(f"{v:.9g}") for v in values]


class Text:
    """Writes a function of the values of a pipeline."""

    def __init__(self, configuration, source, device):
        self.configuration, self.source, self.device = configuration, source, device
        self.lines, self.shaped = [], False
        if source != "files" and device == "gpu":
            self.line("images = images.gpu()")
        elif source == "files":
            where = ', device="mixed"' if device == "gpu" else ""
            self.line(f"images = fn.decoders.image(encoded{where})")

    def __str__(self):
        argument = "encoded" if self.source == "files" else "images"
        name = self.configuration.name
        return (
            HEAD.format(argument=argument)
            + f'    """What {name} of transformers makes."""\n'
            + "".join(f"    {line}\n" for line in self.lines)
        )

    def line(self, text):
        self.lines.append(text)

    def result(self, *names):
        self.line(f"return {{{', '.join(f'{chr(34)}{name}{chr(34)}: {name}' for name in names)}}}")

    def needs_shape(self):
        """The shape of the picture, of the header of a file where there is one."""
        if not self.shaped:
            # first of all: it reads what the pipeline gets
            self.lines.insert(
                0, f"shape = fn.{'peek_image_shape(encoded)' if self.source == 'files' else 'shapes(images)'}"
            )
        self.shaped = True

    def value(self, name, of, function, **arguments):
        """A value that a function of `geometry` computes for each picture."""
        if of == "shape":
            self.needs_shape()
        if arguments:
            called = ", ".join(f"{k}={v!r}" for k, v in arguments.items())
            function = f"partial(geometry.{function}, {called})"
        else:
            function = f"geometry.{function}"
        self.line(f"{name} = fn.python_function({of}, function={function})")

    def computed(self, name, of, function, **arguments):
        """The same for a size; returns its height and width."""
        self.value(name, of, function, **arguments)
        return f"{name}[0]", f"{name}[1]"

    def resized(self, size, to="images", of="images"):
        """Resizes as transformers does: filters that overshoot are cut to bytes after the columns and after the rows."""
        kind = self.configuration["resample"]
        if kind in (kinds.BICUBIC, kinds.LANCZOS):
            self.line(f'{to} = fn.resize({of}, resize_x={size[1]}, mode="stretch", {FILTERS[kind]})')
            self.line(f'{to} = fn.resize({to}, resize_y={size[0]}, mode="stretch", {FILTERS[kind]})')
        else:
            self.line(f"{to} = fn.resize({of}, resize_y={size[0]}, resize_x={size[1]}, {FILTERS[kind]})")

    def _scale(self):
        """(arguments that normalize, what a pixel of 0 becomes)"""
        c = self.configuration
        factor = c["rescale_factor"] if c["do_rescale"] else 1
        if c["do_normalize"]:
            mean, std = ([v / factor for v in c[f]] for f in ("image_mean", "image_std"))
            return f", mean={_numbers(mean)}, std={_numbers(std)}", _numbers(-m / s for m, s in zip(mean, std))
        return (f", scale={factor:.9g}" if c["do_rescale"] else ""), [0.0]

    def normalized(self, to, crop, fills=False, of="images", layout=None):
        """Crops in the middle, normalizes, and puts the channels first. What comes from outside is black before it is
        normalized."""
        c = self.configuration
        scale, black = self._scale()
        dtype = "FLOAT" if c["do_rescale"] or c["do_normalize"] else "UINT8"
        window = ""
        if crop is not None:
            window = f', crop_h={crop[0]}, crop_w={crop[1]}, rounding="truncate"'
            if fills:
                window += f', out_of_bounds_policy="pad", fill_values={black}'
        order = "" if layout is None else f', output_layout="{layout}"'
        self.line(f"{to} = fn.crop_mirror_normalize({of}{window}, dtype=types.{dtype}{scale}{order})")
