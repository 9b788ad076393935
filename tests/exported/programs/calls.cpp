// SPDX-License-Identifier: MIT
// Calls of an exported header, right and wrong, one scenario a process: its name is the argument.
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "best_gemm.hpp"
#include "tests/exported/programs/check.hpp"

using namespace best_gemm;

namespace {

Operands operands_of(const Entry& entry) {
  Operands o;
  o.a = at(0x10000000), o.b = at(0x20000000), o.c = at(0x30000000), o.d = at(0x40000000), o.bias = at(0x50000000);
  o.beta = entry.adds_c ? 0.5F : 0.0F;
  return o;
}
void* const workspace = at(0x60000000);
constexpr std::size_t kPlenty = std::size_t{1} << 34;

const Entry& entry(int i) {
  int count = 0;
  return entries(&count)[i];
}
CUstream stream(int device = 0, bool own = false) { return stream_of<CUstream>(device, own); }

Gemm selected(const Entry& e, const Policy& policy = {}) {
  Gemm gemm;
  CHECK(Gemm::select(e.problem, operands_of(e), 0, policy, gemm) == Status::ok);
  return gemm;
}

/// An entry whose kernel adds through flags in the workspace, and one of a tensor map.
const Entry& entry_with_flags() {
  int count = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    Gemm gemm;
    if (Gemm::select(all[i].problem, operands_of(all[i]), 0, {}, gemm) != Status::ok) continue;
    const int memsets = fake().memsets;
    CHECK(gemm.run(operands_of(all[i]), workspace, kPlenty, stream()) == Status::ok);
    if (fake().memsets > memsets) return all[i];
  }
  std::puts("no entry has flags");
  std::exit(2);
}

void unprepared() {
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_prepared);
  CHECK(gemm.run(operands_of(entry(0)), workspace, kPlenty, stream()) == Status::not_supported);
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), -1, {}, gemm) == Status::invalid_argument);
  CHECK(Gemm::prepare(-1) == Status::invalid_argument);
  CHECK(Gemm::prepare(7) == Status::invalid_argument);
  CHECK(last_cuda_error() == CUDA_ERROR_INVALID_DEVICE);
}

void prepared() {
  CHECK(Gemm::prepare(0) == Status::ok);
  const int loads = fake().loads, kernels = fake().kernels_loaded;
  CHECK(loads == detail::kImageCount);
  CHECK(kernels >= loads);
  CHECK(Gemm::prepare(0) == Status::ok);
  CHECK(fake().loads == loads && fake().kernels_loaded == kernels);
  CHECK(Gemm::prepare(1) == Status::ok);  // loaded once for the process, per context for each device
  CHECK(fake().loads == loads && fake().kernels_loaded == 2 * kernels);
  const Gemm gemm = selected(entry(0));
  CHECK(gemm.choice().match == Match::exact && gemm.choice().expected_loss == 0);
  CHECK(gemm.run(operands_of(entry(0)), workspace, kPlenty, stream()) == Status::ok);
  CHECK(fake().launches > 0);
  const Gemm copy = gemm;
  CHECK(copy.run(operands_of(entry(0)), workspace, kPlenty, stream()) == Status::ok);
  fake().launch_result = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  CHECK(gemm.run(operands_of(entry(0)), workspace, kPlenty, stream()) == Status::cuda_error);
  CHECK(last_cuda_error() == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  for (int i = 0; i <= static_cast<int>(Status::cuda_error); ++i) CHECK(std::strlen(text(static_cast<Status>(i))) > 3);
}

void wrong_arguments() {
  CHECK(Gemm::prepare(0) == Status::ok);
  const Entry& e = entry_with_flags();
  const Gemm gemm = selected(e);
  const Operands right = operands_of(e);
  const int launches = fake().launches, memsets = fake().memsets;
  const auto run = [&](const Operands& o) { return gemm.run(o, workspace, kPlenty, stream()); };
  for (const void* Operands::*pointer : {&Operands::a, &Operands::b}) {
    Operands o = right;
    o.*pointer = nullptr;
    CHECK(run(o) == Status::invalid_argument);
    o.*pointer = at(0x10000008);
    CHECK(run(o) == Status::misaligned);
  }
  Operands o = right;
  o.d = nullptr;
  CHECK(run(o) == Status::invalid_argument);
  o.d = at(0x40000002);
  CHECK(run(o) == Status::misaligned);
  o = right;
  o.beta = 2;
  o.c = nullptr;
  CHECK(run(o) == Status::invalid_argument);
  o.c = at(0x30000004);
  CHECK(run(o) == Status::misaligned);
  CHECK(gemm.workspace_bytes() > 0);
  CHECK(gemm.run(right, workspace, gemm.workspace_bytes() - 1, stream()) == Status::workspace_too_small);
  CHECK(gemm.run(right, nullptr, kPlenty, stream()) == Status::workspace_too_small);
  CHECK(gemm.run(right, at(0x60000010), kPlenty, stream()) == Status::workspace_too_small);

  const auto select = [&](const Problem& p) {
    Gemm out;
    const Status status = Gemm::select(p, right, 0, {}, out);
    CHECK(status == Status::ok || out.choice().match == Match::none);
    return status;
  };
  for (std::int64_t Problem::*extent : {&Problem::m, &Problem::n, &Problem::k, &Problem::batch}) {
    Problem p = e.problem;
    p.*extent = 0;
    CHECK(select(p) == Status::invalid_argument);
    p.*extent = -5;
    CHECK(select(p) == Status::invalid_argument);
  }
  for (std::int64_t Problem::*leading : {&Problem::lda, &Problem::ldb, &Problem::ldc}) {
    Problem p = e.problem;
    p.*leading -= 1;
    CHECK(select(p) == Status::invalid_argument);
    p.*leading = std::int64_t{1} << 62;
    CHECK(select(p) == Status::invalid_argument);
  }
  Problem p = e.problem;
  p.type = static_cast<Type>(200);
  CHECK(select(p) == Status::invalid_argument);
  p = e.problem;
  p.stride_c = 5;
  CHECK(select(p) == Status::invalid_argument);
  p = e.problem;
  p.m = 3, p.n = 5, p.k = 7, p.lda = p.ldb = p.ldc = 0;
  CHECK(select(p) == Status::not_supported);
  CHECK(fake().launches == launches && fake().memsets == memsets);
}

void biases() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, seen = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    if (!all[i].problem.epilogue.bias) continue;
    ++seen;
    const Gemm gemm = selected(all[i]);
    Operands o = operands_of(all[i]);
    o.bias = nullptr;
    CHECK(gemm.run(o, workspace, kPlenty, stream()) == Status::invalid_argument);
    o.bias = at(0x50000002);
    CHECK(gemm.run(o, workspace, kPlenty, stream()) == Status::misaligned);
  }
  CHECK(seen > 0);
}

void streams() {
  CHECK(Gemm::prepare(0) == Status::ok);
  const Gemm gemm = selected(entry(0));
  const Operands o = operands_of(entry(0));
  CHECK(gemm.run(o, workspace, kPlenty, stream(1)) == Status::not_prepared);
  CHECK(Gemm::prepare(1) == Status::ok);
  CHECK(gemm.run(o, workspace, kPlenty, stream(1)) == Status::wrong_device);
  CHECK(gemm.run(o, workspace, kPlenty, stream(0, true)) == Status::not_prepared);
  CHECK(gemm.run(o, workspace, kPlenty, nullptr) == Status::not_prepared);  // no context is current
  CHECK(fake().launches == 0);
  CHECK(gemm.run(o, workspace, kPlenty, stream()) == Status::ok);
}

void capture() {
  fake().capturing = true;
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_prepared);
  CHECK(!fake().capture_broken);
  CHECK(Gemm::prepare(0) == Status::ok);  // not to be relied on, but harmless
  CHECK(!fake().capture_broken);
  const Entry& e = entry_with_flags();
  gemm = selected(e);
  CHECK(gemm.run(operands_of(e), workspace, kPlenty, stream()) == Status::ok);
  CHECK(gemm.run(operands_of(e), workspace, kPlenty, stream(1)) == Status::not_prepared);
  CHECK(!fake().capture_broken);
}

void no_driver() {
  fake().init_result = CUDA_ERROR_NO_DEVICE;
  CHECK(Gemm::prepare(0) == Status::no_driver);
  fake().init_result = 0;
  CHECK(Gemm::prepare(0) == Status::ok);  // what failed can be tried again
}

void old_driver() {
  fake().version = build().least_driver - 10;
  CHECK(Gemm::prepare(0) == Status::driver_too_old);
  fake().version = build().least_driver;
  fake().load_result = CUDA_ERROR_INVALID_IMAGE;
  CHECK(Gemm::prepare(0) == Status::driver_too_old);
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_prepared);
}

void wrong_device() {
  fake().arch = 80;
  CHECK(Gemm::prepare(0) == Status::wrong_device);
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_prepared);
}

void other_device() {
  fake().sm_count = 114;
  fake().name = "NVIDIA H100 PCIe";
  CHECK(Gemm::prepare(0) == Status::ok);
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_supported);
  Policy policy;
  policy.worst = Match::other_device;
  int served = 0, count = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    if (Gemm::select(all[i].problem, operands_of(all[i]), 0, policy, gemm) != Status::ok) continue;
    ++served;
    CHECK(gemm.choice().match == Match::other_device && gemm.choice().expected_loss < 0);
  }
  CHECK(served > count / 2);
}

/// The same chip with other memory is another class.
void other_memory() {
  fake().memory_bytes = std::size_t{80} << 30;
  CHECK(Gemm::prepare(0) == Status::ok);
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_supported);
  CHECK(std::strstr(gemm.choice().why, "class of device") != nullptr);
}

Status called(const Problem&, const Operands&, void* given, std::size_t bytes, CUstream, void* user) {
  CHECK(given == workspace && bytes >= 4096);
  ++*static_cast<int*>(user);
  return Status::ok;
}

void dispatch() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int calls = 0;
  Policy policy;
  policy.fallback = called;
  policy.user = &calls;
  policy.fallback_workspace_bytes = 4096;
  Problem far = entry(0).problem;
  far.m = far.n = far.k = 3, far.lda = far.ldb = far.ldc = 0;
  Gemm gemm;
  CHECK(Gemm::select(far, operands_of(entry(0)), 0, policy, gemm) == Status::ok);
  CHECK(gemm.choice().match == Match::fallback && gemm.choice().variant == -1 && gemm.workspace_bytes() == 4096);
  CHECK(gemm.run(operands_of(entry(0)), workspace, 4096, stream()) == Status::ok);
  CHECK(calls == 1 && fake().launches == 0);

  // Somewhat larger problems are served by neighbours, none that the policy forbids.
  int count = 0, neighbours = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    Problem p = all[i].problem;
    p.m += p.m / 4 / 64 * 64;
    p.lda = p.ldb = p.ldc = 0;
    if (p.m == all[i].problem.m) continue;
    CHECK(Gemm::select(p, operands_of(all[i]), 0, policy, gemm) == Status::ok);
    if (gemm.choice().match != Match::neighbour) continue;
    ++neighbours;
    CHECK(gemm.choice().expected_loss > 0 && gemm.choice().expected_loss <= 0.03);
    Policy strict = policy;
    strict.largest_loss = 0.001;
    CHECK(Gemm::select(p, operands_of(all[i]), 0, strict, gemm) == Status::ok);
    CHECK(gemm.choice().match == Match::fallback);
    strict = policy;
    strict.worst = Match::exact;
    strict.fallback = nullptr;
    CHECK(Gemm::select(p, operands_of(all[i]), 0, strict, gemm) == Status::not_supported);
    CHECK(gemm.choice().match == Match::none && std::strlen(gemm.choice().why) > 3);
  }
  CHECK(neighbours > 10);
}

void guess() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, guesses = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    if (!all[i].guessed) continue;
    ++guesses;
    CHECK(all[i].time_s == 0 && all[i].ratio == 0 && all[i].guessed_loss > 0.02);
    const Gemm gemm = selected(all[i]);
    CHECK(gemm.choice().match == Match::guess && gemm.choice().variant == all[i].variant);
    CHECK(gemm.choice().expected_loss == all[i].guessed_loss);
    CHECK(gemm.run(operands_of(all[i]), workspace, kPlenty, stream()) == Status::ok);
    Gemm other;
    Policy careful;
    careful.largest_loss = 0.013;  // a neighbour's here is 0.012
    if (Gemm::select(all[i].problem, operands_of(all[i]), 0, careful, other) == Status::ok)
      CHECK(other.choice().match == Match::neighbour);
    careful.worst = Match::exact;
    careful.largest_loss = 1;
    CHECK(Gemm::select(all[i].problem, operands_of(all[i]), 0, careful, other) == Status::not_supported);
    CHECK(std::strstr(other.choice().why, "less certain") != nullptr);
  }
  CHECK(guesses == 1);
}

void pin() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, pinned = 0, refused = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    Policy policy;
    policy.pinned = all[i].variant;
    Gemm gemm;
    const bool waits = Gemm::select(all[i].problem, operands_of(all[i]), 0, policy, gemm) != Status::ok;
    if (waits) {  // a kernel whose sums depend on the grid
      ++refused;
      continue;
    }
    ++pinned;
    CHECK(gemm.choice().variant == all[i].variant &&
          gemm.choice().match == (all[i].guessed ? Match::guess : Match::exact));
    Problem p = all[i].problem;
    p.m *= 2;
    p.lda = p.ldb = p.ldc = 0;
    if (Gemm::select(p, operands_of(all[i]), 0, policy, gemm) == Status::ok)
      CHECK(gemm.choice().variant == all[i].variant && gemm.choice().match == Match::neighbour);
  }
  CHECK(pinned > 10 && refused > 0);
  Policy none;
  none.pinned = 1 << 20;
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, none, gemm) == Status::not_supported);
}

void alignment() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, looser = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    const Entry& e = all[i];
    Operands o = operands_of(e);
    const Gemm gemm = selected(e);
    // Aligned to 16 bytes alone: either the kernel is right for that, or it says so; never a launch of another plan.
    o.a = at(0x10000010);
    const Status status = gemm.run(o, workspace, kPlenty, stream());
    CHECK(status == Status::ok || status == Status::misaligned);
    if (status == Status::ok) ++looser;
    Gemm odd;
    o.a = at(0x10000008);
    CHECK(Gemm::select(e.problem, o, 0, {}, odd) == Status::misaligned);
    CHECK(odd.run(o, workspace, kPlenty, stream()) == Status::not_supported);
  }
  CHECK(looser > count / 2);
}

/// Prints what each entry launches.
void launches() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0;
  const Entry* all = entries(&count);
  std::ifstream file("signatures");
  std::vector<std::map<std::string, std::string>> signatures(static_cast<std::size_t>(count));
  int entry = 0;
  for (std::string symbol, kinds; file >> entry >> symbol >> kinds;)
    signatures.at(static_cast<std::size_t>(entry))[symbol] = kinds;
  for (int i = 0; i < count; ++i) {
    const Gemm gemm = selected(all[i]);
    // Selected with other addresses than it runs with.
    Operands moved = operands_of(all[i]);
    moved.a = at(0x11000000);
    fake().log.clear();
    fake().signatures = signatures[static_cast<std::size_t>(i)];
    CHECK(gemm.run(moved, workspace, gemm.workspace_bytes(), stream()) == Status::ok);
    std::printf("entry %d workspace %zu\n", i, gemm.workspace_bytes());
    for (const std::string& line : fake().log) std::printf("%s\n", line.c_str());
  }
}

struct Scenario {
  const char* name;
  void (*run)();
};
const Scenario kScenarios[] = {{"unprepared", unprepared},
                               {"prepared", prepared},
                               {"wrong_arguments", wrong_arguments},
                               {"biases", biases},
                               {"streams", streams},
                               {"capture", capture},
                               {"no_driver", no_driver},
                               {"old_driver", old_driver},
                               {"wrong_device", wrong_device},
                               {"other_device", other_device},
                               {"guess", guess},
                               {"other_memory", other_memory},
                               {"dispatch", dispatch},
                               {"pin", pin},
                               {"alignment", alignment},
                               {"launches", launches}};

}  // namespace

int main(int count, char** arguments) {
  for (const Scenario& scenario : kScenarios) {
    if (count != 2 || std::strcmp(arguments[1], scenario.name) != 0) continue;
    scenario.run();
    return failures == 0 ? 0 : 1;
  }
  return 3;
}
