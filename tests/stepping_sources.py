# SPDX-License-Identifier: Apache-2.0
"""Where the samples of random programs come from: readers of arrays, of pictures and of archives, and functions of the program.

A source gives a vector `x` and a picture `a` of each sample, of unlike shapes. Functions have no saved form: pipelines with them are
traced for each executor.
"""

import io
import tarfile

import numpy as np
from PIL import Image

from penstock import fn, types

COUNT = 9
SHUFFLED = {"random_shuffle": True, "seed": 3}


def arrays(count=COUNT):
    rng = np.random.default_rng(7)
    for i in range(count):
        x = (rng.integers(-4, 5, 4 + i % 3) / 4).astype(np.float32)
        yield i, x, rng.integers(0, 256, (6 + i % 4, 8 + i % 5, 3), dtype=np.uint8)


def bytes_of(save):
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def write_files(folder, count=COUNT, bad=()):
    """Vectors and pictures of unlike shapes, alone and in an archive; `bad` numbers are damaged."""
    (folder / "pictures").mkdir(exist_ok=True)
    with tarfile.open(folder / "all.tar", "w") as archive:
        for i, x, a in arrays(count):
            vector = bytes_of(lambda file: np.save(file, x)) if i not in bad else b"no array"
            picture = bytes_of(lambda file: Image.fromarray(a).save(file, "PNG"))
            (folder / f"x{i}.npy").write_bytes(vector)
            np.save(folder / f"a{i}.npy", a)
            picture = picture if i not in bad else picture[:60]
            (folder / "pictures" / f"{i}.png").write_bytes(picture)
            for name, content in ((f"{i}.npy", vector), (f"{i}.png", picture)):
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))


def of_arrays(folder):
    x = fn.readers.numpy(file_root=str(folder), file_filter="x*.npy", name="x", **SHUFFLED)
    return x, fn.readers.numpy(file_root=str(folder), file_filter="a*.npy", name="a", **SHUFFLED)


def of_pictures(folder):
    names = [str(folder / "pictures" / f"{i}.png") for i in range(COUNT)]
    files, _ = fn.readers.file(files=names, name="x", **SHUFFLED)
    a = fn.decoders.image(files)
    return fn.cast(a[0, :, 0], dtype=types.FLOAT) / 64 - 2, a


def of_archives(folder):
    vectors, files = fn.readers.webdataset(paths=[str(folder / "all.tar")], ext=["npy", "png"], name="x", **SHUFFLED)
    return fn.decoders.numpy(vectors, dtype=types.FLOAT), fn.decoders.image(files)


def of_functions(folder):
    """A function for each sample and one for each batch; an epoch has three batches."""
    known = {i: (x, a) for i, x, a in arrays()}

    def vector(info):
        if info.iteration == 3:
            raise StopIteration
        return known[info.idx_in_epoch % COUNT][0]

    def pictures(info):
        if info.iteration == 3:
            raise StopIteration
        return [known[(2 * info.iteration + k) % COUNT][1] for k in range(4)]

    x = fn.external_source(vector, batch=False, dtype=types.FLOAT, ndim=1)
    return x, fn.external_source(pictures, batch=True, batch_info=True, dtype=types.UINT8, ndim=3, layout="HWC")


def of_loaded(folder):
    """A function that reads what an index names, as a program's own reader does."""

    def load(index):
        i = int(index.item())
        return np.load(folder / f"x{i}.npy"), np.load(folder / f"a{i}.npy")

    index = fn.readers.indices(size=COUNT, name="x", **SHUFFLED)
    return tuple(fn.python_function(index, function=load, num_outputs=2))


SAVED = (of_arrays, of_arrays, of_pictures, of_archives)
TRACED = (of_functions, of_loaded)


def of_policy(policy):
    """Sources whose pipelines run on after a damaged file: two readers no longer have the same samples once one has skipped some."""
    return SAVED if policy != "skip" else (of_pictures, of_archives)


# --- functions that random programs call --------------------------------------------------------------------------------------


def halved(v):
    return v * np.float32(0.5)


def turned(v):
    return v[::-1]


def moved(x, f):
    return x + f


def mirrored(a):
    return a[:, ::-1]


def both(k, f):
    return (k * 5 + 1) & 31, f + np.float32(0.25)


def of_batch(values):
    return [v + np.float32(1) for v in values]


def refuse(v):
    if v > 0.25:
        raise ArithmeticError(f"{float(v):.4f} is too much")
    return v


def number(v):
    return fn.reshape(fn.cast(v, dtype=types.INT32), shape=[])


def real(v):
    return fn.reshape(fn.cast(v, dtype=types.FLOAT), shape=[])


def vector(v):
    return fn.reshape(fn.cast(v, dtype=types.FLOAT), shape=[-1])


def picture(v):
    return fn.reshape(fn.cast(v, dtype=types.UINT8), src_dims=[0, 1, 2], layout="HWC")


NAMES = {
    f.__name__: f for f in (halved, turned, moved, mirrored, both, of_batch, refuse, number, real, vector, picture)
}
CALLS = (
    "f = real(fn.python_function(f, function=halved))",
    "f = real(fn.python_function(f, function=of_batch, batch_processing=True))",
    "x = vector(fn.python_function(x, function=turned))",
    "x = vector(fn.python_function(x, f, function=moved))",
    "a = picture(fn.python_function(a, function=mirrored))",
    "k, f = fn.python_function(k, f, function=both, num_outputs=2); k, f = number(k), real(f)",
)
FAILS = ("f = real(fn.python_function(f, function=refuse))",)
