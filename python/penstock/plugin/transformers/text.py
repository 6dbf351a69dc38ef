# SPDX-License-Identifier: Apache-2.0
"""The text of a program, line by line."""

from . import defaults as kinds

FILTERS = {
    kinds.NEAREST: "interp_type=types.INTERP_NN",
    kinds.BILINEAR: 'interp_type=types.INTERP_LINEAR, outside="cut"',
    kinds.BICUBIC: "interp_type=types.INTERP_CUBIC",
    kinds.LANCZOS: "interp_type=types.INTERP_LANCZOS3",
}
MODULES = "films", "geometry", "sampling", "tilings"


def _numbers(values):
    return [float(f"{v:.9g}") for v in values]


class Text:
    """Writes a function of the values of a pipeline."""

    def __init__(self, configuration, source, device):
        self.configuration, self.source, self.device = configuration, source, device
        self.lines, self.shaped = [], False
        self.mixed = ', device="mixed"' if device == "gpu" else ""
        if source != "files" and device == "gpu":
            self.line("images = images.gpu()")
        elif source == "files" and not configuration.video:
            self.line(f"images = fn.decoders.image(encoded{self.mixed})")

    def __str__(self):
        body = "".join(f"    {line}\n" for line in self.lines)
        used = [module for module in MODULES if f"{module}." in body]
        head = "from functools import partial\n\n" if "partial(" in body else ""
        head += "import numpy as np\n\n" if "np." in body else ""
        head += f"from penstock import {', '.join(['fn', *(m for m in ('math', 'types') if f'{m}.' in body)])}\n"
        head += f"from penstock.plugin.transformers import {', '.join(used)}\n" if used else ""
        argument = "encoded" if self.source == "files" else "images"
        note = f'    """What {self.configuration.name} of transformers makes."""\n'
        return f"{head}\n\ndef preprocess({argument}):\n{note}{body}"

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
        """A value that a function computes for each picture: of `geometry`, or of the module that its name begins with."""
        function = function if "." in function else f"geometry.{function}"
        if of.startswith("shape"):
            self.needs_shape()
        if arguments:
            called = ", ".join(f"{k}={v!r}" for k, v in arguments.items())
            function = f"partial({function}, {called})"
        self.line(f"{name} = fn.python_function({of}, function={function})")

    def computed(self, name, of, function, **arguments):
        """The same for a size; returns its height and width."""
        self.value(name, of, function, **arguments)
        return f"{name}[0]", f"{name}[1]"

    @property
    def in_two_steps(self):
        """Whether columns and rows are resized one after the other."""
        return self.configuration["resample"] in (kinds.BICUBIC, kinds.LANCZOS)

    def resized(self, size, to="images", of="images", columns=None, between=None):
        """Resizes as transformers does: filters that overshoot have weights of 16 bits, and are rounded to bytes, halves
        up, after the columns and after the rows. `columns`: so many in the middle are all that is needed; `between`: a
        line after the columns."""
        kind = self.configuration["resample"]
        if self.in_two_steps:
            chosen = f'{FILTERS[kind]}, mode="stretch", outside="cut", weights="int16", dtype=types.FLOAT'
            if not any(line.startswith("one_axis") for line in self.lines):
                self.line(f"one_axis = dict({chosen})")
            for source, axis, extent in ((of, "x", size[1]), (to, "y", size[0])):
                self.line(f"{to} = fn.resize({source}, resize_{axis}={extent}, **one_axis)")
                if axis == "x" and columns is not None:
                    self.line(f'{to} = fn.crop({to}, crop_w={columns}, crop_h=0, rounding="truncate")')
                self.line(f"{to} = fn.cast(math.floor({to} + 0.5), dtype=types.UINT8)")
                if axis == "x" and between is not None:
                    self.line(between)
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

    def padded(self, to, size, mask="pixel_attention_mask"):
        """Normalizes, puts the channels first, and adds zeros on the right and below, up to the largest picture of the
        batch; and writes a mask (1, H, W), ones where the picture is. `size`: the name of the size of each picture; None:
        all have one."""
        if self.device == "gpu" or size is None:
            self.normalized(to, None)
            if mask is not None:
                self.line(f"{mask} = fn.ones_like({to}[:1], dtype=types.INT64)")
            if size is not None:
                if mask is not None:
                    self.line(f"{mask} = fn.pad({mask}, axes=[1, 2])")
                self.line(f"{to} = fn.pad({to}, axes=[1, 2])")
            return
        self.line(f"most = fn.python_function({size}, function=geometry.largest_of_batch, batch_processing=True)")
        scale, _ = self._scale()
        window = 'crop_h=most[0], crop_w=most[1], crop_pos_x=0.0, crop_pos_y=0.0, out_of_bounds_policy="pad"'
        self.line(f"{to} = fn.crop_mirror_normalize(images, {window}, dtype=types.{self._dtype()}{scale})")
        if mask is not None:
            self.line(f"there = fn.pad(fn.ones(shape={size}[:2], dtype=types.UINT8))")
            self.line(f"{mask} = fn.expand_dims(fn.cast(there, dtype=types.INT64), axes=[0])")

    def _dtype(self):
        c = self.configuration
        return "FLOAT" if c["do_rescale"] or c["do_normalize"] else "UINT8"

    def normalized(self, to, crop, fills=False, of="images", layout=None):
        """Crops in the middle, normalizes, and puts the channels first. What comes from outside is black before it is
        normalized."""
        scale, black = self._scale()
        window = ""
        if crop is not None:
            window = f', crop_h={crop[0]}, crop_w={crop[1]}, rounding="truncate"'
            if fills:
                window += f', out_of_bounds_policy="pad", fill_values={black}'
        order = "" if layout is None else f', output_layout="{layout}"'
        self.line(f"{to} = fn.crop_mirror_normalize({of}{window}, dtype=types.{self._dtype()}{scale}{order})")

    def normalized_rows(self, to, of, length):
        """Normalizes rows that have `length` numbers of red, then of green, then of blue."""
        c = self.configuration
        factor = c["rescale_factor"] if c["do_rescale"] else 1
        if not c["do_normalize"]:
            self.line(f"{to} = fn.cast({of}, dtype=types.FLOAT) * {factor!r}" if c["do_rescale"] else f"{to} = {of}")
            return
        values = {name: _numbers(v / factor for v in c[f"image_{name}"]) for name in ("mean", "std")}
        for name in values:
            self.line(f"{name} = np.repeat(np.float32({values[name]}), {length})[None]")
        self.line(f"{to} = fn.normalize({of}, mean=mean, stddev=std, axes=[0])")
