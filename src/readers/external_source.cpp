// SPDX-License-Identifier: Apache-2.0
#include "readers/external_source.h"

#include "base/json_text.h"
#include "data/replacement.h"
#include "operator/operator.h"

namespace penstock {
namespace {

// The node's types come from its layout, dtype and ndim arguments (one for all outputs or one for each).
struct ExternalSourceNode : SourceOperator {
  std::vector<std::string> layout;
  std::vector<int64_t> dtype, ndim;
  int64_t num_outputs = 1;
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    auto each = [&](const auto& list, auto&& set) {
      for (size_t i = 0; i < out.size() && !list.empty(); ++i) set(out[i], list[std::min(i, list.size() - 1)]);
    };
    each(layout,
         [](ValueType& t, const std::string& l) { t.layout = l, t.ndim = t.layout.empty() ? -1 : t.layout.size(); });
    each(dtype, [](ValueType& t, int64_t d) { t.dtype = value_as<DType>(Value{d}); });
    each(ndim, [](ValueType& t, int64_t d) {
      if (d < -1 || d > Shape::kMaxDims) bad_argument("ndim must be between 0 and {}, got {}", Shape::kMaxDims, d);
      t.ndim = static_cast<int>(d);
    });
  }
  static Schema<ExternalSourceNode> schema() {
    using Op = ExternalSourceNode;
    return Schema<Op>("external_source",
                      "Takes batches that the program supplies.\n\nThey come from a callable, a generator, an "
                      "iterable or feed_input().\n\nExample:\n@pipeline_def(batch_size=2)\ndef pipe():\n    return "
                      "fn.external_source(source=lambda i: [np.int32([i]), np.int32([i + 1])])")
        .inputs(0)
        .fed(Fed::batches)
        .arg("layout", &Op::layout, "Layout of the samples, for all outputs or one each.")
        .arg("dtype", &Op::dtype, "Type of the samples, for all outputs or one each; checked.")
        .arg("ndim", &Op::ndim, "Number of dimensions of the samples, for all outputs or one each; checked.")
        .arg("num_outputs", &Op::num_outputs, "Number of outputs.", at_least(1));
  }
};
PENSTOCK_SOURCE(ExternalSourceNode,
                [](SourceArguments& a) -> std::unique_ptr<Source> { return std::make_unique<ExternalSource>(a); });

}  // namespace

ExternalSource::ExternalSource(const SourceArguments& a)
    : outputs_(static_cast<int>(a.types.size())), seed_(a.seed), types_(a.types) {}

int ExternalSource::next(SourceBatch& given, int batch_size, EpochMode) {
  std::vector<Batch> batches;
  try {
    batches = feed_->next({iteration_, in_epoch_, epoch_, batch_size, threads_});
  } catch (Error& e) {
    if (e.kind() == ErrorKind::stopped) return 0;
    ++iteration_, ++in_epoch_;  // the pipeline stays usable: the next request is for the next batch
    throw;
  }
  if (static_cast<int>(batches.size()) != outputs_)
    bad_argument("the source returned {} outputs, but {} were declared", batches.size(), outputs_);
  const int n = batches[0].size();
  if (n == 0) bad_argument("the source returned an empty batch");
  if (n > batch_size) bad_argument("the source returned {} samples, more than the batch size {}", n, batch_size);
  for (int k = 0; k < outputs_; ++k) {
    Batch& b = batches[k];
    const ValueType& t = types_[k];
    if (b.size() != n)
      bad_argument("the outputs of the source differ in their number of samples: {} and {}", n, b.size());
    if (t.dtype != DType::none && t.dtype != b.dtype())
      bad_type("the source returned {}, but dtype={} was declared", name_of(b.dtype()), name_of(t.dtype));
    if (t.ndim >= 0 && t.ndim != b.ndim())
      bad_type("the source returned {} dimensions, but ndim={} was declared", b.ndim(), t.ndim);
    if (!t.layout.empty() && !b.layout().empty() && !(b.layout() == t.layout))
      bad_argument("the source returned the layout '{}', but layout='{}' was declared", b.layout().str(),
                   t.layout.str());
    if (!t.layout.empty()) b.set_layout(t.layout);
  }
  given.outputs = std::move(batches);
  if (given.primary) {
    given.origin.resize(n);
    const Batch& first = given.outputs[0];
    for (int i = 0; i < n; ++i) {
      SampleOrigin& origin = given.origin[i];
      origin.epoch = epoch_, origin.position = samples_ + i;
      if (const std::string& path = first.sample(i).source; !path.empty()) origin.path = path;
    }
  }
  samples_ += n;
  ++iteration_, ++in_epoch_;
  return n;
}

// A hash selects the first candidate; the others follow in order.
bool ExternalSource::replace(SourceBatch& batch, int i, uint32_t attempt) {
  const int n = batch.outputs[0].size();
  if (static_cast<int64_t>(attempt) >= n - 1) return false;
  SampleOrigin& o = batch.origin[static_cast<size_t>(i)];
  const int64_t past = static_cast<int64_t>(o.position) + n;  // differs from the positions of the other n - 1
  const int64_t first = replacement_position(seed_, o.epoch, past, 0, n - 1);
  const int other = static_cast<int>((i + 1 + (first + attempt) % (n - 1)) % n);
  for (Batch& b : batch.outputs) b.sample(i) = b.sample(other);
  o.path = batch.origin[static_cast<size_t>(other)].path;
  return true;
}

std::string ExternalSource::state() const {
  if (!feed_->resumable()) return {};
  return nlohmann::json{{"iteration", iteration_},
                        {"in_epoch", in_epoch_},
                        {"epoch", epoch_},
                        {"samples", samples_},
                        {"feed", feed_->state()}}
      .dump();
}

void ExternalSource::restore(const std::string& text) {
  if (!feed_->resumable())
    bad_argument(
        "an external source resumes from a checkpoint only if it is a callable that takes an index or has "
        "state_dict()");
  const auto j = parse_json(text);
  if (!j.is_object()) bad_argument("the checkpoint of an external source is damaged");
  const auto number = [&](const char* name) {
    return whole_number(j.value(name, nlohmann::json(0)), uint64_t{0}, uint64_t{INT64_MAX}, name);
  };
  iteration_ = number("iteration"), in_epoch_ = number("in_epoch"), epoch_ = number("epoch"),
  samples_ = number("samples");
  feed_->restore(j.value("feed", ""));
}

std::string ExternalSource::why_no_numbers() const {
  if (feed_->numbered() != ExternalFeed::Numbered::no) return {};
  return "gives its batches one after the other: it is fed, or is an iterable, a generator, or an object with a state; "
         "give external_source a callable that takes an index";
}

void ExternalSource::seek(uint64_t epoch, int64_t batch, int batch_size, EpochMode, bool) {
  iteration_ = in_epoch_ = static_cast<uint64_t>(batch), epoch_ = epoch;
  samples_ = in_epoch_ * static_cast<uint64_t>(batch_size);
}

void ExternalSource::reset() {
  in_epoch_ = 0, samples_ = 0;
  ++epoch_;
  feed_->reset();
}

}  // namespace penstock
