// SPDX-License-Identifier: MIT
#include "tests/nvml/fake_state.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

namespace pgtune::gpu::test {
namespace {

Words words_of(const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool begins_with(const Words& line, const Words& beginning) {
  return line.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), line.begin());
}

std::string joined(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> chunk{};
  for (ssize_t count = 0; (count = ::read(fd, chunk.data(), chunk.size())) > 0;)
    text.append(chunk.data(), static_cast<std::size_t>(count));
  return text;
}

}  // namespace

FakeState FakeState::from_environment() {
  const char* const path = std::getenv("PGTUNE_FAKE_NVML_STATE");
  return FakeState(path != nullptr ? path : "");
}

void FakeState::with_lines(const std::function<bool(std::vector<Words>&)>& change) const {
  if (path_.empty()) return;
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return;  // the test is over, and a guard still on its way out
  if (::flock(fd, LOCK_EX) != 0) std::abort();
  std::istringstream text(read_all(fd));
  std::vector<Words> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(words_of(line));
  if (change(lines)) {
    std::string out;
    for (const Words& line : lines) out += joined(line) + '\n';
    if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, out.data(), out.size(), 0) < 0) std::abort();
  }
  ::close(fd);
}

std::vector<Words> FakeState::find(const Words& beginning) const {
  std::vector<Words> found;
  with_lines([&](std::vector<Words>& lines) {
    for (const Words& line : lines) {
      if (begins_with(line, beginning))
        found.emplace_back(line.begin() + static_cast<std::ptrdiff_t>(beginning.size()), line.end());
    }
    return false;
  });
  return found;
}

long long FakeState::number(const std::string& word, long long otherwise) const {
  const auto found = find({word});
  return found.empty() || found.front().empty() ? otherwise : std::stoll(found.front().front());
}

void FakeState::add(const std::string& line) const {
  with_lines([&](std::vector<Words>& lines) {
    lines.push_back(words_of(line));
    return true;
  });
}

void FakeState::remove(const Words& beginning) const {
  with_lines([&](std::vector<Words>& lines) {
    std::erase_if(lines, [&](const Words& line) { return begins_with(line, beginning); });
    return true;
  });
}

void FakeState::replace(const Words& beginning, const std::string& line) const {
  with_lines([&](std::vector<Words>& lines) {
    std::erase_if(lines, [&](const Words& old) { return begins_with(old, beginning); });
    lines.push_back(words_of(line));
    return true;
  });
}

std::optional<long long> FakeState::locked_mhz() const {
  const auto found = find({"locked_mhz"});
  if (found.empty()) return std::nullopt;
  return std::stoll(found.front().at(0));
}

std::vector<std::string> FakeState::calls() const {
  std::vector<std::string> calls;
  for (const Words& call : find({"called"})) calls.push_back(joined(Words(call.begin() + 1, call.end())));
  return calls;
}

}  // namespace pgtune::gpu::test
