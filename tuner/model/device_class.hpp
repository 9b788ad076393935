// SPDX-License-Identifier: MIT
// The GPUs for which a result counts. Which board measured it is provenance: boards of one class differ by a few
// percent.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/util/fields.hpp"

namespace pgtune {

struct DeviceInfo;

/// GPUs of the same name, architecture, number of SMs, memory, enforced power limit, MIG profile and driver branch.
struct DeviceClass {
  std::string name;  ///< as CUDA reports it
  int compute_major = 0, compute_minor = 0;
  int sm_count = 0;
  int memory_gib = 0;         ///< rounded: drivers of one branch keep a few MiB more or less for themselves; 0: unknown
  int power_limit_w = 0;      ///< enforced, rounded; 0: unknown
  std::string mig_profile;    ///< "1g.18gb"; empty: the whole GPU
  std::string driver_branch;  ///< "580"
  /// The board's UUID if the memory or the power limit is unknown: then no other board is known to be equal, and the
  /// class has only this one. Otherwise empty.
  std::string only_board;

  PGTUNE_FIELDS(name, compute_major, compute_minor, sm_count, memory_gib, power_limit_w, mig_profile, driver_branch,
                (only_board, kUnlessDefault))
  /// A result measured on a GPU of one class counts for those of an equal one, and for no others.
  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;

  /// "NVIDIA H200, sm_90, 132 SMs, 140 GiB, 700 W": all but the driver branch. Classes differ where it or the branch
  /// does.
  [[nodiscard]] std::string hardware() const;
  /// "NVIDIA H200, sm_90, 132 SMs, 140 GiB, 700 W, driver 580": equal where the classes are.
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] DeviceClass device_class(const DeviceInfo& device);

}  // namespace pgtune
