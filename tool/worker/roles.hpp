// SPDX-License-Identifier: MIT
// What main() runs: one function a role. Roles of several requests answer them until their input ends; the others write
// one line.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tool/worker/line_channel.hpp"
#include "tool/worker/options.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::worker {

/// The compile role: "build" requests to cubins in the cache.
[[nodiscard]] Result<void> serve_compile(const WorkerOptions& options, LineChannel& channel);

/// The measure role: "prepare", "trial", "round", "verify", "energy", "launch", "rows" and "ceilings" on one GPU.
[[nodiscard]] Result<void> serve_measure(const WorkerOptions& options, LineChannel& channel);

/// The consumer role: calls exported kernels as a program does, in a library that the host's compiler made of them, and
/// compares them with the worker's own launches.
[[nodiscard]] Result<void> serve_consumer(const WorkerOptions& options, LineChannel& channel);

/// The guard role: locks a GPU's clocks for the parent and gives them back whatever becomes of it. Needs NVML only:
/// neither a GPU context nor CUDA's driver.
/// Locks, answers one line, and waits for the end of input or of the parent, or a signal (ParentWatch); then gives
/// the clocks back and answers a second line. Lines are replies of tuner/protocol/codec.hpp, with id 1 and the body
///   {"locked_mhz": 1485, "verified": true, "sm_mhz": 1485, "before": {"sm_mhz": 345, "applications_mhz": 1980}}
/// (fields NVML does not say are null), and with id 2 and the body {"sm_mhz": 345}; or with the error, which is
/// returned too.
[[nodiscard]] Result<void> guard_clocks(const WorkerOptions& options, LineChannel& channel);

/// Only gives the clocks back and answers as the second line above: for after a guard that was killed.
[[nodiscard]] Result<void> restore_clocks(const WorkerOptions& options, LineChannel& channel);

/// The list role: what GPUs there are, for `pgtune devices` and for choosing one.
/// One JSON line: {"devices": [...], "driver": "...", "nvrtc": "..."}, with "problem" (cause and remedy) where no GPU
/// can be used. Finding none is an answer, not a failure.
[[nodiscard]] std::string list_gpus_line();

/// The limits role: what an administrator may have changed of a GPU since a database described it.
/// One JSON line: {"power_limit_w": 700.0, "mig_mode": false}, or "problem" where NVML does not know
/// the GPU of that UUID.
[[nodiscard]] std::string limits_line(const std::string& uuid);

/// The processes role: what computes on the GPU. Both ask NVML alone.
/// One JSON line: {"processes": [GpuProcess...]}, or "problem" likewise.
[[nodiscard]] std::string processes_line(const std::string& uuid);

/// The doctor role: what there is to know about this machine's CUDA and one GPU, for `pgtune doctor`.
/// One JSON line. Whatever is missing has a "problem" (cause and remedy) in its place; nothing is a failure. Fields
/// NVML does not say are absent.
///   administrator  whether this process is root's
///   nvrtc          {"version", "path", "place": "CUDA_HOME", "headers": "/usr/local/cuda/include"}, or "problem" alone
///                  or, where it does not compile, beside them
///   cublaslt       {"version", "path", "place"} or {"problem"}
///   library_places where both are looked for, in this order: [{"name": "CUDA_HOME", "folders": [...]}, ...]
///   driver         {"cuda": "13.0", "version": "580.65.06"}, "cuda" empty without a driver
///   gpus           all that are visible, as `list` has them; "problem" beside them where there is none
///   gpu            ordinal of `gpu`, ordinal or UUID; or "gpu_problem"
///   nvml           {"version"?, "fields": {"temperature": true, ...}, "energy_step_s", "clocks_mhz": [low, high],
///                  "lock_mhz", "lock_problem", "processes": [{"pid", "memory_bytes"}]} or {"problem"}
///   timers         {"event_floor_s", "globaltimer_step_s"} or {"problem"}
[[nodiscard]] std::string doctor_line(const std::string& gpu);

/// Roles that rooms add (docs/contributing/architecture.md, "Rooms that stand on the core"), by name; called after the
/// process was tied to its parent.
using RoomRoles = std::map<std::string, std::function<Result<void>(const WorkerOptions&, LineChannel&)>>;

/// Of the rooms that this program was built with: generated (cmake/Rooms.cmake).
[[nodiscard]] RoomRoles rooms();

}  // namespace pgtune::worker
