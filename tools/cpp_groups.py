# SPDX-License-Identifier: Apache-2.0
"""The headers of include/penstock/fn: what each is about, and the operators in it, by name or by the start of their names.

An operator that no group names is in the last one.
"""

GROUPS = {  # the words after the colon are operators; a word that ends with a point, all that begin with it
    "geometry": """Crops, sizes, turns and warps of images: crop elastic_transform flip grid_distortion jitter letterbox
        letterbox_placement multi_paste optical_distortion pad paste random_crop_generator random_resized_crop remap resize
        resize_crop_mirror roi_align roi_random_crop rotate shuffle_tiles slice sphere transpose transforms. warp_affine warp_by_mesh
        warp_by_points warp_perspective water crop_mirror_normalize find_homography""",
    "color": """Colors, brightness and histograms: adjust_gamma adjust_hue adjust_saturation autocontrast brightness
        brightness_contrast channel_reorder clahe color_matrix color_space_conversion color_twist contrast debayer equalize grayscale
        histogram hsv hue invert lookup_table posterize saturation shift_hsv solarize""",
    "filters": """Filters, morphology, thresholds, noise: adaptive_threshold adjust_sharpness bilateral_filter box_blur
        box_blur_regions canny composite correlate dilate erase erode find_threshold gaussian_blur grid_mask joint_bilateral_filter
        jpeg_compression_distortion label laplacian median_blur morphology noise. sobel threshold""",
    "boxes": """Boxes, points, masks, and drawing: bb_flip bbox_paste bbox_rotate box_encoder coord_flip coord_transform draw_boxes
        draw_circles draw_lines draw_segments draw_text min_area_rect nms random_bbox_crop segmentation. ssd_random_crop
        transform_boxes transform_points unletterbox_boxes""",
    "audio": """Sound and other signals: audio_codec audio_resample biquad convolve fade g711_decode g711_encode griffin_lim
        inverse_spectrogram lfilter loudness mel_filter_bank mfcc mu_law_decode mu_law_encode nonsilent_region power_spectrum
        preemphasis_filter spec_augment spectrogram time_stretch time_warp to_decibels""",
    "codecs": """Decoders and encoders, for files in memory: decoders. encoders. io. peek_image_shape peek_video dump_image""",
    "readers": """What begins a pipeline; only in a Graph: readers. experimental. external_source""",
    "random": """Random numbers and choices: random. batch_permutation""",
    "arrays": """Types, shapes, sums, constants, and other work on arrays:""",
}


def group_of(name):
    for group, text in GROUPS.items():
        words = text.partition(":")[2].split()
        if name in words or any(word.endswith(".") and name.startswith(word) for word in words):
            return group
    return list(GROUPS)[-1]


def about(group):
    return " ".join(GROUPS[group].partition(":")[0].split())
