// SPDX-License-Identifier: MIT
#include "tool/worker/consumer_service.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tool/worker/exported_library.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/side_by_side.hpp"

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

}  // namespace

ConsumerService::~ConsumerService() = default;

Result<std::unique_ptr<ConsumerService>> ConsumerService::open(const std::string& gpu, const std::string& library) {
  std::unique_ptr<ConsumerService> out(new ConsumerService);
  const Result<int> ordinal = gpu::find_gpu(gpu);
  if (!ordinal) return tl::unexpected(ordinal.error());
  out->ordinal_ = *ordinal;
  if (auto ok = gpu::check(cudaSetDevice(*ordinal), "choosing the GPU"); !ok)
    return tl::unexpected(to_error(ok.error()));
  auto info = gpu::describe_gpu(*ordinal);
  if (!info) return tl::unexpected(info.error());
  out->info_ = std::move(*info);
  auto driver = gpu::Driver::load();
  if (!driver) return tl::unexpected(driver.error());
  out->driver_ = *driver;
  auto stream = gpu::create_stream();
  if (!stream) return tl::unexpected(to_error(stream.error()));
  out->stream_ = std::move(*stream);
  auto kernels = gpu::HelperKernels::load(out->driver_, out->info_.architecture, out->info_.sm_count);
  if (!kernels) return tl::unexpected(kernels.error());
  out->kernels_ = std::move(*kernels);
  auto timer = gpu::SampleTimer::create(*out->kernels_, out->info_.sm_count, {});
  if (!timer) return tl::unexpected(to_error(timer.error()));
  out->timer_ = std::move(*timer);
  auto sweep = gpu::L2Sweep::create(*out->kernels_, out->info_.l2_bytes);
  if (!sweep) return tl::unexpected(to_error(sweep.error()));
  out->sweep_ = std::move(*sweep);
  auto opened = ExportedLibrary::open(library);
  if (!opened) return tl::unexpected(opened.error());
  if (const std::string wrong = (*opened)->prepare(*ordinal); !wrong.empty())
    return fail(ErrorKind::kEnvironment, "the exported kernels cannot be loaded: " + wrong);
  out->library_ = std::move(*opened);
  return out;
}

protocol::Hello ConsumerService::hello() const {
  return {.protocol = protocol::kProtocolVersion, .role = "consumer", .nvrtc_version = "", .device = info_};
}

Result<nlohmann::json> ConsumerService::handle(const protocol::Request& request) {
  if (request.op != "check") return unknown_operation(request);
  const auto asked = request.body.get<protocol::ConsumerRequest>();
  if (!asked.problem.operation)
    return fail(ErrorKind::kInternal, "nobody said in plain numbers what " + asked.problem.title() + " is");
  auto kernels = gpu::OperationKernels::create(driver_, *kernels_, asked.problem.operation, info_.architecture);
  if (!kernels) return tl::unexpected(kernels.error());
  operation_ = std::move(*kernels);
  const auto report = check(asked);
  if (report) return nlohmann::json(*report);
  context_lost_ = report.error().sticky;
  return tl::unexpected(to_error(report.error()));
}

CudaResult<std::vector<char>> ConsumerService::read_results(const gpu::OperandSet& operands) const {
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

CudaResult<protocol::ConsumerReport> ConsumerService::check(const protocol::ConsumerRequest& request) {
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
  // Where there is no memory for one set more, the start of a plain buffer has to do.
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

CudaResult<std::string> ConsumerService::compare(const gpu::OperandBuffers& buffers, std::int64_t workspace_bytes,
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

CudaResult<std::string> ConsumerService::compare_at(const gpu::OperandBuffers& buffers, std::size_t place,
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

CudaResult<> ConsumerService::time(const gpu::OperandBuffers& buffers, gpu::LoadedVariant& own,
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

}  // namespace pgtune::worker
