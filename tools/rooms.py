# SPDX-License-Identifier: Apache-2.0
"""The rooms of the house: folders of src/, and which may include which. tools/lint.py refuses other arrows, tools/draw_rooms.py
draws those that are there."""

import re

from repository import ROOT

BELOW = {  # a room may include itself, `base`, and these
    "base": set(),
    "batch": set(),
    "pixel": set(),
    "launch": {"pixel"},
    "data": {"batch", "pixel"},  # for the counter-based random numbers
    "codecs": {"batch", "pixel"},
    "numerics": {"batch", "pixel"},
    "operator": {"batch", "pixel", "numerics", "launch"},
    "families": {"batch", "pixel", "numerics", "operator", "launch"},
    "stage": {"batch", "pixel", "operator"},
    "device": {"batch", "operator", "stage", "codecs"},
    "ops": {"batch", "pixel", "numerics", "operator", "families", "device"},
    "graph": {"batch", "pixel", "operator", "stage", "device"},
    "cpu": {"batch", "pixel", "operator", "stage", "codecs"},
    "cuda": {
        "batch",
        "pixel",
        "launch",
        "numerics",
        "operator",
        "stage",
        "codecs",
        "device",
    },  # reached through `device` alone
    "readers": {"batch", "pixel", "operator", "ops", "codecs", "data", "device"},
    "exec": {"batch", "pixel", "operator", "stage", "codecs", "graph", "data", "cpu", "device", "readers"},
    "function": {"batch", "pixel", "operator", "stage", "codecs", "graph", "cpu", "data", "device", "exec"},
    "tensorflow": set(),  # needs penstock.h alone
    "capi": {"batch", "pixel", "operator", "stage", "codecs", "graph", "data", "readers", "exec", "function"},
    "triton": {"batch", "pixel", "operator", "stage", "codecs", "graph", "data", "readers", "exec", "function"},
}
# Operators that read or write files and the graph know this much of codecs.
INTERFACES_OF_DECODERS = {
    "codecs/encode_image.h",
    "codecs/image_decoder.h",
    "codecs/audio/audio_decoder.h",
    "codecs/audio/round_trip.h",
    "codecs/video/video_decoder.h",
    "codecs/video/frame_choice.h",
    "codecs/video/video_index_cache.h",
}
# Folders of a room that is cut by job: each may include itself and these. What stands in the room itself may use all.
PARTS = {
    "cuda": {
        "runtime": set(),
        "kernels": {"runtime"},
        "jpeg": {"runtime", "kernels"},
        "video": {"runtime", "kernels"},
        "stages": {"runtime", "kernels", "jpeg", "video"},
        "whole": {"runtime", "kernels", "stages"},
        "decode": {"runtime", "jpeg"},
        "cudart": {"runtime", "stages"},
    },
    "families": {},  # a family is a folder, which no other one includes
}
CPP = {".cpp", ".h", ".hpp"}
# What each room is, in the picture of docs/explanation/architecture.md.
JOBS = {
    "package": "Python: fn, Pipeline, plug-ins",
    "headers": "C and C++: penstock.h, fn.h",
    "extension": "nanobind: calls and arrays",
    "capi": "the C functions",
    "triton": "Triton's backend",
    "tensorflow": "an operator of TensorFlow",
    "function": "a graph as a function",
    "exec": "executor, immediate calls",
    "readers": "readers and other sources",
    "graph": "nodes, passes, plan",
    "cuda": "stages and decoders on a GPU",
    "ops": "operators: a file each",
    "cpu": "stages on the CPU",
    "device": "what a GPU offers",
    "stage": "fused operators as data",
    "operator": "what an operator is",
    "families": "fast kernels by kind of access",
    "numerics": "sums, Fourier, LZ4, blobs",
    "launch": "a block's part of a launch",
    "codecs": "images, sound, video",
    "data": "files, containers, order",
    "batch": "batches of samples",
    "pixel": "arithmetic of both devices",
    "base": "errors, shapes, memory",
}
FOLDERS = {
    **{room: f"src/{room}" for room in BELOW},
    "extension": "python/src",
    "package": "python/penstock",
    "headers": "include/penstock",
}
# Arrows that no #include shows: who calls, who is called, and the interface in between.
INDIRECT = {
    ("exec", "cuda"): "device/gpu_backend.h",
    ("package", "extension"): "_core",
    ("headers", "capi"): "penstock/penstock.h",
    ("package", "tensorflow"): "libpenstock_tf.so",
    ("tensorflow", "headers"): "penstock/penstock.h",
}


def sources(room):
    """The room's files without tests, which the rule of the arrows does not cover."""
    found = sorted((ROOT / FOLDERS[room]).rglob("*"))
    return [p for p in found if p.suffix in CPP | {".py"} and not p.stem.endswith("_test")]


def included(line):
    """(header, room) of an #include of another file of src; (None, None) of another line."""
    found = re.match(r'\s*#\s*include\s+"(([a-z]+)/[^"]+)"', line)
    return found.groups() if found else (None, None)


def part_breaches(room, part, header, target):
    """The part of the same room that a file of this part must not include, or None; header, target: what included() gives."""
    if target != room or room not in PARTS:
        return None
    used = header.split("/")[1]
    return None if used == part or used in PARTS[room].get(part, PARTS[room]) else used


def arrows():
    """{(room, room): number of #include lines}, as the tree has them."""
    count = {}
    for room in FOLDERS:
        for path in sources(room):
            for line in path.read_text().splitlines():
                target = included(line)[1]
                if target in BELOW and target != room:
                    count[room, target] = count.get((room, target), 0) + 1
    return count


def floors(pairs):
    """{room: 0 for one that needs no other, else one more than the highest that it needs}."""
    below = {room: {b for a, b in pairs if a == room} for room in FOLDERS}
    known = {}

    def floor(room, way=()):
        if room in way:
            raise SystemExit("rooms in a circle: " + " -> ".join([*way[way.index(room) :], room]))
        if room not in known:
            known[room] = 1 + max((floor(b, (*way, room)) for b in below[room]), default=-1)
        return known[room]

    return {room: floor(room) for room in FOLDERS}


def needed(pairs):
    """The arrows that do not follow from others."""

    def reaches(a, b, without):
        return any(x == a and (x, y) != without and (y == b or reaches(y, b, without)) for x, y in pairs)

    return {(a, b) for a, b in pairs if not reaches(a, b, (a, b))}
