# SPDX-License-Identifier: Apache-2.0
"""The fields of the classes of transformers, with the values that they have where a configuration does not name them."""

CLIP = {"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}
HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
NEAREST, LANCZOS, BILINEAR, BICUBIC = range(4)
COMMON = {
    "do_resize": True,
    "size": None,
    "resample": BICUBIC,
    "do_center_crop": False,
    "crop_size": None,
    "do_rescale": True,
    "rescale_factor": 1 / 255,
    "do_normalize": True,
    "do_convert_rgb": True,
    "do_pad": False,
    "pad_size": None,
    "default_to_square": True,
}
CROPPED = {"size": {"shortest_edge": 224}, "default_to_square": False, "do_center_crop": True, "crop_size": 224}
PINPOINTS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
SQUARES = [[384 * rows, 384 * columns] for rows in range(1, 7) for columns in range(1, 7)]
FILM = {"do_sample_frames": False, "num_frames": None, "fps": None}
QWEN = {"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2, "min_pixels": None, "max_pixels": None}
IDEFICS3 = (
    COMMON
    | HALF
    | {"size": {"longest_edge": 1456}, "resample": LANCZOS, "max_image_size": {"longest_edge": 364}}
    | {"do_pad": True, "do_image_splitting": True, "return_row_col_info": False}
)
QWEN_VIDEO = FILM | QWEN | {"min_frames": 4, "max_frames": 768, "cap_pixels_per_frame": None}
IMAGES = {  # of the classes, as transformers publishes them
    "CLIPImageProcessor": COMMON | CLIP | CROPPED,
    "SiglipImageProcessor": COMMON | HALF | {"size": {"height": 224, "width": 224}, "default_to_square": False},
    "ViTImageProcessor": COMMON | HALF | {"size": 224, "resample": BILINEAR},
    "DeiTImageProcessor": COMMON | HALF | {"size": 256, "do_center_crop": True, "crop_size": 224},
    "ConvNextImageProcessor": COMMON
    | HALF
    | {"size": {"shortest_edge": 384}, "default_to_square": False, "crop_pct": 224 / 256},
    "BitImageProcessor": COMMON | CLIP | CROPPED,
    "Qwen2VLImageProcessor": COMMON
    | CLIP
    | QWEN
    | {"size": {"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 1280}, "default_to_square": False},
    "LlavaImageProcessor": COMMON | CLIP | CROPPED,
    "LlavaNextImageProcessor": COMMON | CLIP | CROPPED | {"do_pad": True, "image_grid_pinpoints": PINPOINTS},
    "LlavaOnevisionImageProcessor": COMMON
    | CLIP
    | {"size": {"height": 384, "width": 384}, "default_to_square": False}
    | {"do_pad": True, "image_grid_pinpoints": SQUARES},
    "Idefics2ImageProcessor": COMMON
    | HALF
    | {"size": {"shortest_edge": 378, "longest_edge": 980}, "resample": BILINEAR, "default_to_square": False}
    | {"do_pad": True, "do_image_splitting": False},
    "Idefics3ImageProcessor": IDEFICS3,
    "SmolVLMImageProcessor": IDEFICS3,
    "GotOcr2ImageProcessor": COMMON
    | CLIP
    | {"size": {"height": 384, "width": 384}, "crop_to_patches": False, "min_patches": 1, "max_patches": 12},
    "Gemma3ImageProcessor": COMMON
    | HALF
    | {"size": {"height": 224, "width": 224}, "resample": BILINEAR, "do_pan_and_scan": None}
    | {f"pan_and_scan_{f}": None for f in ("min_crop_size", "max_num_crops", "min_ratio_to_activate")},
    "MllamaImageProcessor": COMMON
    | HALF
    | {"size": {"height": 224, "width": 224}, "resample": BILINEAR, "do_pad": True, "max_image_tiles": 4},
    "PixtralImageProcessor": COMMON
    | CLIP
    | {"size": {"longest_edge": 1024}, "patch_size": {"height": 16, "width": 16}, "do_pad": True},
}
VIDEOS = {
    "Qwen2VLVideoProcessor": COMMON
    | CLIP
    | QWEN_VIDEO
    | {"size": {"shortest_edge": 128 * 28 * 28, "longest_edge": 28 * 28 * 768}, "default_to_square": False}
    | {"max_video_tokens": 128000},
    "Qwen3VLVideoProcessor": COMMON
    | HALF
    | QWEN_VIDEO
    | {"size": {"shortest_edge": 128 * 32 * 32, "longest_edge": 32 * 32 * 768}, "default_to_square": False}
    | {"patch_size": 16, "do_sample_frames": True, "fps": 2, "max_video_tokens": 768},
    "SmolVLMVideoProcessor": IDEFICS3 | FILM | {"video_sampling": None},
    "InternVLVideoProcessor": COMMON | CLIP | FILM | {"size": {"height": 384, "width": 384}, "initial_shift": True},
    "LlavaOnevisionVideoProcessor": COMMON
    | CLIP
    | FILM
    | {"size": {"height": 384, "width": 384}, "default_to_square": False},
    "LlavaNextVideoVideoProcessor": COMMON | CLIP | FILM | CROPPED,
}
DEFAULTS = IMAGES | VIDEOS
