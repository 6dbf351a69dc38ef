# SPDX-License-Identifier: Apache-2.0
"""Asks the models of this folder, in the words of Triton's HTTP protocol: no package beside NumPy.

    penstock triton --install backends
    tritonserver --model-repository=examples/serve_with_triton/models --backend-directory=backends
    python examples/serve_with_triton/client.py [PICTURE ...] [--url http://localhost:8000]

Without pictures two small ones are drawn. The last file of the second request is damaged on purpose: its request fails with a
message that names it, and the requests beside it do not.
"""

import argparse
import json
import struct
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np

TYPES = {"UINT8": np.uint8, "INT64": np.int64, "FP32": np.float32}


def infer(url, model, files):
    """{name: array} of the outputs for some files, or an error with what the server says."""
    data = b"".join(struct.pack("<I", len(file)) + file for file in files)  # BYTES: a length, then the file
    files_input = {"name": "files", "datatype": "BYTES", "shape": [len(files), 1]}
    files_input["parameters"] = {"binary_data_size": len(data)}
    header = json.dumps({"inputs": [files_input], "parameters": {"binary_data_output": True}}).encode()
    request = urllib.request.Request(f"{url}/v2/models/{model}/infer", header + data)
    request.add_header("Inference-Header-Content-Length", str(len(header)))
    try:
        with urllib.request.urlopen(request) as answer:
            body, end = answer.read(), int(answer.headers["Inference-Header-Content-Length"])
    except urllib.error.HTTPError as error:
        raise ValueError(json.load(error)["error"]) from None
    results, at = {}, end
    for output in json.loads(body[:end])["outputs"]:
        size = output["parameters"]["binary_data_size"]
        array = np.frombuffer(body[at : at + size], TYPES[output["datatype"]])
        results[output["name"]], at = array.reshape(output["shape"]), at + size
    return results


def drawn(height, width):
    """A file in PPM, which needs no encoder."""
    y, x = np.mgrid[:height, :width]
    pixels = np.stack([x % 256, y % 256, (x + y) % 256], -1).astype(np.uint8)
    return b"P6 %d %d 255\n" % (width, height) + pixels.tobytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pictures", nargs="*", type=Path)
    parser.add_argument("--url", default="http://localhost:8000")
    options = parser.parse_args()
    files = [path.read_bytes() for path in options.pictures] or [drawn(300, 400), drawn(500, 200)]

    batch = infer(options.url, "classification_input.penstock", files)["OUTPUT0"]
    print(f"classification_input: {batch.dtype} {batch.shape}, mean {batch.mean():.3f}")
    small = infer(options.url, "from_dali.penstock", files)["OUTPUT0"]
    print(f"from_dali: {small.dtype} {small.shape}")
    both = infer(options.url, "thumbnails", files)
    for size, thumbnail in zip(both["size"], both["thumbnail"]):
        print(f"thumbnails: {thumbnail.shape} of a picture of {tuple(size.tolist())}")
    try:
        infer(options.url, "thumbnails", [*files, files[0][:40]])
    except ValueError as error:
        print(f"refused: {error}")
        return 0
    print("a damaged file was not refused", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
