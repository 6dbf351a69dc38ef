# SPDX-License-Identifier: Apache-2.0
"""Photographs with what a detector found, whole programs on a GPU: JPEG files to JPEG files, beside CV-CUDA with nvImageCodec.

    python benchmarks/gpu/detection.py [--photos FOLDER] [--batch 1 8 32] [--threads 8] [--seconds 2] [--rounds 5] [--peer] [--json FILE]

Decoding, a letterbox of 640 x 640, the network's input (float32, CHW, 0 to 1), boxes and scores, non-maximum suppression, the boxes
drawn over the letterbox, encoding. Boxes and scores are made from pixels of the input, 400 of an image, because no network is needed to
move the same data. Penstock's program is one pipeline; boxes are chosen and drawn on the GPU or on the host. `--peer` takes turns with the
same program on CV-CUDA, by one host thread and by four with a stream each. CV-CUDA drops a box beside a better one that was dropped itself,
so it keeps fewer.

Prints images a second, milliseconds of the host's processors an image and the boxes of an image: medians of the rounds. With
PENSTOCK_GPU_LIBRARY, an emulated GPU, it shows only that the program runs.
"""

import argparse
import functools
import json
import queue
import statistics
import sys
import threading
import traceback
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

SIDE, STEP, QUALITY = 640, 32, 75
CELLS = SIDE // STEP
SCORE, OVERLAP = 0.45, 0.3
CENTERS = np.stack(np.meshgrid(*[np.arange(CELLS, dtype=np.float32) * STEP + STEP // 2] * 2), -1).reshape(-1, 2)
SMALLEST, RANGE = 32, 64  # of half an extent of a box, in pixels


def penstock_program(files, batch, threads, images_on="gpu", boxes_on="gpu"):
    """A function that makes a batch: the JPEG files and how many boxes each has."""
    from penstock import fn, math, pipeline_def, types

    @pipeline_def(batch_size=batch, num_threads=threads, device_id=0 if images_on == "gpu" else None)
    def program():
        encoded, _ = fn.readers.file(files=files, pad_last_batch=True)
        boxed = fn.letterbox(fn.decoders.image(encoded, device="mixed" if images_on == "gpu" else "cpu"), size=SIDE)
        tensors = fn.crop_mirror_normalize(boxed, dtype=types.FLOAT, output_layout="CHW", scale=1 / 255)
        cells = fn.resize(tensors, size=[CELLS, CELLS], interp_type=types.INTERP_NN, antialias=False)
        boxes, scores = detector(fn.reshape(cells, shape=[3, -1]))
        if boxes_on == "cpu":
            boxes, scores, boxed = boxes.cpu(), scores.cpu(), boxed.cpu()
        kept = fn.nms(boxes, scores, iou_threshold=OVERLAP, score_threshold=SCORE, bbox_layout="xywh")
        boxes = boxes[kept]
        drawn = fn.draw_boxes(boxed, boxes, color=[255, 0, 0], thickness=2, bbox_layout="xywh")
        return fn.encoders.jpeg(drawn.cpu(), quality=QUALITY), fn.shapes(boxes).cpu(), tensors

    def detector(values):
        half = math.floor(fn.transpose(values[0:2], perm=[1, 0]) * float(RANGE)) + float(SMALLEST)
        return fn.cat(types.Constant(CENTERS, device=images_on) - half, half * 2.0, axis=1), values[2]

    pipeline = program()
    pipeline.build()

    def step():
        encoded, kept, _ = pipeline.run()
        return [encoded[k] for k in range(batch)], np.asarray(kept.as_array())[:, 0]

    return step


class Peer:
    """The program on CV-CUDA. Each host thread has one."""

    def __init__(self, blobs):
        import cvcuda
        import torch
        from nvidia import nvimgcodec

        self.cv, self.torch, self.codec, self.blobs = cvcuda, torch, nvimgcodec, blobs
        self.decoder, self.encoder = nvimgcodec.Decoder(device_id=0), nvimgcodec.Encoder(device_id=0)
        self.parameters = nvimgcodec.EncodeParams(
            quality_type=nvimgcodec.QualityType.QUALITY,
            quality_value=QUALITY,
            chroma_subsampling=nvimgcodec.ChromaSubsampling.CSS_420,
        )
        self.stream = torch.cuda.Stream()
        self.centers = torch.as_tensor(CENTERS, device="cuda")

    def run(self, blobs):
        with self.torch.cuda.stream(self.stream), self.cv.as_stream(self.stream):
            images = self.decoded(blobs)  # kept until the files are there
            return self.encoded(*self.found(*self.letterbox(images)))

    def decoded(self, blobs):
        streams = [self.codec.CodeStream(blob) for blob in blobs]
        return self.decoder.decode(streams, cuda_stream=self.stream.cuda_stream)

    def letterbox(self, images):
        sizes, borders = [], []
        for image in images:
            scale = min(SIDE / image.height, SIDE / image.width)
            height, width = round(image.height * scale), round(image.width * scale)
            sizes.append((width, height))
            borders.append(((SIDE - height) // 2, (SIDE - width) // 2))
        cv = self.cv
        each = self.torch.tensor(borders, dtype=self.torch.int32, device="cuda").T.contiguous()
        top, left = (
            cv.as_tensor(row.reshape(1, 1, -1, 1), "NHWC") for row in each
        )  # as CV-CUDA wants a number an image
        boxed = cv.copymakeborderstack(
            cv.resize(cv.as_images(images, cv.Format.RGB8), sizes, cv.Interp.LINEAR),
            border_mode=cv.Border.CONSTANT,
            border_value=[114.0] * 3,
            top=top,
            left=left,
            out_height=SIDE,
            out_width=SIDE,
        )
        return boxed, cv.reformat(cv.convertto(boxed, np.float32, scale=1 / 255), "NCHW")

    def found(self, boxed, tensors):
        values = self.torch.as_tensor(tensors.cuda(), device="cuda")
        cells = values[:, :, STEP // 2 :: STEP, STEP // 2 :: STEP].reshape(len(values), 3, -1)
        half = (cells[:, :2].transpose(1, 2) * RANGE).floor() + SMALLEST
        boxes = self.torch.cat([self.centers - half, half * 2], 2).to(self.torch.int16).contiguous()
        return boxed, boxes, cells[:, 2].contiguous()

    def encoded(self, boxed, boxes, scores):
        cv = self.cv
        mask = cv.nms(cv.as_tensor(boxes, "NWC"), cv.as_tensor(scores, "NW"), SCORE, OVERLAP)
        mask = self.torch.as_tensor(mask.cuda(), device="cuda").reshape(scores.shape).bool().cpu().numpy()
        kept = [rows[chosen].tolist() for rows, chosen in zip(boxes.cpu().numpy(), mask)]
        red, clear = (255, 0, 0, 255), (0, 0, 0, 0)
        marks = [
            [cv.BndBoxI(box=tuple(b), thickness=2, borderColor=red, fillColor=clear) for b in rows] for rows in kept
        ]
        drawn = self.torch.as_tensor(cv.bndbox(boxed, cv.BndBoxesI(boxes=marks)).cuda(), device="cuda")
        files = self.encoder.encode(
            self.codec.as_images(list(drawn), self.stream.cuda_stream),
            "jpeg",
            params=self.parameters,
            cuda_stream=self.stream.cuda_stream,
        )
        return [memoryview(file) for file in files], np.array([len(rows) for rows in kept])


def peer_program(files, batch, threads):
    blobs = [Path(file).read_bytes() for file in files]
    count = max(1, len(blobs) // batch)
    batches = [[blobs[(k * batch + i) % len(blobs)] for i in range(batch)] for k in range(count)]
    if threads == 1:
        peer, at = Peer(batches), iter(range(1 << 60))
        return lambda: peer.run(batches[next(at) % count])
    wanted, made = queue.Queue(), queue.Queue()

    def work():
        try:
            peer = Peer(batches)
            while True:
                made.put(peer.run(batches[wanted.get() % count]))
        except Exception as error:  # step() says it
            made.put(error)

    for _ in range(threads):
        threading.Thread(target=work, daemon=True).start()
    at = iter(range(1 << 60))
    for _ in range(2 * threads):
        wanted.put(next(at))

    def step():
        result = made.get()
        if isinstance(result, Exception):
            raise result
        wanted.put(next(at))
        return result

    return step


def race(contenders, batch, rounds, seconds):
    """Rows of medians; contenders take turns."""
    import measure

    steps, rows, rates = {}, [], {}
    for name, make in contenders.items():
        try:
            steps[name] = make()
            for _ in range(4):
                files, found = steps[name]()
            rates[name] = ([], [], float(np.mean(found)), float(np.mean([len(file) for file in files])))
        except Exception as error:
            steps.pop(name, None)
            line = traceback.extract_tb(error.__traceback__)[-1].line
            text = f"{type(error).__name__}: {str(error)[:300]} in {line}"
            rows.append({"program": name, "batch": batch, "error": text})
    for _ in range(rounds):
        for name, step in steps.items():
            for _ in range(4):  # what was made ahead while others ran
                step()
            rate, cores = measure.window(step, seconds)
            rates[name][0].append(rate * batch)
            rates[name][1].append(1e3 * cores / (rate * batch))
    for name, (images, host, boxes, size) in rates.items():
        if images:
            rows.append(
                {
                    "program": name,
                    "batch": batch,
                    "images_a_second": statistics.median(images),
                    "least": min(images),
                    "most": max(images),
                    "host_ms_an_image": statistics.median(host),
                    "boxes": boxes,
                    "bytes": size,
                }
            )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.photos:
        files = sorted(str(p) for p in options.photos.rglob("*.jpg"))
    else:
        import photos

        files = [str(p) for p in photos.write_folder(Path(__file__).parent.parent / "data" / "coco", "coco", 64)]
    rows = []
    for batch in options.batch:
        contenders = {
            f"Penstock, images on the {images_on}, boxes on the {boxes_on}": functools.partial(
                penstock_program, files, batch, options.threads, images_on, boxes_on
            )
            for images_on, boxes_on in (("gpu", "gpu"), ("gpu", "cpu"), ("cpu", "cpu"))
        }
        if options.peer:
            for threads in (1, 4):
                name = f"CV-CUDA, {threads} host thread{'s' * (threads > 1)}"
                contenders[name] = functools.partial(peer_program, files, batch, threads)
        for row in race(contenders, batch, options.rounds, options.seconds):
            rows.append(row)
            if "error" in row:
                print(f"{row['program']}, batch {batch}: {row['error']}", flush=True)
                continue
            print(
                f"{row['program']}, batch {batch}: {row['images_a_second']:.0f} images/s ({row['least']:.0f} to "
                f"{row['most']:.0f}), {row['host_ms_an_image']:.2f} ms of the host an image, {row['boxes']:.1f} boxes and "
                f"{row['bytes']:.0f} bytes of an image",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps({"command": sys.argv[1:], "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
