# SPDX-License-Identifier: Apache-2.0
"""Pictures of batches and samples, for people; needs Pillow."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

__all__ = ["contact_sheet", "html_of", "show"]


def contact_sheet(values: Any, columns: int | None = None, size: int = 160, path: Any = None, **marks: Any) -> Any:
    """Puts the samples of a Batch, or one Tensor, side by side into one picture.

    It is show() by its former name.

    Args:
        values: A Batch, a Tensor, arrays or a Sample.
        columns: Samples in a row; omitted: about as many as rows.
        size: Pixels of the longer side of a sample.
        path: A file to write the picture to.
        **marks: What show() draws over the samples.

    Returns:
        A picture of Pillow.

    Raises:
        ImportError: Pillow is not installed.
        TypeError: The samples cannot be shown.

    Example:
        >>> sheet = penstock.pictures.contact_sheet(penstock.batch(np.zeros((4, 48, 64, 3), np.uint8)), size=32)
        >>> sheet.size
        (76, 60)
    """
    return show(values, columns, size, path, **marks)


def show(
    values: Any,
    columns: int | None = None,
    size: int = 160,
    path: Any = None,
    *,
    labels: Any = None,
    names: Sequence[str] | dict[int, str] | None = None,
    boxes: Any = None,
    box_layout: str = "ltrb",
    normalized: bool = False,
    box_labels: Any = None,
    masks: Any = None,
    points: Any = None,
    before: Any = None,
    layout: str = "",
    params: Any = None,
) -> Any:
    """Makes one picture of the samples side by side, with what belongs to them drawn over them.

    Images; videos and volumes (frames side by side); sound (waveforms, of 1 dimension, or (N, 1) and (N, 2));
    spectrograms (2 dimensions with another layout than HW); text (bytes of UTF-8); numbers. Values of images that are
    not uint8 are stretched from the smallest to the largest of the batch.

    Args:
        values: A Batch, a Tensor, an array, a list of them, or a Sample (its parts are drawn over its image).
        columns: Samples in a row; omitted: about as many as rows.
        size: Pixels of the longer side of a sample.
        path: A file to write the picture to.
        labels: What stands below each sample: numbers of classes or texts, one for each sample.
        names: Names of classes, by number: a list or a dict.
        boxes: (N, 4) for each sample, in pixels.
        box_layout: "ltrb", "xywh" or "cxcywh".
        normalized: Boxes are in fractions of the image.
        box_labels: What stands at the boxes: N numbers of classes or texts for each sample.
        masks: (H, W) for each sample: numbers of classes, 0 is drawn clear.
        points: (N, 2) or more numbers for each sample, in pixels: x, y.
        before: The samples before an operation, of any size; each stands left of what became of it.
        layout: The layout of arrays.
        params: What was drawn, which stands below each sample: Pipeline.params after log_steps(), or Sample.params of
            one sample.

    Returns:
        A picture of Pillow.

    Raises:
        ImportError: Pillow is not installed.
        TypeError: The samples cannot be shown.
        ValueError: An argument has another number of samples than the values.

    Example:
        >>> images = penstock.batch(np.zeros((2, 48, 64, 3), np.uint8))
        >>> boxes = [np.float32([[8, 8, 40, 40]]), np.zeros((0, 4), np.float32)]
        >>> images.show(boxes=boxes, labels=[3, 7], names={3: "cat", 7: "dog"}, size=64).size
        (140, 69)
    """
    try:
        from .subjects import shown
    except ImportError as error:
        raise ImportError("pictures need Pillow: pip install pillow") from error
    marks = {"boxes": boxes, "box_labels": box_labels, "masks": masks, "points": points, "labels": labels}
    sheet = shown(values, columns, size, marks, names, (box_layout, normalized), before, layout, params)
    if path is not None:
        sheet.save(path)
    return sheet


def html_of(batch: Any, most: int = 12) -> str:
    """Returns HTML of a Batch or a Tensor for a notebook.

    It has the description, and the first samples where they can be shown.

    Args:
        batch: A Batch or a Tensor.
        most: Samples that are shown.

    Example:
        >>> penstock.pictures.html_of(penstock.batch(np.zeros((2, 8, 8, 3), np.uint8)))[:5]
        '<pre>'
    """
    import base64
    import html
    import io

    text = f"<pre>{html.escape(repr(batch))}</pre>"
    try:
        sheet = show(batch[:most] if isinstance(batch, _core.Batch) else batch)
    except (ImportError, TypeError, ValueError):  # a notebook shows the text of what cannot be drawn
        return text
    file = io.BytesIO()
    sheet.save(file, "PNG")
    return f'{text}<img src="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}">'
