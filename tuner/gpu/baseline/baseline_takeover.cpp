// SPDX-License-Identifier: MIT
// A baseline that another process found: what it says of its algorithms, and back.
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "tuner/gpu/baseline/cublaslt_baseline.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

constexpr double kTakeoverWarmUp_s = 50e-3;
constexpr std::size_t kHexDigits = 16;  // of one of the algorithm's 64-bit words

/// cuBLAS documents that an algorithm may be stored and used again with the same version of the library.
std::string to_hex(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  for (const std::uint64_t word : algorithm.data) text += fmt::format("{:016x}", word);
  return text;
}

std::optional<cublasLtMatmulAlgo_t> from_hex(std::string_view text) {
  cublasLtMatmulAlgo_t algorithm{};
  if (text.size() != std::size(algorithm.data) * kHexDigits) return std::nullopt;
  for (auto& word : algorithm.data) {
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + kHexDigits, value, 16);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + kHexDigits) return std::nullopt;
    word = value;
    text.remove_prefix(kHexDigits);
  }
  return algorithm;
}

}  // namespace

std::vector<std::string> CublasLtBaseline::opaque() const {
  std::vector<std::string> texts;
  for (const Algorithm& algorithm : algorithms_) texts.push_back(to_hex(algorithm.launchable->algorithm()));
  return texts;
}

Result<std::unique_ptr<CublasLtBaseline>> CublasLtBaseline::take_over(const Problem& problem,
                                                                      const OperandBuffers& buffers, Checker& checker,
                                                                      SampleTimer& timer,
                                                                      const protocol::KnownBaseline& known,
                                                                      cudaStream_t stream) {
  auto begun = begin(problem, buffers, stream);
  if (!begun) return tl::unexpected(to_error(begun.error()));
  std::unique_ptr<CublasLtBaseline> baseline = std::move(*begun);
  baseline->report_ = known.report;
  const std::size_t count = known.report.algorithms.size();
  const auto best = static_cast<std::size_t>(known.report.best);
  if (known.opaque.size() != count || best >= count)
    return fail(ErrorKind::kInternal, "the baseline to be taken over is incomplete");
  for (const std::string& text : known.opaque) {
    const auto algorithm = from_hex(text);
    if (!algorithm) return fail(ErrorKind::kInternal, "the baseline to be taken over cannot be read");
    Algorithm added;
    added.launchable = std::make_unique<BaselineLaunchable>(*baseline->matmul_, *baseline->operands_, *algorithm);
    added.series = std::make_unique<LaunchSeries>(*added.launchable, buffers.copies().size(), stream);
    baseline->algorithms_.push_back(std::move(added));
  }
  if (auto ok = baseline->warm_up(checker, timer, stream); !ok) return tl::unexpected(to_error(ok.error()));
  return baseline;
}

CudaResult<> CublasLtBaseline::warm_up(Checker& checker, SampleTimer& timer, cudaStream_t stream) {
  const auto best = static_cast<std::size_t>(report_.best);
  if (auto loaded = algorithms_[best].launchable->launch(0, stream); !loaded) return loaded;
  const auto verdict = checker.check(*algorithms_[best].launchable);
  if (!verdict) return tl::unexpected(verdict.error());
  if (!verdict->fault.empty()) {
    return tl::unexpected(CudaFailure{cudaErrorUnknown, "no CUDA error", verdict->fault,
                                      "checking cuBLASLt's best algorithm after a restart", false});
  }
  const auto best_series = series(best, timer);
  if (!best_series) return tl::unexpected(best_series.error());
  return timer.time(**best_series, launches_for(kTakeoverWarmUp_s, report_.algorithms[best].time_s, 1, 1))
      .map([](const Sample&) {});
}

CudaResult<LaunchSeries*> CublasLtBaseline::series(std::size_t index, SampleTimer& timer) {
  Algorithm& algorithm = algorithms_[index];
  return calibrate_once(*algorithm.series, algorithm.calibrated, timer).map([&] { return algorithm.series.get(); });
}

}  // namespace pgtune::gpu
