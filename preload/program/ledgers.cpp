// SPDX-License-Identifier: MIT
#include "preload/program/ledgers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "preload/shim/ledger_format.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

using Words = std::array<std::uint64_t, preload::kKeyWords>;

Words comparable(const preload::Key& key) {
  Words words;
  std::memcpy(words.data(), &key, sizeof key);
  return words;
}

void add_slot(std::map<Words, RecordedGemm>& gemms, const preload::Slot& slot) {
  RecordedGemm& gemm = gemms[comparable(slot.key)];
  gemm.key = slot.key;
  gemm.calls += slot.calls;
  gemm.captured_calls += slot.captured_calls;
  const auto kept = std::min(slot.samples, preload::kSamples);
  for (std::uint32_t i = 0; i < kept; ++i) gemm.samples_s.push_back(slot.sample_us[i] * 1e-6);
}

}  // namespace

RecordedGemms read_ledgers(const std::filesystem::path& folder) {
  RecordedGemms out;
  std::map<Words, RecordedGemm> gemms;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto bytes = read_own_file(entry.path(), preload::kLedgerBytes);
    preload::LedgerHeader header;
    if (!bytes || bytes->size() != preload::kLedgerBytes) continue;
    std::memcpy(&header, bytes->data(), sizeof header);
    if (header.magic != preload::kLedgerMagic || header.slots != preload::kSlots) continue;
    ++out.processes;
    out.lost_calls += header.lost_calls;
    for (std::size_t i = 0; i < preload::kSlots; ++i) {
      preload::Slot slot;
      std::memcpy(&slot, bytes->data() + sizeof header + i * sizeof slot, sizeof slot);
      if (slot.state == preload::kReady) add_slot(gemms, slot);
    }
  }
  for (auto& [words, gemm] : gemms) out.gemms.push_back(std::move(gemm));
  return out;
}

}  // namespace pgtune::tool
