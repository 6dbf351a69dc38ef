# SPDX-License-Identifier: Apache-2.0
"""Damaged pictures of every format through the decoders of images."""

import functools

import numpy as np
from attempts import Attempts, Wrong

MOST_PIXELS = 178956970  # the default of max_pixels
LARGE = 1 << 24
TYPES = ("rgb", "any_data", "gray", "bgr", "ycbcr")
DTYPES = ("uint8", "uint16", "float32", "uint8")
WINDOWS = ({"rel_start": [0.2, 0.3], "rel_shape": [0.5, 0.4]}, {"rel_start": [0.0, 0.7], "rel_shape": [1.0, 0.3]})


def make(folder):
    """Writes the whole files. Needs Pillow, OpenCV and, for AVIF and HEIC, the ffmpeg command."""
    import heif_files
    import image_files
    from whole_pictures import jpegs, pngs

    files = {**image_files.all_files(), **jpegs(), **pngs(), **heif_files.small_files()}
    for name, data in files.items():
        first = name.split(" ")[0]
        ending = {"lossless": "jpg", "jpeg": "jpg", "pnm": "ppm", "jpeg2000": "jp2", "tiff": "tif"}.get(first, first)
        (folder / f"{name.replace(' ', '_')}.{ending}").write_bytes(data)


class Pictures(Attempts):
    WAYS = ("immediate", "skipping", "window", "peek", "verify", "reader", "reader_skip", "random_window")
    OPERATORS = {
        "immediate": ["decoders.image"],
        "skipping": ["decoders.image"],
        "window": ["decoders.image_slice"],
        "random_window": ["decoders.image_random_crop"],
        "peek": ["peek_image_shape", "decoders.image"],
        "verify": ["decoders.image"],
        "reader": ["decoders.image", "readers.file"],
        "reader_skip": ["decoders.image"],
    }

    def sane(self, sample, type="rgb", dtype="uint8", least=1):
        array = np.asarray(sample)
        channels = {"gray": array.shape[-1] == 1, "any_data": array.shape[-1] >= 1}.get(type, array.shape[-1] == 3)
        if (
            array.dtype != dtype
            or array.ndim != 3
            or not channels
            or not least <= array.shape[0] * array.shape[1] <= MOST_PIXELS
        ):
            raise Wrong(f"{array.dtype} {array.shape} as {type} {dtype}")
        return array

    @functools.cached_property
    def clean(self):
        """The pixels of the whole files, in each type: damaged files in the same batch must not change them."""
        from penstock import fn

        return functools.cache(
            lambda kind, type, dtype: np.asarray(
                fn.decoders.image([self.whole[kind]], output_type=type, dtype=dtype)[0]
            ).copy()
        )

    def samples(self, batch, type, dtype, bads=1):
        """For a batch with `bads` damaged files first and a whole one last."""
        if not np.array_equal(self.sane(batch[len(batch) - 1], type, dtype), self.clean(self.kind, type, dtype)):
            raise Wrong("the whole file beside it is decoded to something else")
        for k in range(len(batch) - 1):
            self.sane(batch[k], type, dtype)
        return "decoded" if len(batch) == bads + 1 else "skipped"

    def is_large(self, bad):
        """Whether its header claims so much that copies in other types take gigabytes, and seconds to fill."""
        import penstock
        from penstock import fn

        try:
            return np.prod(np.asarray(fn.peek_image_shape([bad])[0])[:2]) > LARGE
        except penstock.DataError:
            return False

    def immediate(self, bad, turn):
        """Two threads may have the same damage at once."""
        from penstock import fn

        large = self.is_large(bad)
        how = {"output_type": TYPES[turn % 5], "dtype": "uint8" if large else DTYPES[turn % 4]}
        bads = [bad] if large else [bad, bad]
        return self.samples(fn.decoders.image([*bads, self.whole[self.kind]], **how), *how.values(), bads=len(bads))

    @functools.lru_cache(maxsize=30)
    def pipeline(self, threads, type, dtype):
        from penstock import fn, pipeline_def

        @pipeline_def(batch_size=2, num_threads=threads, prefetch_queue_depth=1, on_error="skip")
        def pipeline():
            return fn.decoders.image(fn.external_source(name="files"), output_type=type, dtype=dtype)

        return pipeline()

    def skipping(self, bad, turn):
        how = TYPES[turn % 2], "uint8" if self.is_large(bad) else DTYPES[turn % 3]
        (batch,) = self.fed(self.pipeline(2 + turn % 3, *how), bad)
        return self.samples(batch, *how)

    def window(self, bad, turn):
        from penstock import fn

        how = {"output_type": TYPES[turn % 5], "dtype": DTYPES[turn % 4]}
        self.sane(
            fn.decoders.image_slice([bad, self.whole[self.kind]], **WINDOWS[turn % 2], **how)[0], *how.values(), least=0
        )
        return "decoded"

    def random_window(self, bad, turn):
        from penstock import fn

        self.sane(
            fn.decoders.image_random_crop([bad, self.whole[self.kind]], seed=turn, output_type=TYPES[turn % 5])[0],
            TYPES[turn % 5],
        )
        return "decoded"

    def peek(self, bad, turn):
        """The shape from the header is that of what is decoded."""
        from penstock import fn

        said = tuple(np.asarray(fn.peek_image_shape([bad], image_type=TYPES[turn % 5])[0]))
        got = np.asarray(fn.decoders.image([bad], output_type=TYPES[turn % 5])[0]).shape
        if got != said:
            raise Wrong(f"peek_image_shape says {said}, the decoder {got}")
        return "decoded"

    def verify(self, bad, turn):
        from penstock import _core, fn

        found = _core.verify_file(str(self.stored(bad, turn)), MOST_PIXELS)
        self.path.unlink()
        self.path = None
        if not all(kind and text for kind, text in found):
            raise Wrong(f"penstock verify says {found}")
        if found:
            return "error"
        self.sane(fn.decoders.image([bad])[0])
        return "decoded"

    def read(self, bad, turn, on_error):
        from penstock import fn, pipeline_def

        path = self.stored(bad, turn)

        @pipeline_def(batch_size=2, num_threads=2 + turn % 3, prefetch_queue_depth=1, on_error=on_error)
        def pipeline():
            return fn.decoders.image(fn.readers.file(files=[str(path), str(self.paths[self.kind])])[0])

        return self.samples(pipeline().run()[0], "rgb", "uint8")

    def reader(self, bad, turn):
        return self.read(bad, turn, "raise")

    def reader_skip(self, bad, turn):
        return self.read(bad, turn, "skip")
