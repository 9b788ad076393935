// SPDX-License-Identifier: MIT
#include "preload/program/ledgers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "preload/shim/ledger_format.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

using Words = std::array<std::uint64_t, preload::kKeyWords>;

Words comparable(const preload::Key& key) {
  Words words;
  std::memcpy(words.data(), &key, sizeof key);
  return words;
}

/// It was written whole, and the program has not overwritten its own mapping since.
bool is_sound(const preload::Slot& slot) {
  const auto kept = std::min(slot.samples, preload::kSamples);
  return slot.state == preload::kReady && slot.key.call <= preload::Call::kGrouped &&
         slot.calls + slot.captured_calls > 0 &&
         std::all_of(slot.sample_us, slot.sample_us + kept, [](float us) { return us >= 0 && std::isfinite(us); });
}

/// The sound slots of a whole ledger; nothing of another file.
std::optional<std::vector<preload::Slot>> slots_of(const std::string& bytes, preload::LedgerHeader& header) {
  if (bytes.size() != preload::kLedgerBytes) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != preload::kLedgerMagic || header.slots != preload::kSlots) return std::nullopt;
  std::vector<preload::Slot> out;
  for (std::size_t i = 0; i < preload::kSlots; ++i) {
    preload::Slot slot;
    std::memcpy(&slot, bytes.data() + sizeof header + i * sizeof slot, sizeof slot);
    if (is_sound(slot)) out.push_back(slot);
  }
  return out;
}

void add_slot(std::map<Words, RecordedGemm>& gemms, const preload::Slot& slot, bool launches_seen) {
  RecordedGemm& gemm = gemms[comparable(slot.key)];
  gemm.key = slot.key;
  gemm.calls += slot.calls;
  gemm.captured_calls += slot.captured_calls;
  gemm.replayed_calls += slot.replayed_calls;
  gemm.graph_calls += launches_seen ? slot.replayed_calls : slot.captured_calls;
  gemm.served_calls += slot.served_calls;
  gemm.is_of_family |= slot.is_of_family != 0;
  gemm.workspace_mib = std::max(gemm.workspace_mib, slot.workspace_mib);
  for (std::size_t i = 0; i < gemm.refused_calls.size(); ++i) gemm.refused_calls[i] += slot.refused_calls[i];
  gemm.checked_calls += slot.checked_calls;
  gemm.wrong_calls += slot.wrong_calls;
  const auto kept = std::min(slot.samples, preload::kSamples);
  for (std::uint32_t i = 0; i < kept; ++i) gemm.samples_s.push_back(slot.sample_us[i] * 1e-6);
}

/// Of all runs.
double flops_of(const RecordedGemm& gemm) {
  const preload::Key& key = gemm.key;
  return 2 * static_cast<double>(key.m) * static_cast<double>(key.n) * static_cast<double>(key.k) *
         static_cast<double>(key.batch) * static_cast<double>(gemm.runs());
}

}  // namespace

RecordedGemms read_ledgers(const std::filesystem::path& folder) {
  RecordedGemms out;
  std::map<Words, RecordedGemm> gemms;
  std::set<std::string> uncalled_alone;  // by processes that called nothing
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto bytes = read_own_file(entry.path(), preload::kLedgerBytes);
    if (!bytes) continue;
    preload::LedgerHeader header;
    const auto slots = slots_of(*bytes, header);
    if (!slots) {
      out.lacked_room = true;
      continue;
    }
    out.lost_calls += header.lost_calls;
    const bool called = !slots->empty();
    const bool launches_seen =
        std::any_of(slots->begin(), slots->end(), [](const preload::Slot& slot) { return slot.replayed_calls > 0; });
    for (const preload::Slot& slot : *slots) add_slot(gemms, slot, launches_seen);
    out.processes += called ? 1 : 0;
    header.uncalled[sizeof header.uncalled - 1] = '\0';
    std::istringstream names(header.uncalled);
    (called ? out.uncalled : uncalled_alone).insert(std::istream_iterator<std::string>(names), {});
  }
  for (auto& [words, gemm] : gemms) out.gemms.push_back(std::move(gemm));
  // Beside a process that calls it, one that loads a library may be a helper, such as a compiler of kernels.
  if (out.processes > 0) std::erase_if(uncalled_alone, [](const auto& name) { return name.starts_with("libcublas"); });
  out.uncalled.merge(uncalled_alone);
  expect_times(out);
  return out;
}

std::uint64_t RecordedGemms::all_calls() const {
  std::uint64_t sum = 0;
  for (const RecordedGemm& gemm : gemms) sum += gemm.all_calls();
  return sum;
}

double RecordedGemms::time_s() const {
  double sum = 0;
  for (const RecordedGemm& gemm : gemms) sum += gemm.time_s;
  return sum;
}

void expect_times(RecordedGemms& recorded) {
  double timed_s = 0, timed_flops = 0;
  for (RecordedGemm& gemm : recorded.gemms) {
    if (gemm.samples_s.empty()) continue;
    gemm.time_s = stats::median(gemm.samples_s) * static_cast<double>(gemm.runs());
    timed_s += gemm.time_s;
    timed_flops += flops_of(gemm);
  }
  const double s_per_flop = timed_flops > 0 ? timed_s / timed_flops : 1e-15;  // nothing was timed: any speed
  for (RecordedGemm& gemm : recorded.gemms) {
    if (gemm.samples_s.empty()) gemm.time_s = flops_of(gemm) * s_per_flop;
  }
}

}  // namespace pgtune::tool
