// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/cli/toolkit_program.hpp"
#include "tool/pgtune/export/callable_package.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tool/pgtune/export/result_choice.hpp"
#include "tool/pgtune/measuring/gpu_lock.hpp"
#include "tuner/device/device_list.hpp"
#include "tuner/device/worker_client.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/operation/gemm_operation.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::tool {
namespace {

constexpr std::chrono::minutes kCompiling{5}, kOpening{2}, kEntry{2}, kRows{10};
constexpr const char* kCompilerVariable = "PGTUNE_CXX";
constexpr double kAim = 0.005;

struct Target {
  DeviceInfo device;
  std::size_t device_class = 0;  ///< of the export
};

Result<Target> find_target(const Context& context, const CallableHeader& content) {
  TRY_ASSIGN(const auto devices, device::list_devices(context.paths().worker));
  for (const DeviceInfo& device : devices) {
    for (std::size_t i = 0; i < content.device_classes.size(); ++i) {
      if (same_device_class(content.device_classes[i], device)) return Target{device, i};
    }
  }
  return fail(ErrorKind::kEnvironment, fmt::format("there is no GPU of the class {} here",
                                                   device_class(content.device_classes.front()).hardware()));
}

Result<GpuLock> take_gpu(const Context& context, const DeviceInfo& device) {
  TRY_ASSIGN(auto taken, GpuLock::take(context.paths().locks, device.uuid));
  if (auto* const lock = std::get_if<GpuLock>(&taken)) return std::move(*lock);
  return fail(ErrorKind::kEnvironment, fmt::format("another pgtune is measuring on {}", device.uuid));
}

Result<std::filesystem::path> find_compiler() {
  const auto named = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr ? std::string(value) : std::string();
  };
  const bool chosen = !named(kCompilerVariable).empty();
  if (const std::string own = named("CXX"); !chosen && own.starts_with('/')) return own;
  for (const char* name : {"c++", "g++", "clang++"}) {
    auto program = find_toolkit_program({name, "host compiler", kCompilerVariable});
    if (program || chosen) return program;
  }
  return fail(ErrorKind::kEnvironment,
              fmt::format("no host compiler: c++, g++ and clang++ are not on PATH; install one, or name it in {}",
                          kCompilerVariable));
}

/// The toolkit's folder with cuda.h.
Result<std::filesystem::path> find_cuda_headers() {
  for (const std::filesystem::path& folder : toolkit_folders()) {
    std::error_code none;
    std::filesystem::path headers = folder.parent_path() / "include";
    if (std::filesystem::exists(headers / "cuda.h", none)) return headers;
  }
  return fail(ErrorKind::kEnvironment, "no cuda.h beside a CUDA toolkit's programs; set CUDA_HOME to a toolkit");
}

/// The program's output, unless it ended with 0.
Result<void> run_compiler(const std::vector<std::string>& command) {
  TRY_ASSIGN(auto child, ChildProcess::start(command, std::size_t{1} << 20));
  const std::string end = run_to_end(*child, SteadyClock::now() + kCompiling);
  if (child->succeeded()) return {};
  return fail(ErrorKind::kEnvironment, fmt::format("{} {}", command.front(), end));
}

/// The worker's reply. Errors: its end, or the CUDA driver's message.
template <typename Report, typename Request>
Result<Report> ask(device::WorkerClient& worker, const std::string& operation, const Request& request,
                   std::chrono::minutes limit) {
  worker.request(operation, request, limit);
  while (true) {
    if (auto event = worker.poll()) {
      if (auto* const failure = std::get_if<device::WorkerFailure>(&*event)) return tl::unexpected(failure->error);
      auto& reply = std::get<protocol::Reply>(*event);
      if (!reply.body) return tl::unexpected(reply.body.error());
      return protocol::decode_body<Report>(*reply.body, "consumer's report");
    }
    std::vector<pollfd> fds;
    worker.add_poll_fds(fds);
    (void)wait_ready(fds, worker.deadline().value_or(SteadyClock::now() + limit));
  }
}

protocol::ConsumerRequest request_of(const CallableHeader& content, std::size_t number, const DeviceInfo& device) {
  const ExportedEntry& entry = content.entries[number];
  const ExportedVariant& variant = content.variants[entry.variant];
  const bool settled = entry.sampling == Sampling::kSettled;
  return {.entry = static_cast<int>(program_number(content, number)),
          .problem = value_or_throw(operation::with_operation(entry.problem)),
          .built = {variant.variant,
                    value_or_throw(space::make_launch_plan(content.templates[variant.template_number], variant.variant,
                                                           entry.problem, device)),
                    variant.build},
          .launch_s = entry.time_s,
          .sample_s = settled ? session::kSettledSample.sample_s : 0,
          .settle_s = settled ? session::kSettledSample.settle_s : 0};
}

std::string ratios_text(const std::vector<double>& ratios) {
  if (ratios.empty()) return "not measured";
  const auto near = std::count_if(ratios.begin(), ratios.end(), [](double r) { return std::abs(r - 1) <= kAim; });
  return fmt::format("{:.4f} ({:.4f} to {:.4f}, {} of {} within 0.5 %)", stats::median(ratios),
                     *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()),
                     near, ratios.size());
}

struct Verified {
  std::size_t entries = 0, wrong = 0;
  std::int64_t products = 0;  ///< of families of one order, whose rows were compared
  std::vector<double> to_bare, to_stored;
  std::vector<double> to_other_boards;  ///< over stored times that other boards of the class measured
};

/// Rows of families of one order have the same bits at every M. Of a batch that is not checked here.
void check_families(Context& context, const CallableHeader& content, const Target& target, device::WorkerClient& worker,
                    Verified& out) {
  for (std::size_t i = 0; i < content.families.size(); ++i) {
    const ExportedFamily& exported = content.families[i];
    const Family& family = exported.family;
    if (exported.device_class != target.device_class || family.sum_order.empty() || family.problem.batch > 1) continue;
    protocol::ExportedRowsRequest request{
        static_cast<int>(i), value_or_throw(operation::with_operation(family.problem)), family.first_m, {}};
    for (const ExportedFamily::Interval& interval : exported.intervals) request.ends.push_back(interval.last_m);
    const auto report = ask<protocol::RowsReport>(worker, "rows", request, kRows);
    const std::string wrong = report ? report->wrong : report.error().text();
    if (!wrong.empty()) {
      ++out.wrong;
      context.terminal().error(fmt::format("{} in a program: {}", family.title(), wrong));
    }
    if (!report) return;
    out.products += report->launches;
  }
}

Verified check_entries(Context& context, const CallableHeader& content, const Target& target,
                       const std::filesystem::path& library) {
  auto worker = value_or_throw(
      device::WorkerClient::start({.path = context.paths().worker,
                                   .role = "consumer",
                                   .arguments = {"--gpu", target.device.uuid, "--library", library.string()},
                                   .hello_timeout = kOpening}));
  Verified out;
  for (std::size_t i = 0; i < content.entries.size(); ++i) {
    const ExportedEntry& entry = content.entries[i];
    if (entry.device_class != target.device_class) continue;
    ++out.entries;
    const auto report = ask<protocol::ConsumerReport>(*worker, "check", request_of(content, i, target.device), kEntry);
    const std::string wrong = report ? report->wrong : report.error().text();
    if (!wrong.empty()) {
      ++out.wrong;
      context.terminal().error(fmt::format("{} in a program: {}", entry.problem.title(), wrong));
      if (!report) return out;  // the worker may be gone, and the GPU with it
      continue;
    }
    std::vector<double> rounds;
    for (std::size_t r = 0; r < std::min(report->run_s.size(), report->bare_s.size()); ++r)
      rounds.push_back(report->run_s[r] / report->bare_s[r]);
    if (rounds.empty()) continue;
    out.to_bare.push_back(stats::median(rounds));
    if (entry.guessed_loss) continue;
    // Timed like the stored time: in short samples a kernel at the power cap runs at a clock that it cannot sustain.
    const std::vector<double>& times = entry.sampling == Sampling::kSettled ? report->settled_run_s : report->run_s;
    if (times.empty()) continue;
    auto& ratios = entry.board == target.device.uuid ? out.to_stored : out.to_other_boards;
    ratios.push_back(stats::median(times) / entry.time_s);
  }
  check_families(context, content, target, *worker, out);
  return out;
}

}  // namespace

Result<std::filesystem::path> compile_export(const std::filesystem::path& folder, const CallableHeader& content,
                                             const ExportedText& text, const std::string& program) {
  const auto compiler = find_compiler();
  if (!compiler) return compiler;
  const auto headers = find_cuda_headers();
  if (!headers) return headers;
  const std::filesystem::path library = folder / "program.so";
  write_output_file(folder / content.file_name, text.header);
  write_output_file(folder / "program.cpp", program);
  std::vector<std::string> command{compiler->string(),
                                   "-std=c++17",
                                   "-O1",
                                   "-fPIC",
                                   "-shared",
                                   "-isystem",
                                   headers->string(),
                                   "-I" + folder.string(),
                                   (folder / "program.cpp").string()};
  command.push_back(fmt::format("-DPGTUNE_CUDA_INCLUDE=\"{}\"", headers->string()));
  if (!text.source.empty()) {
    write_output_file(folder / "kernels.cpp", text.source);
    command.push_back((folder / "kernels.cpp").string());
  }
  for (const std::string& word : {std::string("-o"), library.string(), std::string("-pthread"), std::string("-ldl")})
    command.push_back(word);
  if (auto compiled = run_compiler(command); !compiled)
    return fail(std::move(compiled.error()), "compiling the header");
  return library;
}

std::optional<std::string> verify_export(Context& context, const CallableHeader& content, const ExportedText& text,
                                         bool asked) {
  const auto not_verified = [&](const Error& error) {
    if (asked) throw CommandError(ErrorKind::kEnvironment, "the export cannot be verified: " + error.text());
    return "not verified: " + error.text();
  };
  const auto target = find_target(context, content);
  if (!target) return not_verified(target.error());
  const auto lock = take_gpu(context, target->device);
  if (!lock) return not_verified(lock.error());
  const auto folder = ScratchFolder::make();
  if (!folder) return not_verified(folder.error());
  const auto library = compile_export(folder->path(), content, text, package_text(content, "consumer.cpp"));
  if (!library) return not_verified(library.error());
  const Verified verified = check_entries(context, content, *target, *library);
  if (verified.wrong > 0) return std::nullopt;
  std::string sentence =
      fmt::format("verified on {}: {} entries give the worker's bits; time in the program over the worker's launch {}",
                  target->device.uuid, verified.entries, ratios_text(verified.to_bare));
  if (verified.products > 0) sentence += fmt::format("; rows of {} products are equal bit for bit", verified.products);
  if (!verified.to_stored.empty()) sentence += ", over the stored time " + ratios_text(verified.to_stored);
  if (!verified.to_other_boards.empty())
    sentence += ", over times stored by other boards of the class " + ratios_text(verified.to_other_boards);
  return sentence;
}

}  // namespace pgtune::tool
