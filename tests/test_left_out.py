# SPDX-License-Identifier: Apache-2.0
"""on_error with samples of the program: which sample of which batch is lost, and what replaces it."""

import io
import pickle

import numpy as np
import penstock
import pytest
from penstock import Pipeline, fn, types

COUNT, BAD = 8, ((2, 5), (0,), (), (1, 2, 3, 4, 5, 6))  # samples of a batch, and of each batch those that are bad


def picture(value):
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.full((4, 4, 3), value, np.uint8)).save(file, "PNG")
    return np.frombuffer(file.getvalue(), np.uint8)


def given(batch, bad=BAD):
    """Encoded pictures of one value each, and that value."""
    values = [10 * batch + k for k in range(COUNT)]
    return (
        [picture(v) if k not in bad[batch] else np.frombuffer(b"no picture", np.uint8) for k, v in enumerate(values)],
        [np.array(v, np.int32) for v in values],
    )


def pipeline(make, bad=BAD, two_sources=False, **options):
    pipe = Pipeline(**{"batch_size": COUNT, "num_threads": 2, "on_error": "skip", "device_id": None, **options})
    with pipe:
        if two_sources:
            encoded = fn.external_source([given(b, bad)[0] for b in range(len(bad))], name="encoded")
            label = fn.external_source([given(b, bad)[1] for b in range(len(bad))], name="labels")
        else:
            encoded, label = fn.external_source([given(b, bad) for b in range(len(bad))], num_outputs=2)
        pipe.set_outputs(*make(encoded, label))
    return pipe


def decoded(encoded, label):
    return fn.decoders.image(encoded), label


def run(pipe):
    """The values of the pictures, which must be those of the labels."""
    pixels, labels = [[int(np.asarray(x).ravel()[0]) for x in b] for b in pipe.run()]
    assert pixels == labels
    return labels


def by_whole_operators(encoded, label):
    return fn.erase(fn.decoders.image(encoded), anchor=[5], shape=[1], axes=[0]), fn.reshape(label, shape=[1])


def in_a_body(encoded, label):
    return fn.filter(fn.decoders.image(encoded), label, label >= 0)


@pytest.mark.parametrize("make", [decoded, by_whole_operators, in_a_body])
@pytest.mark.parametrize("two_sources", [False, True])
def test_a_skipped_sample_says_its_number_and_its_batch(make, two_sources):
    pipe = pipeline(make, two_sources=two_sources)
    for batch, bad in enumerate(BAD):
        assert run(pipe) == [10 * batch + k for k in range(COUNT) if k not in bad]
        last = pipe.left_out(last_batch=True)
        assert [(x.batch, x.number, x.epoch, x.position) for x in last] == [
            (batch, k, 0, COUNT * batch + k) for k in bad
        ]
        assert all("it looks like text" in x.message and f"sample {x.position} of epoch 0" in x.source for x in last)
    entries = pipe.left_out()
    assert [(x.batch, x.number) for x in entries] == [(b, k) for b, bad in enumerate(BAD) for k in bad]
    assert entries == pipe.stats()["left_out"]
    for x in entries:
        epoch, position, source, message = x  # also a tuple
        assert (epoch, position, source, message) == (x.epoch, x.position, x.source, x.message)
        again = pickle.loads(pickle.dumps(x))
        assert again == x and (again.batch, again.number) == (x.batch, x.number)
    assert "batch=0, number=2, epoch=0, position=2" in repr(entries[0])


def test_the_number_is_that_of_the_sources_batch_if_batches_are_divided_again():
    def cut(encoded, label):
        return fn.rebatch(fn.decoders.image(encoded), label, batch_size=5)

    pipe = pipeline(cut)
    lost, values = [], []
    for batch in range(4):
        values += run(pipe)
        assert all(x.batch == batch for x in pipe.left_out(last_batch=True))
        lost += [x.position for x in pipe.left_out(last_batch=True)]
    assert values == [10 * b + k for b, bad in enumerate(BAD) for k in range(COUNT) if k not in bad][:20]
    assert lost == [x.position for x in pipe.left_out()]
    assert all(x.number == x.position % COUNT for x in pipe.left_out())


def test_a_child_names_the_sample_that_it_was_made_of():
    def children(encoded, label):
        several = fn.expand(encoded, k=label % 3)
        return [fn.decoders.image(several)]

    pipe = pipeline(children)
    for batch, bad in enumerate(BAD):
        pipe.run()
        made = {k: (10 * batch + k) % 3 for k in bad}
        assert {x.number for x in pipe.left_out(last_batch=True)} == {k for k in bad if made[k]}


def test_an_error_clears_what_the_last_batch_has_lost():
    pipe = pipeline(decoded, bad=((1,), (1, 2)), error_budget=2)
    run(pipe)
    assert len(pipe.left_out(last_batch=True)) == 1
    with pytest.raises(penstock.DataError, match="more than the error budget of 2"):
        run(pipe)
    assert pipe.left_out(last_batch=True) == []


# --- another sample of the batch ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [decoded, by_whole_operators, in_a_body])
@pytest.mark.parametrize("two_sources", [False, True])
def test_another_sample_of_the_batch_takes_the_place(make, two_sources):
    got = []
    for options in ({}, {"num_threads": 1, "prefetch_queue_depth": 1}):
        pipe = pipeline(make, two_sources=two_sources, on_error="replace", seed=7, **options)
        got.append([])
        for batch, bad in enumerate(BAD):
            values = run(pipe)
            good = {10 * batch + k for k in range(COUNT) if k not in bad}
            assert len(values) == COUNT and set(values) == good
            assert [v for k, v in enumerate(values) if k not in bad] == sorted(good)
            assert [x.number for x in pipe.left_out(last_batch=True)] == list(bad)
            got[-1].append(values)
    assert got[0] == got[1]


def test_values_computed_before_the_decoder_follow():
    def before(encoded, label):
        twice = fn.cast(label, dtype=types.FLOAT) * 2
        return fn.cast(fn.decoders.image(encoded), dtype=types.FLOAT) * 2, twice

    pipe = pipeline(before, on_error="replace", two_sources=True)
    for _ in BAD:
        assert len(run(pipe)) == COUNT


def test_the_replacements_differ_from_batch_to_batch():
    pipe = pipeline(decoded, bad=((3,),) * 12, on_error="replace", seed=1)
    assert len({run(pipe)[3] % 10 for _ in range(12)}) > 3


def test_where_no_sample_is_good_it_is_an_error():
    pipe = pipeline(decoded, bad=(tuple(range(COUNT)), (0,)), on_error="replace")
    with pytest.raises(penstock.DataError, match="sample 0 of epoch 0"):
        run(pipe)
    assert len(run(pipe)) == COUNT


def test_a_batch_of_one_sample_has_no_other():
    pipe = Pipeline(batch_size=1, num_threads=1, on_error="replace")
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.external_source([[np.zeros(9, np.uint8)]])))
    with pytest.raises(penstock.DataError, match="sample 0 of epoch 0"):
        pipe.run()
