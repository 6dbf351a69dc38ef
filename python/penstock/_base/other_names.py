# SPDX-License-Identifier: Apache-2.0
"""Names that torchvision, Albumentations, Pillow, OpenCV, tf.image, Kornia, NumPy, librosa and torchaudio have for what an
operator here does: what penstock.fn answers to who asks for one of them. docs/reference/names.md is made of this table, and
a test looks whether the operators and arguments in it exist."""

import difflib
import re

NAMES = {
    # --- geometry
    "horizontal_flip": "fn.flip(x, horizontal=fn.random.coin_flip())",
    "hflip": "fn.flip(x, horizontal=1)",
    "flip_left_right": "fn.flip(x, horizontal=1)",
    "fliplr": "fn.flip(x, horizontal=1)",
    "mirror": "fn.flip(x, horizontal=1)",
    "vertical_flip": "fn.flip(x, horizontal=0, vertical=fn.random.coin_flip())",
    "vflip": "fn.flip(x, horizontal=0, vertical=1)",
    "flip_up_down": "fn.flip(x, horizontal=0, vertical=1)",
    "flipud": "fn.flip(x, horizontal=0, vertical=1)",
    "random_flip": "fn.flip(x, horizontal=fn.random.coin_flip(), vertical=fn.random.coin_flip())",
    "random_horizontal_flip": "`penstock.augment.random_horizontal_flip(x)`",
    "random_vertical_flip": "`penstock.augment.random_vertical_flip(x)`",
    "center_crop": "fn.crop(x, crop=(height, width)), whose place is the center by default",
    "central_crop": "fn.crop(x, crop=(height, width)), whose place is the center by default",
    "random_crop": "fn.crop(x, crop=(height, width), crop_pos_x=fn.random.uniform(range=[0.0, 1.0]), "
    "crop_pos_y=fn.random.uniform(range=[0.0, 1.0]))",
    "random_sized_crop": "fn.random_resized_crop(x, size=(height, width))",
    "resized_crop": "fn.random_resized_crop(x, size=(height, width)), or fn.slice() and fn.resize() for a given window",
    "five_crop": "`penstock.augment.five_crop(x, (height, width))`",
    "ten_crop": "`penstock.augment.ten_crop(x, (height, width))`",
    "random_resize": "fn.resize(x, resize_shorter=fn.random.uniform(range=[256.0, 480.0]))",
    "smallest_max_size": "fn.resize(x, resize_shorter=size)",
    "longest_max_size": "fn.resize(x, resize_longer=size)",
    "resize_with_pad": "fn.letterbox(x, size=(height, width), fill_values=0)",
    "letter_box": "fn.letterbox(x, size=(height, width)); `penstock.augment.letterbox(x, (height, width))` for Samples",
    "scale_boxes": "fn.unletterbox_boxes(boxes, fn.letterbox_placement(extents, size=))",
    "pad_to_bounding_box": 'fn.pad(x, axis_names="HW", shape=(height, width)), or fn.paste()',
    "pad_if_needed": 'fn.pad(x, axis_names="HW", shape=(height, width))',
    "thumbnail": 'fn.resize(x, size=(height, width), mode="not_larger")',
    "rescale": "fn.resize(x, size=(height, width)); numbers are scaled with `x / 255.0`",
    "interpolate": "fn.resize(x, size=(height, width))",
    "imresize": "fn.resize(x, size=(height, width))",
    "random_rotation": "`penstock.augment.random_rotation(x, degrees=10)`",
    "rotate90": "fn.rotate(x, angle=90.0)",
    "rot90": "fn.rotate(x, angle=90.0)",
    "rotation": "fn.rotate(x, angle=30.0); of points fn.transforms.rotation(angle=30.0), whose sign is the other one",
    "affine": "fn.warp_affine(x, matrix=m, inverse_map=False), with m of fn.transforms.rotation(angle=), "
    "fn.transforms.shear(angles=), fn.transforms.scale(scale=), fn.transforms.combine()",
    "random_affine": "`penstock.augment.random_affine(x, degrees=10)`, or fn.warp_affine(x, matrix=) for a given map",
    "shift_scale_rotate": "fn.warp_affine(x, matrix=m, inverse_map=False), with m of fn.transforms.translation(offset=), "
    "fn.transforms.scale(scale=), fn.transforms.rotation(angle=), fn.transforms.combine()",
    "shear": "fn.warp_affine(x, matrix=m, inverse_map=False), with m of fn.transforms.shear(angles=)",
    "translate": "fn.warp_affine(x, matrix=m, inverse_map=False), with m of fn.transforms.translation(offset=)",
    "warp": "fn.warp_affine(x, matrix=), fn.warp_perspective(x, matrix=) or fn.remap()",
    "perspective": "fn.warp_perspective(x, matrix=)",
    "random_perspective": "`penstock.augment.random_perspective(x)`, or fn.warp_perspective(x, matrix=) for a given map",
    "grid_sample": "fn.remap()",
    "elastic": "fn.elastic_transform()",
    "warp_image_tps": "fn.warp_by_points(x, points=, targets=)",
    "thin_plate_spline": "fn.warp_by_points(x, points=, targets=)",
    "piecewise_affine": "fn.warp_by_mesh(x, columns=, rows=, moves=), whose cells are mapped by perspectives",
    "grid_shuffle": "fn.shuffle_tiles(x, columns=, rows=, order=)",
    "jigsaw": "fn.shuffle_tiles(x, columns=, rows=, order=)",
    "draw_line": "fn.draw_lines(x, lines=, color=, thickness=), or fn.draw_segments(), which blends between pixels",
    "draw_circle": "fn.draw_circles(x, centers=, radius=, color=, thickness=)",
    "draw_points": "fn.draw_circles(x, centers=, radius=, color=)",
    "draw_keypoints": "fn.draw_circles(x, centers=, radius=, color=)",
    "draw_bounding_boxes": "fn.draw_boxes(x, boxes, labels, names=, color=, thickness=)",
    "bndbox": "fn.draw_boxes(x, boxes, color=, thickness=, fill_opacity=)",
    "rectangle": "fn.draw_boxes(x, boxes, color=, thickness=)",
    "osd": "fn.draw_boxes(), fn.draw_lines(), fn.draw_circles() and fn.draw_text(), one after the other",
    "put_text": "fn.draw_text(x, text=, positions=, color=, scale=)",
    "boxblur": "fn.box_blur_regions(x, boxes, window_size=)",
    "connected_components": "fn.label(mask, connectivity=, statistics=)",
    "minarearect": "fn.min_area_rect(points)",
    "findhomography": "fn.find_homography(source, target)",
    "bf_matcher": "fn.match(source, target, norm=, count=, cross_check=)",
    "knn_match": "fn.match(source, target, count=)",
    "canny_edges": "fn.canny(x, low=, high=)",
    "contours": "fn.find_contours(mask, mode=, approximation=)",
    "hough_transform": "fn.hough_lines(edges, threshold=), or fn.hough_lines_p() for segments",
    "circles": "fn.hough_circles(image, threshold=, min_distance=)",
    "ransac": 'fn.find_homography(source, target, method="ransac")',
    "non_max_suppression": "fn.nms(boxes, scores, iou_threshold=)",
    "batched_nms": "fn.nms(boxes, scores, labels, iou_threshold=)",
    "soft_nms": 'fn.nms(boxes, scores, iou_threshold=, soft="linear")',
    # --- color
    "color_jitter": "`penstock.augment.color_jitter(x, 0.4, 0.4, 0.4, 0.1)`, or fn.color_twist(x, brightness=, contrast=, saturation=, hue=) in one step",
    "random_brightness": "fn.brightness(x, brightness=fn.random.uniform(range=[0.8, 1.2]))",
    "random_contrast": "fn.contrast(x, contrast=fn.random.uniform(range=[0.8, 1.2]))",
    "random_brightness_contrast": "fn.brightness_contrast(x, brightness=, contrast=) with numbers of fn.random.uniform(range=)",
    "adjust_brightness": "fn.brightness(x, brightness=)",
    "adjust_contrast": "fn.contrast(x, contrast=)",
    "random_saturation": "fn.saturation(x, saturation=fn.random.uniform(range=[0.8, 1.2]))",
    "random_hue": "fn.hue(x, hue=fn.random.uniform(range=[-18.0, 18.0])), in degrees",
    "hue_saturation_value": "fn.shift_hsv(x, hue=, saturation=, value=)",
    "bitwise_not": "`~x`",
    "gamma": "fn.adjust_gamma(x, gamma=)",
    "random_gamma": "`fn.adjust_gamma(x, gamma=)` with a number of fn.random.uniform(range=)",
    "sharpness": "fn.adjust_sharpness(x, sharpness_factor=)",
    "sharpen": "fn.adjust_sharpness(x, sharpness_factor=)",
    "rgb_to_grayscale": "fn.grayscale(x)",
    "gray": "fn.grayscale(x)",
    "to_gray": "fn.grayscale(x, num_output_channels=3)",
    "cvt_color": "fn.color_space_conversion(x, image_type=, output_type=)",
    "rgb_to_hsv": "fn.hsv(x, hue=, saturation=, value=) changes colors; there is no conversion to HSV",
    "channel_shuffle": "fn.channel_reorder(x, order=[2, 0, 1]), with the order that you want",
    "mix_channels": "fn.channel_reorder(x, order=)",
    "gamma_contrast": "fn.adjust_gamma(x, gamma=)",
    "average_blur": "fn.box_blur(x, window_size=)",
    "bilateral_blur": "fn.bilateral_filter(x, diameter=, sigma_color=, sigma_space=)",
    "morphology_ex": 'fn.morphology(x, operation="open")',
    "opening": 'fn.morphology(x, operation="open")',
    "closing": 'fn.morphology(x, operation="close")',
    "otsu": "fn.threshold(x, threshold=fn.find_threshold(x))",
    "threshold_otsu": "fn.threshold(x, threshold=fn.find_threshold(x))",
    "threshold_triangle": 'fn.threshold(x, threshold=fn.find_threshold(x, method="triangle"))',
    "threshold_local": "fn.adaptive_threshold(x, block_size=, offset=)",
    "alpha_blend": "fn.composite(x, background, mask)",
    "to_tensor": "fn.crop_mirror_normalize(x, std=255.0), which gives float32 CHW from 0 to 1",
    "convert_image_dtype": 'fn.cast(x, dtype="float32") / 255.0',
    "per_image_standardization": "fn.normalize(x)",
    "histogram_equalize": "fn.equalize(x)",
    "equalize_hist": "fn.equalize(x)",
    "image_compression": "fn.jpeg_compression_distortion(x, quality=)",
    "jpeg_compression": "fn.jpeg_compression_distortion(x, quality=)",
    "random_jpeg_quality": "fn.jpeg_compression_distortion(x, quality=fn.random.uniform(range=[50.0, 95.0]))",
    # --- filters, noise, erasing
    "blur": "fn.gaussian_blur(x, sigma=) or fn.median_blur(x, window_size=)",
    "motion_blur": "fn.correlate() with a kernel of a line: there is no operator of its own",
    "gaussian_filter": "fn.gaussian_blur(x, sigma=)",
    "filter2d": "fn.correlate()",
    "spatial_gradient": "fn.sobel(x, dx=1, dy=0) and fn.sobel(x, dx=0, dy=1)",
    "imencode": "fn.encoders.jpeg(x, quality=), fn.encoders.png(x) or fn.encoders.webp(x, quality=)",
    "encode_jpeg": "fn.encoders.jpeg(x, quality=)",
    "encode_png": "fn.encoders.png(x)",
    "encode_webp": "fn.encoders.webp(x, quality=)",
    "conv2d": "fn.correlate()",
    "gauss_noise": "fn.noise.gaussian(x, stddev=)",
    "gaussian_noise": "fn.noise.gaussian(x, stddev=)",
    "salt_and_pepper": "fn.noise.salt_and_pepper(x, prob=)",
    "speckle_noise": "fn.noise.speckle(x, stddev=)",
    "iso_noise": "fn.noise.shot(x, factor=)",
    "random_erasing": "`penstock.augment.random_erasing(x)`",
    "cutout": "`penstock.augment.coarse_dropout(x, num_holes=(1, 1))`",
    "coarse_dropout": "`penstock.augment.coarse_dropout(x)`",
    "grid_dropout": "fn.grid_mask(x, ratio=, tile=)",
    # --- mixing and policies
    "mixup": "`penstock.augment.mixup(x, labels)`",
    "cutmix": "`penstock.augment.cutmix(x, labels)`",
    "mosaic": "`penstock.augment.mosaic(sample, size)`, or fn.multi_paste() of images alone",
    "copy_paste": "`penstock.augment.copy_paste(sample)`, or fn.multi_paste() of images alone",
    "rand_augment": "`penstock.augment.rand_augment(x)`",
    "auto_augment": "`penstock.augment.auto_augment(x)`",
    "trivial_augment_wide": "`penstock.augment.trivial_augment_wide(x)`",
    "aug_mix": "`penstock.augment.aug_mix(x)`",
    "some_of": "`penstock.augment.some_of(x, functions, n=2)`",
    "random_grayscale": "`penstock.augment.random_grayscale(x)`",
    "random_invert": "`penstock.augment.random_invert(x)`",
    "random_posterize": "`penstock.augment.random_posterize(x, bits=4)`",
    "random_solarize": "`penstock.augment.random_solarize(x, threshold=128)`",
    "random_adjust_sharpness": "`penstock.augment.random_adjust_sharpness(x, sharpness_factor=2.0)`",
    "random_autocontrast": "`penstock.augment.random_autocontrast(x)`",
    "random_equalize": "`penstock.augment.random_equalize(x)`",
    "random_apply": "`penstock.augment.maybe(x, function, p=0.5)`, or `if fn.random.coin_flip(probability=0.5):` around the operators",
    "random_choice": "`penstock.augment.one_of(x, functions)`",
    "one_of": "`penstock.augment.one_of(x, functions)`",
    "compose": "calls one after the other in a function with `@pipeline_def`",
    "lambda": "fn.python_function(x, function=)",
    # --- files, data, arrays
    "imread": 'fn.decoders.image(file, output_type="RGB") of a file that fn.readers.file(files=) gives',
    "read_image": 'fn.decoders.image(file, output_type="RGB") of a file that fn.readers.file(files=) gives',
    "decode": 'fn.decoders.image(file, output_type="RGB"), fn.decoders.audio(file) or fn.decoders.video(file)',
    "decode_image": 'fn.decoders.image(file, output_type="RGB")',
    "decode_jpeg": 'fn.decoders.image(file, output_type="RGB")',
    "decode_png": 'fn.decoders.image(file, output_type="RGB")',
    "image_folder": "fn.readers.file(file_root=, random_shuffle=True)",
    "from_generator": "fn.external_source(source)",
    "shuffle": "`random_shuffle=True` of a reader, such as fn.readers.file(random_shuffle=True)",
    "astype": 'fn.cast(x, dtype="float32")',
    "to": 'fn.cast(x, dtype="float32") for a type, x.gpu() for a device',
    "clip": "`penstock.math.clamp(x, low, high)`",
    "clamp": "`penstock.math.clamp(x, low, high)`",
    "permute": "fn.transpose(x, perm=[2, 0, 1])",
    "swapaxes": "fn.transpose(x, perm=[1, 0, 2])",
    "unsqueeze": "fn.expand_dims(x, axes=[0])",
    "concatenate": "fn.cat(x, y, axis=0)",
    "concat": "fn.cat(x, y, axis=0)",
    "mean": "fn.reductions.mean(x)",
    "sum": "fn.reductions.sum(x)",
    "min": "fn.reductions.min(x)",
    "max": "fn.reductions.max(x)",
    "amin": "fn.reductions.min(x)",
    "amax": "fn.reductions.max(x)",
    "std": "fn.reductions.std_dev(x, mean), with the mean of fn.reductions.mean(x)",
    "var": "fn.reductions.variance(x, mean), with the mean of fn.reductions.mean(x)",
    "uniform": "fn.random.uniform(range=[low, high])",
    "rand": "fn.random.uniform(range=[0.0, 1.0])",
    "randint": 'fn.cast(fn.random.uniform(values=list(range(low, high))), dtype="int32")',
    "randn": "fn.random.normal(mean=0.0, stddev=1.0)",
    "coin_flip": "fn.random.coin_flip(probability=0.5)",
    "abs": "`penstock.math.abs(x)`",
    "sqrt": "`penstock.math.sqrt(x)`",
    "exp": "`penstock.math.exp(x)`",
    "log": "`penstock.math.log(x)`",
    "lookup": "fn.lookup_table(x, keys=, values=)",
    # --- boxes
    "box_convert": 'arithmetic on `boxes[:, 0]` and similar values; operators of boxes take bbox_layout="ltrb", "xywh" or "cxcywh", '
    "such as fn.bb_flip(boxes, bbox_layout=)",
    "bbox_flip": "fn.bb_flip(boxes, horizontal=)",
    "flip_boxes": "fn.bb_flip(boxes, horizontal=)",
    "bbox_safe_random_crop": "`penstock.augment.random_box_safe_crop(sample)`",
    "random_sized_bbox_safe_crop": "`penstock.augment.random_sized_box_safe_crop(sample, size)`",
    "crop_non_empty_mask_if_exists": "`penstock.augment.crop_near_mask(sample, size)`",
    "random_iou_crop": "fn.random_bbox_crop(boxes, thresholds=)",
    # --- sound
    "mel_spectrogram": "fn.mel_filter_bank(fn.spectrogram(x, nfft=, window_length=, window_step=), sample_rate=, nfilter=)",
    "melspectrogram": "fn.mel_filter_bank(fn.spectrogram(x, nfft=, window_length=, window_step=), sample_rate=, nfilter=)",
    "stft": "fn.spectrogram(x, nfft=, window_length=, window_step=), which gives magnitudes or powers",
    "amplitude_to_db": "fn.to_decibels(x, multiplier=20.0)",
    "power_to_db": "fn.to_decibels(x, multiplier=10.0)",
    "resample": "fn.audio_resample(x, in_rate=, out_rate=, limit_band=True)",
    "speed_perturbation": "`penstock.augment.speed_perturbation(x, [0.9, 1.0, 1.1])`",
    "speed": "`penstock.augment.speed_perturbation(x, [1.1])`",
    "pitch_shift": "`penstock.augment.pitch_shift(x, sample_rate)`",
    "compute_deltas": "`penstock.augment.deltas(features)`",
    "apply_codec": "fn.audio_codec(x, sample_rate=, format=, bitrate=)",
    "preemphasis": "fn.preemphasis_filter(x, preemph_coeff=)",
    "vad": "fn.nonsilent_region(x, cutoff_db=)",
    "trim": "`penstock.augment.trim_silence(x, cutoff_db=-40)`",
    "frequency_masking": "fn.spec_augment(x)",
    "time_masking": "fn.spec_augment(x)",
    "freq_mask": "fn.spec_augment(x)",
    "time_mask": "fn.spec_augment(x)",
    "load_audio": "fn.decoders.audio(file), of a file that fn.readers.file(files=) gives",
}

# Classes and functions that people look for in penstock itself.
OF_THE_PACKAGE = {
    "DataLoader": "penstock.torch.DataLoader(pipeline)",
    "Compose": "a function with @penstock.pipeline_def",
    "Dataset": "penstock.fn.readers.dataset(data)",
    "ops": "penstock.fn",
    "transforms": "penstock.fn, and penstock.fn.transforms for matrices",
    "manual_seed": "penstock.seed(s)",
    "from_numpy": "penstock.tensor(x)",
    "pipeline": "penstock.pipeline_def",
    "show": "penstock.pictures.show(images)",
}

# Arguments that people look for; * stands for the rest of a name, which the answer repeats.
_TABLE = "a table of penstock.annotations is read with weights: table.read(weights=...)"
_COCO = "penstock.annotations.coco(file, images, masks=True, keypoints=True) has masks, keypoints, area and iscrowd"
OF_OPERATORS = {
    "readers.nemo_asr": {"read_*": 'read_fields=["*"] gives this field of each line, read_numbers a field of numbers'},
    "readers.file": {"weights": _TABLE, "sampler": _TABLE},
    "readers.coco": {
        "weights": _TABLE,
        **dict.fromkeys(("keypoints", "segmentation", "area", "iscrowd", "rle"), _COCO),
    },
    "readers.webdataset": dict.fromkeys(("urls", "url", "shards"), "paths=[...] names the files"),
}

# Names of arguments that mean the same, here or elsewhere: the error names the one that the function has.
_ALIKE = (
    ("size", "height", "width", "output_size", "out_size", "dsize", "image_size", "img_size", "target_size"),
    ("crop", "height", "width", "size", "output_size", "crop_size"),
    ("interp_type", "interpolation", "resample", "inter", "resampling"),
    ("fill_value", "fill_values", "fill", "value", "border_value", "fillcolor", "cval", "pad_value", "constant_values"),
    ("border_mode", "padding_mode", "border_type", "borderType", "border"),
    ("window_size", "kernel_size", "ksize", "blur_limit"),
    ("sigma", "sigma_limit", "sigmaX", "sigma_x"),
    ("angle", "degrees", "limit", "angles"),
    ("matrix", "M", "theta"),
    ("random_area", "scale"),
    ("random_aspect_ratio", "ratio"),
    ("brightness", "brightness_factor", "brightness_limit", "factor"),
    ("contrast", "contrast_factor", "contrast_limit", "factor"),
    ("saturation", "saturation_factor", "factor"),
    ("hue", "hue_factor", "hue_shift"),
    ("gamma", "gamma_limit"),
    ("stddev", "std", "var_limit", "sigma"),
    ("quality", "quality_range"),
    ("dtype", "output_dtype", "out_type", "astype", "data_type"),
    ("perm", "dims", "axes"),
    ("axis", "axes", "dim", "dims"),
    ("axes", "axis", "dim", "dims"),
    ("random_shuffle", "shuffle"),
    ("file_root", "root", "path", "folder", "directory", "data_dir"),
    ("paths", "path", "urls", "url", "files", "filenames"),
    ("num_shards", "world_size", "num_replicas"),
    ("shard_id", "rank"),
    ("nfft", "n_fft"),
    ("window_length", "win_length"),
    ("window_step", "hop_length"),
    ("nfilter", "n_mels"),
    ("n_mfcc", "num_ceps"),
    ("freq_low", "f_min", "fmin"),
    ("freq_high", "f_max", "fmax"),
    ("sample_rate", "sr", "orig_freq"),
    ("out_rate", "new_freq", "target_sr"),
    ("in_rate", "orig_freq", "orig_sr"),
    ("cutoff_db", "top_db"),
)
# How an argument is written, where its name says less than that.
_WRITTEN = {
    "size": "size=(height, width)",
    "crop": "crop=(height, width)",
    "height": "height= and width=",
    "interp_type": "interp_type=, such as 'linear' or 'cubic'",
    "angle": "angle=, in degrees; fn.random.uniform(range=[-10.0, 10.0]) draws one",
    "random_area": "random_area=[0.08, 1.0], a range of parts of the area",
    "random_aspect_ratio": "random_aspect_ratio=[0.75, 1.33], a range",
}
# What loaders of other libraries are told and operators are not, and what does it here.
OF_LOADERS = {
    "batch_size": "batch_size is an argument of pipeline_def and of Pipeline",
    "shuffle": "random_shuffle=True of the reader shuffles again for each epoch",
    "sampler": "the reader has the order: random_shuffle, shard_id and num_shards",
    "batch_sampler": "the reader has the order: random_shuffle, shard_id, num_shards; bucket_by and max_cost form batches by length",
    "num_workers": "num_threads of pipeline_def says how many threads work; py_num_workers how many processes run Python sources",
    "collate_fn": "outputs are whole batches; pad= and ragged= say what becomes of samples of different shapes",
    "pin_memory": "batches of a GPU are made there: device='mixed' of decoders, or .gpu()",
    "pin_memory_device": "batches of a GPU are made there: device='mixed' of decoders, or .gpu()",
    "drop_last": "last_batch='drop' does it",
    "timeout": "nothing waits for a process here",
    "worker_init_fn": "threads need none; py_num_workers processes get the source itself",
    "multiprocessing_context": "py_start_method of pipeline_def says it for Python sources",
    "generator": "seed of pipeline_def, or of the reader, decides the order",
    "prefetch_factor": "prefetch_queue_depth of pipeline_def says how many batches are made ahead",
    "persistent_workers": "threads and processes of a pipeline stay from epoch to epoch",
    "in_order": "batches always come in the order of the data",
    "dataset": "fn.readers.dataset(...) reads a torch data set in a pipeline",
}


def _plain(name):
    """ColorJitter and colorJitter as color_jitter."""
    return "".join(
        "_" + c.lower() if c.isupper() and k and not name[k - 1].isupper() else c.lower() for k, c in enumerate(name)
    )


def _sentence(here):
    operator = re.match(r"fn\.[\w.]+", here)
    if operator is None:
        return f": write {here}"
    if re.fullmatch(r"fn\.[\w.]+\([^;]*\)", here) and not re.search(r"\) |, then", here):
        return f": did you mean {here}?"
    return f": did you mean {operator[0]}? Write {here}"


def answer(name, operators, group=""):
    """The second sentence of the error for fn.name; "" if no name is similar."""
    plain = _plain(name)
    for key in (plain, plain.removeprefix("random_")):
        if key in NAMES and group in ("", "random"):
            return _sentence(NAMES[key])
    last = {o.rpartition(".")[2]: o for o in operators}
    near = [plain] if plain in last else difflib.get_close_matches(plain, last, 1, 0.75)
    return f": did you mean fn.{last[near[0]]}?" if near else ""


def alike(name, known):
    """How an argument is written that means the same as `name` and is one of those that a function has; "": none."""
    for group in _ALIKE:
        if name in group:
            for here in group:
                if here in known:
                    return f"write {_WRITTEN.get(here, here + '=')}"
    return ""


def answer_of_loader(name):
    """What follows the error of an argument that a loader, a pipeline or a Compose does not have."""
    return f": {OF_LOADERS[name]}" if name in OF_LOADERS else ""


def answer_of_argument(op, name, known=()):
    """What follows the error of an argument that an operator does not have; `known`: those that it has."""
    for known, here in OF_OPERATORS.get(op, {}).items():
        start, star, _ = known.partition("*")
        if known == name or (star and name.startswith(start)):
            return f": {here.replace('*', name[len(start) :])}"
    if here := alike(name, known):
        return f": {here}"
    if name == "p":
        return f": fn.{op} changes each sample; penstock.augment.maybe(x, function, p=0.5) calls a function for a part of them"
    return answer_of_loader(name)


def answer_of_package(name, operators):
    """The same for penstock.name."""
    if name in OF_THE_PACKAGE:
        return f": did you mean {OF_THE_PACKAGE[name]}?"
    return f": did you mean penstock.fn.{name}?" if name in operators else ""
