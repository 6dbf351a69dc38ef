# SPDX-License-Identifier: Apache-2.0
"""As much of Ray as penstock.plugin.ray uses: actors are objects of this process whose methods run in threads, and may be killed."""

import concurrent.futures
import threading
import types


class RayError(Exception):
    pass


class ActorDiedError(RayError):
    pass


class _Method:
    def __init__(self, actor, name):
        self.actor, self.name = actor, name

    def remote(self, *arguments):
        return self.actor.call(lambda: getattr(self.actor.made, self.name)(*arguments))


class Actor:
    """A process of the stand-in; `made`: the object in it."""

    def __init__(self, world, kind, arguments):
        self.world, self.calls, self.lock, self.dead, self.made = world, [], threading.Lock(), None, None
        self.ready = self.call(lambda: self._make(kind, arguments))

    def _make(self, kind, arguments):
        try:
            if self.world.refuses and kind.__name__ == "Worker":
                raise OSError(self.world.refuses)
            self.made = kind(*arguments)
        except Exception as error:
            self.die(f"{type(error).__name__}: {error}")

    def call(self, function):
        result = concurrent.futures.Future()
        with self.lock:
            if self.dead is None:
                self.calls.append(result)
        if self.dead is not None:
            result.set_exception(ActorDiedError(self.dead))
            return result

        def run():
            if self.calls[0] is not result:
                concurrent.futures.wait([self.ready])  # the object is made first
            try:
                value = function()
            except Exception as error:
                self._settle(result, error=RayError(f"{type(error).__name__}: {error}"))
            else:
                self._settle(result, value)

        threading.Thread(target=run, daemon=True).start()
        return result

    def _settle(self, result, value=None, error=None):
        with self.lock:
            if not result.done():
                result.set_result(value) if error is None else result.set_exception(error)

    def die(self, why):
        """What SIGKILL does: no goodbye, connections end."""
        with self.lock:
            if self.dead is None:
                self.dead = why
                self.world.alive.discard(self)
            for call in self.calls:
                if not call.done():
                    call.set_exception(ActorDiedError(why))
        server = getattr(self.made, "server", None)
        if server is not None:
            for end in server.ends:
                end.close()
            for trainer in list(server.trainers.values()):
                trainer.connection.close()
            server.close()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _Method(self, name)


class _Kind:
    def __init__(self, world, kind, options):
        self.world, self.kind, self.given = world, kind, options

    def options(self, **options):
        return _Kind(self.world, self.kind, {**self.given, **options})

    def remote(self, *arguments):
        actor = Actor(self.world, self.kind, arguments)
        self.world.alive.add(actor)
        self.world.started.append((self.kind.__name__, self.given, actor))
        return actor


class World(types.ModuleType):
    """The module `ray`. `refuses`: why workers cannot be made now."""

    def __init__(self):
        super().__init__("ray")
        self.alive, self.started, self.refuses = set(), [], ""
        self.exceptions = types.SimpleNamespace(RayError=RayError)
        self.util = types.ModuleType("ray.util")
        self.util.get_node_ip_address = lambda: "127.0.0.1"
        self.strategies = types.ModuleType("ray.util.scheduling_strategies")
        self.strategies.NodeAffinitySchedulingStrategy = lambda node, soft: (node, soft)

    def remote(self, kind):
        return _Kind(self, kind, {})

    def get_runtime_context(self):
        return types.SimpleNamespace(get_node_id=lambda: "this node")

    def is_initialized(self):
        return True

    def wait(self, calls, num_returns, timeout):
        done, rest = concurrent.futures.wait(calls, timeout, concurrent.futures.FIRST_COMPLETED)
        return list(done), list(rest)

    def get(self, call, timeout=None):
        return call.result(timeout)

    def kill(self, actor):
        actor.die("it was killed")

    def workers(self):
        """The actors of workers that are alive."""
        return [actor for name, _, actor in self.started if name == "Worker" and actor in self.alive]
