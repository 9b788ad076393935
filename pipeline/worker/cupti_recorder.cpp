// SPDX-License-Identifier: MIT
#include "pipeline/worker/cupti_recorder.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "pipeline/worker/cupti_records.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"

namespace pgtune::gpu {
namespace {

/// CUPTI_API_VERSION of CUDA 12.8, from which on the records begin as cupti_records.hpp has them. Until CUDA 12.9 it
/// counts up by one, since 13.0 it is 130000 and more.
constexpr std::uint32_t kLeastVersion = 26;

template <typename Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

std::optional<CuptiLibrary> functions_of(void* handle) {
  CuptiLibrary library;
  look_up(handle, "cuptiGetResultString", library.result_string);
  if (look_up(handle, "cuptiActivityRegisterCallbacks", library.register_callbacks) &&
      look_up(handle, "cuptiActivityEnable", library.enable) &&
      look_up(handle, "cuptiActivityDisable", library.disable) &&
      look_up(handle, "cuptiActivityFlushAll", library.flush) &&
      look_up(handle, "cuptiActivityGetNextRecord", library.next_record) &&
      look_up(handle, "cuptiActivityGetNumDroppedRecords", library.dropped_records) &&
      look_up(handle, "cuptiGetTimestamp", library.timestamp) &&
      look_up(handle, "cuptiGetStreamIdEx", library.stream_number))
    return library;
  return std::nullopt;
}

std::string objection(void* handle) {
  CuptiStatus (*get_version)(std::uint32_t*) = nullptr;
  std::uint32_t version = 0;
  if (!look_up(handle, "cuptiGetVersion", get_version) || get_version(&version) != kCuptiSuccess ||
      !functions_of(handle))
    return "is no CUPTI with activity records";
  if (version >= kLeastVersion) return "";
  return fmt::format("has CUPTI's interface {}, older than CUDA 12.8's, {}", version, kLeastVersion);
}

const char* meaning_of(CuptiStatus status) {
  switch (status) {
    case kCuptiNoPrivileges:
      return "; the driver lets administrators alone use it";
    case kCuptiOtherProfiler:
      return "; another profiler watches this process";
    default:
      return "";
  }
}

}  // namespace

Result<std::shared_ptr<const CuptiLibrary>> CuptiLibrary::open(const std::vector<LibraryPlace>& places) {
  TRY_ASSIGN(auto opened, open_cuda_library({"CUPTI", "libcupti", "", objection}, places));
  return std::make_shared<const CuptiLibrary>(functions_of(opened.handle).value());
}

Error CuptiLibrary::error(const std::string& call, CuptiStatus status) const {
  const char* text = nullptr;
  if (result_string == nullptr || result_string(status, &text) != kCuptiSuccess) text = nullptr;
  return {
      ErrorKind::kEnvironment,
      fmt::format("{} came back with {} ({}){}", call, text == nullptr ? "an error" : text, status, meaning_of(status)),
      {}};
}

namespace {

using pipeline::Activity;
using pipeline::ActivityKind;

constexpr std::size_t kBufferBytes = std::size_t{1} << 20, kRecordAlignment = 8;
/// CUPTI_ACTIVITY_FLAG_FLUSH_FORCED: buffers that are not full, too.
constexpr std::uint32_t kFlushForced = 1;

template <typename Record>
Record read_record(const void* at) {
  Record record;
  std::memcpy(&record, at, sizeof record);
  return record;
}

/// What all records have.
template <typename Record>
Activity activity_of(const Record& record, ActivityKind kind) {
  Activity activity;
  activity.kind = kind;
  activity.start_ns = static_cast<std::int64_t>(record.start);
  activity.end_ns = static_cast<std::int64_t>(record.end);
  activity.stream = record.stream;
  activity.call = record.correlation;
  activity.graph_node = record.graph_node;
  return activity;
}

ActivityKind kind_of_copy(std::uint8_t copy_kind) {
  return copy_kind == cupti::kHostToDevice   ? ActivityKind::kCopyIn
         : copy_kind == cupti::kDeviceToHost ? ActivityKind::kCopyOut
                                             : ActivityKind::kInside;
}

/// CUPTI calls back from threads of its own and without a word of whose it is, so there is one for the process.
struct Collector {
  std::mutex mutex;
  const CuptiLibrary* library = nullptr;  ///< null: what comes is dropped
  std::vector<Activity> activities;
  Result<void> read = {};

  void add(const void* at) {
    switch (read_record<std::uint32_t>(at)) {
      case cupti::kMemcpy: {
        const auto record = read_record<cupti::MemcpyRecord>(at);
        activities.push_back(activity_of(record, kind_of_copy(record.copy_kind)));
        activities.back().bytes = static_cast<std::int64_t>(record.bytes);
        break;
      }
      case cupti::kMemset: {
        const auto record = read_record<cupti::MemsetRecord>(at);
        activities.push_back(activity_of(record, ActivityKind::kInside));
        activities.back().bytes = static_cast<std::int64_t>(record.bytes);
        break;
      }
      case cupti::kConcurrentKernel: {
        const auto record = read_record<cupti::KernelRecord>(at);
        activities.push_back(activity_of(record, ActivityKind::kKernel));
        if (record.name != nullptr) activities.back().name = record.name;
        break;
      }
      default:  // another kind, such as a note on its own overhead
        break;
    }
  }

  void read_buffer(std::uint8_t* buffer, std::size_t valid_bytes) {
    const std::lock_guard lock(mutex);
    if (library == nullptr || valid_bytes == 0) return;
    for (void* record = nullptr;;) {
      const CuptiStatus status = library->next_record(buffer, valid_bytes, &record);
      // An incomplete one ends what a buffer has to say; whose record it would have been is missed when they are
      // matched.
      if (status == kCuptiNoMoreRecords || status == kCuptiIncompleteRecord) return;
      if (status != kCuptiSuccess) {
        read = tl::unexpected<Error>(library->error("cuptiActivityGetNextRecord", status));
        return;
      }
      add(record);
    }
  }
};

/// Never destroyed: CUPTI may hand back its last buffer while the process ends.
Collector& collector() {
  static Collector& only = *new Collector;
  return only;
}

void buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kRecordAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;  // as many as there is room for
}

void buffer_completed(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer, std::size_t /*bytes*/,
                      std::size_t valid_bytes) {
  collector().read_buffer(buffer, valid_bytes);
  std::free(buffer);
}

}  // namespace

Result<std::unique_ptr<ActivityRecorder>> CuptiRecorder::open(const std::vector<LibraryPlace>& places) {
  TRY_ASSIGN(auto library, CuptiLibrary::open(places));
  return std::unique_ptr<ActivityRecorder>(new CuptiRecorder(std::move(library)));
}

CuptiRecorder::~CuptiRecorder() { stop(); }

Result<void> CuptiRecorder::check(const char* call, CuptiStatus status) const {
  if (status == kCuptiSuccess) return {};
  return tl::unexpected<Error>(library_->error(call, status));
}

Result<void> CuptiRecorder::start() {
  {
    Collector& all = collector();
    const std::lock_guard lock(all.mutex);
    all.library = library_.get();
    all.activities.clear();
    all.read = {};
  }
  auto ok = check("cuptiActivityRegisterCallbacks", library_->register_callbacks(&buffer_requested, &buffer_completed));
  for (const std::uint32_t kind : {cupti::kMemcpy, cupti::kMemset, cupti::kConcurrentKernel}) {
    if (!ok) break;
    ok = check("cuptiActivityEnable", library_->enable(kind));
    if (ok) enabled_.push_back(kind);
  }
  if (!ok) stop();
  return ok;
}

Result<std::vector<Activity>> CuptiRecorder::take() {
  std::size_t dropped = 0;
  auto ok = check("cuptiActivityFlushAll", library_->flush(kFlushForced)).and_then([&] {
    return check("cuptiActivityGetNumDroppedRecords", library_->dropped_records(nullptr, 0, &dropped));
  });
  if (ok && dropped > 0) ok = fail(ErrorKind::kEnvironment, std::to_string(dropped) + " records were lost");
  Collector& all = collector();
  const std::lock_guard lock(all.mutex);
  std::vector<Activity> taken = std::exchange(all.activities, {});
  const Result<void> read = std::exchange(all.read, {});
  if (!ok) return tl::unexpected<Error>(ok.error());
  if (!read) return tl::unexpected<Error>(read.error());
  return taken;
}

void CuptiRecorder::stop() {
  for (const std::uint32_t kind : enabled_) static_cast<void>(library_->disable(kind));
  enabled_.clear();
  Collector& all = collector();
  const std::lock_guard lock(all.mutex);
  if (all.library == library_.get()) all.library = nullptr;
  all.activities.clear();
}

Result<std::int64_t> CuptiRecorder::now_ns() {
  std::uint64_t time_ns = 0;
  return check("cuptiGetTimestamp", library_->timestamp(&time_ns)).map([&] {
    return static_cast<std::int64_t>(time_ns);
  });
}

Result<std::uint32_t> CuptiRecorder::number_of(void* stream) {
  std::uint32_t number = 0;
  return check("cuptiGetStreamIdEx", library_->stream_number(nullptr, stream, 0, &number)).map([&] { return number; });
}

}  // namespace pgtune::gpu
