// SPDX-License-Identifier: Apache-2.0
// For penstock/service: sums, and what is sent and received with its sum. Memory is given by its address: NumPy knows
// it, and Py_buffer is not in the stable ABI of all versions.
#include "base/checksum.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "bindings.h"
#include "gil.h"

namespace penstock::python {
namespace {

constexpr size_t kPiece = size_t{1} << 18;  // bytes that stay in the processor's cache between the sum and the copy

[[noreturn]] void fail_with(int code) {
  errno = code;
  PyErr_SetFromErrno(PyExc_OSError);
  throw nb::python_error();
}

// A descriptor of its own: the program may close the socket meanwhile, and open another file that gets its number.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int of) : number_(::fcntl(of, F_DUPFD_CLOEXEC, 0)) {
    if (number_ < 0) fail_with(errno);
  }
  ~OwnDescriptor() { ::close(number_); }
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  // Calls step() without the GIL until it returns 0; negative: as errno says. All of a batch is one such call: a thread
  // that runs Python meanwhile would keep each return for the interpreter's interval of 5 ms.
  template <class F> void repeat(short events, F&& step) const {
    for (;;) {
      const int code = without_gil([&] {
        for (;;) {
          const auto done = step(number_);
          if (done == 0) return 0;
          if (done > 0) continue;
          if (errno != EAGAIN) return errno;
          pollfd one{number_, events, 0};  // another thread has given the socket a timeout, to close it
          if (::poll(&one, 1, -1) < 0) return errno;
        }
      });
      if (code == 0) return;
      if (code != EINTR) fail_with(code);
      if (PyErr_CheckSignals() < 0) throw nb::python_error();
    }
  }

 private:
  int number_;
};

uint32_t send_with_crc32c(int descriptor, uintptr_t address, size_t bytes, uint32_t sum) {
  const OwnDescriptor own(descriptor);
  const auto* memory = reinterpret_cast<const uint8_t*>(address);
  size_t sent = 0, summed = 0;
  own.repeat(POLLOUT, [&](int to) -> ssize_t {
    if (sent == bytes) return 0;
    if (sent == summed) {
      const size_t piece = std::min(kPiece, bytes - summed);
      sum = crc32c({memory + summed, piece}, sum);
      summed += piece;
    }
    const ssize_t done = ::send(to, memory + sent, summed - sent, MSG_NOSIGNAL);
    if (done > 0) sent += static_cast<size_t>(done);
    return done;
  });
  return sum;
}

// How many bytes have come, fewer where the peer has ended, and their sum.
nb::tuple receive_with_crc32c(int descriptor, uintptr_t address, size_t bytes) {
  const OwnDescriptor own(descriptor);
  auto* memory = reinterpret_cast<uint8_t*>(address);
  size_t there = 0;
  uint32_t sum = 0;
  own.repeat(POLLIN, [&](int from) -> ssize_t {
    if (there == bytes) return 0;
    const ssize_t count = ::recv(from, memory + there, std::min(kPiece, bytes - there), MSG_WAITALL);
    if (count <= 0) return count;
    sum = crc32c({memory + there, static_cast<size_t>(count)}, sum);
    there += static_cast<size_t>(count);
    return count;
  });
  return nb::make_tuple(there, sum);
}

}  // namespace

void bind_checksum(nb::module_& m) {
  m.def("crc32c", [](uintptr_t address, size_t bytes, uint32_t before) {
    ReleaseGil release;
    return crc32c({reinterpret_cast<const uint8_t*>(address), bytes}, before);
  });
  m.def("send_with_crc32c", send_with_crc32c);
  m.def("receive_with_crc32c", receive_with_crc32c);
}

}  // namespace penstock::python
