# SPDX-License-Identifier: Apache-2.0
"""How models are configured, loaded and unloaded."""

import threading
import time

import numpy as np
import pytest
from penstock import fn, pipeline_def
from served_pipelines import classification, decoded, of_pipeline, photograph, photographs
from triton_server import RequestError, bytes_elements

UINT8 = """
backend: "penstock"
max_batch_size: 100
input [{ name: "jpegs" data_type: TYPE_UINT8 dims: [-1] }]
output [{ name: "pixels" }]
"""


def test_uint8_inputs_of_unlike_length_share_a_batch(client, load):
    """As clients of DALI's backend send them: an array of a file's bytes in each request."""
    model = load("bytes_as_arrays", classification(), UINT8)
    files = photographs(6)
    (expected,) = of_pipeline(classification(), jpegs=files)
    for file, one in zip(files, expected):
        answer = client.infer(model, {"jpegs": np.frombuffer(file, np.uint8)[None]})
        np.testing.assert_array_equal(answer["pixels"], one[None])
    longest = max(map(len, files))
    padded = np.stack([np.pad(np.frombuffer(f, np.uint8), (0, longest - len(f))) for f in files])
    np.testing.assert_array_equal(client.infer(model, {"jpegs": padded})["pixels"], expected)


def test_max_batch_size_above_the_saved_one(client, load):
    model = load("large", classification(), 'backend: "penstock"\nmax_batch_size: 100\n')
    files = photographs(100)
    pipeline = classification(batch_size=100)
    (expected,) = of_pipeline(pipeline, jpegs=files)
    np.testing.assert_array_equal(client.infer(model, {"jpegs": files})["OUTPUT0"], expected)


WRONG_CONFIGS = {
    'input [{ name: "jpeg" data_type: TYPE_STRING dims: [1] }]': "'jpeg' of config.pbtxt is no .*did you mean 'jpegs'",
    'input [{ name: "jpegs" data_type: TYPE_FP32 dims: [1] }]': "config.pbtxt says TYPE_FP32, but the pipeline has TYPE_UINT8",
    'output [{ name: "x" data_type: TYPE_UINT8 dims: [3, 32, 32] }]': "'x': config.pbtxt says TYPE_UINT8.*TYPE_FP32",
    'output [{ name: "x" data_type: TYPE_FP32 dims: [32, 32] }]': "'x': config.pbtxt has 2 dims, but .* 3 dim",
    'output [{ name: "x" data_type: TYPE_FP32 dims: [3, 32, 64] }]': r"'x': config.pbtxt has dims \[3,32,64\], .*\(3, 32, 32\)",
    'output [{ name: "x" }, { name: "y" }]': "2 outputs, but the pipeline returns 1",
    'parameters { key: "num_threads" value { string_value: "many" } }': "num_threads must be a whole number",
    'default_model_filename: "other.penstock"': "other.penstock does not exist",
}


@pytest.mark.parametrize("config", WRONG_CONFIGS)
def test_a_config_that_does_not_fit_is_refused_when_the_model_loads(load, config):
    with pytest.raises(RequestError, match=WRONG_CONFIGS[config]):
        load("wrong", classification(), f'backend: "penstock"\n{config}\n')


def test_a_file_that_is_no_pipeline(load):
    with pytest.raises(RequestError, match=r"not a saved pipeline.*model.penstock"):
        load("text.penstock", files={"model.penstock": "{}"})
    with pytest.raises(RequestError, match="has no model.penstock, which pipeline.save"):
        load("empty.penstock", files={"readme": ""})
    with pytest.raises(RequestError, match="model.dali is DALI's form: put the script there as dali.py"):
        load("of_dali.penstock", files={"model.dali": ""})


def test_a_pipeline_without_inputs_is_refused(load):
    @pipeline_def(batch_size=2, num_threads=1)
    def numbers():
        return fn.random.uniform(range=[0.0, 1.0])

    with pytest.raises(RequestError, match="no external_source, so a request has nothing to give"):
        load("numbers.penstock", numbers())


def test_a_type_that_nobody_declares_is_asked_for(client, load):
    @pipeline_def(batch_size=4, num_threads=1)
    def undeclared():
        return fn.external_source(name="x") + 1

    with pytest.raises(
        RequestError, match="'OUTPUT0': its type is not known.*give every external_source dtype and ndim"
    ):
        load("undeclared.penstock", undeclared())
    config = """backend: "penstock"
input [{ name: "x" data_type: TYPE_FP32 dims: [-1] }]
output [{ name: "y" data_type: TYPE_%s dims: [-1] }]"""
    model = load("declared", undeclared(), config % "FP32")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(client.infer(model, {"x": x})["y"], x + 1)
    model = load("declared_wrongly", undeclared(), config % "UINT8")
    with pytest.raises(RequestError, match="output 'y' is float32, but the configuration of the model says TYPE_UINT8"):
        client.infer(model, {"x": x})


BATCHED = """
backend: "penstock"
dynamic_batching { max_queue_delay_microseconds: 20000 }
instance_group [{ kind: KIND_CPU count: %d }]
parameters { key: "num_threads" value { string_value: "2" } }
"""


@pytest.mark.parametrize("instances", [1, 3])
def test_dynamic_batches_and_instances(server, client, load, instances):
    model = load(f"batched{instances}", classification(), BATCHED % instances)
    files = photographs(24)
    (expected,) = of_pipeline(classification(), jpegs=files)
    wrong = []

    def ask(number):
        with server.client() as own:
            for _ in range(3):
                answer = own.infer(model, {"jpegs": files[number : number + 2]})["OUTPUT0"]
                wrong.extend([number] * (not np.array_equal(answer, expected[number : number + 2])))

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(22)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    stats = client.statistics(model, 22 * 3)
    assert stats["inference_count"] == 22 * 3 * 2 and stats["execution_count"] < 22 * 3


def test_warm_up_unload_and_load_anew(server, client, load):
    """Triton's own warm-up goes through the backend; a model that is saved anew is served anew."""
    config = """backend: "penstock"
model_warmup [{ name: "files" batch_size: 1 count: 3
                inputs { key: "jpegs" value { data_type: TYPE_STRING dims: [1] input_data_file: "files" } } }]"""
    folder = server.repository / "warm" / "warmup"
    folder.mkdir(parents=True)
    (folder / "files").write_bytes(bytes_elements([photograph(3)]))
    for size in (32, 16):
        model = load("warm", classification(size=size), config)
        (expected,) = of_pipeline(classification(size=size), jpegs=[photograph(3)])
        np.testing.assert_array_equal(client.infer(model, {"jpegs": [photograph(3)]})["OUTPUT0"], expected)
    client.json("POST", f"/v2/repository/models/{model}/unload")
    with pytest.raises(RequestError, match="unloaded|not found|no available versions|not ready"):
        for _ in range(100):
            client.infer(model, {"jpegs": [photograph(3)]})
            time.sleep(0.02)


def test_versions(server, client, load):
    import triton_server

    triton_server.save_model(server.repository, "versions", decoded(), version=2)
    model = load("versions", classification(), 'backend: "penstock"\nversion_policy { all {} }')
    files = [photograph(5)]
    assert client.infer(f"{model}/versions/1", {"jpegs": files})["OUTPUT0"].dtype == np.float32
    assert client.infer(f"{model}/versions/2", {"jpegs": files})["OUTPUT0"].dtype == np.uint8


OF_PENSTOCK = """
from penstock import fn, pipeline_def, types
from penstock.plugin.triton import autoserialize

@autoserialize
@pipeline_def(batch_size=8, num_threads=2)
def preprocessing():
    images = fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1))
    return fn.resize(images, size=[20, 30])
"""
OF_DALI = """
import nvidia.dali as dali
import nvidia.dali.types as types
from nvidia.dali.plugin.triton import autoserialize

@autoserialize
@dali.pipeline_def(batch_size=8, num_threads=2, device_id=None)
def pipe():
    images = dali.fn.external_source(device="cpu", name="jpegs", dtype=types.UINT8, ndim=1)
    images = dali.fn.decoders.image(images, device="cpu", output_type=types.RGB)
    return dali.fn.resize(images, size=[20, 30])
"""


@pytest.mark.parametrize("file, text", [("penstock.py", OF_PENSTOCK), ("dali.py", OF_DALI)])
def test_python_files_are_saved_when_they_load(client, load, file, text):
    model = load(f"{file[:-3]}_file.penstock", files={file: text})
    answer = client.infer(model, {"jpegs": [photograph(1), photograph(2)]})["OUTPUT0"]
    assert answer.shape == (2, 20, 30, 3) and answer.dtype == np.uint8 and answer.std() > 10


def test_a_chosen_python_file(client, load):
    config = 'backend: "penstock"\ndefault_model_filename: "mine.py"\n'
    model = load("chosen", config=config, files={"mine.py": OF_PENSTOCK})
    assert client.infer(model, {"jpegs": [photograph(1)]})["OUTPUT0"].shape == (1, 20, 30, 3)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("1 / 0", r"ZeroDivisionError: division by zero \(line 1\)"),
        (OF_PENSTOCK.replace("@autoserialize", ""), "0 functions have @autoserialize"),
        (OF_PENSTOCK.replace("resize", "resiz"), r"no .*resiz.*\(line 9\)|resiz.*\(line 9\)"),
        (OF_PENSTOCK.replace("@pipeline_def(batch_size=8, num_threads=2)", ""), "takes a function with @pipeline_def"),
    ],
)
def test_a_python_file_with_a_mistake(load, text, expected):
    with pytest.raises(RequestError, match=expected):
        load("mistake.penstock", files={"penstock.py": text})
