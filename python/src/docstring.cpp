// SPDX-License-Identifier: Apache-2.0
#include "docstring.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "operator/named_numbers.h"

namespace penstock::python {
namespace {

constexpr size_t kColumns = 92;      // with the indentation of a stub at most 100
constexpr int kMostNamedInputs = 4;  // more than these are *inputs
constexpr std::string_view kExample = "Example:\n";

struct CommonArgument {
  const char *name, *default_text, *kind, *doc;
};
constexpr CommonArgument kCommon[] = {
    {"device", "None", "str", "Where the operator runs: \"cpu\", \"gpu\" or, for decoders, \"mixed\"."},
    {"name", "None", "str", "The operator's name in the pipeline."},
    {"seed", "-1", "int", "Seed of the operator's random numbers; -1: derived from the pipeline's."},
    {"bytes_per_sample_hint", "None", "int", "Accepted without effect."},
    {"preserve", "False", "bool", "Accepted without effect."},
};
constexpr const char* kOut =
    "Outside a pipeline: what the result is written into and returned: a writable array of its type and "
    "shape, with any strides. For a batch: a Batch, a list of arrays, or an array whose first dimension "
    "counts the samples. For several outputs: a tuple, in which None means a new array.";
constexpr const char* kStream =
    "Outside a pipeline: the CUDA stream that the call is enqueued on, a number or an object of torch, CuPy "
    "or another library; omitted: the current stream of the input's library. Without effect on the CPU.";
constexpr const char* kBatchSize =
    "Outside a pipeline: number of samples of the result, which is a Batch; omitted: one array.";

// The value of an argument of this name in an example. An operator that needs another value has an example in its text.
constexpr std::pair<std::string_view, std::string_view> kValues[] = {
    {"size", "[24, 32]"},
    {"crop", "[24, 32]"},
    {"horizontal", "1"},
    {"angle", "30.0"},
    {"brightness", "1.2"},
    {"contrast", "1.5"},
    {"hue", "40.0"},
    {"saturation", "0.5"},
    {"window_size", "[5, 5]"},
    {"axes", "[0]"},
    {"axis", "0"},
    {"shape", "[2, 3]"},
    {"prob", "0.1"},
    {"probability", "0.25"},
    {"range", "[0.0, 1.0]"},
    {"quality", "50"},
    {"tile", "8"},
    {"nDegree", "3"},
    {"tiles_x", "8"},
    {"tiles_y", "8"},
    {"clip_limit", "2.0"},
    {"image_type", "\"rgb\""},
    {"output_type", "\"gray\""},
    {"scale", "[2.0, 2.0]"},
    {"offset", "[3.0, 4.0]"},
    {"dtype", "\"float32\""},
    {"path", "[\"data\"]"},
    {"file_root", "\"photos\""},
    {"sequence_length", "8"},
    {"input_shape", "[48, 64]"},
    {"matrix", "[1.0, 0.2, 0.0, 0.0, 1.0, 0.0]"},
};

const std::string_view* sample_value(std::string_view name) {
  const auto* found = std::ranges::find(kValues, name, [](const auto& v) { return v.first; });
  return found == std::end(kValues) ? nullptr : &found->second;
}

// Appends a paragraph with one indentation for the first line and another for the others.
void append_wrapped(std::string& to, std::string_view text, size_t indent, size_t continued) {
  size_t column = indent;
  to.append(indent, ' ');
  bool first = true;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find(' ', begin);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (!first && column + 1 + word.size() > kColumns) {
      to += '\n';
      to.append(continued, ' ');
      column = continued;
    } else if (!first) {
      to += ' ';
      ++column;
    }
    to += word;
    column += word.size();
    first = false;
  }
  to += '\n';
}

void append_lines(std::string& to, std::string_view text, size_t indent, bool wrap) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) to += '\n';
    else if (wrap) append_wrapped(to, line, indent, indent);
    else to.append(indent, ' ').append(line) += '\n';
  }
}

struct Parts {
  std::string description, example;
};

// The example is the paragraph of the text that begins with "Example:".
Parts parts_of(const std::string& doc) {
  const size_t begin = doc.find("\n\n" + std::string(kExample));
  if (begin == std::string::npos) return {doc, ""};
  const size_t text = begin + 2 + kExample.size(), end = doc.find("\n\n", text);
  if (end == std::string::npos) return {doc.substr(0, begin), doc.substr(text)};
  return {doc.substr(0, begin) + doc.substr(end), doc.substr(text, end - text)};
}

bool is_reader(const OpInfo& info) { return info.family == Family::source; }
bool takes_file(const OpInfo& info) { return !info.input_names.empty() && info.input_names[0] == "encoded"; }

// A call with the required arguments, or else with the first argument that has a value in kValues.
std::string made_example(const OpInfo& info) {
  std::string call = "fn." + info.name + "(", given;
  auto add = [&given](const std::string& text) { given += (given.empty() ? "" : ", ") + text; };
  for (int i = 0; i < info.min_inputs; ++i) add(takes_file(info) ? "np.fromfile(\"photo.jpg\", np.uint8)" : "image");
  bool shown = false;
  for (const bool required : {true, false})
    for (const auto& a : info.args)
      if (const auto* value = sample_value(a.name); value && a.required == required && (required || !shown)) {
        add(fmt::format("{}={}", a.name, *value));
        shown = true;
      }
  call += given + ")";
  if (is_reader(info)) return "@pipeline_def(batch_size=8)\ndef pipe():\n    return " + call;
  if (takes_file(info)) return "result = " + call;
  return (info.min_inputs > 0 ? ">>> image = np.zeros((48, 64, 3), np.uint8)\n" : "") + (">>> result = " + call);
}

// The lines of arguments: first those that do something, then those with a reason why they do nothing, then the names
// of those that other libraries' scripts give and that mean nothing here.
class ArgumentLines {
 public:
  void add(const std::string& name, const std::string& kind, std::string_view doc) {
    const bool nothing = doc.starts_with(kWithoutEffect);
    if (nothing && doc.size() == kWithoutEffect.size() + 1) names_ += (names_.empty() ? "" : ", ") + name;
    else append_wrapped(nothing ? reasons_ : lines_, fmt::format("{} ({}): {}", name, kind, doc), 4, 8);
  }
  std::string text() const {
    std::string s = lines_ + reasons_;
    if (!names_.empty()) append_wrapped(s, fmt::format("{}: {}.", names_, kWithoutEffect), 4, 8);
    return s;
  }

 private:
  static constexpr std::string_view kWithoutEffect = "Accepted without effect";
  std::string lines_, reasons_, names_;
};

std::string arguments_of(const OpInfo& info) {
  ArgumentLines lines;
  bool first = true;
  for (const Parameter& p : input_parameters(info)) {
    if (p.name.starts_with('*'))
      lines.add(p.name, "data",
                fmt::format("{} to {} inputs: arrays, lists of samples, Tensors, Batches, values of a pipeline.",
                            info.min_inputs, info.max_inputs));
    else
      lines.add(p.name, p.optional ? "data, optional" : "data",
                first ? "An array, a list of samples, a Tensor, a Batch, or a value of a pipeline."
                      : "Like the first input.");
    first = false;
  }
  for (const auto& a : info.args) {
    std::string kind = name_of(a.type);
    if (a.per_sample) kind += a.per_frame ? ", or one per sample or frame" : ", or one per sample";
    if (a.required) kind += ", required";
    else if (a.default_value.index() != 0) kind += ", default " + default_text(a);
    lines.add(a.name, kind, a.doc);
  }
  for (const auto& c : kCommon)
    if (!info.arg(c.name)) lines.add(c.name, c.kind, c.doc);
  if (!is_reader(info)) lines.add("out", "array", kOut), lines.add("stream", "object", kStream);
  if (takes_batch_size(info)) lines.add("batch_size", "int", kBatchSize);
  return lines.text();
}

std::string returns_of(const OpInfo& info) {
  std::string s;
  if (is_reader(info)) {
    s = info.outputs == 1 && !info.count_outputs ? "A value of the pipeline."
                                                 : "Values of the pipeline, one for each output.";
    s += " Works only in a pipeline.";
  } else {
    const std::string kind = info.max_inputs == 0 ? "an array, or a Batch with batch_size"
                             : info.min_inputs == 0
                                 ? "of the same kind as the input, an array, or a Batch with batch_size"
                                 : "of the same kind as the first input";
    s = info.outputs == 1 && !info.count_outputs
            ? fmt::format("One output. Outside a pipeline: {}; in a pipeline: a DataNode.", kind)
            : fmt::format("Several outputs. Outside a pipeline: a tuple, each {}; in a pipeline: a list of DataNodes.",
                          kind);
  }
  if (!info.size_output.empty()) s += fmt::format(" With {} there is one more output.", info.size_output);
  return s;
}

}  // namespace

std::vector<Parameter> input_parameters(const OpInfo& info) {
  if (info.max_inputs > kMostNamedInputs) return {{"*inputs", true}};
  std::vector<Parameter> result;
  for (int i = 0; i < info.max_inputs; ++i) {
    std::string name = static_cast<size_t>(i) < info.input_names.size() ? info.input_names[i]
                       : info.max_inputs > 1                            ? fmt::format("input_{}", i + 1)
                                                                        : "input";
    std::ranges::replace(name, ' ', '_');
    result.push_back({name, i >= info.min_inputs});
  }
  return result;
}

bool takes_batch_size(const OpInfo& info) { return info.min_inputs == 0 && !is_reader(info); }

std::string description(const OpInfo& info) { return parts_of(info.doc).description; }

std::string docstring(const OpInfo& info) {
  const Parts parts = parts_of(info.doc);
  std::string s;
  const size_t first = parts.description.find('\n');  // one sentence, which stays on one line
  append_lines(s, parts.description.substr(0, first), 0, false);
  if (first != std::string::npos) append_lines(s, parts.description.substr(first + 1), 0, true);
  s += "\nArgs:\n" + arguments_of(info);
  s += "\nReturns:\n";
  append_wrapped(s, returns_of(info), 4, 4);
  s += "\nRaises:\n    TypeError: An argument is unknown, or of the wrong type.\n"
       "    ValueError: A value is out of range, or an input is not suitable.\n";
  if (info.doc.find("DataError") != std::string::npos || takes_file(info) || is_reader(info))
    s += "    DataError: A file or record cannot be read or decoded.\n";
  s += "\nExample:\n";
  append_lines(s, parts.example.empty() ? made_example(info) : parts.example, 4, false);
  return s;
}

std::string text_signature(const OpInfo& info, const std::string& function) {
  std::string s = function + "($module, ";
  bool many = false;
  for (const Parameter& p : input_parameters(info)) {
    many = p.name.starts_with('*');
    if (many) s += "/, ";
    s += p.name + (p.optional && !many ? "=..." : "") + ", ";
  }
  if (!many) s += "/, *, ";
  for (const auto& a : info.args) s += a.name + (a.required ? "" : "=" + default_text(a)) + ", ";
  for (const auto& c : kCommon)
    if (!info.arg(c.name)) s += fmt::format("{}={}, ", c.name, c.default_text);
  if (!is_reader(info)) s += "out=None, stream=None, ";
  if (takes_batch_size(info)) s += "batch_size=None, ";
  s.resize(s.size() - 2);
  return s + ")\n--\n\n";
}

}  // namespace penstock::python
