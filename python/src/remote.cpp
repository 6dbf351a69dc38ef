// SPDX-License-Identifier: Apache-2.0
// For penstock/storage: the client of remote storage that C++ threads call.
#include "data/remote.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>

#include "base/cache_folder.h"
#include "data/remote_list.h"
#include "data/storage.h"
#include "bindings.h"
#include "gil.h"

namespace penstock::python {
namespace {

// The data of an object, in the reader's buffer.
struct RemoteBody {
  std::vector<uint8_t> bytes;
  void reserve(size_t due) {
    if (due > bytes.max_size()) throw std::bad_alloc();
    bytes.reserve(due);
  }
};

// Its functions return a tuple whose first element is None, or the name of a failure followed by its text.
class PythonClient final : public RemoteClient {
 public:
  RemoteStamp head(const std::string& url) override {
    HoldGil gil;
    return stamp_of(asked("head", url));
  }

  RemoteObject get(const std::string& url, int64_t offset, int64_t length, int64_t limit,
                   const RemoteStamp* known) override {
    HoldGil gil;
    nb::object version = known ? nb::object(nb::make_tuple(known->bytes, known->modified_ns, known->tag)) : nb::none();
    const nb::tuple answer = asked("get", url, offset, length, limit, version);
    RemoteObject object;
    object.stamp = stamp_of(answer);
    object.body = std::move(nb::cast<RemoteBody&>(answer[4]).bytes);
    return object;
  }

  std::vector<RemoteEntry> list(const std::string& url) override {
    HoldGil gil;
    const nb::tuple answer = asked("list", url);
    std::vector<RemoteEntry> found;
    for (nb::handle e : answer[1])
      found.push_back({nb::cast<std::string>(e[0]),
                       {nb::cast<int64_t>(e[1]), nb::cast<int64_t>(e[2]), nb::cast<std::string>(e[3])}});
    return found;
  }

  void poll() override {
    HoldGil gil;
    if (PyErr_CheckSignals() < 0) throw nb::python_error();
  }

  void warn(const std::string& text) override {
    HoldGil gil;
    try {
      nb::module_::import_("penstock.storage").attr("_warn")(text);
    } catch (nb::python_error& e) {
      e.discard_as_unraisable("penstock.storage");
    }
  }

 private:
  template <class... A> static nb::tuple asked(const char* name, A&&... arguments) {
    using Kind = RemoteFailure::Kind;
    nb::tuple answer;
    try {
      answer = nb::cast<nb::tuple>(
          called(nb::module_::import_("penstock.storage").attr("_client").attr(name), nb::make_tuple(arguments...)));
    } catch (nb::python_error& e) {
      if (e.matches(PyExc_MemoryError)) throw std::bad_alloc();
      // an error of the client, not of the network
      throw RemoteFailure{Kind::unusable, e.what()};
    }
    if (nb::object(answer[0]).is_none()) return answer;
    static const std::pair<const char*, Kind> kinds[] = {{"missing", Kind::missing},
                                                         {"refused", Kind::refused},
                                                         {"passing", Kind::passing},
                                                         {"unchanged", Kind::unchanged}};
    const auto said = nb::cast<std::string>(answer[0]);
    for (const auto& [text, kind] : kinds)
      if (said == text) throw RemoteFailure{kind, nb::cast<std::string>(answer[1])};
    throw RemoteFailure{Kind::unusable, nb::cast<std::string>(answer[1])};
  }

  static RemoteStamp stamp_of(const nb::tuple& answer) {
    return {nb::cast<int64_t>(answer[1]), nb::cast<int64_t>(answer[2]), nb::cast<std::string>(answer[3])};
  }
};

}  // namespace

void bind_remote(nb::module_& m) {
  nb::class_<RemoteBody>(m, "RemoteBody", "The bytes of a remote object, as they arrive.")
      .def(
          "__init__", [](RemoteBody* b, size_t due) { (new (b) RemoteBody)->reserve(due); }, nb::arg("due") = 0)
      .def("reserve", &RemoteBody::reserve)
      .def("append",
           [](RemoteBody& b, const nb::bytes& piece) {
             const auto* from = static_cast<const uint8_t*>(piece.data());
             b.bytes.insert(b.bytes.end(), from, from + piece.size());
           })
      .def("__len__", [](const RemoteBody& b) { return b.bytes.size(); })
      .def("__bytes__", [](const RemoteBody& b) { return nb::bytes(b.bytes.data(), b.bytes.size()); });
  nb::class_<OpenFile>(m, "RemoteFile", "A remote object that is read in parts, all of the same version.")
      .def(nb::init<std::string>(), nb::arg("url"))
      .def("size", [](const OpenFile& f) { return without_gil([&] { return f.stamp().bytes; }); })
      .def("read", [](const OpenFile& f, int64_t offset, int64_t length) {
        std::vector<uint8_t> bytes(static_cast<size_t>(length));
        without_gil([&] { f.read(offset, length, bytes.data()); });
        return nb::bytes(bytes.data(), bytes.size());
      });
  m.def("remote_configure", [](int connections, int tries, int64_t first_pause_ms, int64_t read_ahead,
                               const std::string& cache, int64_t cache_limit, bool cache_check) {
    ReleaseGil release;  // its threads may wait for the GIL with a request
    RemoteStorage::instance().configure(
        {connections, tries, std::chrono::milliseconds(first_pause_ms), read_ahead, cache, cache_limit, cache_check});
  });
  m.def("remote_counts", [] {
    const RemoteCounts c = RemoteStorage::instance().counts();
    nb::dict d;
    d["requests"] = c.requests, d["retries"] = c.retries, d["bytes"] = c.bytes, d["announced"] = c.announced;
    d["cache_hits"] = c.cache_hits, d["running"] = c.running;
    return d;
  });
  m.def("remote_size", [](const std::string& url) { return without_gil([&] { return OpenFile(url).stamp().bytes; }); });
  // The objects that match a pattern, sorted.
  m.def("remote_matching", [](const std::string& url) {
    std::vector<std::string> found;
    without_gil([&] { expand_url(url, found); });
    return found;
  });
  m.def("remote_close", [] {
    ReleaseGil release;
    RemoteStorage::instance().close(std::chrono::seconds(2));
  });
  m.def("default_cache_folder", [] { return cache_folder(); });
  RemoteStorage::instance().set_client(std::make_shared<PythonClient>());
  nb::module_::import_("atexit").attr("register")(
      m.attr("remote_close"));  // its threads must not use a finalized interpreter
}

}  // namespace penstock::python
