# SPDX-License-Identifier: Apache-2.0
"""A training step beside the pipeline that feeds it: images a second against the same step on data that lies there."""

import os
import statistics
import time

import measure
import torch

from . import chosen, target
from .pipelines import resnet50, yolo

DEVICE = "cuda" if measure.CUDA else "cpu"


class Detector(torch.nn.Module):
    """A small convolutional detector: five strides, three heads (80 classes, 4 edges, 1 score a place)."""

    def __init__(self, width=48, outputs=85):
        super().__init__()

        def block(inside, out, stride):
            return torch.nn.Sequential(
                torch.nn.Conv2d(inside, out, 3, stride, 1, bias=False), torch.nn.BatchNorm2d(out), torch.nn.SiLU()
            )

        widths = [width // 2, width, 2 * width, 4 * width, 8 * width]
        self.stages, inside = torch.nn.ModuleList(), 3
        for out in widths:
            self.stages.append(torch.nn.Sequential(block(inside, out, 2), block(out, out, 1), block(out, out, 1)))
            inside = out
        self.heads = torch.nn.ModuleList(torch.nn.Conv2d(w, outputs, 1) for w in widths[2:])

    def forward(self, x):
        found = []
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i >= 2:
                found.append(self.heads[i - 2](x))
        return found


def classifier(smoke):
    if smoke:
        return torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 7, 4),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
            torch.nn.Linear(8, 1000),
        )
    import torchvision

    return torchvision.models.resnet50()


def classifier_step(smoke):
    return step_of(classifier(smoke), torch.nn.CrossEntropyLoss())


def detector_step(smoke):
    """The loss compares every place with fixed aims: its cost is that of a detector's, its value means nothing."""
    model = Detector(8 if smoke else 48)

    def loss(outputs, labels):
        aim = (labels.float().view(-1, 1, 1, 1) % 7) / 7
        return sum(torch.nn.functional.binary_cross_entropy_with_logits(o.float(), aim.expand_as(o)) for o in outputs)

    return step_of(model, loss)


def step_of(model, loss_of):
    model = model.to(DEVICE, memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, fused=measure.CUDA)

    def step(images, labels):
        images = images.to(memory_format=torch.channels_last)
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = loss_of(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


def fed_by(pipeline, library):
    if library == "penstock":
        from penstock.plugin.pytorch import DALIGenericIterator
    else:
        from nvidia.dali.plugin.pytorch import DALIGenericIterator
    pipeline.build()
    iterator = DALIGenericIterator(pipeline, ["images", "labels"], auto_reset=True)

    def batches():
        while True:
            yield from iterator

    endless = batches()

    def take():
        batch = next(endless)[0]
        return batch["images"].to(DEVICE), batch["labels"].view(-1).long().to(DEVICE)

    return take


def fed_by_loader(settings, batch, kind, size):
    """torch's DataLoader with torchvision v2 in worker processes, as many as there are cores."""
    import torchvision.transforms.v2 as T
    from torchvision.datasets import ImageFolder
    from torchvision.io import ImageReadMode, decode_image

    if kind == "imagenet":
        steps = [T.RandomResizedCrop(size, antialias=True), T.RandomHorizontalFlip()]
    else:
        steps = [T.Resize((size, size), antialias=True), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.7, 0.04)]
    transform = T.Compose([*steps, T.ToDtype(torch.float16, scale=True)])
    data = ImageFolder(settings.files(kind), transform=transform, loader=lambda p: decode_image(p, ImageReadMode.RGB))
    data.samples = data.samples * 64
    loader = iter(
        torch.utils.data.DataLoader(
            data,
            batch,
            shuffle=True,
            num_workers=os.cpu_count(),
            pin_memory=True,
            drop_last=True,
            worker_init_fn=lambda _: torch.set_num_threads(1),
        )
    )

    def take():
        images, labels = next(loader)
        return images.to(DEVICE, non_blocking=True), labels.to(DEVICE, non_blocking=True)

    return take


def timed(take, step, batch, steps):
    """Images a second, cores, mean use of the GPU."""
    measure.synchronize()
    cpu, begin = measure.cpu_seconds(), time.perf_counter()
    with measure.GpuUse() as use:
        for _ in range(steps):
            step(*take())
        measure.synchronize()
    wall = time.perf_counter() - begin
    return steps * batch / wall, (measure.cpu_seconds() - cpu) / wall, use.mean


def table(title, step, synthetic, methods, batch, steps, settings, wanted, warm, cores=None):
    for _ in range(warm):
        step(*synthetic)
    rows, failed, measured = [], {}, {"synthetic": []}
    asked = chosen(methods, settings)
    # Worker processes fill their queues while others are measured: they start when all others have been.
    with_workers = {name for name in asked if "DataLoader" in name}
    for group in (asked.keys() - with_workers, with_workers):
        feeds = {} if group is with_workers else {"synthetic": lambda: synthetic}
        for name in (n for n in asked if n in group):
            try:
                feeds[name] = asked[name]()
                for _ in range(4 if measure.CUDA else 1):
                    step(*feeds[name]())
            except Exception as error:
                failed[name] = f"{type(error).__name__}: {str(error)[:300]}"
                feeds.pop(name, None)
        for _ in range(settings.rounds):
            for name, take in feeds.items():
                if name != "synthetic":
                    for _ in range(3):
                        step(*take())
                measured.setdefault(name, []).append(timed(take, step, batch, steps))
    bare = statistics.median(m[0] for m in measured["synthetic"])
    for name, found in measured.items():
        rate = statistics.median(m[0] for m in found)
        use = [m[2] for m in found if m[2] is not None]
        rows.append(
            {
                "method": name,
                "rate": rate,
                "least": min(m[0] for m in found),
                "most": max(m[0] for m in found),
                "cores": statistics.median(m[1] for m in found),
                "fed": rate / bare,
                "gpu_use": statistics.mean(use) if use else None,
            }
        )
    ours = max((r for r in rows if r["method"].startswith("Penstock")), key=lambda r: r["rate"], default=None)
    targets = [target(rows, ours["method"], "fed", ">=", wanted)] if ours else []
    if ours and cores:
        targets.append(target(rows, ours["method"], "cores", "<=", cores))
    return {"title": title, "unit": "img/s", "rows": rows, "failed": failed, "targets": targets}


def tables(settings):
    smoke = settings.smoke
    if measure.CUDA:
        torch.backends.cudnn.benchmark = True
    else:  # torch cannot take tensors of an emulated GPU
        os.environ["PENSTOCK_GPU_LIBRARY"] = "none"
    batch, size = (4, 224) if smoke else (256, 224)
    images = torch.randn(batch, 3, size, size, device=DEVICE, dtype=torch.float16)
    synthetic = images.to(memory_format=torch.channels_last), torch.randint(0, 16, (batch,), device=DEVICE)
    methods = {"Penstock, 3 threads": lambda: fed_by(resnet50("penstock", settings, 3, batch=batch), "penstock")}
    if not smoke:
        methods["DALI, load 1.0, 2 threads"] = lambda: fed_by(resnet50("dali", settings, 2, 1.0), "dali")
        methods["DALI, load 0.65, 16 threads"] = lambda: fed_by(resnet50("dali", settings, 16, 0.65), "dali")
    yield table(
        f"training step of ResNet-50, bfloat16, channels last, batch {batch}",
        classifier_step(smoke),
        synthetic,
        methods,
        batch,
        2 if smoke else 24,
        settings,
        0.985,
        1 if smoke else 8,
        cores=3,
    )

    batch = 2 if smoke else 64
    images = torch.rand(batch, 3, 640, 640, device=DEVICE).half()
    synthetic = images.to(memory_format=torch.channels_last), torch.randint(0, 16, (batch,), device=DEVICE)
    methods = {"Penstock, 3 threads": lambda: fed_by(yolo("penstock", settings, 3, batch=batch), "penstock")}
    if not smoke:
        methods["DALI, load 1.0, 4 threads"] = lambda: fed_by(yolo("dali", settings, 4, 1.0), "dali")
        methods["torch DataLoader, torchvision v2"] = lambda: fed_by_loader(settings, batch, "coco", 640)
    yield table(
        f"training step of a small detector at 640 x 640, bfloat16, batch {batch}",
        detector_step(smoke),
        synthetic,
        methods,
        batch,
        1 if smoke else 40,
        settings,
        0.97,
        1 if smoke else 8,
    )
