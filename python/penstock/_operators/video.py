# SPDX-License-Identifier: Apache-2.0
"""experimental.inputs.video, fed by hand, and readers.video_resize: what fn adds to the operators themselves."""

from .. import _core, _graph as graph
from .._sources.fed import FedVideo, add_fed


def inputs_video(read, **arguments):
    """fn.experimental.inputs.video over `read`, the operator itself."""
    pipeline = graph.required("fn.experimental.inputs.video(...)")
    if pipeline.debug:
        raise ValueError(
            "[experimental.inputs.video] debug=True feeds one batch for each run: a video input cannot be fed so"
        )
    value = read(**arguments)
    add_fed(pipeline, value.name, FedVideo(value.node, bool(arguments.get("blocking"))))
    return value


def resize_arguments():
    """Names of resize's arguments that readers.video_resize takes."""
    names = {a["name"] for a in _core.operator_schema("resize")["args"]}
    return names - {a["name"] for a in _core.operator_schema("readers.video")["args"]} - {"save_attrs"}


def video_resize(**arguments):
    """Reads sequences of frames from video files and resizes them.

    It is readers.video and resize in one call.

    Args:
        **arguments: Those of fn.readers.video and of fn.resize; `dtype` and `image_type` are those of the reader.

    Returns:
        Values of the pipeline, one for each output of fn.readers.video. Works only in a pipeline.

    Raises:
        TypeError: An argument is unknown, or of the wrong type.
        ValueError: A value is out of range.
        DataError: A file cannot be read or decoded.

    Example:
        @pipeline_def(batch_size=4)
        def films():
            return fn.readers.video_resize(filenames=["film.mp4"], sequence_length=8, size=[240, 320])
    """
    read, resize = _core.operator_function("readers.video"), _core.operator_function("resize")
    own = resize_arguments()
    device = {k: v for k, v in arguments.items() if k == "device"}
    resizing = {k: v for k, v in arguments.items() if k in own}
    values = read(**{k: v for k, v in arguments.items() if k not in own})
    frames, *rest = values if isinstance(values, (list, tuple)) else [values]
    frames = resize(frames, **resizing, **device)
    return [frames, *rest] if rest else frames
