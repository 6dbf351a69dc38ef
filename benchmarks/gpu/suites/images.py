# SPDX-License-Identifier: Apache-2.0
"""Images on the device, as each library wants them."""

import torch

from measure import CUDA

DEVICE = "cuda" if CUDA else "cpu"


def fields(count, height, width):
    """Smooth fields of color with noise, uint8 NHWC."""
    torch.manual_seed(0)
    coarse = torch.rand(count, 3, height // 40 + 2, width // 40 + 2, device=DEVICE)
    out = torch.empty(count, height, width, 3, dtype=torch.uint8, device=DEVICE)
    for i in range(0, count, 16):
        part = torch.nn.functional.interpolate(coarse[i : i + 16], size=(height, width), mode="bilinear") * 235
        part += 20 * torch.rand(part.shape, device=DEVICE)
        out[i : i + 16] = part.clamp_(0, 255).to(torch.uint8).permute(0, 2, 3, 1)
    return out


def ragged(count, least, most):
    """Images of random sizes, each contiguous by itself."""
    sizes = torch.randint(least, most + 1, (count, 2), generator=torch.Generator().manual_seed(1)).tolist()
    whole = fields(16, most, most)
    return [whole[i % 16, :h, :w].contiguous() for i, (h, w) in enumerate(sizes)]


def penstock_batch(images):
    """A batch on the device over the memory of the images."""
    import penstock

    if CUDA:
        return penstock.batch(list(images), layout="HWC")
    batch = penstock.batch([image.numpy() for image in images], layout="HWC")
    return batch.gpu() if hasattr(batch, "gpu") else batch


def penstock_pipeline(batch, body, fed=False, depth=2):
    """A running pipeline over one batch that stays on the device; body(fn, types, images) adds the operators. fed: the batch
    is given to each run()."""
    from penstock import fn, pipeline_def, types

    source = {"name": "images"} if fed else {"source": lambda: batch}

    @pipeline_def(batch_size=len(batch), num_threads=2, device_id=0, prefetch_queue_depth=depth)
    def pipeline():
        return body(fn, types, fn.external_source(**source, device="gpu", batch=True, layout="HWC"))

    built = pipeline()
    built.build()
    return (lambda: built.run(images=batch)) if fed else built.run


def dali_pipeline(images, body):
    """The same for DALI, over one batch that it keeps in memory of its own."""
    from nvidia.dali import Pipeline, fn, types

    keep = Pipeline(batch_size=len(images), num_threads=2, device_id=0, prefetch_queue_depth=1)
    with keep:
        keep.set_outputs(
            fn.copy(fn.external_source(source=lambda: list(images), device="gpu", layout="HWC", batch=True))
        )
    keep.build()
    held = keep.run()
    built = Pipeline(batch_size=len(images), num_threads=4, device_id=0, prefetch_queue_depth=2)
    with built:
        source = fn.external_source(source=lambda: held[0], device="gpu", no_copy=True, layout="HWC", batch=True)
        built.set_outputs(body(fn, types, source))
    built.build()

    def run(keep=keep):
        return built.run()

    return run


def cvcuda_module():
    """CV-CUDA on torch's current stream."""
    import cvcuda

    if not _entered:
        _entered.append(cvcuda.as_stream(torch.cuda.current_stream()))
        _entered[0].__enter__()
    return cvcuda


_entered = []
