// SPDX-License-Identifier: MIT
// pgtune-fake-worker: a pgtune-worker without CUDA for tests. It answers every request at once: builds always work,
// times are made up from the variant's key (the same in every run), and there is one GPU, "Fake GPU", or more of them.
//
// PGTUNE_FAKE       faults (fake_faults.hpp).
// PGTUNE_FAKE_GPUS  how many GPUs there are, 1 where it is not set; they differ in their UUIDs.
// PGTUNE_FAKE_MIG   set: the GPUs are MIG instances.
// PGTUNE_FAKE_OTHERS  file with a line "pid bytes name" for each process that uses every GPU beside the measure workers
//                   that run now (as PGTUNE_FAKE_LOG knows them), whatever their GPU; not set or not there: no NVML.
// PGTUNE_FAKE_LOG   file that gets a line "pid role op key" for each request.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <utility>

#include "tests/device/fake_faults.hpp"
#include "tests/device/fake_measurer.hpp"
#include "tests/device/room_roles.hpp"
#include "tuner/gpu/measure/check/null_verdict.hpp"
#include "tuner/model/gpu_process.hpp"
#include "tuner/protocol/codec.hpp"
#include "tuner/util/fields_json.hpp"

namespace {

using namespace pgtune;
using namespace pgtune::device;
using fake::FakeMeasurer;
using nlohmann::json;

std::string number_of_gpu;  ///< of a measure worker
std::string cache_folder;   ///< of a compile worker

void write_log(const std::string& role, const std::string& op, const std::string& key) {
  const char* const path = std::getenv("PGTUNE_FAKE_LOG");
  if (path == nullptr) return;
  const std::string line = fmt::format("{} {} {} {}\n", ::getpid(), role, op, key);
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);  // one write: lines never mix
  if (fd < 0 || ::write(fd, line.data(), line.size()) < 0) std::exit(65);
  ::close(fd);
}

BuildInfo fake_build(const protocol::BuildRequest& request) {
  std::string text = request.variant.key() + request.architecture + request.source->contents;
  for (const Define& define : request.defines) text += " " + define.name + "=" + define.value;
  BuildInfo build;
  build.cubin_hash = fmt::format("{:016x}", fake::hash(text));
  build.key_hash = fmt::format("{:016x}", fake::hash("key " + text));
  build.registers = 64 + static_cast<int>(fake::hash(text) % 64U);
  build.compile_s = 0.1;
  if (!cache_folder.empty()) {  // bytes like a cubin's, for exports
    std::filesystem::create_directories(cache_folder);
    build.cubin_path = (std::filesystem::path(cache_folder) / (build.key_hash + ".cubin")).string();
    std::ofstream(build.cubin_path) << text;
  }
  return build;
}

template <typename T>
Result<json> body_of(Result<T> result) {
  if (!result) return tl::unexpected<Error>(result.error());
  return json(*result);
}

std::string key_of(const protocol::Request& request) {
  if (request.op == "build") return request.body.get<protocol::BuildRequest>().variant.key();
  if (request.op == "trial") return request.body.get<protocol::TrialRequest>().built.variant.key();
  if (request.op == "prepare") {
    const auto prepare = request.body.get<protocol::PrepareRequest>();
    const bool built = std::any_of(prepare.builds.begin(), prepare.builds.end(),
                                   [](const auto& one) { return one.built.has_value(); });
    return fmt::format("{} {}{}{}", prepare.problem.key(), prepare.conditions.key(), prepare.known ? " known" : "",
                       built ? " built" : "");
  }
  if (request.op == "energy") {
    const auto energy = request.body.get<protocol::EnergyRequest>();
    return fmt::format("{} {} ", energy.contender ? FakeMeasurer::name(*energy.contender) : "idle", energy.index);
  }
  if (request.op == "verify") return request.body.get<protocol::VerifyRequest>().built.variant.key();
  if (request.op == "launch") {
    const auto launch = request.body.get<protocol::LaunchRequest>();
    return launch.variant ? launch.variant->variant.key() : "baseline " + launch.algorithm;
  }
  std::string keys;
  if (request.op == "round") {
    const auto round = request.body.get<protocol::RoundRequest>();
    keys = fmt::format("{} {} ", to_string(round.stage), round.round);
    for (const protocol::BuiltContender& contender : round.contenders) {
      if (variant_of(contender) != nullptr) keys += FakeMeasurer::name(contender);
      keys += " ";
    }
  }
  return keys;
}

json round_report(const protocol::RoundRequest& round, std::string behaviour, const FakeMeasurer& measurer) {
  static bool was_slow = false;
  if (behaviour == "slow_clock_once") behaviour = std::exchange(was_slow, true) ? "" : "slow_clock";
  protocol::RoundReport report{{}, std::vector<Outcome>(round.contenders.size())};
  for (std::size_t index = 0; index < round.contenders.size(); ++index) {
    const auto place = std::find(round.order.begin(), round.order.end(), static_cast<int>(index));
    const int position = static_cast<int>(place - round.order.begin());
    report.samples.emplace_back(measurer.round_sample(round, round.contenders[index], position, behaviour));
  }
  if (behaviour == "sample_missing") report.samples.pop_back();
  if (behaviour == "outcome_missing") report.outcomes.pop_back();
  return report;
}

json answer(const protocol::Request& request, const std::string& role, const std::string& behaviour,
            FakeMeasurer& measurer) {
  if (request.op == "hello") {
    const bool wrong = behaviour == "wrong_version";
    protocol::Hello hello{wrong ? protocol::kProtocolVersion + 1 : protocol::kProtocolVersion, role, "13.0", {}};
    if (role == "measure" && behaviour != "no_device") hello.device = fake::gpu(std::stoi(number_of_gpu));
    return hello;
  }
  if (request.op == "prepare") {
    json reply = measurer.prepare(request.body.get<protocol::PrepareRequest>());
    reply["opaque"] = {"first, in hex", "second, in hex"};
    return reply;
  }
  if (request.op == "build") {
    const auto build = request.body.get<protocol::BuildRequest>();
    protocol::BuildDone done;
    done.id = build.id;
    if (behaviour == "fail") {
      done.outcome = {OutcomeKind::kCompileFailed, "fake: does not compile"};
    } else {
      done.build = fake_build(build);
    }
    return done;
  }
  if (request.op == "trial") {
    const auto trial = request.body.get<protocol::TrialRequest>();
    protocol::TrialDone done{trial.id, {}};
    if (behaviour == "fail" || behaviour == "context_lost") {
      done.report.outcome = {OutcomeKind::kLaunchFailed, "fake: does not launch"};
    } else if (behaviour == "tell_limit") {
      done.report.outcome = {OutcomeKind::kLaunchFailed, fmt::format("{:g}", trial.launch_limit_s)};
    } else if (behaviour == "wrong") {
      done.report.outcome = {OutcomeKind::kWrongResult, "fake: largest error 12 times the bound"};
      done.report.check = CheckReport{12, 0.5};
    } else {
      done.report = measurer.trial(trial);
    }
    return done;
  }
  if (request.op == "verify") {
    const auto verify = request.body.get<protocol::VerifyRequest>();
    protocol::VerifyReport report{.outcome = {}, .launches = verify.launches, .copies = 2};
    report.poisoned_s = report.held_s = verify.launch_s;
    if (behaviour == "wrong") report.outcome = {OutcomeKind::kWrongResult, "fake: wrong with other data"};
    return report;
  }
  if (request.op == "rows") {
    const auto rows = request.body.get<protocol::RowsRequest>();
    return protocol::RowsReport{behaviour == "wrong" ? "row 3 of M = 5 has other bits than at M = 96" : "",
                                std::ssize(rows.products)};
  }
  if (request.op == "launch") {
    const auto launch = request.body.get<protocol::LaunchRequest>();
    protocol::LaunchReport report;
    if (behaviour == "fail") report.outcome = {OutcomeKind::kLaunchFailed, "fake: does not launch"};
    if (!launch.variant) report.algorithm = launch.algorithm.empty() ? "fake library: its best" : launch.algorithm;
    return report;
  }
  if (request.op == "ceilings") return Ceilings{4.2e12, 6.5e12, 30e12, {{"f32", 58e12}}, 1.7e9};
  return round_report(request.body.get<protocol::RoundRequest>(), behaviour, measurer);
}

/// A null test in which zeros pass.
class LooselyJudged : public gpu::NullResults {
 public:
  Result<std::uint64_t> unwritten() override { return 0; }
  Result<std::uint64_t> wrong_of_reference() override { return 0; }
  Result<std::uint64_t> wrong_where_shifted(std::size_t /*output*/) override { return 0; }
  Result<std::uint64_t> wrong_where_zero(std::size_t /*output*/) override { return 0; }
  Result<std::uint64_t> wrong_without_part_of(std::size_t /*input*/) override { return 0; }
};

/// What an operation is refused with as its problem is prepared.
Error refusal(const protocol::Request& request, const std::string& behaviour) {
  const OperationHandle operation = request.body.get<protocol::PrepareRequest>().problem.operation;
  if (behaviour == "bad_reference")
    return {ErrorKind::kUsage,
            fmt::format("running the reference of the operation '{}': fake: unspecified launch failure "
                        "(cudaErrorLaunchFailure)",
                        operation->name),
            {}};
  LooselyJudged results;
  return gpu::judge_null_results(*operation, results).error();
}

/// Of standard input, or of the file where one is named.
int serve(const std::string& role, const fake::RoomRole* of_room, const std::string& file) {
  FakeMeasurer measurer;
  std::ifstream input(file);
  for (std::string line; std::getline(file.empty() ? std::cin : input, line);) {
    const auto request = protocol::decode_request(line);
    if (!request) {
      std::cerr << request.error().text() << std::endl;
      return 66;
    }
    const std::string key = of_room != nullptr ? of_room->key(*request) : key_of(*request);
    write_log(role, request->op, key);
    const std::string behaviour = fake::behaviour_of(request->op, key, number_of_gpu);
    fake::misbehave(behaviour);
    const bool lost = behaviour == "context_lost" || behaviour == "bad_reference";
    protocol::Reply reply{request->id, json(), lost};
    if (behaviour == "error") {
      reply.body = fail(ErrorKind::kEnvironment, "fake: this machine cannot do it");
    } else if (behaviour == "bad_reference" || behaviour == "loose_rule") {
      reply.body = tl::unexpected(refusal(*request, behaviour));
    } else if (lost && request->op != "trial") {
      reply.body = fail(ErrorKind::kInternal, "fake: an illegal memory access was encountered");
    } else if (of_room != nullptr && request->op == "hello") {
      reply.body = json(protocol::Hello{protocol::kProtocolVersion, role, "13.0", fake::gpu(std::stoi(number_of_gpu))});
    } else if (of_room != nullptr) {
      reply.body = of_room->answer(*request, behaviour);
    } else if (behaviour == "strict" && !request->body.get<protocol::PrepareRequest>().problem.operation) {
      reply.body = fail(ErrorKind::kInternal, "fake: a problem came without its operation");
    } else if (request->op == "energy") {
      const auto window = measurer.energy(request->body.get<protocol::EnergyRequest>(), behaviour);
      if (window) {
        reply.body = json(*window);
      } else {
        reply.body = fail(ErrorKind::kUsage, "fake: the window is too short for that uncertainty");
      }
    } else {
      reply.body = answer(*request, role, behaviour, measurer);
    }
    std::cout << protocol::encode(reply) << std::endl;
    if (lost) return 1;
  }
  return 0;
}

/// As the guard role of pgtune-worker: locks, waits for the end of input, releases. The clock without --lock-mhz is
/// 1500.
int guard(const std::vector<std::string>& arguments) {
  ::prctl(PR_SET_PDEATHSIG, 0);  // a killed parent must not take its guard with it
  const auto option = std::find(arguments.begin(), arguments.end(), "--lock-mhz");
  const int mhz = option == arguments.end() ? 1500 : std::stoi(*(option + 1));
  const auto step = [](const std::string& op, protocol::RequestId id, const std::string& key, const json& body) {
    write_log("guard", op, key);
    const std::string behaviour = fake::behaviour_of(op, key, number_of_gpu);
    fake::misbehave(behaviour);
    protocol::Reply reply{id, body, false};
    if (behaviour == "error")
      reply.body = fail(ErrorKind::kEnvironment, "fake: no permission; sudo nvidia-smi does it");
    std::cout << protocol::encode(reply) << std::endl;
    return behaviour != "error";
  };
  if (std::find(arguments.begin(), arguments.end(), "--restore") == arguments.end()) {
    const json locked = {{"locked_mhz", mhz}, {"verified", true}, {"sm_mhz", mhz}};
    if (!step("lock", 1, std::to_string(mhz), locked)) return 3;
    for (std::string line; std::getline(std::cin, line);) {
    }
  }
  return step("release", 2, "", {{"sm_mhz", 345}}) ? 0 : 3;
}

int gpu_count() {
  const char* const text = std::getenv("PGTUNE_FAKE_GPUS");
  return text == nullptr ? 1 : std::atoi(text);
}

/// The number of the GPU of that number or UUID; empty where there is none.
std::string find_gpu(const std::string& gpu) {
  for (int number = 0; number < gpu_count(); ++number) {
    if (gpu == std::to_string(number) || gpu == fake::gpu(number).uuid) return std::to_string(number);
  }
  return {};
}

int list() {
  const std::string behaviour = fake::behaviour_of("list", "", number_of_gpu);
  fake::misbehave(behaviour);
  json line = {{"devices", json::array()}, {"driver", "580.00.00"}, {"nvrtc", "13.0"}};
  if (behaviour == "no_devices") {
    line["problem"] = "fake: no driver is loaded. Install one";
  } else {
    for (int number = 0; number < gpu_count(); ++number) line["devices"].push_back(fake::gpu(number));
  }
  std::cout << line.dump() << std::endl;
  return 0;
}

/// As the processes role of pgtune-worker.
int processes() {
  const char* const path = std::getenv("PGTUNE_FAKE_OTHERS");
  const char* const log = std::getenv("PGTUNE_FAKE_LOG");
  std::ifstream others(path != nullptr ? path : "");
  if (!others) {
    std::cout << json{{"problem", "fake: cannot open NVML"}}.dump() << std::endl;
    return 0;
  }
  std::vector<GpuProcess> all;
  for (GpuProcess process; others >> process.pid >> process.memory_bytes >> process.name;) all.push_back(process);
  std::ifstream requests(log != nullptr ? log : "");
  std::set<int> workers;
  for (std::string line, role; std::getline(requests, line);) {
    int pid = 0;
    std::istringstream(line) >> pid >> role;
    if (role == "measure" && ::kill(pid, 0) == 0) workers.insert(pid);
  }
  for (const int pid : workers) all.push_back({pid, 1 << 29, "pgtune-worker"});
  std::cout << json{{"processes", all}}.dump() << std::endl;
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 || std::string(arguments[1]) != "--role") return 64;
  const std::string role = arguments[2];
  if (role == "guard") return guard({arguments + 3, arguments + count});
  if (role == "list") return list();
  if (role == "processes") return processes();
  if (role == "limits") {
    std::cout << json{{"power_limit_w", 700}, {"mig_mode", true}}.dump() << std::endl;
    return 0;
  }
  for (int i = 3; role == "compile" && i + 1 < count; ++i) {
    if (std::string(arguments[i]) == "--cache-dir") cache_folder = arguments[i + 1];
  }
  const fake::RoomRoles rooms = fake::rooms();
  const auto of_room = rooms.find(role);
  if (role == "measure" || of_room != rooms.end()) {
    if (count < 5) return 64;
    number_of_gpu = find_gpu(arguments[4]);  // after --gpu
    if (number_of_gpu.empty()) {
      std::cerr << "fake: there is no GPU " << arguments[4] << std::endl;
      return 3;
    }
  }
  std::string input;
  for (int i = 3; i + 1 < count; ++i) {
    if (std::string(arguments[i]) == "--input") input = arguments[i + 1];
  }
  return serve(role, of_room == rooms.end() ? nullptr : &of_room->second, input);
}
