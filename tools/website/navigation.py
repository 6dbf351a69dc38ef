# SPDX-License-Identifier: Apache-2.0
"""What the site shows at its top and at its side. Each how-to page is in one group; the rest is found through the pages and the search."""

HOW_TO = {
    "Train": [
        "begin_with_one_line", "train_with_torch", "train_with_tensorflow", "train_with_jax", "train_with_paddle_and_mxnet",
        "go_to_a_batch", "replay_draws", "batch_by_length", "do_not_wait_for_slow_samples", "why_is_my_pipeline_slow",
        "make_batches_on_other_machines", "place_workers_with_ray", "use_with_other_loaders",
    ],
    "Install and check": ["install", "check_a_machine", "log_what_it_does"],
    "Read": [
        "decode_images", "read_containers", "read_scientific_files", "read_from_remote_storage", "read_video", "prepare_image_files",
        "convert_data_sets", "convert_camera_frames", "plan_machines",
    ],
    "Augment and look": [
        "augment_images", "augment_speech", "move_parts_together", "prepare_for_transformers", "see_your_data", "show_detections",
        "align_images", "use_conditions_and_loops",
    ],
    "Come from elsewhere": ["run_dali_scripts", "run_cvcuda_programs"],
    "Your own code": ["use_your_own_functions", "use_worker_processes"],
    "Deploy": ["call_a_function", "call_from_cpp", "serve_with_triton"],
    "Extend": [
        "add_an_operator", "add_a_window_operator", "add_an_image_format", "add_a_reader", "add_a_plugin_library", "add_a_plugin",
    ],
}  # fmt: skip
CHEAT_SHEETS = ["from_torchvision", "from_tf_data", "from_dali", "from_cvcuda", "albumentations", "torchaudio"]
REFERENCE = [
    "names",
    "cpp",
    "dali",
    "cvcuda",
    "layouts",
    "image_formats",
    "boxes",
    "color_jitter",
    "state",
    "settings",
    "plugin_interface",
]
EXPLANATION = [
    "limits", "figures", "refused", "pipeline_semantics", "operator_semantics", "order", "control_flow", "gpu", "entropy_index", "jpeg_decoding",
    "jpeg_on_the_gpu", "video_decoding", "direct_storage", "data_from_elsewhere", "architecture", "glossary",
]  # fmt: skip
# What a search finds first where two pages have the words: a task before a table, a table before a reason.
WEIGHTS = {
    "how_to/": 4,
    "tutorial/": 4,
    "notebooks/": 2,
    "api/": 1.5,
    "reference/operators/": 0.6,
    "decisions/": 0.2,
    "files/": 0.1,
    "changelog": 0.1,
}


def weight(page):
    return next((w for start, w in WEIGHTS.items() if page.startswith(start)), 1)


def tree(api, notebooks):
    """The navigation as MkDocs has it; api and notebooks: the paths of those pages."""
    return [
        {"Home": ["index.md"]},
        {"Learn": ["tutorial/first_pipeline.md", {"Notebooks": notebooks}, {"Examples": _in("examples", EXAMPLES)}]},
        {"How to": [{group: _in("how_to", names)} for group, names in HOW_TO.items()]},
        {"Gallery": ["gallery.md"]},
        {
            "Reference": [
                "reference/operators.md",
                {"Python": api},
                {"Cheat sheets": _in("reference", CHEAT_SHEETS)},
                *_in("reference", REFERENCE),
            ]
        },
        {"Explanation": [*_in("explanation", EXPLANATION), "contributing.md", "changelog.md"]},
    ]


EXAMPLES = ["resnet50", "ssd", "yolo", "speech", "background_blur", "lightning_and_accelerate"]


def _in(folder, names):
    return [f"{folder}/{name}.md" for name in names]
