// SPDX-License-Identifier: MIT
// Who else computes on a GPU, because sharing it spoils what is measured there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/util/fields.hpp"

namespace pgtune {

/// A process with a context on the GPU.
struct GpuProcess {
  int pid = 0;                    ///< as the driver numbers it
  std::int64_t memory_bytes = 0;  ///< of the GPU; 0 where NVML does not say
  std::string name = {};          ///< "python3"; empty where this system does not know the process

  PGTUNE_FIELDS(pid, memory_bytes, (name, kUnlessDefault))
  friend bool operator==(const GpuProcess&, const GpuProcess&) = default;
  /// "4711 (python3, 3072 MiB)", with what is known of it.
  [[nodiscard]] std::string text() const;
};

/// Processes on a GPU beside pgtune's own.
struct OtherProcesses {
  std::vector<GpuProcess> processes;  ///< empty: none is known of
  /// pgtune's own process is one of them, under a number that it does not know: a container numbers processes anew.
  bool own_among_them = false;

  friend bool operator==(const OtherProcesses&, const OtherProcesses&) = default;
};

/// The other processes in NVML's list while the processes `own_pids` hold a context. If it lists none of these, one of
/// the list still is pgtune's, if there are any.
[[nodiscard]] OtherProcesses other_processes(std::vector<GpuProcess> all, const std::vector<int>& own_pids);

}  // namespace pgtune
