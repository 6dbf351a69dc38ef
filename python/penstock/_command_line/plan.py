# SPDX-License-Identifier: Apache-2.0
"""penstock plan: how many cores, disks and machines a training needs, from measured rates."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math


@dataclasses.dataclass(frozen=True)
class Load:
    """What a training takes, and what a sample costs.

    Args:
        gpus: How many GPUs train.
        rate: Samples a second that one of them takes.
        per_core: Samples a second that one core makes.
        read: Bytes that are read for a sample.
        ready: Bytes of a sample that is ready.
    """

    gpus: int
    rate: float
    per_core: float
    read: float
    ready: float

    @property
    def samples(self):
        """Samples a second of the whole training."""
        return self.gpus * self.rate


@dataclasses.dataclass(frozen=True)
class Machines:
    """What machines have.

    Args:
        gpus: GPUs of a machine that trains.
        cores: Cores of a machine that trains.
        worker_cores: Cores of a machine without GPUs.
        network: Bytes a second of a machine's network, in each direction.
        disk: Bytes a second of a disk.
        remote: Whether the data come through the network.
        use: The part of each that is planned with, 0 to 1.
    """

    gpus: int = 8
    cores: int = 64
    worker_cores: int = 64
    network: float = 12.5e9
    disk: float = 3e9
    remote: bool = False
    use: float = 0.8


def _up(number):
    """The next whole number; what arithmetic adds at the end of a number does not count."""
    return math.ceil(round(number, 6))


def plan_of(load, machines):
    """Returns what a training needs.

    A machine that trains makes as many samples as its cores can, or as its network brings. Machines without GPUs make the
    rest and send ready samples; each of them as many as its cores can make and its network can take and send.

    Args:
        load: What the training takes.
        machines: What machines have.

    Returns:
        A dict of numbers, and a text "limit": what the machines that train lack, or "nothing".

    Raises:
        ValueError: No number of machines is enough.
    """
    use, trainers = machines.use, _up(load.gpus / machines.gpus)
    need = load.samples / trainers  # of a machine that trains
    network = machines.network * use
    # A sample of its own brings `read` bytes through the network, one that another machine has made `ready` bytes.
    incoming = load.read if machines.remote else 0.0
    by_cores = machines.cores * use * load.per_core
    own = min(need, by_cores, network / incoming if incoming else math.inf)
    if own < need and incoming and own * incoming + (need - own) * load.ready > network:
        if load.ready >= incoming or need * load.ready > network:
            raise ValueError(
                f"the network of a machine that trains brings {network / 1e9:.2f} GB/s of the "
                f"{need * min(load.ready, incoming) / 1e9:.2f} GB/s that its GPUs take: fewer GPUs in a machine, a faster "
                "network, smaller files (penstock convert --shorter) or uint8 samples"
            )
        own = (network - need * load.ready) / (incoming - load.ready)
    elif own < need and (need - own) * load.ready + own * incoming > network:
        raise ValueError(
            f"the network of a machine that trains brings {network / 1e9:.2f} GB/s, and the samples that its cores do not "
            f"make have {(need - own) * load.ready / 1e9:.2f} GB/s: more cores in it, a faster network or uint8 samples"
        )
    rest = max(0.0, need - own) * trainers
    worker = min(
        machines.worker_cores * use * load.per_core,
        network / load.ready if load.ready else math.inf,
        network / incoming if incoming else math.inf,
    )
    limit = "nothing" if rest <= 1e-6 * load.samples else "cores" if by_cores <= own * (1 + 1e-9) else "network"
    return {
        "samples_per_second": load.samples,
        "cores": _up(load.samples / load.per_core / use),
        "read_bytes_per_second": load.samples * load.read,
        "ready_bytes_per_second": load.samples * load.ready,
        "disks": _up(load.samples * load.read / (machines.disk * use)),
        "training_machines": trainers,
        "cores_busy_there": _up(own / load.per_core),
        "network_bytes_per_second_there": own * incoming + (need - own) * load.ready,
        "limit": limit,
        "worker_machines": _up(rest / worker) if limit != "nothing" else 0,
    }


def _counted(number, one, several):
    return f"{number} {one if number == 1 else several}"


def text_of(load, machines, made):
    """Returns a plan as people read it.

    Args:
        load: What the training takes.
        machines: What machines have.
        made: What plan_of() returned.
    """
    lines = [
        f"{_counted(load.gpus, 'GPU takes', 'GPUs take')} {made['samples_per_second']:.0f} samples/s: {load.rate:.0f} each",
        f"  cores: {made['cores']}, of which {100 * machines.use:.0f} % are busy; {load.per_core:.0f} samples/s a core",
        f"  data:  {made['read_bytes_per_second'] / 1e9:.2f} GB/s are read: {_counted(made['disks'], 'disk', 'disks')} of "
        f"{machines.disk / 1e9:.2f} GB/s",
        f"  ready: {made['ready_bytes_per_second'] / 1e9:.2f} GB/s go to the GPUs",
        f"  {_counted(made['training_machines'], 'machine trains', 'machines train')}, with "
        f"{_counted(machines.gpus, 'GPU', 'GPUs')} and {_counted(machines.cores, 'core', 'cores')} each: "
        f"{_counted(made['cores_busy_there'], 'core is', 'cores are')} busy, {made['network_bytes_per_second_there'] / 1e9:.2f} GB/s come through the "
        "network",
    ]
    if made["worker_machines"]:
        lines.append(
            f"  {_counted(made['worker_machines'], 'machine without GPUs makes', 'machines without GPUs make')} the rest (penstock "
            f"serve), with {_counted(machines.worker_cores, 'core', 'cores')} each: those that train lack {made['limit']}"
        )
    else:
        lines.append("  no other machine is needed")
    return "\n".join(lines)


def _row_of(path, name):
    """A row that penstock bench --json has written."""
    with open(path, encoding="utf-8") as file:
        try:
            rows = json.load(file)
            fitting = [row for row in rows if name in (None, row["pipeline"])]
            names = ", ".join(str(row["pipeline"]) for row in rows)
            best = max(fitting, key=lambda row: row["samples_per_second"], default=None)
            measured = best and [
                float(best[k]) for k in ("samples_per_core_second", "bytes_read_per_sample", "bytes_ready_per_sample")
            ]
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{path} is not what penstock bench --json prints: {error!r}") from None
    if measured is None:
        raise ValueError(f"{path} has no pipeline {name!r}; it has {names or 'none'}")
    return measured


def plan(args):
    """Says how many cores, disks and machines a training needs."""
    measured = _row_of(args.bench, args.pipeline) if args.bench else [None] * 3
    given = [args.per_core, args.read, args.ready]
    per_core, read, ready = (g if g is not None else m for g, m in zip(given, measured))
    if per_core is None or read is None or ready is None:
        raise ValueError("give --bench FILE, or --per-core, --read and --ready")
    load = Load(args.gpus, args.rate, per_core, read, ready)
    machines = Machines(
        args.gpus_per_machine,
        args.cores,
        args.worker_cores or args.cores,
        args.network * 1e9 / 8,
        args.disk * 1e9,
        args.remote,
        args.use,
    )
    made = plan_of(load, machines)
    print(json.dumps(made, indent=2) if args.json else text_of(load, machines, made))
    return 0


def _number(least, most, kind=float, above=False):
    def parsed(text):
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not (least < number if above else least <= number) or not number <= most:
            raise argparse.ArgumentTypeError(
                f"a number {'above' if above else 'from'} {least} to {most:g}, got {text!r}"
            )
        return number

    return parsed


def add_plan(command):
    """Adds the command.

    Args:
        command: Adds a command to the program and returns its parser.
    """
    c = command(plan, threads=False, epilog="The page plan_machines explains the arithmetic.")
    some, any_number, count = _number(0, 1e15, above=True), _number(0, 1e15), _number(1, 10**7, int)
    c.add_argument("--gpus", type=count, required=True, metavar="N", help="how many train")
    c.add_argument("--rate", type=some, required=True, metavar="R", help="samples a second that one of them takes")
    c.add_argument(
        "--bench", metavar="FILE", help="what penstock bench SCRIPT --json has printed; gives the next three"
    )
    c.add_argument("--pipeline", metavar="NAME", help="of that file; default: the fastest")
    c.add_argument("--per-core", type=some, metavar="R", help="samples a second that a core makes")
    c.add_argument("--read", type=any_number, metavar="BYTES", help="read for a sample")
    c.add_argument("--ready", type=any_number, metavar="BYTES", help="of a sample that is ready")
    c.add_argument("--gpus-per-machine", type=count, default=8, metavar="N", help="default 8")
    c.add_argument("--cores", type=count, default=64, metavar="N", help="of a machine with GPUs; default 64")
    c.add_argument("--worker-cores", type=count, metavar="N", help="of a machine without GPUs; default: as --cores")
    c.add_argument("--network", type=some, default=100.0, metavar="GBIT", help="of a machine, Gbit/s; default 100")
    c.add_argument("--disk", type=some, default=3.0, metavar="GB", help="of a disk, GB/s; default 3")
    c.add_argument(
        "--remote", action="store_true", help="the data come through the network, not from disks in the machine"
    )
    c.add_argument(
        "--use", type=_number(0, 1, above=True), default=0.8, help="the part that is planned with; default 0.8"
    )
    c.add_argument("--json", action="store_true", help="print JSON")
