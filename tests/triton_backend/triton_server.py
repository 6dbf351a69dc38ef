# SPDX-License-Identifier: Apache-2.0
"""A Triton server with Penstock's backend, and a client of its HTTP protocol with binary tensors, in the words of the standard library."""

import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ROOT / ".venv-triton"
PROGRAM = INSTALLED / "pytriton" / "tritonserver" / "bin" / "tritonserver"
SPELLED = {np.dtype(k): v for k, v in {"u1": "UINT8", "f4": "FP32", "i4": "INT32", "i8": "INT64", "?": "BOOL"}.items()}
TYPES = {name: dtype for dtype, name in SPELLED.items()}


class RequestError(Exception):
    """What the server answers to a request that it refuses."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def bytes_elements(files):
    """A BYTES tensor: each element is its length and its bytes."""
    return b"".join(struct.pack("<I", len(f)) + bytes(f) for f in files)


def described(name, value):
    """(what the header of a request says, the bytes) of an input: a list of bytes, or an array."""
    if isinstance(value, np.ndarray):
        data, kind, shape = value.tobytes(), SPELLED[value.dtype], list(value.shape)
    else:
        data, kind, shape = bytes_elements(value), "BYTES", [len(value), 1]
    return {"name": name, "datatype": kind, "shape": shape, "parameters": {"binary_data_size": len(data)}}, data


class Client:
    """Requests of one connection. Each thread has its own."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=240)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def call(self, method, path, body=None, headers=()):
        self.connection.request(method, path, body, dict(headers))
        answer = self.connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def json(self, method, path, body=None):
        status, _, data = self.call(method, path, None if body is None else json.dumps(body))
        value = json.loads(data) if data else {}
        if status != 200:
            raise RequestError(status, value.get("error", data))
        return value

    def statistics(self, model, requests):
        """What the server has counted of a model, as soon as it is that many requests: it counts after it has answered."""
        for _ in range(6000):
            (stats,) = self.json("GET", f"/v2/models/{model}/stats")["model_stats"]
            if sum(stats["inference_stats"][end]["count"] for end in ("success", "fail")) >= requests:
                break
            time.sleep(0.01)
        return stats

    def infer(self, model, inputs, outputs=None, request_id=None):
        """{output: array} of {input: list of bytes, or an array}. outputs: names, or entries of the protocol."""
        entries, parts = zip(*(described(*pair) for pair in inputs.items()))
        return self.send(model, entries, b"".join(parts), outputs, request_id)

    def send(self, model, entries, data, outputs=None, request_id=None):
        header = {"inputs": list(entries), "parameters": {"binary_data_output": True}}
        if outputs is not None:
            of_name = {"parameters": {"binary_data": True}}
            header["outputs"] = [o if isinstance(o, dict) else {"name": o, **of_name} for o in outputs]
            del header["parameters"]
        if request_id is not None:
            header["id"] = request_id
        text = json.dumps(header).encode()
        length = {"Inference-Header-Content-Length": str(len(text))}
        status, headers, answer = self.call("POST", f"/v2/models/{model}/infer", text + data, length)
        if status != 200:
            raise RequestError(status, json.loads(answer)["error"])
        end = int(next((v for k, v in headers.items() if k.lower() == "inference-header-content-length"), len(answer)))
        results, at = {}, end
        for entry in json.loads(answer[:end])["outputs"]:
            size = entry.get("parameters", {}).get("binary_data_size")
            if size is not None:
                array = np.frombuffer(answer, TYPES[entry["datatype"]], size // TYPES[entry["datatype"]].itemsize, at)
                results[entry["name"]], at = array.reshape(entry["shape"]), at + size
        return results


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Server:
    """Starts on creation and stops with the `with` statement."""

    def __init__(self, repository, backends, log, *options, environment=()):
        for attempts_left in (2, 1, 0):
            try:
                return self.start(repository, backends, log, *options, environment=environment)
            except RuntimeError:  # another program may have taken a port that was free
                if "in use" not in Path(log).read_text() or not attempts_left:
                    raise

    def start(self, repository, backends, log, *options, environment):
        self.port, self.grpc_port, self.metrics_port = free_ports(3)
        self.log = Path(log)
        command = [PROGRAM, f"--model-repository={repository}", f"--backend-directory={backends}", *options]
        command += [f"--http-port={self.port}", f"--grpc-port={self.grpc_port}", f"--metrics-port={self.metrics_port}"]
        command += ["--http-address=127.0.0.1", "--grpc-address=127.0.0.1", "--metrics-address=127.0.0.1"]
        command += ["--exit-timeout-secs=5", "--allow-gpu-metrics=false", "--allow-cpu-metrics=false"]
        with open(self.log, "w") as file:
            surroundings = {**os.environ, **dict(environment)}
            self.process = subprocess.Popen([str(c) for c in command], stdout=file, stderr=file, env=surroundings)
        self.wait()

    def wait(self, seconds=240):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                with self.client() as client:
                    if client.call("GET", "/v2/health/live")[0] == 200:
                        return
            except OSError:
                time.sleep(0.05)
        text = self.log.read_text()
        self.stop()
        raise RuntimeError(f"the server did not start:\n{text[-4000:]}")

    def client(self):
        return Client(self.port)

    def computed(self):
        """Seconds of its threads on processors."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        """Bytes of its memory."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                return self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def save_model(repository, name, pipeline=None, config=None, files=(), version=1):
    """A model of a repository: a saved pipeline, or other files of its version; config.pbtxt where there is one."""
    folder = Path(repository) / name / str(version)
    folder.mkdir(parents=True, exist_ok=True)
    if pipeline is not None:
        pipeline.save(folder / "model.penstock")
    for file, text in dict(files).items():
        (folder / file).write_text(text)
    if config is not None:
        (folder.parent / "config.pbtxt").write_text(config)
    return folder


def use_installed():
    """Makes tritonclient and grpc importable."""
    if str(INSTALLED) not in sys.path:
        sys.path.append(str(INSTALLED))
