# SPDX-License-Identifier: Apache-2.0
"""Programs of videos: the frames that are taken, resized, and for Qwen-VL cut into patches of several frames."""

from .pictures import finish, least_side, target

SAMPLED = "do_sample_frames", "give files, whose frames it chooses; of frames that are chosen already, say False"


def decode(text, configuration):
    """Lines that decode the frames that the configuration chooses, and `shape`."""
    text.line("video = fn.peek_video(encoded)")
    function, arguments = _choice(configuration) if configuration["do_sample_frames"] else ("all_frames", {})
    text.value("numbers", "video", f"sampling.{function}", **arguments)
    text.line(f"images = fn.decoders.video(encoded, frames=numbers{text.mixed})")
    text.value("shape", "video, numbers", "sampling.shape")
    text.shaped = True


def _choice(configuration):
    """(a function of `sampling`, its arguments)"""
    name, c = configuration.name, configuration
    wanted = {"fps": c["fps"], "num_frames": c["num_frames"]}
    if name == "SmolVLMVideoProcessor":
        wanted = _smolvlm(c, wanted)
        return "inside", wanted
    if wanted["fps"] is None and wanted["num_frames"] is None:
        c.refuse("do_sample_frames", "it needs fps, or num_frames")
    if name == "Qwen3VLVideoProcessor" and wanted["num_frames"] is not None:
        wanted["fps"] = None
    if None not in wanted.values() and name != "InternVLVideoProcessor":
        c.refuse("num_frames", "fps is given, too; leave one out")
    if name == "InternVLVideoProcessor":
        return "shifted", wanted | {"shift": c["initial_shift"]}
    if name not in ("Qwen2VLVideoProcessor", "Qwen3VLVideoProcessor"):
        return "evenly", wanted
    wanted |= {"min_frames": c["min_frames"], "max_frames": c["max_frames"]}
    if name == "Qwen3VLVideoProcessor":
        return "qwen3", wanted
    return "qwen2", wanted | {"temporal": c["temporal_patch_size"]}


def _smolvlm(configuration, wanted):
    said = configuration["video_sampling"]
    if said:
        wanted = {"fps": said["fps"], "num_frames": said["max_frames"]}
    if None in wanted.values():
        configuration.refuse("do_sample_frames", "it needs video_sampling, or fps and num_frames")
    return wanted


def _limits(configuration):
    """What the size of a video depends on."""
    c = configuration
    least, most = c.pixels()
    limits = {"factor": c["patch_size"] * c["merge_size"], "min_pixels": least, "max_pixels": most}
    if c.name == "Qwen3VLVideoProcessor":
        limits["frames"] = c["temporal_patch_size"]
        if c["cap_pixels_per_frame"]:
            limits["tokens"] = c["max_video_tokens"]
        return "films.size_of_all", limits
    if c["cap_pixels_per_frame"]:
        limits |= {"frames": c["temporal_patch_size"], "tokens": c["max_video_tokens"]}
    return "films.size", limits


def qwen(text, configuration):
    """Qwen-VL: patches of several frames in a row, and the grid that they come from."""
    patch, merge, frames = (configuration[f] for f in ("patch_size", "merge_size", "temporal_patch_size"))
    size = "shape[1:]"
    text.needs_shape()
    if configuration["do_resize"]:
        function, limits = _limits(configuration)
        text.resized(text.computed("size", "shape", function, **limits))
        size = "size"
    text.line("# the last frame fills its patch")
    text.value("count", "shape", "films.whole_frames", frames=frames)
    text.line('images = fn.slice(images, end=count, axes=[0], out_of_bounds_policy="edge")')
    text.value("axes", size, "films.frame_axes", frames=frames)
    text.line("images = fn.transpose(fn.reshape(images, axes), perm=[0, 3, 1, 2])")
    text.value("axes", size, "films.patch_axes", patch=patch, merge=merge, planes=3 * frames)
    text.line("images = fn.transpose(fn.reshape(images, axes), perm=[0, 2, 5, 3, 6, 1, 4, 7])")
    text.line(f"images = fn.reshape(images, shape=[-1, {3 * frames * patch * patch}])")
    text.normalized_rows("pixel_values_videos", "images", frames * patch * patch)
    text.value("video_grid_thw", f"shape, {size}", "films.grid", patch=patch, frames=frames)
    text.result("pixel_values_videos", "video_grid_thw")


def plain(text, configuration):
    """LLaVA and InternVL: each frame resized and cropped."""
    smallest = 0
    if configuration["do_resize"]:
        text.resized(target(text, configuration, "shape[1:]"))
        smallest = least_side(configuration)
    finish(text, configuration, smallest, "pixel_values_videos", layout="FCHW")


def smolvlm(text, configuration):
    """SmolVLM: each frame within a longest side, then a square; videos of a batch get the same number of frames."""
    said = configuration["video_sampling"]
    if said and "video_size" in said:
        configuration = configuration.replaced(size=said["video_size"])
    size, tile = configuration.size(), configuration.size("max_image_size")
    if set(tile) != {"longest_edge"}:
        configuration.refuse("max_image_size", "expected longest_edge")
    if configuration["do_resize"]:
        if set(size) == {"longest_edge"}:
            edge = min(size["longest_edge"], 4096)
            text.resized(text.computed("longest", "shape[1:]", "geometry.longest_edge", edge=edge))
        else:
            text.resized(configuration.sides("size"))
        text.resized((tile["longest_edge"],) * 2)
    text.normalized("pixel_values", None, layout="FCHW")
    names = ["pixel_values"]
    if configuration["do_pad"]:
        text.line('pixel_values = fn.pad(pixel_values, axis_names="FHW")')
        text.line("pixel_attention_mask = fn.ones_like(pixel_values[:, 0], dtype=types.INT64)")
        names.append("pixel_attention_mask")
    text.result(*names)


PROGRAMS = {"Qwen2VLVideoProcessor": qwen, "Qwen3VLVideoProcessor": qwen, "SmolVLMVideoProcessor": smolvlm}


def write(text, configuration, source):
    """The program of a class of videos."""
    if source == "files":
        decode(text, configuration)
    elif configuration["do_sample_frames"]:
        configuration.refuse(*SAMPLED)
    PROGRAMS.get(configuration.name, plain)(text, configuration)
