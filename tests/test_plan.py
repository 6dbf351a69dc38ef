# SPDX-License-Identifier: Apache-2.0
"""penstock plan: worked numbers."""

import json
import pathlib
import shlex

import pytest

from penstock import _commands as commands
from penstock._command_line.plan import Load, Machines, plan_of

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "how_to" / "plan_machines.md"


def test_the_example_of_the_page(capsys):
    call, *expected = PAGE.read_text().split("```\n$ ")[1].split("\n```")[0].split("\n")
    assert commands.main(shlex.split(call)[1:]) == 0
    assert capsys.readouterr().out.splitlines() == expected


def test_cores_of_the_machine_are_enough():
    made = plan_of(Load(4, 1000, 200, 100e3, 150e3), Machines(gpus=4, cores=32))
    assert (made["samples_per_second"], made["cores"], made["disks"]) == (
        4000,
        25,
        1,
    )  # 4000 / (200 * 0.8); 0.4 of 2.4 GB/s
    assert (made["training_machines"], made["worker_machines"], made["limit"]) == (1, 0, "nothing")
    assert made["cores_busy_there"] == 20 and made["network_bytes_per_second_there"] == 0


def test_other_machines_make_the_rest():
    # Each of 4 machines needs 20000, makes 16 * 0.8 * 250 = 3200; 16800 of 150 kB are 2.52 GB/s of 10.
    # A worker makes 96 * 0.8 * 250 = 19200: 67200 / 19200 = 3.5.
    made = plan_of(Load(32, 2500, 250, 110e3, 150e3), Machines(gpus=8, cores=16, worker_cores=96))
    assert (made["training_machines"], made["worker_machines"], made["limit"]) == (4, 4, "cores")
    assert made["network_bytes_per_second_there"] == pytest.approx(2.52e9)
    assert made["cores"] == 400 and made["disks"] == 4  # 80000 * 110 kB = 8.8 GB/s of 2.4 a disk


def test_the_network_of_a_worker_limits_it():
    # 1.25 GB/s * 0.8 / 600 kB = 1666.7 samples/s of a worker, whose cores could make 19200; the one that trains has 100 Gbit/s worth
    # of GPUs only where its own network brings the rest: 2000 - 1600 = 400 samples of 600 kB are 0.24 GB/s.
    made = plan_of(Load(1, 2000, 250, 1e3, 600e3), Machines(gpus=1, cores=8, worker_cores=96, network=1.25e9))
    assert (made["worker_machines"], made["limit"]) == (1, "cores")
    made = plan_of(Load(4, 1600, 250, 1e3, 100e3), Machines(gpus=1, cores=1, worker_cores=96, network=0.2e9))
    # Each needs 1600, makes 200; 1400 of 100 kB are 0.14 of 0.16 GB/s. A worker sends 1600: 5600 / 1600 = 3.5.
    assert (made["worker_machines"], made["limit"]) == (4, "cores")


def test_data_that_come_through_the_network():
    # 10000 files of 200 kB are 2 GB/s, the network brings 1: ready samples of 50 kB take the place of some. w * 200 + (10 - w) * 50 = 1000.
    made = plan_of(Load(1, 10000, 1000, 200e3, 50e3), Machines(gpus=1, cores=64, network=1.25e9, remote=True))
    assert made["limit"] == "network" and made["network_bytes_per_second_there"] == pytest.approx(1e9)
    assert made["cores_busy_there"] == 4  # 3333 samples of 1000 a core
    assert made["worker_machines"] == 2  # 6667 samples; a worker takes 1 GB/s of files of 200 kB: 5000
    made = plan_of(Load(1, 4000, 1000, 200e3, 50e3), Machines(gpus=1, cores=64, network=1.25e9, remote=True))
    assert (made["limit"], made["worker_machines"]) == ("nothing", 0)


def test_what_no_number_of_machines_can_do():
    for load, machines in (
        (Load(8, 2500, 250, 110e3, 600e3), Machines(cores=8, network=1.25e9)),  # 11 GB/s through 1
        (Load(1, 10000, 1000, 200e3, 200e3), Machines(gpus=1, network=1.25e9, remote=True)),
        (Load(1, 10000, 1000, 200e3, 150e3), Machines(gpus=1, network=1.25e9, remote=True)),
    ):
        with pytest.raises(ValueError, match="the network of a machine that trains brings 1.00 GB/s"):
            plan_of(load, machines)


@pytest.mark.parametrize("seed", range(20))
def test_what_a_plan_promises_holds(seed):
    """The machines that it names can make and move the samples, and with one worker fewer they cannot."""
    import random

    draw = random.Random(seed)
    load = Load(
        draw.randint(1, 64),
        draw.uniform(10, 5000),
        draw.uniform(20, 2000),
        draw.uniform(1e3, 1e6),
        draw.uniform(1e3, 1e6),
    )
    machines = Machines(
        draw.randint(1, 8),
        draw.randint(1, 128),
        draw.randint(1, 128),
        draw.uniform(1e8, 5e10),
        3e9,
        draw.random() < 0.5,
        0.8,
    )
    try:
        made = plan_of(load, machines)
    except ValueError:
        return
    network = machines.network * 0.8 * (1 + 1e-6)
    assert made["network_bytes_per_second_there"] <= network
    each = min(
        machines.worker_cores * 0.8 * load.per_core,
        network / load.ready,
        network / load.read if machines.remote else 1e99,
    )
    most = machines.cores * 0.8 * load.per_core
    assert made["training_machines"] * most + made["worker_machines"] * each >= load.samples * (1 - 1e-5)
    if made["worker_machines"] and made["limit"] == "cores":
        assert made["training_machines"] * most + (made["worker_machines"] - 1) * each < load.samples


def test_rates_of_a_benchmark(tmp_path, capsys):
    rows = [
        {"pipeline": n, "samples_per_second": 900 * k, "samples_per_core_second": 100.0 * k}
        for k, n in ((1, "a"), (2, "b"))
    ]
    for row in rows:
        row |= {"bytes_read_per_sample": 1e5, "bytes_ready_per_sample": 2e5}
    (tmp_path / "rates.json").write_text(json.dumps(rows))
    call = ["plan", "--gpus", "1", "--rate", "800", "--bench", str(tmp_path / "rates.json"), "--json"]
    for more, cores in (([], 5), (["--pipeline", "a"], 10), (["--per-core", "500"], 2)):
        assert commands.main(call + more) == 0
        assert json.loads(capsys.readouterr().out)["cores"] == cores
    assert commands.main([*call, "--pipeline", "c"]) == 2
    assert "rates.json has no pipeline 'c'; it has a, b" in capsys.readouterr().err
    (tmp_path / "other.json").write_text('[{"pipeline": "a", "samples_per_second": 1}]')
    assert commands.main([*call[:5], "--bench", str(tmp_path / "other.json")]) == 2
    assert "other.json is not what penstock bench --json prints: " in capsys.readouterr().err
    assert commands.main([*call[:5], "--per-core", "400", "--read", "1e5", "--ready", "2e5"]) == 0
    said = capsys.readouterr().out
    assert "1 GPU takes 800 samples/s" in said and "1 disk of" in said and "1 machine trains, with 8 GPUs" in said
    assert commands.main(["plan", "--gpus", "1", "--rate", "800", "--read", "5"]) == 2
    for wrong in (["--gpus", "0"], ["--rate", "-1"], ["--use", "nan"], ["--disk", "0"]):
        with pytest.raises(SystemExit):
            commands.main(call + wrong)
