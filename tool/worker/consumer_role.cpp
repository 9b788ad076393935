// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tool/worker/roles.hpp"
#include "tool/worker/service.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/gpu/measure/round.hpp"
#include "tuner/gpu/measure/row_check.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::worker {
namespace {

using gpu::CudaResult;
using gpu::DeviceSpan;

constexpr std::int64_t kMostCopies = 64;
constexpr int kSettledSamples = 3;
/// Two kinds of rubbish: NaNs and raised flags, and small numbers that might be a flag's.
constexpr int kPoisons[] = {0xff, 0x01};

template <typename T>
tl::unexpected<gpu::CudaFailure> pass_on(const CudaResult<T>& failed) {
  return tl::unexpected(failed.error());
}

/// The library that pgtune compiles of an exported header (exported/package/consumer.cpp), opened.
/// One at a time in a process: the library keeps the entry that was selected. It stays open until the process ends.
class ExportedLibrary {
 public:
  /// Errors (environment): no library, or one without these functions.
  [[nodiscard]] static Result<std::unique_ptr<ExportedLibrary>> open(const std::string& path);

  /// Empty, or what the header's status says.
  [[nodiscard]] std::string prepare(int device) const;
  /// Chooses the entry's own kernel for operands that lie so; `workspace_bytes` is what it needs. Empty, or why not.
  [[nodiscard]] std::string select(int entry, int device, const gpu::OperandSet& operands,
                                   const OperationProblem& operation, std::int64_t& workspace_bytes);
  /// Chooses the kernel of a family of one order for `m` rows. Empty, or why not.
  [[nodiscard]] std::string select_family(int family, std::int64_t m, int device, const gpu::OperandSet& operands,
                                          const OperationProblem& operation, std::int64_t& workspace_bytes);
  /// Enqueues what was selected. Empty, or why not.
  [[nodiscard]] std::string run(const gpu::OperandSet& operands, const gpu::DeviceSpan& workspace,
                                cudaStream_t stream) const;

 private:
  ExportedLibrary() = default;
  [[nodiscard]] std::string text(int status) const;

  // Pointers are in the operation's order: of GEMM A, B, C, bias, D.
  int (*prepare_)(int) = nullptr;
  std::vector<float> scalars_;  ///< of what was selected
  int (*select_)(int entry, int device, void** pointers, const float* scalars, std::size_t* bytes) = nullptr;
  /// Null in a library without GEMMs.
  int (*select_family_)(int family, std::int64_t m, int device, void** pointers, const float* scalars,
                        std::size_t* bytes) = nullptr;
  int (*run_)(void** pointers, const float* scalars, void* workspace, std::size_t bytes, void* stream) = nullptr;
  const char* (*text_)(int) = nullptr;
  int (*last_cuda_error_)() = nullptr;
};

/// What was selected, to be timed beside the worker's own.
class ExportedLaunch final : public gpu::Launchable {
 public:
  /// All must outlive it.
  ExportedLaunch(const ExportedLibrary& library, const std::vector<gpu::OperandSet>& copies,
                 const gpu::DeviceSpan& workspace)
      : library_(&library), copies_(&copies), workspace_(workspace) {}
  [[nodiscard]] gpu::CudaResult<> launch(std::size_t copy, cudaStream_t stream) override;

 private:
  const ExportedLibrary* library_;
  const std::vector<gpu::OperandSet>* copies_;
  gpu::DeviceSpan workspace_;
};

template <typename Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

using Pointers = std::array<void*, kMaxBuffers>;

/// In the operation's order, which the consumer expects.
Pointers pointers_of(const gpu::OperandSet& set) {
  Pointers out{};
  for (std::size_t i = 0; i < set.buffers.size(); ++i) out.at(i) = gpu::device_pointer(set.buffers[i].address);
  return out;
}

std::vector<float> scalars_of(const OperationProblem& operation) {
  std::vector<float> out;
  for (const NamedScalar& scalar : operation.scalars) out.push_back(static_cast<float>(scalar.value));
  return out;
}

Result<std::unique_ptr<ExportedLibrary>> ExportedLibrary::open(const std::string& path) {
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return fail(ErrorKind::kEnvironment, fmt::format("cannot open {}: {}", path, dlerror()));
  std::unique_ptr<ExportedLibrary> out(new ExportedLibrary);
  static_cast<void>(look_up(opened, "pgtune_consumer_select_family", out->select_family_));
  if (look_up(opened, "pgtune_consumer_prepare", out->prepare_) &&
      look_up(opened, "pgtune_consumer_select", out->select_) && look_up(opened, "pgtune_consumer_run", out->run_) &&
      look_up(opened, "pgtune_consumer_text", out->text_) &&
      look_up(opened, "pgtune_consumer_last_cuda_error", out->last_cuda_error_))
    return out;
  return fail(ErrorKind::kEnvironment, path + " is not what pgtune compiles of an exported header");
}

std::string ExportedLibrary::text(int status) const {
  if (status == 0) return "";
  return fmt::format("{} (CUDA error {})", text_(status), last_cuda_error_());
}

std::string ExportedLibrary::prepare(int device) const { return text(prepare_(device)); }

std::string ExportedLibrary::select(int entry, int device, const gpu::OperandSet& operands,
                                    const OperationProblem& operation, std::int64_t& workspace_bytes) {
  Pointers pointers = pointers_of(operands);
  scalars_ = scalars_of(operation);
  std::size_t bytes = 0;
  const int status = select_(entry, device, pointers.data(), scalars_.data(), &bytes);
  workspace_bytes = static_cast<std::int64_t>(bytes);
  return status < 0 ? "another kernel was chosen than the entry's" : text(status);
}

std::string ExportedLibrary::select_family(int family, std::int64_t m, int device, const gpu::OperandSet& operands,
                                           const OperationProblem& operation, std::int64_t& workspace_bytes) {
  if (select_family_ == nullptr) return "the library has no families";
  Pointers pointers = pointers_of(operands);
  scalars_ = scalars_of(operation);
  std::size_t bytes = 0;
  const int status = select_family_(family, m, device, pointers.data(), scalars_.data(), &bytes);
  workspace_bytes = static_cast<std::int64_t>(bytes);
  return text(status);
}

std::string ExportedLibrary::run(const gpu::OperandSet& operands, const gpu::DeviceSpan& workspace,
                                 cudaStream_t stream) const {
  Pointers pointers = pointers_of(operands);
  return text(run_(pointers.data(), scalars_.data(), gpu::device_pointer(workspace.address),
                   static_cast<std::size_t>(workspace.bytes), stream));
}

gpu::CudaResult<> ExportedLaunch::launch(std::size_t copy, cudaStream_t stream) {
  const std::string wrong = library_->run((*copies_)[copy], workspace_, stream);
  if (wrong.empty()) return {};
  return tl::unexpected(gpu::CudaFailure{0, "", wrong, "an exported kernel", false});
}

class ConsumerRole final : public Service {
 public:
  /// Opens `library` and has it load its kernels into the GPU. Errors (environment): the GPU cannot be used, or the
  /// library reports an error.
  [[nodiscard]] static Result<std::unique_ptr<ConsumerRole>> open(const std::string& gpu, const std::string& library);

  [[nodiscard]] protocol::Hello hello() const override;
  [[nodiscard]] Result<nlohmann::json> handle(const protocol::Request& request) override;
  [[nodiscard]] bool context_lost() const override { return context_lost_; }

 private:
  ConsumerRole() = default;

  [[nodiscard]] gpu::CudaResult<protocol::ConsumerReport> check(const protocol::ConsumerRequest& request);
  [[nodiscard]] Result<protocol::RowsReport> check_family(const protocol::ExportedRowsRequest& request);
  /// What is wrong with calls on copy 0 and between unmapped memory, over a poisoned workspace; empty where all results
  /// have these bytes.
  [[nodiscard]] gpu::CudaResult<std::string> compare(const gpu::OperandBuffers& buffers, std::int64_t workspace_bytes,
                                                     const std::vector<char>& expected);
  [[nodiscard]] gpu::CudaResult<std::string> compare_at(const gpu::OperandBuffers& buffers, std::size_t place,
                                                        const gpu::DeviceSpan& workspace, int poison,
                                                        const std::vector<char>& expected);
  [[nodiscard]] gpu::CudaResult<> time(const gpu::OperandBuffers& buffers, gpu::LoadedVariant& own,
                                       const protocol::ConsumerRequest& request, protocol::ConsumerReport& report);
  /// The bytes of all outputs, once the stream is done.
  [[nodiscard]] gpu::CudaResult<std::vector<char>> read_results(const gpu::OperandSet& operands) const;

  DeviceInfo info_;
  int ordinal_ = 0;
  bool context_lost_ = false;
  std::unique_ptr<ExportedLibrary> library_;
  gpu::Driver driver_;
  gpu::Stream stream_;
  std::unique_ptr<gpu::HelperKernels> kernels_;
  std::unique_ptr<gpu::SampleTimer> timer_;
  std::optional<gpu::L2Sweep> sweep_;
  std::unique_ptr<gpu::OperationKernels> operation_;  ///< of the request at hand
};

Result<std::unique_ptr<ConsumerRole>> ConsumerRole::open(const std::string& gpu, const std::string& library) {
  std::unique_ptr<ConsumerRole> out(new ConsumerRole);
  const Result<int> ordinal = gpu::find_gpu(gpu);
  if (!ordinal) return tl::unexpected(ordinal.error());
  out->ordinal_ = *ordinal;
  if (auto ok = gpu::check(cudaSetDevice(*ordinal), "choosing the GPU"); !ok)
    return tl::unexpected(to_error(ok.error()));
  TRY_ASSIGN(auto info, gpu::describe_gpu(*ordinal));
  out->info_ = std::move(info);
  TRY_ASSIGN(auto driver, gpu::Driver::load());
  out->driver_ = driver;
  auto stream = gpu::create_stream();
  if (!stream) return tl::unexpected(to_error(stream.error()));
  out->stream_ = std::move(*stream);
  TRY_ASSIGN(auto kernels, gpu::HelperKernels::load(out->driver_, out->info_.architecture, out->info_.sm_count));
  out->kernels_ = std::move(kernels);
  auto timer = gpu::SampleTimer::create(*out->kernels_, out->info_.sm_count, {});
  if (!timer) return tl::unexpected(to_error(timer.error()));
  out->timer_ = std::move(*timer);
  auto sweep = gpu::L2Sweep::create(*out->kernels_, out->info_.l2_bytes);
  if (!sweep) return tl::unexpected(to_error(sweep.error()));
  out->sweep_ = std::move(*sweep);
  TRY_ASSIGN(auto opened, ExportedLibrary::open(library));
  if (const std::string wrong = opened->prepare(*ordinal); !wrong.empty())
    return fail(ErrorKind::kEnvironment, "the exported kernels cannot be loaded: " + wrong);
  out->library_ = std::move(opened);
  return out;
}

protocol::Hello ConsumerRole::hello() const {
  return {.protocol = protocol::kProtocolVersion, .role = "consumer", .nvrtc_version = "", .device = info_};
}

Result<nlohmann::json> ConsumerRole::handle(const protocol::Request& request) {
  if (request.op == "rows")
    return answer_to<protocol::ExportedRowsRequest>(request, [&](const auto& asked) { return check_family(asked); });
  if (request.op != "check") return unknown_operation(request);
  return answer_to<protocol::ConsumerRequest>(request, [&](const auto& asked) -> Result<protocol::ConsumerReport> {
    if (!asked.problem.operation)
      return fail(ErrorKind::kInternal, asked.problem.title() + " came without its operation");
    TRY_ASSIGN(operation_,
               gpu::OperationKernels::create(driver_, *kernels_, asked.problem.operation, info_.architecture));
    auto report = check(asked);
    if (report) return std::move(*report);
    context_lost_ = report.error().sticky;
    return tl::unexpected(to_error(report.error()));
  });
}

Result<protocol::RowsReport> ConsumerRole::check_family(const protocol::ExportedRowsRequest& request) {
  if (!request.problem.operation)
    return fail(ErrorKind::kInternal, request.problem.title() + " came without its operation");
  TRY_ASSIGN(operation_,
             gpu::OperationKernels::create(driver_, *kernels_, request.problem.operation, info_.architecture));
  std::vector<gpu::RowsProduct> products;
  for (std::int64_t m = request.first_m; m <= request.problem.m; ++m) products.push_back({m});
  for (const std::int64_t end : request.ends) {
    for (const std::int64_t m : {end, end + 1}) {
      if (m >= request.first_m && m <= request.problem.m)
        products[static_cast<std::size_t>(m - request.first_m)].moved = true;
    }
  }
  const gpu::ProductCalls calls{[&](std::size_t number, const gpu::OperandSet& operands, std::int64_t& bytes) {
                                  return library_->select_family(request.family, products[number].m, ordinal_, operands,
                                                                 operation_->operation(), bytes);
                                },
                                [&](const gpu::OperandSet& operands, const DeviceSpan& workspace, cudaStream_t stream) {
                                  return library_->run(operands, workspace, stream);
                                }};
  auto report = gpu::check_rows(request.problem, products, *kernels_, *operation_, calls, stream_.get());
  if (report) return std::move(*report);
  context_lost_ = report.error().sticky;
  return tl::unexpected(to_error(report.error()));
}

CudaResult<std::vector<char>> ConsumerRole::read_results(const gpu::OperandSet& operands) const {
  std::vector<DeviceSpan> spans;
  for (const gpu::OperationKernels::Output& output : operation_->outputs())
    spans.push_back(operands.buffers.at(output.buffer));
  if (auto ok = gpu::check(cudaStreamSynchronize(stream_.get()), "running a kernel"); !ok) return pass_on(ok);
  std::vector<char> bytes;
  for (const DeviceSpan& span : spans) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + static_cast<std::size_t>(span.bytes));
    const auto copied = gpu::check(cudaMemcpy(bytes.data() + begin, gpu::device_pointer(span.address),
                                              bytes.size() - begin, cudaMemcpyDeviceToHost),
                                   "reading results");
    if (!copied) return pass_on(copied);
  }
  return bytes;
}

CudaResult<protocol::ConsumerReport> ConsumerRole::check(const protocol::ConsumerRequest& request) {
  const Problem& problem = request.problem;
  const std::int64_t copies = std::min(kMostCopies, 3 * info_.l2_bytes / problem.operand_bytes() + 1);
  auto buffers = gpu::OperandBuffers::allocate(*kernels_, *operation_, {}, copies, stream_.get());
  if (!buffers) return pass_on(buffers);
  buffers->sweep_with(*sweep_);
  for (std::size_t i = 0; i < buffers->copies().size(); ++i) {
    if (auto ok = buffers->fill(i, stream_.get()); !ok) return pass_on(ok);
  }
  auto own = gpu::LoadedVariant::load(driver_, *kernels_, request.built.build, request.built.plan, buffers->copies(), 0,
                                      stream_.get());
  if (!own) return pass_on(own);
  auto ran = (*own)->reset(0, stream_.get()).and_then([&] { return (*own)->launch(0, stream_.get()); });
  if (!ran) return pass_on(ran);
  const auto expected = read_results(buffers->copies()[0]);
  if (!expected) return pass_on(expected);
  // If there is no memory for another set, the start of a plain buffer is used.
  static_cast<void>(buffers->add_guarded_places(driver_));

  protocol::ConsumerReport report;
  report.wrong =
      library_->select(request.entry, ordinal_, buffers->copies()[0], operation_->operation(), report.workspace_bytes);
  if (!report.wrong.empty()) return report;
  auto compared = compare(*buffers, report.workspace_bytes, *expected);
  if (!compared) return pass_on(compared);
  report.wrong = std::move(*compared);
  if (!report.wrong.empty()) return report;
  if (auto timed = time(*buffers, **own, request, report); !timed) return pass_on(timed);
  return report;
}

CudaResult<std::string> ConsumerRole::compare(const gpu::OperandBuffers& buffers, std::int64_t workspace_bytes,
                                              const std::vector<char>& expected) {
  const auto workspace = gpu::DeviceBuffer::allocate(workspace_bytes);
  if (!workspace) return pass_on(workspace);
  for (const int poison : kPoisons) {
    auto wrong = compare_at(buffers, 0, {workspace->address(), workspace_bytes}, poison, expected);
    if (!wrong || !wrong->empty()) return wrong;
  }
  if (buffers.guarded_places() == 0) return "";
  gpu::GuardedMemory guarded;
  if (workspace_bytes > 0) {
    auto memory = gpu::GuardedMemory::allocate(driver_, workspace_bytes);
    if (!memory) return pass_on(memory);
    guarded = std::move(*memory);
  }
  for (std::size_t i = 0; i < buffers.guarded_places(); ++i) {
    const DeviceSpan at = workspace_bytes > 0 ? guarded.at(gpu::kGuardedPlaces[i]) : DeviceSpan{};
    auto wrong = compare_at(buffers, buffers.copies().size() + i, at, kPoisons[0], expected);
    if (!wrong) return wrong;
    if (!wrong->empty()) return *wrong + ", between unmapped memory";
  }
  return "";
}

CudaResult<std::string> ConsumerRole::compare_at(const gpu::OperandBuffers& buffers, std::size_t place,
                                                 const DeviceSpan& workspace, int poison,
                                                 const std::vector<char>& expected) {
  const gpu::OperandSet& operands = buffers.place(place);
  if (auto ok = buffers.fill(place, stream_.get()); !ok) return pass_on(ok);
  if (workspace.bytes > 0) {
    const auto poisoned = gpu::check(cudaMemsetAsync(gpu::device_pointer(workspace.address), poison,
                                                     static_cast<std::size_t>(workspace.bytes), stream_.get()),
                                     "poisoning a workspace");
    if (!poisoned) return pass_on(poisoned);
  }
  if (std::string wrong = library_->run(operands, workspace, stream_.get()); !wrong.empty()) return wrong;
  const auto got = read_results(operands);
  if (!got) return pass_on(got);
  return *got == expected ? "" : "its result is not the worker's, bit for bit";
}

CudaResult<> ConsumerRole::time(const gpu::OperandBuffers& buffers, gpu::LoadedVariant& own,
                                const protocol::ConsumerRequest& request, protocol::ConsumerReport& report) {
  const auto workspace = gpu::DeviceBuffer::allocate(report.workspace_bytes);
  if (!workspace) return pass_on(workspace);
  for (std::size_t i = 0; i < buffers.copies().size(); ++i) {
    if (auto ok = own.reset(i, stream_.get()); !ok) return ok;
  }
  ExportedLaunch exported(*library_, buffers.copies(), {workspace->address(), report.workspace_bytes});
  gpu::LaunchSeries in_program(exported, buffers.rotation(), stream_.get());
  gpu::LaunchSeries bare(own, buffers.rotation(), stream_.get());
  auto times = gpu::time_side_by_side(*timer_, in_program, bare, request.launch_s);
  if (!times) return pass_on(times);
  report.run_s = std::move(times->first_s);
  report.bare_s = std::move(times->second_s);
  if (request.settle_s <= 0) return {};
  const gpu::SettlingRule rule(request.settle_s);
  for (int i = 0; i < kSettledSamples; ++i) {
    const auto sample = timer_->time_settled(in_program, request.launch_s, request.sample_s, rule);
    if (!sample) return pass_on(sample);
    report.settled_run_s.push_back(sample->per_launch_s());
  }
  return {};
}

}  // namespace

Result<void> serve_consumer(const WorkerOptions& options, LineChannel& channel) {
  Result<std::unique_ptr<ConsumerRole>> service = ConsumerRole::open(options.gpu, options.library);
  if (!service) return tl::unexpected(refuse(channel, std::move(service.error())));
  auto served = serve(channel, **service);
  // As of a measure worker.
  if ((*service)->context_lost()) ::_exit(served ? 0 : EXIT_FAILURE);
  return served;
}

}  // namespace pgtune::worker
