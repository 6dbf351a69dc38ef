# SPDX-License-Identifier: Apache-2.0
"""str() of Tensor and Batch: their values, and what is known of them, one fact a line."""

_EDGE = 2  # values and samples that are shown at each end of what is long


def _values(tensor, indent):
    import numpy as np

    array = np.asarray(tensor.cpu().numpy())
    return np.array2string(array, separator=" ", prefix=" " * indent, edgeitems=_EDGE, threshold=100)


def _lines(name, values, value, facts):
    layout = [f'layout="{value.layout()}"'] if value.layout() else []
    said = [values, f"dtype={value.dtype}", *layout, f'device="{value.device_type}"', *facts]
    return f"{name}(\n    " + ",\n    ".join(said) + ")"


def of_tensor(tensor):
    """The values of a Tensor, of long ones those at the ends."""
    return _lines("Tensor", _values(tensor, 4), tensor, [f"shape={tuple(tensor.shape())}"])


def of_batch(batch):
    """The values of a Batch, of many samples those of the first and the last ones."""
    count, shapes = len(batch), [str(tuple(s)) for s in batch.shape()]
    shown = list(range(count)) if count <= 4 * _EDGE else [*range(_EDGE), *range(count - _EDGE, count)]
    samples, shapes = [_values(batch[k], 5) for k in shown], [shapes[k] for k in shown]
    if len(shown) < count:
        samples.insert(_EDGE, "...")
        shapes.insert(_EDGE, "...")
    between = ",\n\n     " if any("\n" in s for s in samples) else ", "
    facts = [f"num_samples={count}", f"shape=[{', '.join(shapes)}]"]
    return _lines("Batch", f"[{between.join(samples)}]", batch, facts)
