# SPDX-License-Identifier: Apache-2.0
"""jax_function: the user's function of jax.Array batches inside a pipeline."""

import functools

from ..interface import DataNode, Function, add_call, batch, check_function, required, user_line

_OP = "jax_function"


class _JaxCall(Function):
    """Calls with whole batches as one array each, through DLPack."""

    def __init__(self, function, num_outputs, sharding, texts):
        super().__init__(_OP, function, num_outputs, True, 1, False)
        self.sharding, self.texts = sharding, texts

    def call(self, batches, origins):
        arrays = []
        for k, given in enumerate(batches):
            if not given.is_uniform():
                raise self.fault(ValueError, f"gets a batch as one array, and the samples of input {k} differ in shape")
            arrays.append(self._array(given.as_tensor()))
        try:
            returned = self.function(*arrays)
        except BaseException as error:
            raise self.error(error) from error
        if self.outputs > 1 and not isinstance(returned, tuple):
            raise self.fault(
                TypeError, f"returned {type(returned).__name__} where num_outputs={self.outputs} asks for a tuple"
            )
        out = []
        for k, part in enumerate(self.parts(returned, "")):
            if not getattr(part, "shape", ()) or part.shape[0] != len(origins):
                raise self.fault(
                    ValueError,
                    f"returned shape {tuple(getattr(part, 'shape', ()))} for output {k}: its first axis must "
                    f"count the {len(origins)} samples",
                )
            made = batch(part)
            layout = self.texts[k] if self.texts else ""
            if not self.texts and k < len(batches) and batches[k].ndim() == made.ndim():
                layout = batches[k].layout()
            out.append(batch(made, layout=layout) if layout else made)
        return out, []

    def _array(self, tensor):
        import jax

        array = jax.dlpack.from_dlpack(tensor)
        if self.sharding is None:
            return array
        shape = (array.shape[0] * jax.device_count() // jax.local_device_count(), *array.shape[1:])
        return jax.make_array_from_single_device_arrays(shape, self.sharding, [array])


def jax_function(function=None, num_outputs=1, output_layouts=None, sharding=None, device=None, preserve=True):
    """Makes a function of jax.Array one of values of a pipeline.

    Args:
        function: The function. It gets one array for the batch: NHWC for images HWC. The first axis counts the
            samples, whose shapes must therefore be alike.
        num_outputs: 1: the function returns an array, 0: nothing, more: a tuple.
        output_layouts: Layouts of samples, for all outputs or a tuple with one each; omitted: output k has the
            layout of input k where their numbers of dimensions agree.
        sharding: The sharding of the arrays, for one device in each process.
        device: "cpu" or "gpu"; None: where the inputs are.
        preserve: Accepted without effect.

    Returns:
        A function of values of a pipeline.

    Raises:
        ValueError: output_layouts and num_outputs do not fit together.

    Example:
        @jax_function
        @jax.jit
        def turned(images):
            return images[:, :, ::-1]
    """
    if function is None:
        return functools.partial(
            jax_function,
            num_outputs=num_outputs,
            output_layouts=output_layouts,
            sharding=sharding,
            device=device,
            preserve=preserve,
        )
    check_function(_OP, function, num_outputs, 1)
    texts = [output_layouts] * num_outputs if isinstance(output_layouts, str) else list(output_layouts or ())
    if texts and len(texts) != num_outputs:
        raise ValueError(f"[{_OP}] output_layouts names {len(texts)} outputs of {num_outputs}\n  at {user_line()}")

    @functools.wraps(function)
    def node(*inputs):
        if not any(isinstance(i, DataNode) for i in inputs):
            required(f"a call of the {_OP} '{function.__name__}'")
        made = _JaxCall(function, num_outputs, sharding, texts)
        arguments = {
            "function": function.__name__,
            "num_outputs": num_outputs,
            "batch_processing": True,
            "device": device,
        }
        if texts:
            arguments["output_layouts"] = texts
        return add_call("python_function", inputs, arguments, made)

    return node
