// SPDX-License-Identifier: MIT
// The worker's command line. Only pgtune writes it, so it is plain: no CLI11 in this program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::worker {

enum class Role { kCompile, kMeasure, kList, kLimits, kProcesses, kGuard, kDoctor, kConsumer, kOfRoom, kHelp };

struct WorkerOptions {
  Role role = Role::kHelp;
  std::string role_name;                           ///< as given
  std::string cache_folder;                        ///< compile, measure: where cubins go
  std::optional<std::int64_t> memory_limit_bytes;  ///< compile: a build that needs more is compile_failed
  std::string gpu;                                 ///< measure, doctor, roles of rooms: ordinal or UUID; else: UUID
  std::string library;                             ///< consumer: the shared library to call
  std::optional<int> lock_mhz;                     ///< guard: the clock; nothing: one the GPU can hold
  bool restore = false;                            ///< guard: only give the clocks back
  std::string input;                               ///< measure: file of requests; empty: standard input
};

inline constexpr std::string_view kUsage =
    "usage: pgtune-worker --role compile --cache-dir DIR [--memory-limit BYTES]\n"
    "       pgtune-worker --role measure --gpu ORDINAL-OR-UUID [--cache-dir DIR]\n"
    "                                    [--input FILE]\n"
    "       pgtune-worker --role list\n"
    "       pgtune-worker --role limits --gpu UUID\n"
    "       pgtune-worker --role processes --gpu UUID\n"
    "       pgtune-worker --role doctor --gpu ORDINAL-OR-UUID\n"
    "       pgtune-worker --role guard --gpu UUID [--lock-mhz MHZ | --restore]\n"
    "       pgtune-worker --role consumer --gpu UUID --library FILE\n"
    "\n"
    "The CUDA half of pgtune, which starts it as a child process. compile, measure,\n"
    "and consumer read one JSON request a line from standard input, measure\n"
    "also from FILE, and answer each with one line until the input ends; consumer\n"
    "calls exported kernels in a library that pgtune has compiled. list prints the GPUs as one JSON line, "
    "limits what may change of one from day to day "
    "and processes\n"
    "who computes on it (both without CUDA, which takes longer), doctor what there\n"
    "is to know about one. guard locks a GPU's clocks until its input ends or a\n"
    "signal comes, and gives them back; with --restore it only does that.\n";

/// `room_roles`: names of roles that rooms add. Errors (usage) name the option and what it needs.
[[nodiscard]] Result<WorkerOptions> parse_options(const std::vector<std::string>& arguments,
                                                  const std::vector<std::string>& room_roles);

}  // namespace pgtune::worker
