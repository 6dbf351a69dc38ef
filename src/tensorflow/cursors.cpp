// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/cursors.h"

#include <algorithm>

namespace penstock::tensorflow {

namespace {

constexpr size_t kMostCursors = 4;  // each has threads and batches that are made ahead
constexpr uint64_t kSoon = 8;       // two ways back in so few calls: not epochs that begin again, but two readers
constexpr int64_t kAhead = 8;       // numbers of a stride that a pipeline knows of; its queue is shorter

}  // namespace

Cursors::Cursor& Cursors::begun() {
  Cursor made;
  penstock_pipeline* pipeline = nullptr;
  check(penstock_pipeline_load(saved_.c_str(), nullptr, &pipeline));
  made.pipeline.reset(pipeline);
  penstock_pipeline_info info{};
  info.struct_size = sizeof info;
  check(penstock_pipeline_get_info(pipeline, &info));
  num_outputs_ = static_cast<size_t>(info.num_outputs);
  batch_size_ = info.batch_size;
  if (stride_ != 1) made.next = -1;  // must be told what comes
  cursors_.push_back(std::move(made));
  return cursors_.back();
}

void Cursors::go(Cursor& cursor, int64_t number) const {
  cursor.next = -1;  // until it is there
  check(penstock_pipeline_seek(cursor.pipeline.get(), 0, number, 0));
  if (stride_ != 1) {
    std::vector<int64_t> numbers;
    for (int64_t k = 0; k < kAhead; ++k) numbers.push_back(number + k * stride_);
    check(penstock_pipeline_schedule(cursor.pipeline.get(), 0, numbers.data(), numbers.size()));
  }
  cursor.next = number;
}

// The pipeline whose next batch is this one; else one that goes there: the one that was used least recently.
Cursors::Cursor& Cursors::at(int64_t number) {
  ++calls_;
  auto found = std::find_if(cursors_.begin(), cursors_.end(), [&](const Cursor& c) { return c.next == number; });
  if (found == cursors_.end() && !cursors_.empty()) {
    const bool back = std::all_of(cursors_.begin(), cursors_.end(), [&](const Cursor& c) { return c.next > number; });
    const bool again = back && turned_back_ != 0 && calls_ - turned_back_ < kSoon;
    if (back) turned_back_ = calls_;
    if (!again || cursors_.size() >= kMostCursors)
      found = std::min_element(cursors_.begin(), cursors_.end(),
                               [](const Cursor& a, const Cursor& b) { return a.used < b.used; });
  }
  Cursor& cursor = found == cursors_.end() ? begun() : *found;
  cursor.used = calls_;
  if (cursor.next != number) go(cursor, number);
  return cursor;
}

void Cursors::run(Cursor& cursor, std::vector<penstock_batch*>& made) {
  const int64_t number = cursor.next;
  cursor.next = -1;
  if (stride_ != 1) {
    const int64_t ahead = number + kAhead * stride_;
    check(penstock_pipeline_schedule(cursor.pipeline.get(), 0, &ahead, 1));
  }
  const penstock_status status = penstock_pipeline_run(cursor.pipeline.get(), nullptr, made.data(), made.size());
  if (status == PENSTOCK_ERROR_STOPPED) return made.clear();
  check(status);  // after an error the cursor goes to the next batch by its number
  cursor.next = number + stride_;
}

std::vector<BatchHandle> Cursors::batch(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Cursor& cursor = at(number);
  std::vector<penstock_batch*> made(num_outputs_);
  run(cursor, made);
  return {made.begin(), made.end()};
}

int Cursors::batch_size() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cursors_.empty()) begun();
  return batch_size_;
}

std::vector<penstock_output_spec> Cursors::outputs() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cursors_.empty()) begun();
  std::vector<penstock_output_spec> specs(num_outputs_);
  for (size_t k = 0; k < specs.size(); ++k) {
    specs[k].struct_size = sizeof specs[k];
    check(penstock_pipeline_get_output_spec(cursors_[0].pipeline.get(), k, &specs[k]));
  }
  return specs;
}

}  // namespace penstock::tensorflow
