# SPDX-License-Identifier: Apache-2.0
"""Control flow over values of a pipeline, compared with the same function run by Python on each sample."""

import pathlib
import runpy

import numpy as np
import pytest

from penstock import Pipeline, control, fn, pipeline_def, types

N = 6


def numbers(values, dtype=np.int32):
    return [np.asarray(v, dtype) for v in values]


def source(values, name, typed):
    types_ = {"dtype": types.to_penstock_type(values[0].dtype), "ndim": values[0].ndim} if typed else {}
    return fn.external_source(lambda: values, name=name, **types_)


def run(function, *inputs, batch=N, typed=True, **options):
    """Outputs of the function in a pipeline, as lists of arrays."""

    @pipeline_def(batch_size=batch, num_threads=2, seed=7, **options)
    def pipe():
        nodes = [source(values, f"in{k}", typed) for k, values in enumerate(inputs)]
        from penstock._control_flow import statements

        return statements.convert(function)(*nodes)

    p = pipe()
    results = p.run()
    again = Pipeline.deserialize(p.serialize())  # the saved form means the same
    second = again.run(**{f"in{k}": values for k, values in enumerate(inputs)})
    out = [[np.array(t.numpy()) for t in batch] for batch in results]
    for a, b in zip(out, second):
        for x, y in zip(a, b):
            np.testing.assert_array_equal(x, np.array(y.numpy()))
    p.close()
    again.close()
    return out


def compare(function, *inputs, **options):
    """The pipeline gives what plain Python gives sample by sample."""
    got = run(function, *inputs, **options)
    for i in range(len(inputs[0])):
        expected = function(*(x[i].copy() if x[i].ndim else x[i][()] for x in inputs))
        expected = expected if isinstance(expected, tuple) else (expected,)
        assert len(got) == len(expected)
        for k, e in enumerate(expected):
            np.testing.assert_array_equal(got[k][i], np.asarray(e), err_msg=f"sample {i}, output {k}")
    return got


X = numbers([0, 1, 2, 3, 4, 5])
Y = numbers([5, 3, 2, 9, 0, 1])


def if_else(x, y):
    if x > 2:
        z = x + y
        w = x
    else:
        z = x - y
        w = y * 2
    return z, w


def elif_chain(x, y):
    if x > 4:
        z = x
    elif y > 4:
        z = y * 10
    elif x == y:
        z = x * 100
    else:
        z = x - y
    return z


def only_then(x, y):
    z = x
    if x > y:
        z = y
        unused = z * 3
        z = unused + 1
    return z


def while_loop(x, y):
    total = y * 0
    while x > 0:
        total = total + x * y
        x = x - 1
    return total, x


def collatz(x, y):
    x = x + 1
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


def for_range(x, y):
    total = y
    for k in range(x):
        total = total + k * y
    return total


def for_range_bounds(x, y):
    total = 0
    for k in range(x, y):
        total += k
    for k in range(y, x, -2):
        total += 100 * k
    for k in range(2, x + y, 3):
        total = total * 2 + k
    return total


def nested(x, y):
    total = 0
    for i in range(x):
        for j in range(y):
            if i > j:
                total += i * j
            else:
                k = 0
                while k < i:
                    total += k
                    k += 1
    return total


def breaks(x, y):
    total = 0
    for i in range(10):
        if i == x:
            break
        total += i
    while True:
        total += 1
        if total > y:
            break
    for i in range(y):
        if i % 2 == 0:
            continue
        if i > x + 2:
            break
        total += i * 7
    return total


def for_else(x, y):
    found = -1
    for i in range(y):
        if i * i == x:
            found = i
            break
    else:
        found = 100
    return found


def early_return(x, y):
    if x == 0:
        return y
    if y > 4:
        if x > 2:
            return x * 1000
        y = y + 1
    for i in range(x):
        if i * 2 > y:
            return i
    return x + y


def returns_from_while(x, y):
    while x < 10:
        x = x + 1
        if x % 4 == 3:
            return x
    return y


def expressions(x, y):
    a = x if x > y else y
    b = 1 if x > 2 and y > 2 else 0
    c = 1 if x > 4 or not y > 1 else 0
    d = 1 if 0 < x < y <= 9 else 0
    return a, b, c, d


def short_circuit(x, y):
    z = 0
    if y != 0 and x // y > 0:
        z = x // y
    return z


def helper(x, limit=3, *, step=2):
    if x > limit:
        return x - step
    return x + step


def calls(x, y):
    f = lambda v: v if v > 2 else -v  # noqa: E731

    def inner(v):
        while v < y:
            v = v + 3
        return v

    return helper(x) + helper(y, step=5), inner(x), f(x)


def plain_python(x, y):
    total = x
    for k in [1, 2, 3]:
        if k == 2:
            continue
        total = total + k
    names = {}
    names["a"] = y
    names["a"] += 1
    rows = [[0, 0], [0, 0]]
    rows[1][0] = 5
    i = 0
    while i < 3:
        i += 1
    return total + i + rows[1][0], names["a"]


def containers(x, y):
    pair = (x, y)
    state = {"low": x, "high": [y, y]}
    if x > y:
        pair = (y, x)
        state = {"low": y, "high": [x, x + 1]}
    for _ in range(x):
        pair = (pair[0] + 1, pair[1])
    return pair[0], pair[1], state["low"], state["high"][1]


FUNCTIONS = [
    if_else,
    elif_chain,
    only_then,
    while_loop,
    collatz,
    for_range,
    for_range_bounds,
    nested,
    breaks,
    for_else,
    early_return,
    returns_from_while,
    expressions,
    short_circuit,
    calls,
    plain_python,
    containers,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_python(function):
    compare(function, X, Y)


@pytest.mark.parametrize("function", [if_else, while_loop, nested, breaks, early_return], ids=lambda f: f.__name__)
def test_types_known_when_data_flow(function):
    compare(function, X, Y, typed=False)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_operator_by_operator(function, monkeypatch):
    monkeypatch.setenv("PENSTOCK_EXEC", "simple")
    compare(function, X, Y)


def assign(x, y):
    x = x.astype(np.float32) if isinstance(x, np.ndarray) else x
    old = x
    x[1:3] = y
    x[..., -1] = 7
    x[0] += 2
    for k in range(2):
        x[k, k] = x[k, 0] * 2
    return x, old if not isinstance(x, np.ndarray) else x


def test_item_assignment():
    arrays = [np.arange(12, dtype=np.float32).reshape(4, 3) + i for i in range(N)]

    def body(x, n):
        old = x
        x[1:3] = 5
        x[..., -1] = 7.5
        x[0] += 2
        for k in range(n):
            x[k, 0:2] = k
        x[:, ::-2] = x[:1, ::2] * 2
        return x, old

    counts = numbers([0, 1, 2, 3, 4, 2])
    x, old = run(body, arrays, counts)
    for i, a in enumerate(arrays):
        e = a.copy()
        e[1:3] = 5
        e[..., -1] = 7.5
        e[0] += 2
        for k in range(counts[i]):
            e[k, 0:2] = k
        e[:, ::-2] = e[:1, ::2] * 2
        np.testing.assert_array_equal(x[i], e)
        np.testing.assert_array_equal(old[i], a)


def test_dynamic_mask_both_ways():
    """The program of DALI's users: unrolled with erase, and as a loop; the same bytes."""
    H, W, most = 40, 50, 6

    @pipeline_def(batch_size=8, num_threads=2, seed=3)
    def pipe():
        n = fn.random.uniform(range=[0, most + 0.99], dtype=types.INT32)
        mean = fn.random.uniform(range=[0.0, 1.0])
        xs = [fn.cast(fn.random.uniform(range=[0, 30]), dtype=types.INT32) for _ in range(most)]
        y, P = (
            fn.cast(fn.random.uniform(range=[0, 30]), dtype=types.INT32),
            fn.cast(fn.random.uniform(range=[1, 12]), dtype=types.INT32),
        )
        mask = types.Constant(shape=(2, H, W), value=0, dtype=types.FLOAT, device="cpu")
        unrolled = mask
        for k in range(most):
            if k < n:
                unrolled = fn.erase(
                    unrolled,
                    fill_value=mean,
                    anchor=fn.cast(fn.stack(y + k, xs[0] + 2 * k), dtype=types.FLOAT),
                    shape=fn.cast(fn.stack(P, P), dtype=types.FLOAT),
                    axes=(1, 2),
                )
        natural = fn.copy(mask)
        for k in range(n):
            x = xs[0] + 2 * k
            natural[:, y + k : y + k + P, x : x + P] = mean
        return unrolled, natural, n

    unrolled, natural, n = pipe().run()
    assert len({int(v.numpy()) for v in n}) > 1
    for a, b in zip(unrolled, natural):
        assert a.numpy().tobytes() == b.numpy().tobytes()


def test_public_calls():
    def body(x, y):
        z = control.if_(x > 2, lambda: x + y, lambda: x - y)
        total, _ = control.while_(lambda t, k: k < x, lambda t, k: (t + k, k + 1), (0, 0))
        (s,) = control.for_(control.range_(x), lambda i, s: s + i, (0,))
        return z, total, s

    z, total, s = run(body, X, Y)
    for i in range(N):
        x, y = int(X[i]), int(Y[i])
        assert z[i] == (x + y if x > 2 else x - y) and total[i] == s[i] == sum(range(x))


def test_random_numbers_follow_the_trip_and_not_the_threads():
    def outputs(threads):
        @pipeline_def(batch_size=16, num_threads=threads, seed=5)
        def pipe():
            n = fn.random.uniform(range=[0, 5], dtype=types.INT32)
            total, last = 0.0, 0.0
            for _ in range(n):
                last = fn.random.uniform(range=[0.0, 1.0])
                total += last
            return total, last, n

        return [[float(t.numpy()) for t in b] for b in pipe().run()]

    total, last, n = outputs(1)
    assert outputs(4) == [total, last, n]
    assert any(k > 1 and t != l * k for t, l, k in zip(total, last, n))


def test_trip_limit_names_the_sample():
    def body(x, y):
        while x > 2:
            x = x + 1
        return x

    with pytest.raises(ValueError, match=r"made 50 trips and has not ended, for sample 3 of the batch"):
        run(body, X, Y, max_trips=50)


def test_iterates_over_the_first_axis():
    arrays = [np.arange(i * 2, dtype=np.float32).reshape(i, 2) for i in range(N)]

    def body(x):
        total = 0.0
        for row in x:
            total = total + row[1]
        return total

    (total,) = run(body, arrays)
    for i, a in enumerate(arrays):
        assert total[i] == a[:, 1].sum()


def test_images_and_stages_in_branches():
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 255, (20 + i, 30, 3), np.uint8) for i in range(N)]

    def body(image, x):
        if x > 2:
            image = fn.brightness_contrast(image, brightness=1.2, contrast=0.8)
            image = fn.flip(image, horizontal=1)
        else:
            image = fn.resize(image, size=[16, 16])
        return image

    (out,) = run(body, images, X)

    def straight(image, x):
        a = fn.flip(fn.brightness_contrast(image, brightness=1.2, contrast=0.8), horizontal=1)
        return a, fn.resize(image, size=[16, 16])

    a, b = run(straight, images, X)
    for i in range(N):
        np.testing.assert_array_equal(out[i], a[i] if X[i] > 2 else b[i])


@pytest.mark.parametrize("seed", ["mask", "blur"])
@pytest.mark.filterwarnings("ignore")
def test_programs_of_users_run(seed):
    runpy.run_path(str(pathlib.Path(__file__).parents[1] / "examples" / "seeds" / f"{seed}.py"))


def test_a_pipeline_class_is_converted():
    class Own(Pipeline):
        def define_graph(self):
            x = fn.external_source(lambda: X, dtype=types.INT32, ndim=0)
            if x > 2:
                x = x * 10
            return x

    (out,) = Own(batch_size=N, num_threads=1).run()
    assert [int(t.numpy()) for t in out] == [0, 1, 2, 30, 40, 50]


def no_trip_returns(n):
    odd = 3
    while n > 0:
        n = n - 1
        if odd % 2 == 0:
            return n, n
    return n, n + 5


def no_inner_trip_returns(n):
    odd, total = 3, n
    for i in range(n):
        for k in range(i):
            total = total + k
            if odd % 2 == 0:
                return n, total
    return n, total


@pytest.mark.parametrize("body", [no_trip_returns, no_inner_trip_returns])
def test_a_return_that_no_trip_reaches(body):
    """Its condition is a plain number, so that nothing of it is in the graph."""
    values = [np.int32(v) for v in (2, 0, 4)]

    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def pipe():
        return body(fn.external_source(lambda: values, dtype=types.INT32, ndim=0))

    got = [[int(v.numpy()) for v in out] for out in pipe().run()]
    assert got == [list(v) for v in zip(*(body(int(v)) for v in values))]


def text_in_nested_conditions(x):
    if x > 0:
        if x > 1:
            return "large"
    return x


def text_in_a_loop(x):
    for i in range(3):
        if x > i:
            return "name"
    return "name"


def test_a_returned_value_that_is_not_data():
    """It may be returned where every sample returns it; else the error names both (it was a RecursionError)."""
    with pytest.raises(TypeError, match=r"the returned value is a value of the pipeline where .*'large' \(str\)"):
        run(text_in_nested_conditions, numbers(range(N)))

    def keys(x):
        return {text_in_a_loop(x): x + 1}["name"]

    (out,) = run(keys, numbers(range(N)))
    assert [int(v) for v in out] == [k + 1 for k in range(N)]
