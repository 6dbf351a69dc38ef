# SPDX-License-Identifier: Apache-2.0
"""What tests/test_random_processes.py runs in other processes. It does not import torch, so that a spawned process starts sooner."""

import random
import sys

import numpy as np

from penstock import Pipeline, fn, pipeline_def


class Draws:
    """Samples that are random numbers: of fn, NumPy, random and torch."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        torch = sys.modules.get("torch")
        return np.array(
            [float(fn.random.uniform()), np.random.random(), random.random(), torch.rand(()).item() if torch else 0]
        )


def of_sample(info):
    return Draws()[0]


def of_batch(i):
    return [Draws()[0] for _ in range(4)]


class Iterates:
    def __iter__(self):
        for _ in range(6):
            yield of_batch(0)


@pipeline_def(batch_size=3, num_threads=1)
def of_scale(scale, more=0):
    return fn.random.uniform(range=[0, scale]) + more


class OfClass(Pipeline):
    def __init__(self):
        super().__init__(3, 1)
        self.scale = 7.0

    def define_graph(self):
        return fn.random.uniform(range=[0, self.scale])


def batch_of(pipe):
    return [float(t.numpy()) for t in pipe.run()[0]]


def seed_of(create, *arguments):
    return create(*arguments, seed=5).seed
