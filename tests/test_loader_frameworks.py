# SPDX-License-Identifier: Apache-2.0
"""penstock.torch.DataLoader under Lightning, Accelerate and DistributedDataParallel, with validation, limits and early ends."""

import json
import logging
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from ddp_program import SETTINGS, numbers

from penstock.torch import DataLoader

PROGRAM = Path(__file__).with_name("ddp_program.py")
N, BATCH = 20, 4  # 5 batches


def loader(**options):
    return DataLoader(numbers(N, 0, 1, batch_size=BATCH), ["number"], **options)


# --- Lightning ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lightning():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = pytest.importorskip("lightning")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    return made


@pytest.fixture
def fitted(lightning):
    """(samples of each training epoch, samples of each validation) of Trainer(**options).fit()"""

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer, self.trained, self.validated, self.checked = torch.nn.Linear(1, 1), [], [], []

        def on_train_epoch_start(self):
            self.trained.append([])

        def on_validation_epoch_start(self):
            (self.checked if self.trainer.sanity_checking else self.validated).append([])

        def training_step(self, batch, _):
            if not self.trained:  # an epoch that goes on
                self.trained.append([])
            self.trained[-1] += batch["number"].tolist()
            return self.layer(batch["number"].float().reshape(-1, 1)).mean()

        def validation_step(self, batch, _):
            (self.checked if self.trainer.sanity_checking else self.validated)[-1] += batch["number"].tolist()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-3)

    def fit(model=None, train=None, val=None, ckpt_path=None, **options):
        model = model or Model()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trainer = lightning.Trainer(
                accelerator="cpu",
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
                **{"max_epochs": 3, **options},
            )
            trainer.fit(model, train or loader(), val or loader(), ckpt_path=ckpt_path)
        return model, trainer

    return fit


def test_lightning_with_its_sanity_check(fitted):
    """Two batches are read first; each validation still gets all five."""
    model, _ = fitted()
    assert [len(v) for v in model.checked] == [2 * BATCH]
    assert [sorted(v) for v in model.validated] == [list(range(N))] * 3 == [sorted(t) for t in model.trained]
    assert len(set(map(tuple, model.trained))) == 3


@pytest.mark.parametrize(
    "options, train, validation",
    [
        (dict(limit_val_batches=2), [N] * 3, [2 * BATCH] * 3),
        (dict(limit_train_batches=3, num_sanity_val_steps=0), [3 * BATCH] * 3, [N] * 3),
        (dict(num_sanity_val_steps=-1), [N] * 3, [N] * 3),
        (dict(val_check_interval=2, max_epochs=2), [N] * 2, [N] * 4),
        (dict(max_steps=7, max_epochs=-1), [N, 2 * BATCH], [N] * 1),
        (dict(fast_dev_run=True), [BATCH], [BATCH]),
    ],
)
def test_lightning_with_limits(fitted, options, train, validation):
    model, _ = fitted(**options)
    assert [len(t) for t in model.trained] == train and [len(v) for v in model.validated] == validation
    assert all(len(set(part)) == len(part) for part in model.trained + model.validated)


def test_lightning_resumes_in_the_middle_of_an_epoch(fitted, lightning, tmp_path):
    class TakenAway(lightning.Callback):
        def on_train_batch_end(self, trainer, *_):
            if trainer.global_step == 8:
                trainer.save_checkpoint(tmp_path / "x.ckpt")
                trainer.should_stop = True

    whole, _ = fitted()
    before, _ = fitted(callbacks=[TakenAway()])
    after, _ = fitted(ckpt_path=tmp_path / "x.ckpt")
    seen = sum(before.trained, []) + sum(after.trained, [])
    assert seen == sum(whole.trained, []) and sorted(after.validated[-1]) == list(range(N))


# --- Accelerate -----------------------------------------------------------------------------------------------------------


def test_accelerate_with_epochs_validation_and_early_ends(tmp_path):
    accelerate = pytest.importorskip("accelerate")
    accelerator = accelerate.Accelerator(cpu=True)
    layer = torch.nn.Linear(1, 1)
    train, validation = loader(), loader()
    model, optimizer, prepared = accelerator.prepare(layer, torch.optim.SGD(layer.parameters(), lr=1e-3), train)
    assert prepared is train  # it has its own shards and state
    accelerator.register_for_checkpointing(train)
    seen, state = [], tmp_path / "state"
    for epoch in range(3):
        seen.append([])
        for step, batch in enumerate(train):
            accelerator.backward(model(batch["number"].float().reshape(-1, 1)).mean())
            optimizer.step()
            seen[-1] += batch["number"].tolist()
            if (epoch, step) == (1, 2):
                accelerator.save_state(state)
                break
        next(iter(validation))
        assert sorted(n for batch in validation for n in batch["number"].tolist()) == list(range(N))
    assert [len(s) for s in seen] == [N, 3 * BATCH, N] and len(set(seen[2])) == N
    accelerator.load_state(state)
    rest = [n for batch in train for n in batch["number"].tolist()]
    assert sorted(seen[1] + rest) == list(range(N))
    assert [n for batch in train for n in batch["number"].tolist()] == seen[2]


# --- DistributedDataParallel ----------------------------------------------------------------------------------------------


def test_all_ranks_of_ddp_take_as_many_steps(tmp_path):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), "2", "3"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases = [(2, *json.loads(done.stdout.splitlines()[0])), (3, *json.loads(done.stdout.splitlines()[1]))]
    for ranks, (n, batch_size, last_batch), seen in [
        (r, s, part) for r, *every in cases for s, part in zip(SETTINGS, zip(*every))
    ]:
        steps = n // ranks // batch_size if last_batch == "drop" else -(-(-(-n // ranks)) // batch_size)
        for rank in seen:
            assert [len(epoch) for epoch in rank] == [steps, 1, steps], (n, batch_size, last_batch)
        for epoch in (0, 2):
            numbers_seen = [v for rank in seen for batch in rank[epoch] for v in batch]
            if last_batch == "partial":
                assert set(numbers_seen) == set(range(n)) and len(numbers_seen) < n + ranks
            elif last_batch == "drop":
                assert len(set(numbers_seen)) == len(numbers_seen) == ranks * steps * batch_size
