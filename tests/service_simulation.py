# SPDX-License-Identifier: Apache-2.0
"""Trainers and workers of penstock.service on a simulated network: one thread, a clock of its own, all chance from one seed."""

import heapq
import itertools
import random

from penstock.service.messages import Ask, Drop, Leaving, Made
from penstock.service.patience import Patience
from penstock.service.queue_of_work import QueueOfWork
from penstock.service.window import Window


def content_of(number):
    """What a pipeline would make: a function of the number alone."""
    return number * 2654435761 % 2**32


class Network:
    """Delays, loses, doubles and reorders messages. `cut`: pairs of names that do not reach each other now."""

    def __init__(self, seed, loss=0.0, doubles=0.0, delay=0.01):
        self.random, self.now, self.events, self.order = random.Random(seed), 0.0, [], itertools.count()
        self.loss, self.doubles, self.delay, self.cut, self.parties = loss, doubles, delay, set(), {}

    def at(self, delay, call):
        heapq.heappush(self.events, (self.now + delay, next(self.order), call))

    def send(self, sender, receiver, message):
        if frozenset((sender, receiver)) in self.cut or self.random.random() < self.loss:
            return
        for _ in range(1 + (self.random.random() < self.doubles)):
            self.at(self.delay * self.random.expovariate(1), lambda: self.deliver(sender, receiver, message))

    def deliver(self, sender, receiver, message):
        party = self.parties.get(receiver)
        if party is not None and frozenset((sender, receiver)) not in self.cut:
            party.got(sender, message)

    def run(self, until, end):
        while self.events and not until():
            self.now, _, call = heapq.heappop(self.events)
            assert self.now < end, f"no end after {self.now:.0f} s of simulated time"
            call()


class SimulatedWorker:
    """Makes one batch at a time, of `speed` seconds; `slow`: how often one takes a hundred times as long."""

    def __init__(self, network, name, speed, slow=0.0, keep=0):
        self.network, self.name, self.speed, self.slow = network, name, speed, slow
        self.queue, self.busy, self.made = QueueOfWork(keep), False, 0
        network.parties[name] = self

    def got(self, sender, message):
        if isinstance(message, Ask):
            self.send(self.queue.asked(sender, message.numbers))
        else:
            self.queue.dropped(sender, message.numbers)
        self.work()

    def send(self, messages):
        for trainer, message in messages:
            self.network.send(self.name, trainer, message)

    def work(self):
        if self.busy or self.network.parties.get(self.name) is not self:
            return
        number = self.queue.begin()
        if number is None:
            return
        self.busy = True
        takes = self.speed * (0.5 + self.network.random.random())
        self.network.at(takes * (100 if self.network.random.random() < self.slow else 1), lambda: self.done(number))

    def done(self, number):
        if self.network.parties.get(self.name) is not self:  # it was killed
            return
        self.busy, self.made = False, self.made + 1
        self.send(self.queue.made(number, content_of(number)))
        self.work()

    def kill(self):
        self.network.parties.pop(self.name, None)


class SimulatedTrainer:
    """Takes `count` batches, one each `pace` seconds; restart() begins again from its state, as a new process does."""

    def __init__(self, network, name, count, first=0, step=1, pace=0.0, **options):
        self.network, self.name, self.count, self.pace, self.options = network, name, count, pace, options
        self.first, self.step, self.taken, self.most_alive, self.known = first, step, [], 0, set()
        network.parties[name] = self
        self.begin(first)
        self.tick()
        self.take()

    def begin(self, first):
        self.window = Window(first, self.step, patience=Patience(0.05, 5.0), **self.options)

    def restart(self):
        self.begin(self.window.next)
        for worker in sorted(self.known):
            self.send(self.window.joined(worker, self.network.now))

    def joined(self, worker):
        self.known.add(worker)
        self.send(self.window.joined(worker, self.network.now))

    def left(self, worker):
        self.known.discard(worker)
        self.send(self.window.left(worker, self.network.now))

    def got(self, sender, message):
        if isinstance(message, Leaving):
            return self.left(sender)
        assert isinstance(message, Made)
        self.send(self.window.received(sender, message.number, message.content, self.network.now))
        self.most_alive = max(self.most_alive, len(self.window.ready))

    def send(self, messages):
        for worker, message in messages:
            assert isinstance(message, (Ask, Drop))
            self.network.send(self.name, worker, message)

    def tick(self):
        self.send(self.window.tick(self.network.now))
        if not self.done():
            self.network.at(0.02, self.tick)

    def take(self):
        there, content, messages = self.window.take(self.network.now)
        if there:
            self.taken.append(content)
            self.send(messages)
        if not self.done():
            self.network.at(self.pace * self.network.random.random() + 0.001, self.take)

    def done(self):
        return len(self.taken) >= self.count

    def expected(self):
        return [content_of(self.first + k * self.step) for k in range(self.count)]
