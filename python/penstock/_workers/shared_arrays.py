# SPDX-License-Identifier: Apache-2.0
"""Values between processes: arrays are in shared memory, everything else is pickled.

The memory is anonymous: it has no name that could stay in /dev/shm, none of that folder's limits, and goes with
the last process that has it. A slot holds the arrays of one message. It is written again when the receiver's last array
over it is gone, which the receiver tells with its own messages; slots that are too small make place for larger ones.
"""

import collections
import fcntl
import functools
import io
import itertools
import mmap
import os
import pickle
import socket
import struct
import weakref

MOST_BYTES = 64 << 10  # of a message
_INLINE_ARRAYS = 12 << 10  # bytes of arrays, and of what is pickled, that travel in the message itself
_INLINE_PICKLE = 24 << 10
_MOST_NUMBERS = 1024  # of slots, in one message
_ALIGNMENT = 64
_HEADER = struct.Struct(
    "<6q"
)  # slot or -1, its capacity, bytes of arrays, bytes pickled, slots released, slots retired


def _up(n, step):
    return -(-n // step) * step


def anonymous(size):
    """The descriptor of `size` allocated bytes. A lack of memory is an error here, not a signal at the first write. Where the
    system can, nobody who has the descriptor can make the memory smaller: see cannot_shrink()."""
    can_be_sealed = True
    try:
        fd = os.memfd_create("penstock", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except (AttributeError, OSError):  # a kernel or a sandbox without it
        import tempfile

        with tempfile.TemporaryFile(prefix="penstock-") as file:  # without a name on file systems that can
            fd = os.dup(file.fileno())
        can_be_sealed = False
    try:
        os.posix_fallocate(fd, 0, size)
        if can_be_sealed:
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    except OSError as error:
        os.close(fd)
        raise MemoryError(f"{size} bytes of shared memory for a worker process: {error.strerror}") from None
    return fd


def cannot_shrink(fd):
    """Whether the memory keeps its size for good. Where it does not, who has the descriptor can cut it, and the next access
    of any other process beyond its new end is a SIGBUS."""
    try:
        return bool(fcntl.fcntl(fd, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK)
    except OSError:  # this is not memory
        return False


def mapped(fd, size):
    try:
        return mmap.mmap(fd, size, mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
    except OSError as error:
        raise MemoryError(f"{size} bytes of shared memory for a worker process: {error.strerror}") from None


# --- what is an array ---------------------------------------------------------------------------------------------------


def _of_torch(tensor):
    try:
        return tensor.detach().numpy(), ""
    except (TypeError, RuntimeError):  # on a GPU, or of a type that NumPy lacks
        return None


def _of_interface(value):
    from .. import _core

    return _core.tensor(value).numpy(), ""


@functools.lru_cache(None)
def _reader(kind):
    """How the array of an object of this type is read: a function to (array, layout); None: it is not an array."""
    import numpy
    from .. import _core

    if kind in (numpy.ndarray, numpy.memmap):
        return lambda array: None if array.dtype.hasobject else (array, "")
    if issubclass(kind, numpy.generic):
        return lambda scalar: (numpy.asarray(scalar), "")
    if kind is _core.Tensor:
        return lambda tensor: (tensor.numpy(), tensor.layout())
    if kind.__module__.partition(".")[0] == "torch" and hasattr(kind, "detach"):
        return _of_torch
    return _of_interface if hasattr(kind, "__array_interface__") and not issubclass(kind, numpy.ndarray) else None


class Parts(list):
    """What Sender.add() has taken, pickled one by one."""


class _Pickler(pickle.Pickler):
    """Leaves arrays out and remembers them, each with its place after the first `begin` bytes."""

    def __init__(self, stream, begin):
        from .. import _core

        super().__init__(stream, 5)
        self.arrays, self.bytes, self.places, self.batch = [], begin, {}, _core.Batch

    def persistent_id(self, value):
        kind = type(value)
        if kind is Parts:
            return (list(value),)
        if kind is self.batch:
            return [self._place(t, *_reader(type(t))(t)) for t in value], value.layout()
        read = _reader(kind)
        found = read(value) if read is not None else None
        return self._place(value, *found) if found is not None else None

    def _place(self, value, array, layout):
        place = self.places.get(id(value))
        if place is None:
            dtype = array.dtype
            place = self.bytes, array.shape, dtype.str if dtype.isbuiltin == 1 else dtype, layout
            self.places[id(value)] = place
            self.arrays.append((self.bytes, array, value))  # `value` keeps its id until all is written
            self.bytes += _up(array.nbytes, _ALIGNMENT)
        return place


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream, root):
        super().__init__(stream)
        self.root = root

    def persistent_load(self, place):
        from .. import _core

        if len(place) == 1:
            return [_Unpickler(io.BytesIO(part), self.root).load() for part in place[0]]
        if len(place) == 2:
            return _core.batch([self.persistent_load(p) for p in place[0]], layout=place[1])
        import numpy

        offset, shape, dtype, layout = place
        array = numpy.ndarray(shape, dtype, self.root, offset)
        return _core.tensor(array, layout=layout) if layout else array


# --- the two ends -------------------------------------------------------------------------------------------------------


class Sender:
    """Makes messages. least: bytes of the smallest slot. keeps_files: each message brings its slot's descriptor, because
    it is not known who receives it; else only the first with a slot does."""

    def __init__(self, least=0, keeps_files=False):
        self.least, self.keeps_files = max(int(least), 1 << 16), keeps_files
        self.slots, self.files = {}, {}  # files: of slots that the receiver does not have yet, or of all
        self.free, self.retired, self.numbers = [], collections.deque(), itertools.count()
        self.expected = 0  # bytes of arrays in the last message
        self.slot, self.size, self.late, self.parts = -1, 0, [], Parts()  # of the message that is being made

    def capacities(self):
        return [len(m) for m in self.slots.values()]

    def release(self, numbers):
        self.free += [n for n in numbers if n in self.slots]

    def _slot(self, need):
        """A slot with room for `need` bytes."""
        fitting = [n for n in self.free if len(self.slots[n]) >= need]
        if fitting:
            number = min(fitting, key=lambda n: len(self.slots[n]))
            self.free.remove(number)
            return number
        if self.free:
            self._retire(max(self.free, key=lambda n: len(self.slots[n])))
        step = 1 << max(16, need.bit_length() - 4)  # at most an eighth more: the next messages may be a little larger
        size = _up(max(need, self.least), step)
        fd = anonymous(size)
        try:
            memory = mapped(fd, size)
        except MemoryError:
            os.close(fd)
            raise
        number = next(self.numbers)
        self.slots[number], self.files[number] = memory, fd
        return number

    def _retire(self, number):
        self.free.remove(number)
        del self.slots[number]
        self.retired.append(number)
        if number in self.files:
            os.close(self.files.pop(number))

    def begin(self):
        """Begins a message. add() then takes values one by one and writes their arrays into a slot as large as the last
        one was: what the user's function returns may be written again at once."""
        if self.slot >= 0:
            self.free.append(self.slot)
        self.slot, self.size, self.late, self.parts = -1, 0, [], Parts()
        if self.expected > _INLINE_ARRAYS:
            try:
                self.slot = self._slot(self.expected)
            except MemoryError:
                pass  # message() says so

    def add(self, value):
        """The next of `parts`."""
        import numpy

        stream = io.BytesIO()
        pickler = _Pickler(stream, self.size)
        pickler.dump(value)
        if self.slot < 0 and pickler.bytes <= _INLINE_ARRAYS:
            self.late += [(offset, numpy.array(array), None) for offset, array, _ in pickler.arrays]
        else:
            self._room(pickler.bytes)
            _write(pickler.arrays, self.slots[self.slot])
        self.size = pickler.bytes
        self.parts.append(stream.getvalue())

    def _room(self, need):
        """Makes the message's slot large enough; what it holds so far stays."""
        before = self.slot
        if before < 0:
            self.slot = self._slot(need)
        elif len(self.slots[before]) < need:
            self.slot = self._slot(max(need, 2 * self.size))
            self.slots[self.slot][: self.size] = self.slots[before][: self.size]
            self.free.append(before)
        _write(self.late, self.slots[self.slot])
        self.late = []

    def message(self, value, released=()):
        """(bytes, descriptors that go with them, the slot or -1) of a value, which may hold the parts of this message.
        released: slots of what was received."""
        stream = io.BytesIO()
        pickler = _Pickler(stream, self.size)
        pickler.dump(value)
        pickled, size = stream.getbuffer(), pickler.bytes
        arrays_apart, pickle_apart = size > _INLINE_ARRAYS, len(pickled) > _INLINE_PICKLE
        need = size * arrays_apart + len(pickled) * pickle_apart
        inline = bytearray(0 if arrays_apart else size)
        if not arrays_apart:
            if self.slot >= 0:
                inline[: self.size] = self.slots[self.slot][: self.size]
            _write(self.late + pickler.arrays, inline)
            self.late, self.size = [], 0
        if need:
            self._room(need)
            if arrays_apart:
                _write(pickler.arrays, self.slots[self.slot])
            if pickle_apart:
                self.slots[self.slot][need - len(pickled) : need] = pickled
        elif self.slot >= 0:
            self.free.append(self.slot)
            self.slot = -1
        slot, self.expected = self.slot, size
        self.slot, self.size, self.late, self.parts = -1, 0, [], Parts()
        released, retired = _taken(released), _taken(self.retired)
        head = _HEADER.pack(
            slot, len(self.slots[slot]) if slot >= 0 else 0, size, len(pickled), len(released), len(retired)
        )
        numbers = struct.pack(f"<{len(released) + len(retired)}q", *released, *retired)
        files = [self.files[slot]] if slot in self.files else []
        return b"".join((head, numbers, b"" if pickle_apart else pickled, inline)), files, slot

    def sent(self, slot):
        """After the first message with a slot, whose receiver has the descriptor now."""
        if not self.keeps_files and slot in self.files:
            os.close(self.files.pop(slot))

    def close(self):
        while self.files:
            os.close(self.files.popitem()[1])
        self.slots.clear()
        self.free.clear()


def slot_of(message):
    """The slot that a message uses, -1 for none."""
    return _HEADER.unpack_from(message)[0]


def _taken(numbers):
    """Some of the numbers in a deque, which others may append to meanwhile."""
    return [numbers.popleft() for _ in range(min(len(numbers), _MOST_NUMBERS))]


def _write(arrays, memory):
    import numpy

    for offset, array, _ in arrays:
        numpy.ndarray(array.shape, array.dtype, memory, offset)[...] = array


class Receiver:
    """Reads messages. `released` fills with the slots that no array uses; the caller reports them to the sender.
    remembers: slots stay mapped for the next message, until the sender retires them."""

    def __init__(self, remembers=True):
        self.memory, self.uses, self.released, self.remembers = {}, {}, collections.deque(), remembers

    def value(self, message, files):
        """(the value, the slots of our own that the peer has released)"""
        import numpy

        slot, capacity, size, pickled, released, retired = _HEADER.unpack_from(message)
        at = _HEADER.size + 8 * (released + retired)
        numbers = struct.unpack_from(f"<{released + retired}q", message, _HEADER.size)
        for number in numbers[released:]:
            self.memory.pop(number, None)
        arrays_apart, pickle_apart = size > _INLINE_ARRAYS, pickled > _INLINE_PICKLE
        used = size * arrays_apart + pickled * pickle_apart
        for fd in files:
            try:
                self.memory[slot] = mapped(fd, capacity if self.remembers else used)
            finally:
                os.close(fd)
        root = None
        if slot >= 0:
            root = numpy.frombuffer(self.memory[slot] if self.remembers else self.memory.pop(slot), numpy.uint8, used)
            self.uses[slot] = weakref.ref(root, functools.partial(self._release, slot))
        if pickle_apart:
            begin = size * arrays_apart
            data = root[begin : begin + pickled]
        else:
            data = memoryview(message)[at : at + pickled]
            at += pickled
        if not arrays_apart:
            root = numpy.frombuffer(bytearray(memoryview(message)[at : at + max(size, 1)]) or bytearray(1), numpy.uint8)
        return _Unpickler(io.BytesIO(data), root).load(), numbers[:released]

    def _release(self, slot, _):
        self.released.append(slot)

    def close(self):
        """Closes what no array uses; arrays in use keep their memory."""
        self.memory.clear()


def send(end, data, files=(), flags=0):
    with_files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(files)}i", *files))] if files else []
    end.sendmsg([data], with_files, flags)


def receive(end, flags=0):
    """(bytes, descriptors); no bytes: the other end is closed."""
    data, beside, _, _ = end.recvmsg(MOST_BYTES, socket.CMSG_SPACE(4), flags | socket.MSG_CMSG_CLOEXEC)
    return data, [fd for _, _, packed in beside for fd in struct.unpack(f"{len(packed) // 4}i", packed)]
