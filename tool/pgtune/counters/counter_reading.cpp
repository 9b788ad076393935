// SPDX-License-Identifier: MIT
#include "tool/pgtune/counters/counter_reading.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/counters/profiler.hpp"
#include "tuner/operation/gemm_operation.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::tool {
namespace {

using protocol::Request;
using protocol::RequestId;

constexpr RequestId kHello = 1, kPrepare = 2, kFirstLaunch = 3;

bool write_requests(const std::filesystem::path& path, const CounterRequest& request) {
  std::ofstream file(path);
  file << encode(Request{kHello, "hello", {{"protocol", protocol::kProtocolVersion}}}) << '\n'
       << encode(Request{kPrepare, "prepare", request.prepare}) << '\n';
  RequestId id = kFirstLaunch;
  for (const protocol::BuiltVariant& variant : request.variants)
    file << encode(Request{id++, "launch", protocol::LaunchRequest{.variant = variant}}) << '\n';
  if (request.baseline)
    file << encode(Request{id, "launch", protocol::LaunchRequest{.algorithm = request.algorithm}}) << '\n';
  return static_cast<bool>(file.flush());
}

/// The worker's replies, in the order of the requests.
struct Replies {
  std::string refusal;  ///< why no launch was possible at all
  std::map<RequestId, protocol::LaunchReport> launches;

  void take(const std::string& line) {
    const auto reply = protocol::decode_reply(line);
    if (!reply) return;  // the profiler's own messages
    if (!reply->body) {
      if (refusal.empty()) refusal = reply->body.error().text();
    } else if (reply->id >= kFirstLaunch) {
      if (auto report = protocol::decode_body<protocol::LaunchReport>(*reply->body, "launch report"))
        launches[reply->id] = std::move(*report);
    }
  }
};

/// Assigns the profiler's kernels, in the order of their launches.
class KernelsInOrder {
 public:
  KernelsInOrder(std::vector<KernelCounters> kernels, const Replies& replies)
      : kernels_(std::move(kernels)), replies_(replies) {}

  /// Up to the plan's last kernel; kernels between the plan's belong to the launch too.
  LaunchCounters of_variant(RequestId id, const LaunchPlan& plan) {
    LaunchCounters out{{}, why_not(id)};
    if (!out.missing.empty()) return out;
    const std::size_t begin = next_;
    for (const KernelLaunch& launch : plan.kernels) {
      while (next_ < kernels_.size() && kernels_[next_].kernel != launch.symbol) ++next_;
      if (next_ == kernels_.size()) return {{}, "the profiler has no launch of its kernel " + launch.symbol};
      ++next_;
    }
    out.kernels.assign(kernels_.begin() + static_cast<std::ptrdiff_t>(begin),
                       kernels_.begin() + static_cast<std::ptrdiff_t>(next_));
    return out;
  }

  /// The last launch gets all remaining kernels, as only the library knows the names of its kernels.
  LaunchCounters of_last(RequestId id) {
    LaunchCounters out{{}, why_not(id)};
    if (!out.missing.empty()) return out;
    out.kernels.assign(kernels_.begin() + static_cast<std::ptrdiff_t>(next_), kernels_.end());
    if (out.kernels.empty()) out.missing = "the profiler has no launch of it";
    return out;
  }

 private:
  [[nodiscard]] std::string why_not(RequestId id) const {
    const auto report = replies_.launches.find(id);
    if (report == replies_.launches.end()) return "the worker ended before it was launched";
    return report->second.outcome.kind == OutcomeKind::kOk ? std::string() : report->second.outcome.reason;
  }

  std::vector<KernelCounters> kernels_;
  const Replies& replies_;
  std::size_t next_ = 0;
};

}  // namespace

Result<CounterReadings> read_counters(const std::filesystem::path& worker, CounterRequest request,
                                      const std::atomic<bool>& stop) {
  TRY_ASSIGN(const auto profiler, find_profiler());
  TRY_ASSIGN(request.prepare.problem, operation::with_operation(std::move(request.prepare.problem)));
  TRY_ASSIGN(const auto folder, ScratchFolder::make());
  const auto requests = folder.path() / "requests";
  if (!write_requests(requests, request))
    return fail(ErrorKind::kEnvironment, "cannot write a temporary file; look at the free space, or set TMPDIR");
  Replies replies;
  auto kernels =
      profile(profiler,
              {.command = {worker.string(), "--role", "measure", "--gpu", request.gpu, "--input", requests.string()},
               .l2 = request.prepare.conditions.l2,
               .on_line = [&](const std::string& line) { replies.take(line); }},
              stop);
  if (!replies.refusal.empty()) return fail(ErrorKind::kEnvironment, replies.refusal);
  if (!kernels) return tl::unexpected(std::move(kernels.error()));
  KernelsInOrder in_order(std::move(*kernels), replies);
  CounterReadings readings;
  RequestId id = kFirstLaunch;
  for (const protocol::BuiltVariant& variant : request.variants)
    readings.variants.push_back(in_order.of_variant(id++, variant.plan));
  if (request.baseline) {
    readings.baseline = in_order.of_last(id);
    if (const auto report = replies.launches.find(id); report != replies.launches.end())
      readings.algorithm = report->second.algorithm;
  }
  return readings;
}

}  // namespace pgtune::tool
