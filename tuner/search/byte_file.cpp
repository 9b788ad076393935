// SPDX-License-Identifier: MIT
#include "tuner/search/byte_file.hpp"

#include <utility>

namespace pgtune::search {
namespace {

/// 64-bit FNV-1a: against damage, not against forgery.
std::uint64_t check_sum(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

}  // namespace

void ByteWriter::texts(const std::vector<std::string>& values) {
  number(std::uint64_t{values.size()});
  for (const std::string& value : values) text(value);
}

std::string ByteWriter::bytes() && {
  number(check_sum(bytes_));
  return std::move(bytes_);
}

ByteReader::ByteReader(std::string_view bytes) {
  std::uint64_t sum = 0;
  if (bytes.size() < sizeof(sum)) {
    good_ = false;
    return;
  }
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof(sum), sizeof(sum));
  bytes.remove_suffix(sizeof(sum));
  good_ = check_sum(bytes) == sum;
  if (good_) left_ = bytes;
}

std::string_view ByteReader::take(std::size_t size) {
  if (size > left_.size()) {
    good_ = false;
    left_ = {};
    return {};
  }
  const std::string_view out = left_.substr(0, size);
  left_.remove_prefix(size);
  return out;
}

std::size_t ByteReader::count(std::size_t bytes_each) {
  std::uint64_t out = 0;
  number(out);
  if (out <= left_.size() / bytes_each) return static_cast<std::size_t>(out);
  good_ = false;
  return 0;
}

std::string ByteReader::text() { return std::string(take(count(1))); }

std::vector<std::string> ByteReader::texts() {
  std::vector<std::string> out;
  for (std::size_t left = count(sizeof(std::uint64_t)); left > 0; --left) out.push_back(text());
  return out;
}

}  // namespace pgtune::search
