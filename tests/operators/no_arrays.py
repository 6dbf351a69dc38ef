# SPDX-License-Identifier: Apache-2.0
"""Operators that random arrays do not call: those that draw numbers, and those with tests of their own."""

# They draw numbers: the same seed gives the same ones, which test_determinism.py checks, and no formula gives them.
RANDOM = {
    "random.uniform": {"range": [-1.0, 3.0]},
    "random.normal": {"mean": 2.0},
    "random.coin_flip": {},
    "random.beta": {"alpha": 2.0},
}
NO_ARRAYS = {
    "readers.file": "reads files: test_determinism.py, test_bad_input.py",
    "readers.coco": "reads files: test_coco.py",
    "readers.numpy": "reads files: test_numpy_files.py",
    "readers.video": "reads files: test_video_readers.py",
    "readers.fits": "reads files: test_fits.py",
    "readers.nemo_asr": "reads files: test_nemo_asr.py",
    "readers.indices": "an order alone: test_dataset_source.py",
    "readers.mix": "reads through readers: test_readers_mix.py",
    "experimental.readers.video": "reads files: test_video_readers.py",
    "external_source": "carries every pipeline of these tests",
    "audio_codec": "needs encoders, whose results are not defined: test_sound_codecs.py",
    "decoders.audio": "takes files: test_audio.py compares with libsndfile and DALI",
    "experimental.inputs.video": "takes files: test_video_inputs.py",
    "decoders.video": "takes files: test_video.py compares with FFmpeg's command and DALI",
    "decoders.image": "takes files: the decoders' own tests compare with libjpeg-turbo, Pillow and OpenCV",
    "decoders.image_crop": "as decoders.image",
    "decoders.image_random_crop": "as decoders.image",
    "decoders.image_slice": "as decoders.image",
    "peek_image_shape": "as decoders.image",
    "peek_video": "takes files: test_video.py compares with ffprobe",
    "batch_permutation": "an order alone: test_batch_order.py",
    "decoders.inflate": "takes compressed bytes: test_decoded_bytes.py",
    "decoders.numpy": "takes files: test_decoded_bytes.py",
    "encoders.jpeg": "gives files: test_encoders.py compares with Pillow and OpenCV",
    "encoders.png": "as encoders.jpeg",
    "encoders.webp": "as encoders.jpeg",
    "io.file.read": "reads files: test_decoded_bytes.py",
    "dump_image": "writes files: test_decoded_bytes.py",
    "readers.sequence": "reads files: test_decoded_bytes.py",
    "ssd_random_crop": "finds windows as random_bbox_crop: test_pictures.py",
    "python_function": "calls the user's functions: test_python_function.py",
    "numba_function": "calls the user's functions: test_numba_function.py",
}
