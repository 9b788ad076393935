// SPDX-License-Identifier: MIT
// pgtune-fake-worker: a pgtune-worker without CUDA for tests. It answers every request at once: builds always work,
// times are made up from the variant's key (the same in every run), and there is one GPU, "Fake GPU".
//
// PGTUNE_FAKE       faults, separated by ';', each "op|pattern|behaviour" or "op|pattern|behaviour|file":
//                     op         hello, build, prepare, trial, round or list
//                     pattern    text inside the variant's key (for round: inside a contender's); empty: always
//                     file       the fault is active only while this file exists
//                   behaviours:
//                     segv          dies by SIGSEGV                exit3      writes to stderr, exits with 3
//                     hang          never answers                  slow       answers after 50 ms
//                     garbage       answers a line that is no JSON huge       answers a line over the limit
//                     noisy         writes 1 MiB to stderr first   error      answers an environment error
//                     context_lost  trial: launch_failed and a lost context; others: an error and a lost context
//                     fail          build: compile_failed; trial: launch_failed
//                     wrong         trial: wrong_result            wrong_version  hello: another protocol version
//                     no_devices    list: no GPU, with a problem text
//                   e.g. PGTUNE_FAKE="build|BM=64,|fail;trial|BM=128,|segv"
// PGTUNE_FAKE_LOG   file that gets a line "pid role op key" for each request.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "tuner/device/protocol.hpp"

namespace {

using namespace pgtune;
using namespace pgtune::device;
using nlohmann::json;

struct Fault {
  std::string op, pattern, behaviour, file;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<Fault> read_faults() {
  const char* const text = std::getenv("PGTUNE_FAKE");
  std::vector<Fault> faults;
  for (const std::string& entry : split(text != nullptr ? text : "", ';')) {
    auto fields = split(entry, '|');
    if (fields.size() < 3) std::exit(64);
    fields.resize(4);
    faults.push_back({fields[0], fields[1], fields[2], fields[3]});
  }
  return faults;
}

std::string behaviour_of(const std::string& op, const std::string& key) {
  static const std::vector<Fault> faults = read_faults();
  for (const Fault& fault : faults) {
    if (fault.op == op && key.find(fault.pattern) != std::string::npos &&
        (fault.file.empty() || std::filesystem::exists(fault.file)))
      return fault.behaviour;
  }
  return {};
}

void write_log(const std::string& role, const std::string& op, const std::string& key) {
  const char* const path = std::getenv("PGTUNE_FAKE_LOG");
  if (path == nullptr) return;
  const std::string line = fmt::format("{} {} {} {}\n", ::getpid(), role, op, key);
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);  // one write: lines never mix
  if (fd < 0 || ::write(fd, line.data(), line.size()) < 0) std::exit(65);
  ::close(fd);
}

/// FNV-1a with a final mix, so that neighbouring keys get unrelated times.
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char letter : text) value = (value ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  value = (value ^ (value >> 31U)) * 0x9e3779b97f4a7c15U;
  return value ^ (value >> 29U);
}

/// In [0, 1).
double uniform(const std::string& text) { return static_cast<double>(hash(text) >> 11U) * 0x1p-53; }

DeviceInfo fake_gpu() {
  DeviceInfo device;
  device.uuid = "GPU-fa4efa4e-0000-0000-0000-000000000000";
  device.name = "Fake GPU";
  device.architecture = "sm_90a";
  device.compute_major = 9;
  device.sm_count = 132;
  device.memory_bytes = std::int64_t{80} << 30U;
  device.l2_bytes = std::int64_t{50} << 20U;
  device.smem_per_block_bytes = 227 << 10U;
  device.smem_per_sm_bytes = 228 << 10U;
  device.registers_per_sm = 65536;
  device.threads_per_sm = 2048;
  device.max_sm_clock_hz = 1.98e9;
  device.power_limit_w = 700;
  device.driver_version = "580.00.00";
  device.nvrtc_version = "13.0";
  device.cublaslt_version = "13.0.0";
  return device;
}

BuildInfo fake_build(const BuildRequest& request) {
  std::string text = request.variant.key() + request.architecture + request.source->contents;
  for (const Define& define : request.defines) text += " " + define.name + "=" + define.value;
  BuildInfo build;
  build.cubin_hash = fmt::format("{:016x}", hash(text));
  build.key_hash = fmt::format("{:016x}", hash("key " + text));
  build.registers = 64 + static_cast<int>(hash(text) % 64U);
  build.compile_s = 0.1;
  return build;
}

/// One measure worker's state: the problem, and times that follow from it.
class FakeMeasurer {
 public:
  json prepare(const Problem& problem) {
    problem_ = problem;
    reference_.library = "fake cuBLASLt 13.0.0";
    reference_.algorithms = {{0, "first heuristic", 0, at_tflops(42), 0.01},
                             {1, "split-K 2", 4096, at_tflops(45), 0.02}};
    reference_.best = 1;
    reference_.buffer_copies = 2;
    reference_.data_seed = 1;
    return reference_;
  }

  [[nodiscard]] TrialReport trial(const TrialRequest& request) const {
    TrialReport report;
    report.check = CheckReport{0.1, 1e-7};
    const std::string key = request.variant.key();
    report.cut = request.incumbent_s > 0 && variant_s(key) > 1.5 * request.incumbent_s;
    for (int index = 0; index < (report.cut ? 1 : 3); ++index) {
      report.blocks.push_back(block(variant_s(key), key, 0));
      report.blocks.back().position = index;
    }
    return report;
  }

  [[nodiscard]] Block round_block(const Contender& contender, int round, int position) const {
    const int algorithm = contender.reference_algorithm;
    const std::string key = algorithm < 0 ? contender.variant.key() : fmt::format("reference {}", algorithm);
    const double time_s =
        algorithm < 0 ? variant_s(key) : reference_.algorithms.at(static_cast<std::size_t>(algorithm)).time_s;
    Block result = block(time_s, key, round);
    result.stage = Stage::kFinal;
    result.position = position;
    return result;
  }

 private:
  [[nodiscard]] double at_tflops(double tflops) const { return problem_.flops() / (tflops * 1e12); }
  /// Between 20 and 50 TFLOP/s.
  [[nodiscard]] double variant_s(const std::string& key) const { return at_tflops(20 + 30 * uniform(key)); }

  [[nodiscard]] static Block block(double launch_s, const std::string& key, int round) {
    Block result;
    result.round = round;
    result.launches = 10;
    result.time_s = 10 * launch_s * (1 + 0.002 * uniform(fmt::format("{} {}", key, round)));
    result.sm_clock_hz = 1.7e9;
    return result;
  }

  Problem problem_;
  ReferenceReport reference_;
};

std::string key_of(const Request& request) {
  if (request.op == "build") return request.body.get<BuildRequest>().variant.key();
  if (request.op == "trial") return request.body.get<TrialRequest>().variant.key();
  if (request.op == "prepare") return request.body.get<Problem>().key();
  std::string keys;
  if (request.op == "round") {
    for (const Contender& contender : request.body.get<RoundRequest>().contenders)
      keys += contender.variant.key() + " ";
  }
  return keys;
}

/// Faults that need no reply, or spoil it.
void misbehave(const std::string& behaviour) {
  if (behaviour == "segv") {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  } else if (behaviour == "exit3") {
    std::cerr << "fake: about to fail\nfake: out of luck" << std::endl;
    std::exit(3);
  } else if (behaviour == "hang") {
    for (;;) ::pause();
  } else if (behaviour == "slow") {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } else if (behaviour == "garbage") {
    std::cout << "this is not JSON" << std::endl;
  } else if (behaviour == "huge") {
    std::cout << std::string(kMaxLineBytes + (1U << 20U), 'x') << std::endl;
  } else if (behaviour == "noisy") {
    std::cerr << std::string(1U << 20U, 'n') << "\nfake: noise ends" << std::endl;
  }
}

json answer(const Request& request, const std::string& role, const std::string& behaviour, FakeMeasurer& measurer) {
  if (request.op == "hello") {
    const bool wrong = behaviour == "wrong_version";
    Hello hello{wrong ? kProtocolVersion + 1 : kProtocolVersion, role, "13.0", {}};
    if (role == "measure") hello.device = fake_gpu();
    return hello;
  }
  if (request.op == "prepare") return measurer.prepare(request.body.get<Problem>());
  if (request.op == "build") {
    const auto build = request.body.get<BuildRequest>();
    BuildDone done;
    done.id = build.id;
    if (behaviour == "fail") {
      done.outcome = {OutcomeKind::kCompileFailed, "fake: does not compile"};
    } else {
      done.build = fake_build(build);
    }
    return done;
  }
  if (request.op == "trial") {
    const auto trial = request.body.get<TrialRequest>();
    TrialDone done{trial.id, {}};
    if (behaviour == "fail" || behaviour == "context_lost") {
      done.report.outcome = {OutcomeKind::kLaunchFailed, "fake: does not launch"};
    } else if (behaviour == "wrong") {
      done.report.outcome = {OutcomeKind::kWrongResult, "fake: largest error 12 times the bound"};
      done.report.check = CheckReport{12, 0.5};
    } else {
      done.report = measurer.trial(trial);
    }
    return done;
  }
  const auto round = request.body.get<RoundRequest>();
  RoundReport report{{}, std::vector<Outcome>(round.contenders.size())};
  for (std::size_t index = 0; index < round.contenders.size(); ++index) {
    const auto place = std::find(round.order.begin(), round.order.end(), static_cast<int>(index));
    const int position = static_cast<int>(place - round.order.begin());
    report.blocks.emplace_back(measurer.round_block(round.contenders[index], round.round, position));
  }
  return report;
}

int serve(const std::string& role) {
  FakeMeasurer measurer;
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = decode_request(line);
    if (!request) {
      std::cerr << request.error().text() << std::endl;
      return 66;
    }
    const std::string key = key_of(*request);
    write_log(role, request->op, key);
    const std::string behaviour = behaviour_of(request->op, key);
    misbehave(behaviour);
    const bool lost = behaviour == "context_lost";
    Reply reply{request->id, json(), lost};
    if (behaviour == "error") {
      reply.body = fail(ErrorKind::kEnvironment, "fake: this machine cannot do it");
    } else if (lost && request->op != "trial") {
      reply.body = fail(ErrorKind::kInternal, "fake: an illegal memory access was encountered");
    } else {
      reply.body = answer(*request, role, behaviour, measurer);
    }
    std::cout << encode(reply) << std::endl;
    if (lost) return 1;
  }
  return 0;
}

int list() {
  const std::string behaviour = behaviour_of("list", "");
  misbehave(behaviour);
  json line = {{"devices", json::array()}, {"driver", "580.00.00"}, {"nvrtc", "13.0"}};
  if (behaviour == "no_devices") {
    line["problem"] = "fake: no driver is loaded. Install one";
  } else {
    line["devices"].push_back(fake_gpu());
  }
  std::cout << line.dump() << std::endl;
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 || std::string(arguments[1]) != "--role") return 64;
  const std::string role = arguments[2];
  return role == "list" ? list() : serve(role);
}
