# SPDX-License-Identifier: Apache-2.0
"""Long counts, for `make test-long`: damaged files, many clients, models that come and go. PENSTOCK_TEST_COUNT scales none of it.

python -m pytest tests/triton_backend/triton_long.py -s    prints what was measured
"""

import json
import random
import re
import socket
import threading
import time

import numpy as np
from served_pipelines import classification, of_pipeline, photographs
from triton_server import RequestError, described

BATCHED = """
backend: "penstock"
dynamic_batching { max_queue_delay_microseconds: 2000 }
instance_group [{ kind: KIND_CPU count: 2 }]
parameters { key: "num_threads" value { string_value: "2" } }
"""


def in_threads(count, work):
    threads = [threading.Thread(target=work, args=(n,)) for n in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def test_a_thousand_damaged_files(server, client, load):
    """1,000 requests with a damaged file among 1,000 without one, in batches: each has its own answer."""
    model = load("damaged", classification(), BATCHED)
    good = photographs(20)
    (expected,) = of_pipeline(classification(), jpegs=good)
    wrong, refused = [], [0] * 10

    def ask(number):
        draw = random.Random(number)
        with server.client() as own:
            for i in range(200):
                first, count = draw.randrange(16), draw.randrange(1, 4)
                files, bad = good[first : first + count], draw.randrange(count)
                if i % 2:
                    files[bad] = files[bad][: draw.randrange(1, 300)]
                try:
                    answer = own.infer(model, {"jpegs": files}, request_id=f"{number}-{i}")["OUTPUT0"]
                    if i % 2 or not np.array_equal(answer, expected[first : first + count]):
                        wrong.append((number, i))
                except RequestError as error:
                    refused[number] += 1
                    named = re.match(f"request '{number}-{i}': .decoders.image", str(error))
                    if not i % 2 or not named or (count > 1 and f"sample {bad}" not in str(error)):
                        wrong.append((number, i, str(error)))

    in_threads(10, ask)
    stats = client.statistics(model, 2000)
    print(f"\n{sum(refused)} of 1000 refused, {stats['execution_count']} executions of 2000 requests")
    assert not wrong and sum(refused) == 1000


def raw_request(model, inputs):
    """The bytes of a whole HTTP request."""
    entries, parts = zip(*(described(*pair) for pair in inputs.items()))
    text = json.dumps({"inputs": list(entries), "parameters": {"binary_data_output": True}}).encode()
    body = text + b"".join(parts)
    head = (
        f"POST /v2/models/{model}/infer HTTP/1.1\r\nHost: localhost\r\nInference-Header-Content-Length: {len(text)}\r\n"
    )
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def answered(connection):
    """Status and body of one answer."""
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += connection.recv(1 << 16)
    size = int(re.search(rb"(?i)content-length: (\d+)", data[:end])[1])
    while len(data) < end + 4 + size:
        data += connection.recv(1 << 16)
    return int(data[9:12]), data[end + 4 :]


def test_sixteen_clients(server, client, load):
    """16 x 10,000 requests: each answer is right, and the server's memory does not grow."""
    model = load("clients", classification(size=8), BATCHED)
    files = photographs(16)
    (expected,) = of_pipeline(classification(size=8), jpegs=files)
    wrong = []

    def ask(number, count):
        request = raw_request(model, {"jpegs": [files[number]]})
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            for _ in range(count):
                connection.sendall(request)
                status, body = answered(connection)
                if status != 200 or not body.endswith(np.asarray(expected[number]).tobytes()):
                    wrong.append((number, status))

    in_threads(16, lambda n: ask(n, 500))
    before, begin = server.resident(), time.monotonic()
    in_threads(16, lambda n: ask(n, 10_000))
    seconds, grown = time.monotonic() - begin, (server.resident() - before) / 1e6
    print(f"\n160000 requests, {160000 / seconds:.0f}/s, memory {before / 1e6:.0f} MB and {grown:+.1f} MB")
    assert not wrong and grown <= 20


def test_models_that_come_and_go(server, client, load):
    """20 times unloaded and loaded, with requests between: the memory of a model is given back."""
    files = photographs(16)
    (expected,) = of_pipeline(classification(size=64), jpegs=files)
    sizes = []
    for _ in range(25):
        model = load("comes_and_goes", classification(size=64), BATCHED)
        np.testing.assert_array_equal(client.infer(model, {"jpegs": files})["OUTPUT0"], expected)
        client.json("POST", f"/v2/repository/models/{model}/unload")
        time.sleep(0.1)
        sizes.append(server.resident() / 1e6)
    print(f"\nmemory after 5 cycles {sizes[4]:.0f} MB, after 25 {sizes[-1]:.0f} MB")
    assert sizes[-1] - sizes[4] <= 20
