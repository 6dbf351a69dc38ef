# SPDX-License-Identifier: Apache-2.0
"""penstock.speech: recordings with texts."""

from __future__ import annotations

from .common import Recipe, options_of, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .loader import Loader


def speech(
    manifest: Any,
    *,
    path: str | None = None,
    columns: Sequence[str] | None = None,
    sample_rate: int = 16000,
    mels: int = 80,
    **arguments: Any,
) -> Loader:
    """Makes a loader of log-mel spectrograms with texts and any other columns of a manifest.

    Batches are dicts: "features" float32 (N, mels, frames), filled up with 0 after each sample; "lengths"
    int64 (N,), the frames of each; and the columns: texts as lists of str, numbers as tensors. Windows are 25
    ms, every 10 ms; each mel band has mean 0 and variance 1 over the frames. With columns "offset" and
    "duration" (seconds) a row is that part of its file.

    Args:
        manifest: NeMo's JSON lines (.json, .jsonl), .csv, .tsv or .parquet.
        path: The column of the files; default: audio_filepath, path or a similar name.
        columns: What batches have beside features; default: "text" if there is such a column.
        sample_rate: Hertz to which recordings are resampled.
        mels: Mel bands.
        **arguments: batch_size, training, shuffle, limit, where, weights, device ...: see image_folder();
            augment gets the features, before they are normalized.

    Returns:
        A Loader. print(loader.program) shows the pipeline.

    Raises:
        DataError: The manifest is broken; the text names the line and the cause.
        TypeError: There is no such argument.
        ValueError: An argument has a value that it cannot have, or there is no such column.

    Example:
        loader = penstock.speech("train.json", batch_size=16, columns=["text", "speaker"])
        for batch in loader:
            loss = ctc(model(batch["features"], batch["lengths"]), batch["text"])
    """
    from .. import annotations
    from ..annotations.columns import Ragged, Texts

    o, manifest = options_of("speech", arguments, batch_size=16), path_of("speech", "the manifest", manifest)
    there = annotations.manifest(manifest, path=path)
    if columns is None:
        columns = ["text"] if "text" in there.columns else []
    there.check(columns)
    recipe = Recipe(o, ("manifest", [manifest], {"path": path}))
    recipe.add(f"sound, _ = fn.decoders.audio(data, sample_rate={sample_rate}, downmix=True)")
    if {"offset", "duration"} <= set(there.columns):
        recipe.add('offset, duration = table.look_up(row, "offset", "duration")')
        recipe.add(
            f"first, last = (fn.cast(t * {sample_rate} + 0.5, dtype=types.INT64) for t in (offset, offset + duration))"
        )
        recipe.add("sound = sound[first:last]")
    if o.device == "gpu":
        recipe.add("sound = sound.gpu()")
    window, step = sample_rate // 40, sample_rate // 100
    size = 1 << (window - 1).bit_length()
    recipe.add(f"features = fn.spectrogram(sound, nfft={size}, window_length={window}, window_step={step})")
    recipe.add(f"features = fn.mel_filter_bank(features, sample_rate={sample_rate}, nfilter={mels})")
    recipe.add("features = fn.to_decibels(features, multiplier=10.0, reference=1.0, cutoff_db=-100.0)")
    recipe.augment("features")
    recipe.add("lengths = fn.shapes(features)[1]", "features = fn.normalize(features, axes=[1], epsilon=1e-5)")
    if columns:
        names = [f"column_{k}" for k in range(len(columns))]
        recipe.add(f"{', '.join(names)} = table.look_up(row, {', '.join(map(repr, columns))})")
    kinds = {c: there.columns.get(c) for c in columns}
    texts = [c for c, kind in kinds.items() if c == "file" or isinstance(kind, Texts)]
    ragged = {c: "list" for c, kind in kinds.items() if isinstance(kind, Ragged) and c not in texts}
    outputs = ["features", "lengths", *columns]
    returned = ["features", "lengths", *(f"column_{k}" for k in range(len(columns)))]
    more = {"pad": {"features": 0}, "texts": texts}
    return recipe.loader(outputs, returned, **more, **({"ragged": ragged} if ragged else {}))
