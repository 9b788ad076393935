// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/result_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/model/device_class.hpp"

namespace pgtune::tool {
namespace {

/// Whether a program sees no difference between the two. Unrecorded memory matches any.
bool look_alike(const DeviceClass& a, const DeviceClass& b) {
  return a.name == b.name && a.compute_major == b.compute_major && a.compute_minor == b.compute_minor &&
         a.sm_count == b.sm_count && (a.memory_gib == b.memory_gib || a.memory_gib == 0 || b.memory_gib == 0);
}

}  // namespace

bool is_better(const StoredResult& a, const StoredResult& b) {
  if (a.row.recorded != b.row.recorded) return b.row.recorded;
  return a.row.session > b.row.session;
}

bool same_device_class(const DeviceInfo& a, const DeviceInfo& b) {
  return device_class(a).hardware() == device_class(b).hardware();
}

std::vector<StoredResult> best_of_each_problem(const std::vector<StoredResult>& results) {
  std::vector<StoredResult> chosen;
  for (const StoredResult& result : results) {
    const auto same = std::find_if(chosen.begin(), chosen.end(), [&](const StoredResult& other) {
      return same_device_class(other.device, result.device) && other.problem == result.problem;
    });
    if (same == chosen.end()) {
      chosen.push_back(result);
    } else if (is_better(result, *same)) {
      *same = result;
    }
  }
  return chosen;
}

std::vector<std::string> drop_look_alikes(std::vector<StoredResult>& results) {
  std::vector<const StoredResult*> leading;
  for (const StoredResult& result : results) leading.push_back(&result);
  std::stable_sort(leading.begin(), leading.end(), [](const auto* a, const auto* b) { return is_better(*a, *b); });
  std::vector<DeviceClass> kept;
  std::vector<std::string> dropped, notes;
  for (const StoredResult* result : leading) {
    const DeviceClass own = device_class(result->device);
    const auto twin = std::find_if(kept.begin(), kept.end(), [&](const auto& other) { return look_alike(other, own); });
    if (twin == kept.end()) {
      kept.push_back(own);
    } else if (twin->hardware() != own.hardware() &&
               std::find(dropped.begin(), dropped.end(), own.hardware()) == dropped.end()) {
      dropped.push_back(own.hardware());
      notes.push_back(fmt::format("left out the results of {}: a program cannot tell it from {}; --on chooses",
                                  own.hardware(), twin->hardware()));
    }
  }
  std::erase_if(results, [&](const StoredResult& result) {
    return std::find(dropped.begin(), dropped.end(), device_class(result.device).hardware()) != dropped.end();
  });
  return notes;
}

}  // namespace pgtune::tool
