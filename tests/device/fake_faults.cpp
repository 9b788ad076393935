// SPDX-License-Identifier: MIT
#include "tests/device/fake_faults.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <thread>
#include <vector>

#include "tuner/protocol/codec.hpp"

namespace pgtune::device::fake {
namespace {

struct Fault {
  std::string op, pattern, behaviour, file, gpu;
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
    fields.resize(5);
    faults.push_back({fields[0], fields[1], fields[2], fields[3], fields[4]});
  }
  return faults;
}

}  // namespace

std::string behaviour_of(const std::string& op, const std::string& key, const std::string& gpu) {
  static const std::vector<Fault> faults = read_faults();
  for (const Fault& fault : faults) {
    if (fault.op == op && key.find(fault.pattern) != std::string::npos &&
        (fault.file.empty() || std::filesystem::exists(fault.file)) && (fault.gpu.empty() || fault.gpu == gpu)) {
      if (fault.behaviour == "killed_once") std::filesystem::remove(fault.file);
      return fault.behaviour;
    }
  }
  return {};
}

void misbehave(const std::string& behaviour) {
  if (behaviour == "segv") {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  } else if (behaviour.starts_with("killed")) {
    std::raise(SIGKILL);
  } else if (behaviour == "out_of_memory") {
    std::cerr << "LLVM ERROR: out of memory" << std::endl;
    std::signal(SIGABRT, SIG_DFL);
    std::raise(SIGABRT);
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
    std::cout << std::string(protocol::kMaxLineBytes + (1U << 20U), 'x') << std::endl;
  } else if (behaviour == "noisy") {
    std::cerr << std::string(1U << 20U, 'n') << "\nfake: noise ends" << std::endl;
  }
}

}  // namespace pgtune::device::fake
