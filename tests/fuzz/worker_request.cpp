// SPDX-License-Identifier: MIT
// What a worker reads from its parent: lines, and the bodies of requests.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "targets.hpp"
#include "tool/worker/line_channel.hpp"
#include "tuner/device/protocol.hpp"

namespace pgtune::fuzz {
namespace {

constexpr std::size_t kMaxLine = 1U << 16U;

/// The bytes as a file in memory, which a pipe's buffer would be too small for.
class Input {
 public:
  explicit Input(std::string_view bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (fd_ < 0 || ::write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
    ::lseek(fd_, 0, SEEK_SET);
  }
  ~Input() { ::close(fd_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

template <typename T>
void decode_only(const nlohmann::json& body) {
  static_cast<void>(device::decode_body<T>(body, "body"));
}

}  // namespace

void worker_request(std::string_view bytes) {
  const Input input(bytes);
  worker::LineChannel channel(input.fd(), -1, kMaxLine);
  while (true) {
    const auto line = channel.read_line();
    if (!line || !*line) return;
    const auto request = device::decode_request(**line);
    if (!request) continue;
    if (!device::decode_request(device::encode(*request))) std::abort();
    decode_only<device::PrepareRequest>(request->body);
    decode_only<device::BuildRequest>(request->body);
    decode_only<device::TrialRequest>(request->body);
    decode_only<device::RoundRequest>(request->body);
    decode_only<device::EnergyRequest>(request->body);
  }
}

}  // namespace pgtune::fuzz
