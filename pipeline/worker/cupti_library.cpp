// SPDX-License-Identifier: MIT
#include "pipeline/worker/cupti_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>

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
  auto opened = open_cuda_library({"CUPTI", "libcupti", "", objection}, places);
  if (!opened) return tl::unexpected<Error>(std::move(opened.error()));
  return std::make_shared<const CuptiLibrary>(functions_of(opened->handle).value());
}

Error CuptiLibrary::error(const std::string& call, CuptiStatus status) const {
  const char* text = nullptr;
  if (result_string == nullptr || result_string(status, &text) != kCuptiSuccess) text = nullptr;
  return {
      ErrorKind::kEnvironment,
      fmt::format("{} came back with {} ({}){}", call, text == nullptr ? "an error" : text, status, meaning_of(status)),
      {}};
}

}  // namespace pgtune::gpu
