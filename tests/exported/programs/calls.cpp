// SPDX-License-Identifier: MIT
// Calls of an exported header, right and wrong, one scenario a process: its name is the argument.
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/exported/programs/calls_arguments.hpp"
#include "tests/exported/programs/calls_devices.hpp"
#include "tests/exported/programs/calls_dispatch.hpp"
#include "tests/exported/programs/calls_limits.hpp"

namespace {

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
                               {"images", images},
                               {"wrong_arguments", wrong_arguments},
                               {"biases", biases},
                               {"scalars", scalars},
                               {"launches_compared", launches_compared},
                               {"launch_limits", launch_limits},
                               {"map_limits", map_limits},
                               {"products", products},
                               {"contexts", contexts},
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
                               {"edges", edges},
                               {"every_m", every_m},
                               {"batch_invariant", batch_invariant},
                               {"cache", cache},
                               {"alignment", alignment},
                               {"failing_select", failing_select},
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
