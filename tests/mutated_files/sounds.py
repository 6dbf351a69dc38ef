# SPDX-License-Identifier: Apache-2.0
"""Damaged recordings of every format through the decoder of sound."""

import functools

import numpy as np
from attempts import Attempts, Wrong

MOST_VALUES = 1 << 32  # the default of max_samples
DTYPES = ("float32", "int16", "int32")


def make(folder):
    """Writes the whole files, the longest 0.15 s. Needs soundfile."""
    import audio_files

    audio_files.STEREO = audio_files.STEREO[:3300]
    files = {**audio_files.all_files(), "vorbis chain": audio_files.chains()["vorbis chain"]}
    flac = files["flac PCM_16"]
    files |= {
        "flac without length": audio_files.with_flac_length(flac, 0),
        "mp3 tagged": audio_files.tagged(files["mp3"]),
        "mp3 without info": audio_files.without_info(files["mp3"]),
        "vorbis without granule": audio_files.with_last_granule(files["vorbis"], -1),
        "wav stream": audio_files.with_bytes(files["wav PCM_16"], 40, b"\xff\xff\xff\xff"),
    }
    for name, data in files.items():
        ending = {"vorbis": "ogg", "opus": "opus"}.get(name.split(" ")[0], name.split(" ")[0])
        (folder / f"{name.replace(' ', '_')}.{ending}").write_bytes(data)


class Sounds(Attempts):
    WAYS = ("immediate", "skipping", "resampled", "verify", "reader", "reader_skip")
    OPERATORS = {**{way: ["decoders.audio"] for way in WAYS}, "reader": ["decoders.audio", "readers.file"]}

    def sane(self, sample, rate, dtype="float32", downmix=False):
        array, rate = np.asarray(sample), np.asarray(rate)
        if array.dtype != dtype or array.ndim != (1 if downmix else 2) or array.size > MOST_VALUES:
            raise Wrong(f"{array.dtype} {array.shape} as {dtype}{' downmix' * downmix}")
        if not downmix and array.shape[1] < 1:
            raise Wrong(f"no channel: {array.shape}")
        if rate.dtype != np.float32 or rate.shape != () or not 0 < rate < np.inf:
            raise Wrong(f"a rate of {rate}")
        return array

    @functools.cached_property
    def clean(self):
        from penstock import fn

        return functools.cache(
            lambda kind, dtype, downmix: np.asarray(
                fn.decoders.audio([self.whole[kind]], dtype=dtype, downmix=downmix)[0][0]
            ).copy()
        )

    def samples(self, sounds, rates, dtype, downmix, bads=1):
        """For a batch with `bads` damaged files first and a whole one last."""
        last = len(sounds) - 1
        if not np.array_equal(
            self.sane(sounds[last], rates[last], dtype, downmix), self.clean(self.kind, dtype, downmix)
        ):
            raise Wrong("the whole file beside it is decoded to something else")
        for k in range(last):
            self.sane(sounds[k], rates[k], dtype, downmix)
        return "decoded" if last == bads else "skipped"

    def immediate(self, bad, turn):
        """Two threads may have the same damage at once."""
        from penstock import fn

        how = {"dtype": DTYPES[turn % 3], "downmix": bool(turn // 3 % 2)}
        return self.samples(*fn.decoders.audio([bad, bad, self.whole[self.kind]], **how), *how.values(), bads=2)

    @functools.lru_cache(maxsize=30)
    def pipeline(self, threads, dtype, downmix):
        from penstock import fn, pipeline_def

        @pipeline_def(batch_size=2, num_threads=threads, prefetch_queue_depth=1, on_error="skip")
        def pipeline():
            return tuple(fn.decoders.audio(fn.external_source(name="files"), dtype=dtype, downmix=downmix))

        return pipeline()

    def skipping(self, bad, turn):
        how = DTYPES[turn % 3], bool(turn // 3 % 2)
        return self.samples(*self.fed(self.pipeline(2 + turn % 3, *how), bad), *how)

    def resampled(self, bad, turn):
        from penstock import fn

        sounds, rates = fn.decoders.audio(
            [bad, self.whole[self.kind]], sample_rate=16000, dtype=DTYPES[turn % 3], downmix=bool(turn % 2)
        )
        if np.asarray(rates[0]) != 16000:
            raise Wrong(f"a rate of {np.asarray(rates[0])}")
        self.sane(sounds[0], rates[0], DTYPES[turn % 3], bool(turn % 2))
        return "decoded"

    def verify(self, bad, turn):
        from penstock import _core, fn

        found = _core.verify_file(str(self.stored(bad, turn)), 178956970)
        self.path.unlink()
        self.path = None
        if not all(kind and text for kind, text in found):
            raise Wrong(f"penstock verify says {found}")
        if found:
            return "error"
        sounds, rates = fn.decoders.audio([bad])
        self.sane(sounds[0], rates[0])
        return "decoded"

    def read(self, bad, turn, on_error):
        from penstock import fn, pipeline_def

        path = self.stored(bad, turn)

        @pipeline_def(batch_size=2, num_threads=2 + turn % 3, prefetch_queue_depth=1, on_error=on_error)
        def pipeline():
            return tuple(fn.decoders.audio(fn.readers.file(files=[str(path), str(self.paths[self.kind])])[0]))

        return self.samples(*pipeline().run(), "float32", False)

    def reader(self, bad, turn):
        return self.read(bad, turn, "raise")

    def reader_skip(self, bad, turn):
        return self.read(bad, turn, "skip")
