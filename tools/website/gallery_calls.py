# SPDX-License-Identifier: Apache-2.0
"""What the gallery calls for its pictures where the example of an operator is about a few numbers.

An operator that is not here is called as its example calls it, with a photograph where the example has an image of zeros; if its example
has none, its lines are the picture. NAME: call, or (call, what stands on the left, what stands on the right). `result` is what the call
returns. `scenes.py` has the other names. Positions are pixels of a picture of 240 rows and 320 columns.
"""

_ON = "fn.draw_boxes({}, {}, color=[255, 220, 0], thickness=3)"
_BOXES = _ON.format("image", "boxes")


def _moved(call, image, boxes="result"):
    return call, _BOXES, _ON.format(image, boxes)


def _reduced(name):
    return f"fn.reductions.{name}(image, axes=[0])", "image", "band(result)"


def _drawn(call):
    return call, "'random numbers'", "counts(lambda: " + call + ")"


def _turned(call):
    return call, "image", "fn.warp_affine(image, matrix=result, inverse_map=False)"


_SOUND = {
    "audio_codec": 'fn.audio_codec(speech, sample_rate=16000, format="opus", bitrate=6000)',
    "audio_resample": "fn.audio_resample(speech, in_rate=16000.0, out_rate=4000.0)",
    "biquad": 'fn.biquad(speech, kind="lowpass", sample_rate=16000, frequency=1200)',
    "lfilter": "fn.lfilter(speech, b=[0.05], a=[1.0, -0.95])",
    "preemphasis_filter": "fn.preemphasis_filter(speech, preemph_coeff=0.97)",
    "time_stretch": "fn.time_stretch(speech, sample_rate=16000, factor=1.5)",
}
_WAVES = {
    "convolve": 'fn.convolve(speech, room, mode="causal", normalize="energy")',
    "fade": "fn.fade(speech, fade_in=4000, fade_out=8000)",
    "mu_law_encode": "fn.mu_law_encode(speech)",
    "mu_law_decode": "fn.mu_law_decode(fn.mu_law_encode(speech))",
    "g711_encode": "fn.g711_encode(np.int16(speech * 32767))",
    "g711_decode": "fn.g711_decode(fn.g711_encode(np.int16(speech * 32767)))",
}
_RATES = {"audio_resample": 4000}
_SPECTRA = {
    "spec_augment": "fn.spec_augment(decibels)",
    "time_warp": "fn.time_warp(decibels, max_shift=30)",
    "mel_filter_bank": (
        "fn.mel_filter_bank(power, sample_rate=16000, nfilter=64)",
        "decibels",
        "fn.to_decibels(result, cutoff_db=-60.0)",
    ),
    "mfcc": ("fn.mfcc(decibels, n_mfcc=20)", "decibels", "result[1:]"),
    "to_decibels": ("fn.to_decibels(power, cutoff_db=-60.0)", "power", "result"),
    "frame_splicing": "fn.frame_splicing(decibels, stack=3, subsample=3)",
}
CALLS = {
    "adaptive_threshold": ("fn.adaptive_threshold(gray, block_size=31, offset=4)", "gray", "result"),
    "adjust_gamma": "fn.adjust_gamma(image, gamma=2.0)",
    "adjust_hue": "fn.adjust_hue(image, hue_factor=0.3)",
    "adjust_sharpness": "fn.adjust_sharpness(image, sharpness_factor=6.0)",
    "autocontrast": ("fn.autocontrast(dull)", "dull", "result"),
    "bb_flip": _moved(
        "fn.bb_flip(fractions, ltrb=True, horizontal=1)", "fn.flip(image)", "result * np.float32([320, 240, 320, 240])"
    ),
    "bbox_paste": _moved(
        "fn.bbox_paste(fractions, ltrb=True, ratio=1.5, paste_x=0.5, paste_y=0.5)",
        "fn.paste(image, fill_value=[80, 80, 80], ratio=1.5)",
        "result * np.float32([480, 360, 480, 360])",
    ),
    "bbox_rotate": _moved(
        "fn.bbox_rotate(fractions, angle=15.0, input_shape=[240, 320], keep_size=True)",
        "fn.rotate(image, angle=15.0, keep_size=True, fill_value=0)",
        "result * np.float32([320, 240, 320, 240])",
    ),
    "bilateral_filter": "fn.bilateral_filter(image, diameter=15, sigma_color=60, sigma_space=8)",
    "box_blur": "fn.box_blur(image, window_size=[15, 15])",
    "box_blur_regions": ("fn.box_blur_regions(image, boxes, window_size=31)", "image", "result"),
    "canny": ("fn.canny(gray, low=60, high=160)", "gray", "result"),
    "cat": "fn.cat(image, other, axis=1)",
    "channel_reorder": "fn.channel_reorder(image, order=[2, 1, 0])",
    "clahe": ("fn.clahe(dull, tiles_x=8, tiles_y=8, clip_limit=3.0)", "dull", "result"),
    "color_matrix": "fn.color_matrix(image, coefficients=[0.39, 0.77, 0.19, 0.35, 0.69, 0.17, 0.27, 0.53, 0.13])",
    "color_space_conversion": 'fn.color_space_conversion(image, image_type="RGB", output_type="HSV")',
    "color_twist": "fn.color_twist(image, hue=30.0, saturation=1.6, contrast=1.2)",
    "composite": ("fn.composite(image, other, mask)", "image", "result"),
    "coord_flip": (
        "fn.coord_flip(points, layout='xy', flip_x=1, center_x=160)",
        "dots(image, points)",
        "dots(fn.flip(image), result)",
    ),
    "coord_transform": (
        "fn.coord_transform(points, M=[0.5, 0.0, 0.0, 0.5], T=[80.0, 60.0])",
        "dots(image, points)",
        "dots(image, result)",
    ),
    "correlate": ("fn.correlate(gray[..., 0], np.float32([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]]))", "gray", "result"),
    "crop": "fn.crop(image, crop=[160, 160])",
    "crop_mirror_normalize": 'fn.crop_mirror_normalize(image, crop=[160, 160], mirror=1, output_layout="HWC")',
    "debayer": ("fn.debayer(mosaic, blue_position=[1, 1])", "mosaic", "result"),
    "decoders.image": ("fn.decoders.image(file)", "opened", "result"),
    "decoders.image_crop": ("fn.decoders.image_crop(file, crop=[160, 160])", "opened", "result"),
    "decoders.image_random_crop": ("fn.decoders.image_random_crop(file)", "opened", "result"),
    "decoders.image_slice": (
        'fn.decoders.image_slice(file, start=[40, 90], shape=[110, 150], axis_names="HW")',
        "opened",
        "result",
    ),
    "dilate": "fn.dilate(image, mask_size=[9, 9])",
    "draw_boxes": 'fn.draw_boxes(image, boxes, np.int32([0, 1]), names=["ear", "eyes"], color=[255, 220, 0], thickness=3)',
    "draw_circles": "fn.draw_circles(image, centers=[128, 106, 196, 104], radius=[22, 20], color=[0, 255, 0])",
    "draw_lines": "fn.draw_lines(image, lines=[20, 20, 300, 200, 300, 20, 20, 200], color=[255, 200, 0], thickness=5)",
    "draw_segments": "fn.draw_segments(image, segments=[40, 200, 160, 60, 160, 60, 280, 200], radius=[5, 5], color=[255, 200, 0])",
    "draw_text": 'fn.draw_text(image, text=["cat"], positions=[20, 20], scale=3)',
    "element_extract": ("fn.element_extract(film, element_map=[3])", "film", "result"),
    "elastic_transform": "fn.elastic_transform(image, alpha=300.0, sigma=12.0)",
    "encoders.jpeg": ("fn.encoders.jpeg(image, quality=5)", "image", "fn.decoders.image(result)"),
    "encoders.png": ("fn.encoders.png(image)", "image", "fn.decoders.image(result)"),
    "encoders.webp": ("fn.encoders.webp(image, quality=1)", "image", "fn.decoders.image(result)"),
    "equalize": ("fn.equalize(dull)", "dull", "result"),
    "erase": 'fn.erase(picture, anchor=[60, 80], shape=[90, 120], axis_names="HW")',
    "erode": "fn.erode(image, mask_size=[9, 9])",
    "find_homography": (
        "fn.find_homography(corners, np.float32([[40, 20], [280, 0], [320, 240], [0, 200]]))",
        "image",
        "fn.warp_perspective(image, matrix=np.array(result).ravel().tolist(), inverse_map=False, fill_value=0)",
    ),
    "find_contours": ("fn.find_contours(mask)", "mask", "dots(fn.cat(mask, mask, mask, axis=2) // 3, result[0])"),
    "flip": "fn.flip(image, horizontal=1)",
    "gaussian_blur": "fn.gaussian_blur(picture, sigma=5.0)",
    "grayscale": "fn.grayscale(image)",
    "grid_distortion": "fn.grid_distortion(image, steps_x=[0.6, 1.5, 0.9], steps_y=[1.3, 0.7])",
    "grid_mask": "fn.grid_mask(image, tile=40)",
    "get_property": ('fn.get_property(picture, key="layout")', "image", "bytes(np.array(result)).decode()"),
    "griffin_lim": ("fn.griffin_lim(power, window_step=128, n_iter=8)", "decibels", "result"),
    "histogram": ("fn.histogram(gray, num_bins=64)", "gray", "bars(result)"),
    "hough_lines": (
        "fn.hough_lines(edges, threshold=100)",
        "edges",
        "'rho, angle:\\n' + str(np.array(result[0]).round(2)[:6])",
    ),
    "hough_lines_p": (
        "fn.hough_lines_p(edges, threshold=20, min_length=20, max_gap=4)",
        "edges",
        "strokes(board, result)",
    ),
    "hue": "fn.hue(image, hue=90.0)",
    "hsv": "fn.hsv(image, hue=40.0, saturation=1.5)",
    "inpaint": ("fn.inpaint(scratched, scratch)", "scratched", "result"),
    "inverse_spectrogram": (
        "fn.inverse_spectrogram(fn.spectrogram(speech, window_step=128, power=0), window_step=128)",
        "decibels",
        "result",
    ),
    "invert": "fn.invert(image)",
    "jitter": "fn.jitter(image, nDegree=9)",
    "joint_bilateral_filter": (
        "fn.joint_bilateral_filter(noisy, image, diameter=15, sigma_color=30, sigma_space=6)",
        "noisy",
        "result",
    ),
    "jpeg_compression_distortion": "fn.jpeg_compression_distortion(image, quality=5)",
    "label": ("fn.label(mask)", "mask", "colored(result)"),
    "laplacian": "fn.laplacian(picture, window_size=5)",
    "letterbox": "fn.letterbox(image, size=320)",
    "lookup_table": "fn.lookup_table(gray, keys=list(range(128)), values=list(range(0, 256, 2)), default_value=0)",
    "median_blur": ("fn.median_blur(noisy, window_size=[5, 5])", "noisy", "result"),
    "min_area_rect": ("fn.min_area_rect(points)", "dots(image, points)", "outlined(image, result)"),
    "morphology": ('fn.morphology(mask, operation="gradient", mask_size=[7, 7])', "mask", "result"),
    "multi_paste": (
        "fn.multi_paste(penstock.batch([image, other]), in_ids=[0, 1], out_anchors=[[0, 0], [80, 160]], output_size=[320, 480])",
        "image",
        "result[0]",
    ),
    "nms": (
        "fn.nms(crowd, scores, iou_threshold=0.4)",
        _ON.format("image", "crowd"),
        _ON.format("image", "crowd[np.array(result)]"),
    ),
    "noise.gaussian": "fn.noise.gaussian(image, stddev=40.0)",
    "noise.salt_and_pepper": "fn.noise.salt_and_pepper(image, prob=0.1)",
    "noise.shot": "fn.noise.shot(image, factor=40.0)",
    "noise.speckle": "fn.noise.speckle(image, stddev=0.4)",
    "nonsilent_region": (
        "fn.nonsilent_region(speech, cutoff_db=-20.0)",
        "speech",
        "speech[int(result[0]) : int(result[0] + result[1])]",
    ),
    "normalize": "fn.normalize(image)",
    "optical_distortion": "fn.optical_distortion(image, k=0.8)",
    "pad": "fn.pad(image, axes=[0, 1], shape=[320, 400])",
    "paste": "fn.paste(image, fill_value=[80, 80, 80], ratio=1.5)",
    "per_frame": (
        "fn.per_frame(penstock.batch([np.float32([0, 10, 20, 30])]))",
        "film",
        'fn.rotate(penstock.batch([film], layout="FHWC"), angle=result, keep_size=True)[0]',
    ),
    "permute_batch": (
        "fn.permute_batch(penstock.batch([image, other]), indices=[1, 0])",
        "fn.cat(image, other, axis=1)",
        "fn.cat(result[0], result[1], axis=1)",
    ),
    "posterize": "fn.posterize(image, bits=2)",
    "power_spectrum": ("fn.power_spectrum(speech[4000:4512])", "speech[4000:4512]", "bars(result[:100])"),
    "random.beta": _drawn("fn.random.beta(alpha=2.0, beta=5.0)"),
    "random.choice": _drawn("fn.random.choice(np.int32([10, 20, 30]), p=[0.2, 0.3, 0.5])"),
    "random.coin_flip": _drawn("fn.random.coin_flip(probability=0.25)"),
    "random.normal": _drawn("fn.random.normal()"),
    "random.uniform": _drawn("fn.random.uniform(range=[0.0, 1.0])"),
    "random_bbox_crop": (
        "fn.random_bbox_crop(fractions, np.int32([1, 2]), bbox_layout='xyXY', thresholds=[0.3])",
        _BOXES,
        "fn.slice(image, result[0], result[1], axis_names='WH')",
    ),
    "random_resized_crop": "fn.random_resized_crop(image, size=[160, 160], random_area=[0.2, 0.6])",
    "reductions.max": _reduced("max"),
    "reductions.mean": _reduced("mean"),
    "reductions.mean_square": _reduced("mean_square"),
    "reductions.min": _reduced("min"),
    "reductions.rms": _reduced("rms"),
    "reductions.std_dev": (
        "fn.reductions.std_dev(image, fn.reductions.mean(image, axes=[0], keep_dims=True), axes=[0])",
        "image",
        "band(result)",
    ),
    "reductions.sum": _reduced("sum"),
    "reductions.variance": (
        "fn.reductions.variance(image, fn.reductions.mean(image, axes=[0], keep_dims=True), axes=[0])",
        "image",
        "band(result)",
    ),
    "remap": ("fn.remap(image, columns + 12 * np.sin(rows / 12), rows, pixel_origin='center')", "image", "result"),
    "resize": "fn.resize(image, size=[60, 80])",
    "resize_crop_mirror": "fn.resize_crop_mirror(image, size=[200, 240], crop=[160, 160], mirror=1)",
    "roi_align": (
        "fn.roi_align(np.float32(gray)[None, :, :, 0], boxes, output_size=96)",
        _BOXES,
        "fn.cat(result[0, 0], result[1, 0], axis=1)",
    ),
    "rotate": "fn.rotate(image, angle=30.0, fill_value=0)",
    "saturation": "fn.saturation(image, saturation=2.5)",
    "segmentation.random_object_bbox": (
        "fn.segmentation.random_object_bbox(np.int32(mask[..., 0] > 0), background=0, foreground_prob=1.0)",
        "mask",
        "fn.slice(mask, start=result[0], shape=result[1], axis_names='HW')",
    ),
    "sequence_rearrange": ("fn.sequence_rearrange(film, new_order=[3, 2, 1, 0])", "film", "result"),
    "shift_hsv": "fn.shift_hsv(image, hue=40, saturation=40)",
    "shuffle_tiles": "fn.shuffle_tiles(image, columns=[0, 160, 320], rows=[0, 120, 240], order=[3, 2, 1, 0])",
    "sift": ("fn.sift(gray)", "gray", "dots(image, np.array(result[0])[::6, :2])"),
    "slice": ("fn.slice(image, start=[40, 90], shape=[110, 150], axis_names='HW')", "image", "result"),
    "sobel": ("fn.sobel(gray)", "gray", "result"),
    "solarize": "fn.solarize(image, threshold=128)",
    "spectrogram": (
        "fn.spectrogram(speech, window_length=512, window_step=128)",
        "speech",
        "fn.to_decibels(result, cutoff_db=-60.0)",
    ),
    "ssd_random_crop": ("fn.ssd_random_crop(image, fractions, np.int32([1, 2]))", _BOXES, "result[0]"),
    "stack": ("fn.stack(image, other)", "image", "result"),
    "tensor_resize": "fn.tensor_resize(image, scales=[0.25, 1.0], axes=[0, 1])",
    "threshold": ("fn.threshold(gray, threshold=110)", "gray", "result"),
    "transform_boxes": _moved(
        "fn.transform_boxes(boxes, matrix=[0.5, 0.0, 80.0, 0.0, 0.5, 60.0, 0.0, 0.0, 1.0], output_shape=[240, 320])",
        "fn.warp_affine(image, matrix=[0.5, 0.0, 80.0, 0.0, 0.5, 60.0], inverse_map=False, fill_value=0)",
        "result[0]",
    ),
    "transform_points": (
        "fn.transform_points(points, matrix=[0.5, 0.0, 80.0, 0.0, 0.5, 60.0, 0.0, 0.0, 1.0])",
        "dots(image, points)",
        "dots(fn.warp_affine(image, matrix=[0.5, 0.0, 80.0, 0.0, 0.5, 60.0], inverse_map=False, fill_value=0), result)",
    ),
    "transforms.combine": _turned(
        "fn.transforms.combine(fn.transforms.rotation(angle=15.0), fn.transforms.translation(offset=[40.0, 0.0]))"
    ),
    "transforms.crop": _turned(
        "fn.transforms.crop(from_start=[0.0, 0.0], from_end=[160.0, 120.0], to_start=[0.0, 0.0], to_end=[320.0, 240.0])"
    ),
    "transforms.rotation": _turned("fn.transforms.rotation(angle=20.0, center=[160.0, 120.0])"),
    "transforms.scale": _turned("fn.transforms.scale(scale=[1.5, 0.7], center=[160.0, 120.0])"),
    "transforms.shear": _turned("fn.transforms.shear(shear=[0.3, 0.0])"),
    "transforms.translation": _turned("fn.transforms.translation(offset=[60.0, 30.0])"),
    "transpose": "fn.transpose(image, perm=[1, 0, 2])",
    "unletterbox_boxes": _moved(
        "fn.unletterbox_boxes(boxes + np.float32([0, 40, 0, 40]), fn.letterbox_placement(np.int32([240, 320]), size=320))",
        "image",
    ),
    "warp_affine": "fn.warp_affine(image, matrix=[1.0, 0.3, -30.0, 0.0, 1.0, 0.0], fill_value=0)",
    "warp_by_mesh": "fn.warp_by_mesh(image, columns=[0, 160, 320], rows=[0, 120, 240], moves=[0, 0] * 4 + [50, -30] + [0, 0] * 4)",
    "warp_by_points": "fn.warp_by_points(image, points=[0, 0, 320, 0, 0, 240, 320, 240, 160, 120], targets=[0, 0, 320, 0, 0, 240, 320, 240, 200, 90])",
    "warp_perspective": "fn.warp_perspective(image, matrix=[1.0, 0.2, -30.0, 0.0, 1.2, -20.0, 0.0, 0.001, 1.0], fill_value=0)",
    "where": ("fn.where(mask > 0, image, other)", "image", "result"),
    **{name: (call, "heard(speech)", f"heard(result, {_RATES.get(name, 16000)})") for name, call in _SOUND.items()},
    **{name: (call, "speech", "result") for name, call in _WAVES.items()},
    **{name: (call if isinstance(call, tuple) else (call, "decibels", "result")) for name, call in _SPECTRA.items()},
}
