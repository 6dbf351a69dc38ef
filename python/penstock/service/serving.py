# SPDX-License-Identifier: Apache-2.0
"""penstock serve: from the command line to a Server."""

from __future__ import annotations

import errno
import functools
import importlib.util
import inspect
import json
import os
import signal
import sys
import threading

from ..pipeline.definition import parameters
from .keys import key_of
from .server import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def pipeline_of(place: str) -> Callable[..., Any]:
    """The function with @pipeline_def that "SCRIPT:PIPELINE" names.

    Raises:
        ValueError: There is none, or the script cannot be loaded.
        FileNotFoundError: There is no such script.
    """
    path, colon, name = place.rpartition(":")
    if not colon or not path or not name:
        raise ValueError(f"'{place}' must be SCRIPT:PIPELINE, such as train.py:photos")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no script '{path}'")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))  # as python SCRIPT does
    module_name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"'{path}' is not a file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(module_name, module)
    try:
        spec.loader.exec_module(module)
    except (ImportError, SyntaxError) as error:
        raise ValueError(f"'{path}' cannot be loaded: {error}") from None
    made = getattr(module, name, None)
    if not callable(made):
        known = [n for n, v in vars(module).items() if getattr(v, "_is_pipeline_def", False)]
        raise ValueError(f"'{path}' has no function '{name}'; it has {', '.join(known) or 'none with @pipeline_def'}")
    return made


def _context(args):
    if args.certificate is None:
        return None
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(args.certificate, args.private_key)
    return context


def run(args: Any) -> int:
    """Serves until a signal ends it."""
    try:
        arguments = json.loads(args.arguments)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        raise ValueError('--arguments must be an object of JSON, such as \'{"root": "/data"}\'')
    if args.threads:
        arguments["num_threads"] = args.threads
    create = pipeline_of(args.pipeline)
    _check_names(create, arguments)
    make = functools.partial(_make, create, arguments)
    key, context = key_of(args.key), _context(args)
    try:
        server = Server(make, args.host, args.port, key, context, args.keep, args.jobs, not args.no_shared_memory)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise ValueError(f"another program listens on port {args.port} of {args.host}: give another --port") from None
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    server.start()
    host = f"[{server.host}]" if ":" in server.host else server.host
    print(f"penstock serve: {args.pipeline} at {host}:{server.port}", flush=True)
    while not ended.wait(0.5):  # the system may give a signal to another thread, which does not wake this one
        pass
    server.close()
    return 0


def _check_names(create, arguments):
    """A trainer that comes later is not the one to be told."""
    own = inspect.signature(create).parameters
    if any(p.kind is p.VAR_KEYWORD for p in own.values()):
        return
    for name in arguments:
        if name not in own and name not in parameters():
            raise ValueError(f"--arguments: the pipeline has no argument '{name}'; it has {', '.join(own) or 'none'}")


def _make(create, arguments, seed, batch_size):
    return create(**{**arguments, "seed": seed, "batch_size": batch_size})
