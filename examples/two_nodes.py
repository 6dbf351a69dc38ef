# SPDX-License-Identifier: Apache-2.0
"""Training on two nodes whose batches other machines make: torchrun on each node, `penstock serve` on a machine without a GPU.

    penstock serve examples/two_nodes.py:numbers --host 0.0.0.0 --port 9000 --key service.key       # on machines with processors
    torchrun --nnodes=2 --node-rank=0 --master-addr=FIRST --master-port=29500 examples/two_nodes.py WORKER:9000 service.key
    torchrun --nnodes=2 --node-rank=1 --master-addr=FIRST --master-port=29500 examples/two_nodes.py WORKER:9000 service.key

Without arguments the program does all of this on one machine. The ranks compare what they saw at the end: together they had
each batch of the epoch once, in the order of the pipeline without a service.
"""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from penstock import fn, pipeline_def, service

SAMPLES, BATCH = 96, 8


@pipeline_def(batch_size=BATCH, num_threads=1, seed=5)
def numbers():
    index = fn.readers.indices(size=SAMPLES, random_shuffle=True, name="reader")
    x = fn.random.uniform(range=[-1.0, 1.0], shape=[4])
    return index, x, fn.reductions.sum(x, axes=[0], keep_dims=True) * 2.0 + 1.0


def train(addresses, key):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    seen, losses = [], []
    with service.loader(addresses, numbers(), rank=rank, ranks=ranks, key=key, epochs="drop") as batches:
        for index, x, y in batches:
            loss = torch.nn.functional.mse_loss(model(x.torch()), y.torch())
            optimizer.zero_grad()
            loss.backward()
            for parameter in model.parameters():
                if parameter.grad is not None:
                    dist.all_reduce(parameter.grad)
                    parameter.grad.div_(ranks)
            optimizer.step()
            seen.append(index.as_array().ravel().tolist())
            losses.append(loss.item())
        received = batches.statistics()["received_bytes"]
    together = [None] * ranks
    dist.all_gather_object(together, seen)
    print(
        f"rank {rank} of {ranks}: loss {losses[0]:.3f} to {losses[-1]:.3f}, {received} bytes of the workers", flush=True
    )
    if rank == 0:
        pipe = numbers()
        alone = [pipe.run()[0].as_array().ravel().tolist() for _ in range(SAMPLES // BATCH)]
        assert [batch for step in zip(*together) for batch in step] == alone
        assert losses[-1] < losses[0] / 4 and received > 0
        print("the batches are those of the pipeline without a service")
    dist.destroy_process_group()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as end:
        return end.getsockname()[1]


def on_one_machine():
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder) / "service.key"
        key.write_text(secrets.token_hex(32))
        place = f"{Path(__file__).resolve()}:numbers"
        worker = subprocess.Popen(
            [sys.executable, "-m", "penstock", "serve", place, "--key", str(key)], stdout=subprocess.PIPE, text=True
        )
        nodes, port = [], free_port()
        try:
            said = worker.stdout.readline() if worker.stdout else ""
            for rank in range(2):
                # torchrun of each node; it starts the same program with the variables that torch.distributed reads.
                command = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", f"--node-rank={rank}"]
                command += ["--nproc-per-node=1", "--master-addr=127.0.0.1", f"--master-port={port}"]
                nodes.append(subprocess.Popen([*command, __file__, said.split()[-1], str(key)]))
            ended = [node.wait() for node in nodes]
        finally:
            worker.kill()
            for node in nodes:
                node.kill()
        return max(map(abs, ended))


if __name__ == "__main__":
    if "RANK" in os.environ:
        *where, secret = sys.argv[1:]
        train(where, secret)
    else:
        sys.exit(on_one_machine())
