// SPDX-License-Identifier: MIT
#include "tool/pgtune/ladder/ladder_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tool/pgtune/cli/scratch_folder.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::tool {
namespace {

using protocol::Request;

/// Who was right and fast enough to be timed can be launched again without surprises.
std::vector<RungResult*> launchable_rungs(LadderOutcome& outcome) {
  std::vector<RungResult*> rungs;
  for (RungResult& rung : outcome.rungs) {
    if (rung.measured && rung.build) rungs.push_back(&rung);
  }
  return rungs;
}

bool write_requests(const std::filesystem::path& path, const LadderOutcome& outcome,
                    const std::vector<RungResult*>& rungs) {
  protocol::RequestId id = 0;
  std::ofstream file(path);
  file << encode(Request{++id, "hello", {{"protocol", protocol::kProtocolVersion}}}) << '\n'
       << encode(Request{++id, "prepare", protocol::PrepareRequest{outcome.problem, outcome.conditions}}) << '\n';
  for (const RungResult* rung : rungs) {
    const protocol::TrialRequest launch{++id, *rung->planned.variant, rung->build->plan, rung->build->info};
    file << encode(Request{id, "launch", launch}) << '\n';
  }
  return static_cast<bool>(file.flush());
}

std::vector<std::string> symbols(const std::vector<RungResult*>& rungs) {
  std::set<std::string> names;
  for (const RungResult* rung : rungs) {
    for (const KernelLaunch& kernel : rung->build->plan.kernels) names.insert(kernel.symbol);
  }
  return {names.begin(), names.end()};
}

/// Gives each rung the longest of its kernels. The profiler lists launches in order, so that a name that is not the
/// next one means that a launch is missing.
void hand_out(const std::vector<ProfiledKernel>& kernels, const std::vector<RungResult*>& rungs,
              LadderOutcome& outcome) {
  const auto duration = [](const ProfiledKernel& kernel) {
    const auto found = kernel.counters.find(kDuration);
    return found == kernel.counters.end() ? 0.0 : found->second;
  };
  std::size_t next = 0;
  for (RungResult* rung : rungs) {
    for (const KernelLaunch& launch : rung->build->plan.kernels) {
      if (next == kernels.size() || kernels[next].name != launch.symbol) {
        outcome.counters_problem =
            fmt::format("the profiler has no launch of rung '{}', nor of those after it", rung->planned.rung.name);
        rung->counters.reset();
        return;
      }
      if (!rung->counters || duration(kernels[next]) > duration(*rung->counters)) rung->counters = kernels[next];
      ++next;
    }
  }
}

}  // namespace

void read_counters(const std::filesystem::path& worker, const std::atomic<bool>& stop, LadderOutcome& outcome) {
  const auto profiler = find_profiler();
  if (!profiler) {
    outcome.counters_problem = profiler.error().text();
    return;
  }
  const std::vector<RungResult*> rungs = launchable_rungs(outcome);
  if (rungs.empty()) {
    outcome.counters_problem = "no rung could be measured";
    return;
  }
  const ScratchFolder folder;
  const auto requests = folder.path() / "requests";
  if (folder.path().empty() || !write_requests(requests, outcome, rungs)) {
    outcome.counters_problem = "cannot write a temporary file; look at the free space, or set TMPDIR";
    return;
  }
  std::string refusal;  // the worker's own words
  ProfileRequest request;
  request.command = {worker.string(), "--role", "measure", "--gpu", outcome.device.uuid, "--input", requests.string()};
  request.kernels = symbols(rungs);
  request.on_line = [&refusal](const std::string& line) {
    const auto reply = protocol::decode_reply(line);
    if (refusal.empty() && reply && !reply->body) refusal = reply->body.error().text();
  };
  const auto kernels = profile(*profiler, request, stop);
  if (kernels) {
    hand_out(*kernels, rungs, outcome);
  } else {
    outcome.counters_problem = refusal.empty() ? kernels.error().text() : refusal;
  }
}

}  // namespace pgtune::tool
