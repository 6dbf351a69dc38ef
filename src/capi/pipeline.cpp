// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "exec/pipeline.h"

#include <algorithm>
#include <cstdio>

#include "capi/edge.h"

namespace penstock {
namespace {

Pipeline& of(penstock_pipeline* p) { return *required(p, "pipeline").pipeline; }
const Pipeline& of(const penstock_pipeline* p) { return *required(p, "pipeline").pipeline; }

penstock_status give_text(char** text, auto&& make) {
  return guarded([&] {
    required(text, "the pointer for the text");
    *text = copy_text(make());
  });
}

void change(PipelineOptions& p, const penstock_pipeline_options& o) {
  if (o.batch_size < 0 || o.threads < 0 || o.prefetch < 0)
    bad_argument("batch_size, threads and prefetch must be at least 0, got {}, {}, {}", o.batch_size, o.threads,
                 o.prefetch);
  if (o.batch_size) p.batch_size = o.batch_size;
  if (o.threads) p.threads = o.threads;
  if (o.prefetch) p.prefetch = o.prefetch;
  if (o.memory_limit) p.memory_limit = o.memory_limit;
  if (o.allocator) p.memory = o.allocator->memory;
  if (o.entropy_index) p.entropy_index = o.entropy_index;
  if (o.on_error) {
    const std::vector<std::string> known{"raise", "skip", "replace"};
    const auto at = std::find(known.begin(), known.end(), o.on_error);
    if (at == known.end()) bad_argument("on_error cannot be '{}'{}", o.on_error, did_you_mean(o.on_error, known));
    p.on_error = static_cast<OnError>(at - known.begin());
  }
  if (o.late) {
    const std::vector<std::string> known{"wait", "swap"};
    const auto at = std::find(known.begin(), known.end(), o.late);
    if (at == known.end()) bad_argument("late cannot be '{}'{}", o.late, did_you_mean(o.late, known));
    p.late = static_cast<Late>(at - known.begin());
  }
  if (o.error_budget < -1) bad_argument("error_budget must be at least -1, got {}", o.error_budget);
  if (o.error_budget) p.error_budget = o.error_budget;
  if (o.uneven) p.uneven = true;
  if (o.device) p.device = *o.device;
  if (o.max_pixels) p.max_pixels = o.max_pixels;
  if (o.max_frames) p.max_frames = o.max_frames;
  if (o.max_samples) p.max_samples = o.max_samples;
}

std::string statistics_json(const Pipeline& p) {
  using Json = nlohmann::ordered_json;
  const PipelineStatistics s = p.statistics();
  Json steps = Json::array(), left_out = Json::array();
  for (const auto& t : s.steps)
    steps.push_back({{"name", t.name},
                     {"samples", t.samples},
                     {"busy_ns", t.busy_ns},
                     {"read_ns", t.read_ns},
                     {"decode_ns", t.decode_ns},
                     {"pixels_ns", t.pixels_ns}});
  for (const auto& l : p.left_out())
    left_out.push_back({{"batch", l.batch},
                        {"number", l.number},
                        {"epoch", l.epoch},
                        {"position", l.position},
                        {"source", l.source},
                        {"message", l.message}});
  const Json j{{"iterations", s.iterations},
               {"samples", s.samples},
               {"threads", s.threads},
               {"wall_ns", s.wall_ns},
               {"consumer_wait_ns", s.consumer_wait_ns},
               {"worker_idle_ns", s.worker_idle_ns},
               {"blocked_ns", s.blocked_ns},
               {"bytes_held", s.bytes_held},
               {"bytes_in_use", s.bytes_in_use},
               {"device_bytes_in_use", s.device_bytes_in_use},
               {"entropy_index",
                {{"made", s.index.made},
                 {"used", s.index.used},
                 {"stale", s.index.stale},
                 {"path", s.index_path},
                 {"note", s.index_note}}},
               {"steps", steps},
               {"left_out", left_out},
               {"verdict", s.verdict()}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace);  // a path need not be UTF-8
}

std::string params_json(const penstock_pipeline& p) {
  nlohmann::json made = nlohmann::json::array();
  for (const SampleOrigin& o : p.origin) {
    const DrawOrigin d = o.draws();
    made.push_back({{"seed", p.pipeline->graph().seed()}, {"epoch", d.epoch}, {"position", d.position}});
  }
  return made.dump();
}

std::vector<DrawOrigin> draws_of(const std::string& text, uint64_t seed) {
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) bad_argument("expected the JSON list that penstock_pipeline_params gave");
  std::vector<DrawOrigin> draws;
  for (const auto& entry : list) {
    const auto number = [&](const char* name) {
      if (!entry.is_object() || !entry.contains(name) || !entry[name].is_number_unsigned())
        bad_argument("entry {} of the params has no '{}', a number of 64 bits", draws.size(), name);
      return entry[name].get<uint64_t>();
    };
    if (const uint64_t given = number("seed"); given != seed)
      bad_argument("the params are of the seed {}, and this pipeline has {}: give its graph that one", given, seed);
    draws.push_back({number("epoch"), number("position")});
  }
  return draws;
}

}  // namespace
}  // namespace penstock

using namespace penstock;

penstock_status penstock_graph_create(uint64_t seed, penstock_graph** graph) {
  return guarded([&] {
    required(graph, "graph");
    auto handle = std::make_unique<penstock_graph>();
    handle->graph.set_seed(seed);
    *graph = handle.release();
  });
}

void penstock_graph_destroy(penstock_graph* graph) { delete graph; }

penstock_status penstock_graph_add(penstock_graph* graph, const char* op, const char* name,
                                   const penstock_value* inputs, size_t num_inputs, const penstock_arguments* arguments,
                                   penstock_value* outputs, size_t num_outputs) {
  return guarded([&] {
    Graph& g = required(graph, "graph").graph;
    Node node;
    node.op = &required(op, "the name of the operator");
    node.device = graph->device;
    if (name) node.name = name;
    if (num_inputs > 0) required(inputs, "inputs");
    if (num_outputs > 0) required(outputs, "outputs");
    constexpr size_t kMost = kMostOutputs;
    if (num_inputs > kMost || num_outputs > kMost || num_outputs == 0)
      bad_argument("{} inputs and {} outputs; at most {}, and at least one output", num_inputs, num_outputs, kMost);
    for (size_t i = 0; i < num_inputs; ++i) node.inputs.push_back({inputs[i].node, inputs[i].output});
    if (arguments)
      for (const auto& e : arguments->entries) {
        if (e.per_sample) bad_argument("{} is a batch; a graph takes values: penstock_set_value", e.name);
        if (e.ref.node >= 0) node.per_sample.emplace_back(e.name, e.ref);
        else node.constants.emplace_back(e.name, e.value);
      }
    node.outputs = static_cast<int>(num_outputs);
    const int id = g.add(std::move(node));
    for (size_t i = 0; i < num_outputs; ++i) outputs[i] = {id, static_cast<int>(i)};
  });
}

penstock_status penstock_graph_set_device(penstock_graph* graph, const char* device) {
  return guarded([&] { required(graph, "graph").device = device ? device : ""; });
}

penstock_status penstock_pipeline_create(const penstock_graph* graph, const penstock_value* outputs, size_t num_outputs,
                                         const penstock_pipeline_options* options, penstock_pipeline** pipeline) {
  return guarded([&] {
    required(pipeline, "pipeline");
    Graph g = required(graph, "graph").graph;
    const auto o = read_struct(options, "options");
    if (num_outputs == 0) bad_argument("a pipeline needs at least one output");
    std::vector<ValueRef> values;
    required(outputs, "outputs");
    for (size_t i = 0; i < num_outputs; ++i) values.push_back({outputs[i].node, outputs[i].output});
    g.set_outputs(std::move(values));
    PipelineOptions p;
    p.batch_size = 0;  // must be given
    change(p, o);
    auto handle = std::make_unique<penstock_pipeline>();
    handle->pipeline = std::make_unique<Pipeline>(std::move(g), std::move(p));
    *pipeline = handle.release();
  });
}

penstock_status penstock_pipeline_load(const char* json, const penstock_pipeline_options* options,
                                       penstock_pipeline** pipeline) {
  return guarded([&] {
    required(pipeline, "pipeline");
    const std::string text = &required(json, "json");
    const auto o = read_optional_struct(options, "options");
    auto handle = std::make_unique<penstock_pipeline>();
    handle->pipeline = Pipeline::from_json(text, [&](PipelineOptions& p) { change(p, o); });
    *pipeline = handle.release();
  });
}

void penstock_pipeline_destroy(penstock_pipeline* pipeline) { delete pipeline; }

penstock_status penstock_pipeline_get_info(const penstock_pipeline* pipeline, penstock_pipeline_info* info) {
  return guarded([&] {
    const Pipeline& p = of(pipeline);
    penstock_pipeline_info i{};
    i.batch_size = p.options().batch_size;
    i.num_outputs = static_cast<int>(p.graph().outputs().size());
    i.batches_per_epoch = p.batches_per_epoch();
    i.num_left_out = static_cast<int>(pipeline->left_out.size());
    write_struct(info, i, "info");
  });
}

penstock_status penstock_pipeline_get_output_spec(const penstock_pipeline* pipeline, size_t index,
                                                  penstock_output_spec* spec) {
  return guarded([&] {
    const Pipeline& p = of(pipeline);
    const auto& outputs = p.graph().outputs();
    if (index >= outputs.size()) bad_argument("output {} of a pipeline of {}", index, outputs.size());
    const ValueType& type = p.graph().type({outputs[index].node, outputs[index].output});
    const auto shape = p.output_shapes()[index];
    penstock_output_spec s{};
    s.dtype = static_cast<penstock_dtype>(type.dtype);
    s.ndim = shape ? shape->size() : -1;
    std::snprintf(s.layout, sizeof s.layout, "%s", type.layout.str().c_str());
    if (shape) std::copy(shape->begin(), shape->end(), s.shape);
    s.on_gpu = p.graph().on_gpu(outputs[index]);
    write_struct(spec, s, "spec");
  });
}

penstock_status penstock_pipeline_run(penstock_pipeline* pipeline, const penstock_run_options* options,
                                      penstock_batch** outputs, size_t num_outputs) {
  return guarded([&] {
    Pipeline& p = of(pipeline);
    const auto o = read_optional_struct(options, "options");
    const size_t gives = p.graph().outputs().size();
    if (num_outputs != gives)
      bad_argument("the pipeline has {} outputs, but the caller has room for {}", gives, num_outputs);
    if (num_outputs > 0) required(outputs, "outputs");
    std::function<void()> poll;
    if (o.poll)
      poll = [&o] {
        if (o.poll(o.poll_user)) fail(ErrorKind::cancelled, "the program ended the wait");
      };
    pipeline->left_out.clear(), pipeline->origin.clear();
    PipelineOutput out = p.run(poll);
    give_batches(std::move(out.batches), outputs);
    pipeline->left_out = std::move(out.left_out), pipeline->origin = std::move(out.origin);
  });
}

penstock_status penstock_pipeline_get_left_out(const penstock_pipeline* pipeline, size_t index,
                                               penstock_left_out* sample) {
  return guarded([&] {
    of(pipeline);
    const auto& list = pipeline->left_out;
    if (index >= list.size()) bad_argument("sample {} does not exist: the last batch lost {}", index, list.size());
    const LeftOut& l = list[index];
    penstock_left_out s{};
    s.number = l.number, s.batch = l.batch, s.epoch = l.epoch, s.position = l.position;
    s.source = l.source.c_str(), s.message = l.message.c_str();
    write_struct(sample, s, "sample");
  });
}

penstock_status penstock_pipeline_feed(penstock_pipeline* pipeline, const char* name,
                                       const penstock_batch* const* batches, size_t count) {
  return guarded([&] {
    Pipeline& p = of(pipeline);
    const int node = p.graph().find(&required(name, "name"));
    if (node < 0) bad_argument("there is no operator '{}' in this pipeline", name);
    p.feed(node, take_batches(batches, count, "batches"));
  });
}

penstock_status penstock_pipeline_reset(penstock_pipeline* pipeline) {
  return guarded([&] { of(pipeline).reset(); });
}

penstock_status penstock_pipeline_begin_epoch(penstock_pipeline* pipeline) {
  return guarded([&] { of(pipeline).begin_epoch(); });
}

penstock_status penstock_pipeline_seek(penstock_pipeline* pipeline, uint64_t epoch, int64_t batch, int replay) {
  return guarded([&] { of(pipeline).seek(epoch, batch, replay != 0); });
}

penstock_status penstock_pipeline_schedule(penstock_pipeline* pipeline, uint64_t epoch, const int64_t* batches,
                                           size_t count) {
  return guarded([&] {
    Pipeline& p = of(pipeline);
    if (count > 0) p.schedule_batches(epoch, {&required(batches, "batches"), count});
  });
}

penstock_status penstock_pipeline_checkpoint(const penstock_pipeline* pipeline, char** json) {
  return give_text(json, [&] { return of(pipeline).checkpoint(); });
}

penstock_status penstock_pipeline_restore(penstock_pipeline* pipeline, const char* json) {
  return guarded([&] { of(pipeline).restore(&required(json, "json")); });
}

penstock_status penstock_pipeline_params(const penstock_pipeline* pipeline, char** json) {
  return give_text(json, [&] {
    of(pipeline);
    return params_json(*pipeline);
  });
}

penstock_status penstock_pipeline_replay(penstock_pipeline* pipeline, const char* json) {
  return guarded([&] {
    Pipeline& p = of(pipeline);
    p.replay(draws_of(&required(json, "json"), p.graph().seed()));
  });
}

penstock_status penstock_pipeline_get_reader_meta(const penstock_pipeline* pipeline, const char* name,
                                                  penstock_reader_meta* meta) {
  return guarded([&] {
    const auto m = of(pipeline).reader_meta(name ? name : "");
    if (!m) bad_argument("the pipeline has no reader");
    penstock_reader_meta r{};
    r.epoch_size = m->epoch_size, r.epoch_size_padded = m->epoch_size_padded, r.shard_size = m->shard_size;
    r.num_shards = m->number_of_shards, r.shard_id = m->shard_id;
    r.pad_last_batch = m->pad_last_batch, r.stick_to_shard = m->stick_to_shard;
    write_struct(meta, r, "meta");
  });
}

penstock_status penstock_pipeline_statistics(const penstock_pipeline* pipeline, char** json) {
  return give_text(json, [&] { return statistics_json(of(pipeline)); });
}
penstock_status penstock_pipeline_trace(penstock_pipeline* pipeline, char** json) {
  return give_text(json, [&] {
    of(pipeline).start_trace();
    return of(pipeline).trace_json();
  });
}
penstock_status penstock_pipeline_plan(const penstock_pipeline* pipeline, char** text) {
  return give_text(text, [&] { return of(pipeline).plan_text(); });
}
penstock_status penstock_pipeline_save(const penstock_pipeline* pipeline, char** json) {
  return give_text(json, [&] { return of(pipeline).to_json(); });
}
