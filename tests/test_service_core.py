# SPDX-License-Identifier: Apache-2.0
"""What penstock.service promises about batches, on a simulated network that delays, loses, doubles and reorders messages."""

import os
import random

import pytest
from penstock.service.messages import Ask, Drop, Leaving
from penstock.service.patience import Patience
from penstock.service.queue_of_work import QueueOfWork
from penstock.service.window import Window
from service_simulation import Network, SimulatedTrainer, SimulatedWorker

SCHEDULES = 100 if "PENSTOCK_TEST_COUNT" not in os.environ else max(1000, int(os.environ["PENSTOCK_TEST_COUNT"]))
EACH = 20  # schedules of one test


def random_schedule(seed):
    """Trainers and workers that come, go, are slow and are out of reach. Returns the network, the trainers, the workers."""
    chance = random.Random(seed)
    network = Network(seed, chance.choice([0, 0.02, 0.2]), chance.choice([0, 0.1]), chance.choice([0.001, 0.02, 0.1]))
    shared, ranks = chance.random() < 0.3, chance.choice([1, 1, 2, 3])
    options = dict(
        size=chance.randint(1, 9), at_once=chance.randint(1, 4), shared=shared, pace=chance.choice([0, 0.05])
    )
    count = chance.randint(10, 40)
    steps = [(0, 1)] * ranks if shared else [(rank, ranks) for rank in range(ranks)]
    trainers = [SimulatedTrainer(network, f"t{k}", count, *place, **options) for k, place in enumerate(steps)]
    workers = []

    def join():
        worker = SimulatedWorker(
            network, f"w{len(workers)}", chance.choice([0.01, 0.05]), chance.choice([0, 0.1]), 8 * shared
        )
        workers.append(worker)
        for trainer in trainers:
            network.at(chance.random() * 0.1, lambda t=trainer: t.joined(worker.name))

    def go(worker, says):
        """A worker is killed; trainers hear of it soon, or only by its silence."""
        if says:
            for trainer in trainers:
                network.send(worker.name, trainer.name, Leaving())
        worker.kill()
        for trainer in trainers:
            if chance.random() < 0.7:
                network.at(chance.random() * 0.2, lambda t=trainer: t.left(worker.name))

    def cut(seconds):
        pair = frozenset((chance.choice(trainers).name, chance.choice(workers).name))
        network.cut.add(pair)
        network.at(seconds, lambda: network.cut.discard(pair))

    def disturb(left):
        what = chance.choice(["join", "kill", "leave", "cut", "restart"])
        if what == "join" and len(workers) < 16:
            join()
        elif what in ("kill", "leave") and len(workers) > 1:
            go(chance.choice(workers[1:]), what == "leave")  # one stays, so that there is an end
        elif what == "cut":
            cut(chance.random() * 2)
        elif what == "restart":
            chance.choice(trainers).restart()
        if left:
            network.at(chance.random() * 0.3, lambda: disturb(left - 1))

    for _ in range(chance.choice([1, 3, 6])):
        join()
    network.at(0.1, lambda: disturb(chance.randint(0, 12)))
    network.run(lambda: all(t.done() for t in trainers), end=600)
    return network, trainers, workers


@pytest.mark.parametrize("group", range(SCHEDULES // EACH))
def test_random_schedules_lose_double_and_reorder_no_batch(group):
    for seed in range(group * EACH, (group + 1) * EACH):
        _, trainers, _ = random_schedule(seed)
        for trainer in trainers:
            assert trainer.taken == trainer.expected(), f"seed {seed}"
            assert trainer.most_alive <= trainer.window.size, f"seed {seed}"


def test_a_schedule_is_a_function_of_its_seed():
    facts = []
    for _ in range(2):
        network, trainers, workers = random_schedule(11)
        facts.append((network.now, [t.window.made_twice for t in trainers], [w.made for w in workers]))
    assert facts[0] == facts[1]


@pytest.mark.parametrize("count", [1, 3, 16])
def test_the_stream_does_not_depend_on_the_number_of_workers(count):
    network = Network(3)
    trainer = SimulatedTrainer(network, "t", 60, size=20)
    for k in range(count):
        trainer.joined(SimulatedWorker(network, f"w{k}", 0.05).name)
    network.run(trainer.done, end=60)
    assert trainer.taken == trainer.expected()


def test_a_batch_that_one_worker_makes_slowly_is_made_by_another():
    network = Network(5)
    trainer = SimulatedTrainer(network, "t", 40, size=6)
    slow, fast = SimulatedWorker(network, "slow", 30.0), SimulatedWorker(network, "w", 0.01)
    for worker in (slow, fast):
        trainer.joined(worker.name)
    network.run(trainer.done, end=30)  # less than one batch of the slow worker
    assert trainer.taken == trainer.expected()
    assert trainer.window.asked_again > 0 and slow.made == 0


def test_trainers_that_share_a_job_find_most_batches_made():
    network = Network(7)
    trainers = [SimulatedTrainer(network, f"t{k}", 100, shared=True, pace=0.02) for k in range(3)]
    workers = [SimulatedWorker(network, f"w{k}", 0.01, keep=16) for k in range(3)]
    for trainer in trainers:
        for worker in workers:
            trainer.joined(worker.name)
    network.run(lambda: all(t.done() for t in trainers), end=60)
    assert all(t.taken == t.expected() for t in trainers)
    assert sum(w.made for w in workers) <= 120  # 300 were handed out


def test_ranks_get_the_batches_of_a_round():
    network = Network(9)
    ranks = [SimulatedTrainer(network, f"t{k}", 30, first=k, step=4) for k in range(4)]
    worker = SimulatedWorker(network, "w", 0.01)
    for rank in ranks:
        rank.joined(worker.name)
    network.run(lambda: all(t.done() for t in ranks), end=60)
    together = [content for of_round in zip(*(rank.taken for rank in ranks)) for content in of_round]
    one = SimulatedTrainer(Network(0), "t", 120)
    assert together == one.expected()


def test_a_window_without_workers_asks_nobody_and_is_not_stuck():
    window = Window(size=3)
    assert window.tick(100.0) == [] and window.take(100.0) == (False, None, []) and window.due(100.0) is None
    assert window.joined("w", 101.0) == [("w", Ask((0, 1)))]


def test_a_worker_that_leaves_gives_its_batches_to_others():
    window = Window(size=4, at_once=2)
    assert window.joined("a", 0.0) == [("a", Ask((0, 1)))]
    assert window.joined("b", 0.0) == [("b", Ask((2, 3)))]
    assert window.left("a", 0.1) == [("b", Ask((0,)))]  # the one that is needed first, although b has no room
    assert window.received("b", 2, "two", 0.2) == []
    assert window.received("b", 3, "three", 0.3) == [("b", Ask((1,)))]


def test_who_made_a_batch_too_late_is_told():
    window = Window(size=1, patience=Patience(1.0, 1.0))
    window.joined("a", 0.0)
    window.joined("b", 0.0)
    assert window.tick(0.9) == []
    assert window.tick(1.1) == [("b", Ask((0,)))]
    assert window.received("b", 0, "zero", 1.2) == [("a", Drop((0,)))]
    assert window.received("a", 0, "again", 1.3) == [] and window.made_twice == 1
    assert window.take(1.4)[:2] == (True, "zero")


@pytest.mark.parametrize("number", [-1, 3, 7, 8, 100])
def test_a_number_that_nobody_asked_for_is_not_taken(number):
    window = Window(first=4, step=2, size=3)
    window.joined("w", 0.0)
    assert not window.wants(number) or number == 8
    window.received("w", number, "?", 0.0)
    assert set(window.ready) <= {4, 6, 8}


def test_a_worker_keeps_the_last_batches_and_takes_turns():
    queue = QueueOfWork(keep=2)
    queue.asked("t", (5, 4))
    queue.asked("u", (9, 4))
    assert queue.begin() == 4  # for both
    assert [trainer for trainer, _ in queue.made(4, "four")] == ["t", "u"]
    assert [queue.begin(), queue.begin(), queue.begin()] == [9, 5, None]
    for number in (9, 5):
        queue.made(number, number)
    assert queue.asked("v", (5, 9, 4)) != [] and queue.found_kept == 2 and queue.begin() == 4


def test_a_trainer_that_asks_for_too_much_is_refused():
    with pytest.raises(ValueError, match="asks for 65 batches ahead; a worker takes 64"):
        QueueOfWork().asked("t", range(65))
