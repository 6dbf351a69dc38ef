# SPDX-License-Identifier: Apache-2.0
"""What exists only here: other names of operators, and lines that DALI refuses, with the meaning that they get. Facts
alone, which the reference page is made from as well."""

# Deprecated names of operators -> their present names.
DEPRECATED = {
    "audio_decoder": "decoders.audio",
    "caffe2_reader": "readers.caffe2",
    "caffe_reader": "readers.caffe",
    "coco_reader": "readers.coco",
    "coin_flip": "random.coin_flip",
    "fast_resize_crop_mirror": "resize_crop_mirror",
    "file_reader": "readers.file",
    "image_decoder": "decoders.image",
    "image_decoder_crop": "decoders.image_crop",
    "image_decoder_random_crop": "decoders.image_random_crop",
    "image_decoder_slice": "decoders.image_slice",
    "mxnet_reader": "readers.mxnet",
    "nemo_asr_reader": "readers.nemo_asr",
    "normal_distribution": "random.normal",
    "numpy_reader": "readers.numpy",
    "sequence_reader": "readers.sequence",
    "tfrecord_reader": "readers.tfrecord",
    "transform_translation": "transforms.translation",
    "uniform": "random.uniform",
    "video_reader": "readers.video",
    "video_reader_resize": "readers.video_resize",
    "experimental.audio_resample": "audio_resample",
    "experimental.debayer": "debayer",
    "experimental.equalize": "equalize",
    "experimental.filter": "filter",
    "experimental.inflate": "decoders.inflate",
    "experimental.peek_image_shape": "peek_image_shape",
    "experimental.tensor_resize": "tensor_resize",
    "experimental.decoders.image": "decoders.image",
    "experimental.decoders.image_crop": "decoders.image_crop",
    "experimental.decoders.image_random_crop": "decoders.image_random_crop",
    "experimental.decoders.image_slice": "decoders.image_slice",
    "experimental.decoders.video": "decoders.video",
}

# Names of DALI's operators -> those that they have in penstock.fn; `filter` means something else there.
NAMES = {
    "experimental.dilate": "dilate",
    "experimental.erode": "erode",
    "experimental.median_blur": "median_blur",
    "experimental.remap": "remap",
    "experimental.resize": "resize",
    "experimental.warp_perspective": "warp_perspective",
    "filter": "correlate",
}

# Functions of fn that are made in Python over another operator: their arguments are that operator's, and these.
OVER = {
    "dl_tensor_python_function": ("python_function", ["synchronize_stream"]),
    "experimental.readers.fits": ("readers.fits", []),
}

# DALI's operators that are not here -> why.
MISSING = {
    "optical_flow": "it is an engine of the GPU with a library of its own (NVIDIA Optical Flow), which no CPU has",
    "tensor_resize": "`fn.resize` resizes the axes that the layout calls D, H and W: give the axes these names",
    "experimental.tensor_resize": "the former name of `tensor_resize`",
}

# What scripts find here and not in `penstock.fn` and `penstock.Pipeline`.
ADDED = (
    "a call without arrays outside a pipeline makes a node, which joins the pipeline whose outputs reach it; two pipelines "
    "cannot share one (in `penstock.fn` such a call runs at once)",
    "errors of operators and pipelines are also `RuntimeError`, besides Penstock's types (`ValueError`, `TypeError` ...)",
    "the arrays that `fn.python_function` passes to a function are copies, which it may change",
    "`fn.dl_tensor_python_function` has `batch_processing=True` by default",
    "the constructors of `ops.ExternalSource`, `ops.PythonFunction`, `ops.readers.TFRecord` and similar classes take arguments "
    "by position; None means that an argument is not given",
    "`Pipeline.deserialize_and_build()` fills the pipeline that it is called on; `enable_api_check()`, `output_stream()`",
    "if the script declares a batch to be on a GPU, its `at(i)` is a Tensor, as in DALI, also on a machine without a GPU",
    "`nvidia.dali.backend`: `ReleaseUnusedMemory()`, `PreallocateDeviceMemory()` and similar calls are accepted without effect",
    "`tfrecord2idx`, `rec2idx` and `wds2idx` are commands, also as `python -m penstock.dali tfrecord2idx ...`",
)

# Lines that DALI 2.4 refuses -> what they mean here, each with one MeaningWarning.
MEANINGS = {
    "shuffle": "`fn.readers.*(shuffle=...)` is `random_shuffle`",
    "resize pair": "`resize_x` and `resize_y` that are pairs: each takes its own of (x, y)",
    "probability": "`fn.flip(probability=p)` flips a sample with probability p: one draw a sample for all directions",
    "decoder on a GPU": '`fn.decoders.*(device="gpu")` is `device="mixed"`',
    "reader_name": "an unknown `reader_name` of an iterator means the pipeline's reader, where there is one",
    "shared argument": "an argument that both the function of `@pipeline_def` and `Pipeline` have, such as `batch_size`, "
    "goes to both; where the call does not give it, the function's default does",
    "shard": "`shard_id` and `num_shards` in a call of a pipeline's function that has no such parameters go to its readers",
    "bytes_per_sample_hint": "`bytes_per_sample_hint` of a pipeline is `bytes_per_sample`",
}
