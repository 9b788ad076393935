// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "tool/worker/roles.hpp"
#include "tool/worker/service.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/check/operation_kernels.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::worker {
namespace {

/// What failed was the next piece, so the peak stays below the limit; a table that doubles leaves half of it.
constexpr double kNear = 0.5;

/// Bytes; 0 where /proc does not say.
std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::int64_t kibibytes = 0;
    status >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

/// A limit on this process' own memory (RLIMIT_DATA: heap and private mappings, not the libraries' code). Beyond it
/// allocations fail, which NVRTC's front end reports and its optimizer aborts on ("LLVM ERROR: out of memory").
class MemoryLimit {
 public:
  /// A stricter limit this process was started with stays. Errors (environment): the kernel refuses.
  [[nodiscard]] static Result<MemoryLimit> set(std::int64_t bytes);

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Starts a new peak.
  void forget_peak() const;
  /// Whether memory came so near the limit since forget_peak() that it may explain a failure. If the kernel does not
  /// support resetting the peak, since the process's start.
  [[nodiscard]] bool nearly_reached() const;

 private:
  explicit MemoryLimit(std::int64_t bytes) : bytes_(bytes) {}
  std::int64_t bytes_;
};

Result<MemoryLimit> MemoryLimit::set(std::int64_t bytes) {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_DATA, &limit) == 0;
  const auto wanted = static_cast<rlim_t>(bytes);
  // A stricter limit of the user's own stays.
  if (known && limit.rlim_max != RLIM_INFINITY && limit.rlim_max <= wanted)
    return MemoryLimit(static_cast<std::int64_t>(limit.rlim_max));
  limit.rlim_cur = wanted;
  if (known && ::setrlimit(RLIMIT_DATA, &limit) == 0) return MemoryLimit(bytes);
  return fail(ErrorKind::kEnvironment,
              fmt::format("cannot limit the compiler's memory: {}", std::generic_category().message(errno)));
}

void MemoryLimit::forget_peak() const { std::ofstream("/proc/self/clear_refs") << "5"; }

bool MemoryLimit::nearly_reached() const {
  return static_cast<double>(peak_bytes()) > kNear * static_cast<double>(bytes_);
}

Result<protocol::BuildDone> build_reference(const protocol::BuildRequest& request) {
  protocol::BuildDone done;
  done.id = request.id;
  const auto cubin = gpu::OperationKernels::compile(*request.reference, request.architecture);
  if (cubin) return done;
  if (cubin.error().kind != ErrorKind::kUsage) return tl::unexpected(cubin.error());
  done.outcome = {OutcomeKind::kCompileFailed, cubin.error().text()};
  return done;
}

class CompileRole final : public Service {
 public:
  /// Without `limit` the compiler may take what memory there is.
  CompileRole(gpu::Builder builder, std::optional<MemoryLimit> limit) : builder_(std::move(builder)), limit_(limit) {}

  [[nodiscard]] protocol::Hello hello() const override;
  [[nodiscard]] Result<nlohmann::json> handle(const protocol::Request& request) override;
  [[nodiscard]] bool context_lost() const override { return false; }

 private:
  gpu::Builder builder_;
  std::optional<MemoryLimit> limit_;
};

protocol::Hello CompileRole::hello() const {
  return {.protocol = protocol::kProtocolVersion,
          .role = "compile",
          .nvrtc_version = builder_.toolkit().nvrtc_version,
          .device = std::nullopt};
}

Result<nlohmann::json> CompileRole::handle(const protocol::Request& request) {
  if (request.op != "build") return unknown_operation(request);
  if (limit_) limit_->forget_peak();
  return answer_to<protocol::BuildRequest>(request, [&](const auto& body) {
    Result<protocol::BuildDone> done = body.reference ? build_reference(body) : builder_.build(body);
    if (done && done->outcome.kind == OutcomeKind::kCompileFailed && limit_ && limit_->nearly_reached())
      done->outcome.reason = protocol::out_of_compile_memory(limit_->bytes(), done->outcome.reason);
    return done;
  });
}

}  // namespace

Result<void> serve_compile(const WorkerOptions& options, LineChannel& channel) {
  Result<gpu::CubinCache> cache = gpu::CubinCache::open(options.cache_folder);
  if (!cache) return tl::unexpected(refuse(channel, std::move(cache.error())));
  keep_references(options);
  std::optional<MemoryLimit> limit;
  if (options.memory_limit_bytes) {
    auto set = MemoryLimit::set(*options.memory_limit_bytes);
    if (!set) return tl::unexpected(refuse(channel, std::move(set.error())));
    limit = *set;
  }
  Result<gpu::Toolkit> toolkit = gpu::find_toolkit();
  if (!toolkit) return tl::unexpected(refuse(channel, std::move(toolkit.error())));
  CompileRole service(gpu::Builder(std::move(*cache), std::move(*toolkit)), limit);
  return serve(channel, service);
}

}  // namespace pgtune::worker
