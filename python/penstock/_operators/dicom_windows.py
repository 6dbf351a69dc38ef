# SPDX-License-Identifier: Apache-2.0
"""The window functions of DICOM (PS3.3, C.11.2.1.2 and C.11.2.1.3), from the values of a modality to 0 ... 1."""

from .. import _graph as graph


def checked_window(window):
    """Returns None, "file" or (center, width) as floats.

    Raises:
        ValueError: It is something else, or the width is not above 0.
    """
    if window is None or window == "file":
        return window
    try:
        center, width = (float(v) for v in window)
    except (TypeError, ValueError):
        center, width = 0, -1
    if not width > 0:
        raise ValueError(
            f"[readers.dicom] window must be None, 'file' or (center, width) with a width above 0, got {window!r}\n  at "
            f"{graph.user_line()}"
        )
    return center, width


def _first(value):
    return float(value[0] if hasattr(value, "__getitem__") and not isinstance(value, str) else value)


def windowed(values, dataset, window):
    """Applies a window.

    Args:
        values: The values of the modality.
        dataset: The file.
        window: "file", or (center, width).

    Returns:
        float32 from 0, black, to 1, white.
    """
    import numpy

    values = numpy.asarray(values, numpy.float64)
    if window == "file":
        if dataset.get("WindowCenter") is None or dataset.get("WindowWidth") is None:
            raise ValueError("the file has no window (WindowCenter, WindowWidth)")
        center, width = _first(dataset.WindowCenter), _first(dataset.WindowWidth)
    else:
        center, width = window
    function = str(dataset.get("VOILUTFunction") or "LINEAR")
    if function == "SIGMOID":
        shown = 1 / (1 + numpy.exp(-4 * (values - center) / width))
    elif function in ("LINEAR", "LINEAR_EXACT"):
        if function == "LINEAR":
            center, width = center - 0.5, width - 1
        if width > 0:
            shown = numpy.clip((values - center) / width + 0.5, 0, 1)
        else:  # of width 1: a threshold
            shown = (values > center).astype(numpy.float64)
    else:
        raise ValueError(f"its window function {function} is none of LINEAR, LINEAR_EXACT and SIGMOID")
    if dataset.get("PhotometricInterpretation") == "MONOCHROME1":
        shown = 1 - shown
    return shown.astype(numpy.float32)
