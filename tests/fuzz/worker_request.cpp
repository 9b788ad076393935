// SPDX-License-Identifier: MIT
// What a worker reads from its parent: lines, and the bodies of requests.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/fuzz/targets.hpp"
#include "tool/worker/line_channel.hpp"
#include "tuner/protocol/codec.hpp"

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
  static_cast<void>(protocol::decode_body<T>(body, "body"));
}

}  // namespace

void worker_request(std::string_view bytes) {
  const Input input(bytes);
  worker::LineChannel channel(input.fd(), -1, kMaxLine);
  while (true) {
    const auto line = channel.read_line();
    if (!line || !*line) return;
    const auto request = protocol::decode_request(**line);
    if (!request) continue;
    if (!protocol::decode_request(protocol::encode(*request))) std::abort();
    decode_only<protocol::PrepareRequest>(request->body);
    decode_only<protocol::BuildRequest>(request->body);
    decode_only<protocol::TrialRequest>(request->body);
    decode_only<protocol::RoundRequest>(request->body);
    decode_only<protocol::EnergyRequest>(request->body);
  }
}

}  // namespace pgtune::fuzz
