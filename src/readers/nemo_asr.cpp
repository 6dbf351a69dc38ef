// SPDX-License-Identifier: Apache-2.0
// readers.nemo_asr: recordings of speech and their transcripts, listed in manifests.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "data/container.h"
#include "data/hash.h"
#include "data/manifest.h"
#include "data/remote_client.h"
#include "ops/shared/audio_samples.h"
#include "readers/reader_source.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

struct ReadersNemoAsr : ReaderOptions {
  std::vector<std::string> manifest_filepaths, read_fields, read_numbers;
  bool read_sample_rate = true, read_text = true, read_idxs = false, downmix = true, normalize_text = false;
  float sample_rate = -1, quality = 50, min_duration = 0, max_duration = 0;
  DType dtype = DType::float32;
  int64_t max_samples = kMostSamples;
  AudioReading reading() const {
    return {.downmix = downmix, .dtype = dtype, .quality = quality, .rate = sample_rate, .max_samples = max_samples};
  }
  ManifestFields fields() const { return {read_fields, read_numbers}; }
  int count_outputs() const override {
    return 1 + read_sample_rate + read_text + read_idxs + static_cast<int>(read_fields.size() + read_numbers.size());
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    reading().check_type();
    size_t k = 0;
    out[k++] = {dtype, downmix ? 1 : 2, {}};
    if (read_sample_rate) out[k++] = {DType::float32, 0, {}};
    if (read_text) out[k++] = {DType::uint8, 1, {}};
    if (read_idxs) out[k++] = {DType::int64, 1, {}};
    for (size_t f = 0; f < read_fields.size(); ++f) out[k++] = {DType::uint8, 1, {}};
    for (size_t f = 0; f < read_numbers.size(); ++f) out[k++] = {DType::float64, 0, {}};
  }

  static Schema<ReadersNemoAsr> schema() {
    using Op = ReadersNemoAsr;
    return Schema<Op>(
               "readers.nemo_asr",
               "Reads recordings of speech and their texts, as manifests of NVIDIA NeMo list them.\n\nA "
               "manifest has a JSON object on each line, with audio_filepath, duration, offset (seconds) and "
               "text, all but the first optional, and any other fields.\n\nOutputs: the samples of the part that the "
               "line names, "
               "(samples) or (samples, channels), floating point from -1 to 1; with read_sample_rate the rate "
               "of the recording (float32 scalar); with read_text the text in UTF-8 (uint8, 1-D); with "
               "read_idxs the number of the line among those of its manifest that are read (int64, (1,)); then the "
               "fields of read_fields (uint8, 1-D) and of read_numbers (float64 scalars). A "
               "relative path starts from the working folder or, if it does not exist there, from the "
               "manifest's folder. A line that is not such an object is a DataError that names it.\n\nExample:\n"
               "@pipeline_def(batch_size=32)\ndef recordings():\n    samples, text = "
               "fn.readers.nemo_asr(manifest_filepaths=[\"speech.json\"], read_sample_rate=False)\n    return "
               "samples, text")
        .inputs(0)
        .outputs(3)
        .loads_samples()
        .required("manifest_filepaths", &Op::manifest_filepaths,
                  "Paths of the manifests; patterns with * or ? become the files that match, sorted.")
        .arg("read_sample_rate", &Op::read_sample_rate, "Give the rate.")
        .arg("read_text", &Op::read_text, "Give the text.")
        .arg("read_idxs", &Op::read_idxs, "Add an output: the number of the line in the manifest.")
        .arg("read_fields", &Op::read_fields,
             "Add an output for each of these fields of a line, such as \"speaker\" or \"lang\": a string in UTF-8, "
             "any other value as JSON; empty where a line has no such field.")
        .arg("read_numbers", &Op::read_numbers,
             "Add an output for each of these fields, which are numbers; NaN where a line has no such field.")
        .arg("sample_rate", &Op::sample_rate,
             "Resample to this rate in hertz, as audio_resample does: without removing what a lower rate cannot hold; "
             "-1 "
             "or 0: the rate of the recording.",
             at_least(-1))
        .arg("quality", &Op::quality, "Quality of the resampling, 0 to 100.", within(0, 100))
        .arg("downmix", &Op::downmix, "Return the mean of all channels.")
        .arg("dtype", &Op::dtype, "int16, int32 or float32.")
        .arg("min_duration", &Op::min_duration, "Omit lines whose duration is less, or not given; 0: omit none.")
        .arg("max_duration", &Op::max_duration, "Omit lines whose duration is more; 0: omit none.")
        .arg("max_samples", &Op::max_samples, kMaxSamplesText, within(1, kLargestLimit))
        .arg("normalize_text", &Op::normalize_text, "Accepted without effect.")
        .with(reader_arguments<Op>);
  }
};

class NemoAsrSource final : public ReaderSource {
 public:
  NemoAsrSource(uint64_t seed, const ReadersNemoAsr& a) : ReaderSource(a), a_(a) {
    for (const auto& manifest : expand_paths(a.manifest_filepaths)) list(manifest);
    if (entries_.empty())
      fail_on(a.manifest_filepaths.empty() ? "" : a.manifest_filepaths[0], ErrorKind::data,
              "all lines of the manifests are omitted");
    check_fields();
    uint64_t hash = 0;
    for (const auto& e : entries_)
      hash = mix64(hash_bytes(fs::path(e.audio).filename().native(), hash_bytes(e.text, hash)) +
                   std::bit_cast<uint64_t>(e.offset));
    open(seed, static_cast<int64_t>(entries_.size()), hash);
  }

  void load(SourceBatch& batch, int i) const override {
    const int64_t index = batch.indices[i];
    const ManifestEntry& e = entries_[index];
    try {
      std::shared_ptr<void> memory;
      const int64_t size = read_file_to(e.audio, [&](int64_t bytes) {
        memory = allocate_shared(memory_, static_cast<size_t>(bytes));
        return static_cast<uint8_t*>(memory.get());
      });
      const AudioBytes file{static_cast<const uint8_t*>(memory.get()), static_cast<size_t>(size)};
      const auto recording = open_audio(file);
      const AudioInfo& info = recording->info();
      AudioReading how = a_.reading();
      how.first = samples(std::max(0.0, e.offset), info);
      if (e.duration >= 0) how.length = samples(e.duration, info);
      const Shape shape = how.shape(info);
      const auto result =
          allocate_shared(memory_, std::max<size_t>(1, checked_bytes(shape.volume(), size_of(a_.dtype))));
      how.read(*recording, View{result.get(), a_.dtype, {}, shape, dense_strides(shape)});
      give(batch.outputs[0], i, shape, result.get(), result);
      if (a_.read_sample_rate) batch.outputs[1].view(i).as<float>()[0] = static_cast<float>(info.rate);
    } catch (Error& error) {
      if (error.source.empty()) error.source = e.audio;
      throw;
    }
  }
  std::string data_set() const override { return common_folder(a_.manifest_filepaths); }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    std::vector<Batch> out{Batch(a_.dtype, a_.downmix ? 1 : 2, {}, n)};
    if (a_.read_sample_rate) out.push_back(Batch::uniform(DType::float32, Shape{}, {}, n));
    if (a_.read_text) out.emplace_back(DType::uint8, 1, Layout{}, n);
    if (a_.read_idxs) out.push_back(Batch::uniform(DType::int64, Shape{1}, {}, n));
    for (size_t f = 0; f < a_.read_fields.size(); ++f) out.emplace_back(DType::uint8, 1, Layout{}, n);
    for (size_t f = 0; f < a_.read_numbers.size(); ++f) out.push_back(Batch::uniform(DType::float64, Shape{}, {}, n));
    return out;
  }
  std::string source_of(int64_t index) const override { return entries_[index].audio; }
  const char* names_of_lengths() const override { return "\"duration\", \"text\" (bytes), \"bytes\""; }
  std::vector<float> lengths_by(const std::string& what) const override {
    if (what != "duration" && what != "text") return ReaderSource::lengths_by(what);
    std::vector<float> lengths;
    for (const ManifestEntry& e : entries_) {
      if (what == "duration" && e.duration < 0)
        fail_on(e.audio, ErrorKind::data, "line {} of its manifest has no duration, which bucket_by needs", e.line);
      lengths.push_back(what == "text" ? static_cast<float>(e.text.size()) : static_cast<float>(e.duration));
    }
    return lengths;
  }
  void put_known(SourceBatch& batch, int i, int64_t index) const override {
    const ManifestEntry& e = entries_[index];
    int k = 1 + a_.read_sample_rate;
    const auto put_text = [&](const std::string& value) {
      auto text = std::make_shared<std::string>(value);
      give(batch.outputs[k++], i, Shape{static_cast<int64_t>(text->size())}, text->data(), text);
    };
    if (a_.read_text) put_text(e.text);
    if (a_.read_idxs) batch.outputs[k++].view(i).as<int64_t>()[0] = places_[index];
    for (const auto& value : e.texts) put_text(value);
    for (const double value : e.numbers) batch.outputs[k++].view(i).as<double>()[0] = value;
  }

 private:
  static int64_t samples(double seconds, const AudioInfo& info) {
    return static_cast<int64_t>(std::min(seconds * info.rate, 9e18));
  }

  // A name that no line has is a slip of the pen.
  void check_fields() const {
    const auto check = [&](size_t f, const std::string& name, auto there) {
      if (std::none_of(entries_.begin(), entries_.end(), [&](const ManifestEntry& e) { return there(e, f); }))
        bad_argument("no line of the manifests has the field '{}'", name);
    };
    for (size_t f = 0; f < a_.read_fields.size(); ++f)
      check(f, a_.read_fields[f], [](const ManifestEntry& e, size_t at) { return !e.texts[at].empty(); });
    for (size_t f = 0; f < a_.read_numbers.size(); ++f)
      check(f, a_.read_numbers[f], [](const ManifestEntry& e, size_t at) { return !std::isnan(e.numbers[at]); });
  }

  void list(const std::string& manifest) {
    std::vector<uint8_t> text;
    read_file(manifest, text);
    int64_t place = 0;
    for (auto& e : parse_manifest({reinterpret_cast<const char*>(text.data()), text.size()}, manifest, a_.fields())) {
      if (a_.max_duration > 0 && e.duration > a_.max_duration) continue;
      if (a_.min_duration > 0 && e.duration < a_.min_duration) continue;
      if (is_url(manifest)) e.audio = path_in(manifest.substr(0, manifest.rfind('/')), e.audio);
      else if (!is_url(e.audio) && !e.audio.starts_with('/') && !there(e.audio))
        if (const auto beside = (fs::path(manifest).parent_path() / e.audio).string(); there(beside)) e.audio = beside;
      entries_.push_back(std::move(e));
      places_.push_back(place++);
    }
  }
  static bool there(const std::string& path) {
    std::error_code error;
    return fs::exists(path, error);
  }

  ReadersNemoAsr a_;
  std::vector<ManifestEntry> entries_;
  std::vector<int64_t> places_;
};

PENSTOCK_READER(ReadersNemoAsr, NemoAsrSource);

}  // namespace
}  // namespace penstock
