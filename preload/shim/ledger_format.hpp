// SPDX-License-Identifier: MIT
// The file in which one process records its GEMMs. It is mapped while the process runs, so nothing is lost however the
// process ends. Written by the preload library, read by pgtune of the same version. A file of another size is left by a
// process that has no room for it.
#pragma once

#include <cstdint>

#include "preload/shim/key.hpp"
#include "preload/shim/refusal.hpp"

namespace pgtune::preload {

inline constexpr std::uint64_t kLedgerMagic = 0x31'52'45'47'44'45'4C'50U;  // "PLEDGER1"
inline constexpr std::uint32_t kSlots = 1U << 16U;
inline constexpr std::uint32_t kSamples = 15;

enum SlotState : std::uint32_t { kEmpty, kClaimed, kReady };

struct LedgerHeader {
  std::uint64_t magic;
  std::uint32_t slots, pid;
  std::uint64_t lost_calls;  ///< of more keys than the file holds
  char uncalled[232];        ///< names of libraries, each with a blank after it (note_uncalled_libraries())
};
static_assert(sizeof(LedgerHeader) == 256);

/// Counters are changed by several threads at once.
struct Slot {
  Key key;
  std::uint32_t state;           ///< SlotState; the key is there in kReady
  std::uint32_t samples;         ///< taken so far, of which the last kSamples are kept
  std::uint64_t calls;           ///< that ran at once
  std::uint64_t captured_calls;  ///< that became part of a CUDA graph
  std::uint64_t replayed_calls;  ///< of these, in graphs that were launched; each launch counts
  float sample_us[kSamples];     ///< GPU time of single calls, launch gaps included
  std::uint32_t workspace_mib;   ///< that its kernel needs
  std::uint64_t served_calls;
  std::uint32_t refused_calls[kServingRefusals];  ///< by reason, from kFirstOfServing on
  std::uint32_t checked_calls, wrong_calls;       ///< by --check
  std::uint32_t is_of_family;                     ///< the kernel that serves it
};
static_assert(sizeof(Slot) == 256);

inline constexpr std::uint64_t kLedgerBytes = sizeof(LedgerHeader) + std::uint64_t{kSlots} * sizeof(Slot);

/// Environment variables that `pgtune run` sets.
inline constexpr const char* kLedgerFolder = "PGTUNE_RUN_LEDGERS";
/// A library of kernels to serve (kernels/table.hpp).
inline constexpr const char* kKernelsVariable = "PGTUNE_RUN_KERNELS";
/// A file of PgtuneProblems that are not served.
inline constexpr const char* kDenyVariable = "PGTUNE_RUN_DENY";
/// "shadow", or the number of calls of each key that are checked.
inline constexpr const char* kCheckVariable = "PGTUNE_RUN_CHECK";
/// "tf32x3" or "tf32": the kernels that serve strict float32 calls.
inline constexpr const char* kF32Variable = "PGTUNE_RUN_F32";
/// MiB of workspace that a call may get from pgtune.
inline constexpr const char* kWorkspaceVariable = "PGTUNE_RUN_WORKSPACE";
/// "off": the library forwards everything.
inline constexpr const char* kRunSwitch = "PGTUNE_RUN";

}  // namespace pgtune::preload
