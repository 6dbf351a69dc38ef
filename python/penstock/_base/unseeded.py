# SPDX-License-Identifier: Apache-2.0
"""Where random numbers without a seed of their own come from: penstock.seed(), torch's generator where torch is imported and
penstock.seed() was not called, else the system. A forked process draws other numbers than its parent.

torch itself is never imported here. Its generator gives a number for each call, as it does for each DataLoader of torch: only
so does a second torch.manual_seed() with the same seed begin the same numbers again.
"""

import itertools
import os
import sys
import threading

from .. import _core

_MASK = (1 << 63) - 1


class _Torch:
    """torch's generator of the CPU."""

    def __init__(self, torch):
        self.generator = torch.default_generator
        with torch.inference_mode(False):
            self.number = torch.zeros((), dtype=torch.int64, device="cpu")
        self.main = threading.main_thread().ident
        self.change = (
            _forked if _inherited is not None else 0
        )  # until the generator of a forked process gets another seed
        self.seed, self.calls = None, itertools.count()  # of the other threads

    def draw(self):
        change = 0
        if self.change:
            if self.generator.initial_seed() == _inherited:
                change = self.change
            else:
                self.change = 0
        if threading.get_ident() == self.main:
            return self.number.random_(generator=self.generator).item() ^ change
        # The main thread's numbers must not depend on when other threads draw.
        seed = self.generator.initial_seed()
        if seed != self.seed:
            self.seed, self.calls = seed, itertools.count()
        return mixed(seed, next(self.calls)) ^ change


_torch = None


def _drawn_by_torch():
    """A number of torch's generator; None if torch cannot give one, such as during its import."""
    global _torch
    try:
        if _torch is None:
            _torch = _Torch(sys.modules["torch"])
        return _torch.draw() & _MASK
    except Exception:  # in a mode of torch where tensors have no values
        return None


def mixed(*numbers):
    """One number of 63 bits."""
    x = 0
    for number in numbers:
        x = _core.mixed(x ^ _core.mixed(number & (2 * _MASK + 1)))
    return x & _MASK


def of_pipeline():
    """The seed of a pipeline without the argument `seed`."""
    return _core.unseeded() & 0x7FFFFFFF


def seed_worker(*numbers):
    """In a worker process: makes all random numbers of the functions that it calls depend on these numbers."""
    import random

    key = mixed(*numbers)
    _core.seed(key)
    random.seed(key)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        numpy.random.seed(key & 0xFFFFFFFF)
    if torch is not None:
        torch.default_generator.manual_seed(
            key
        )  # torch.manual_seed() also asks all devices, which takes longer than many calls


_forked, _inherited = (
    0,
    None,
)  # in a forked process: what changes torch's numbers, and the seed that its generator came with


def _after_fork():
    global _forked, _inherited, _torch
    _forked = _core.after_fork() & _MASK
    _torch, generator = None, getattr(sys.modules.get("torch"), "default_generator", None)
    _inherited = None if generator is None else generator.initial_seed()


os.register_at_fork(before=_core.before_fork, after_in_child=_after_fork)
_core.set_torch_hook(_drawn_by_torch)
