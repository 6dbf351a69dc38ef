# SPDX-License-Identifier: Apache-2.0
"""`if` and `else` in a pipeline: each sample takes its own branch; conditions with and, or, not; branches within branches."""

import numpy as np
import small_data
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.pipeline import do_not_convert

pictures = [small_data.picture(n) for n in range(4)]


def augmented(image, strong):
    if strong:
        return fn.flip(image, horizontal=1)
    return image


@do_not_convert
def blurred(image):
    return fn.gaussian_blur(image, window_size=3) if isinstance(pictures, list) else image


@pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_conditionals=True, seed=9)
def chosen():
    image, number = fn.external_source(
        source=lambda: (pictures, [np.int32(n) for n in range(4)]), num_outputs=2, layout=["HWC", ""]
    )
    if number == 0:
        out = fn.rotate(image, angle=90.0, interp_type=types.INTERP_NN)
    elif number == 1 or not number < 3:
        out = augmented(image, number == 3)
    else:
        out = blurred(image)
    coin = fn.random.coin_flip(dtype=types.BOOL)
    if coin:
        level = types.Constant(0.5) * number
    else:
        level = types.Constant(-1.0) - number
    return out, coin, level


pipe = chosen()
pipe.build()
coins = []
for _ in range(5):
    out, coin, level = pipe.run()
    assert (
        (out.at(0) == np.rot90(pictures[0])).all()
        and (out.at(1) == pictures[1]).all()
        and (out.at(3) == pictures[3][:, ::-1]).all()
    )
    assert (out.at(2) != pictures[2]).any() and out.at(2).shape == pictures[2].shape
    for n in range(4):
        assert level.at(n) == (0.5 * n if coin.at(n) else -1.0 - n)
        coins.append(bool(coin.at(n)))
assert 0 < sum(coins) < 20
print("conditionals: four samples on four ways, and coins on two")
