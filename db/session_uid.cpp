// SPDX-License-Identifier: MIT
#include "db/session_uid.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "db/sqlite/statement.hpp"
#include "db/sqlite/timestamp.hpp"

namespace pgtune::db {
namespace {

constexpr std::int64_t kLargestTimeMs = (std::int64_t{1} << 48) - 1;

std::string uuid_text(std::int64_t time_ms, std::uint64_t high, std::uint64_t low) {
  const auto time = static_cast<std::uint64_t>(std::clamp(time_ms, std::int64_t{0}, kLargestTimeMs));
  constexpr std::uint64_t kVariant = 0x8000;
  std::array<char, sizeof "00000000-0000-7000-8000-000000000000"> text{};
  std::snprintf(text.data(), text.size(), "%08llx-%04llx-7%03llx-%04llx-%012llx",
                static_cast<unsigned long long>(time >> 16), static_cast<unsigned long long>(time & 0xffff),
                static_cast<unsigned long long>(high & 0xfff),
                static_cast<unsigned long long>(kVariant | (low >> 48 & 0x3fff)),
                static_cast<unsigned long long>(low & 0xffffffffffff));
  return text.data();
}

}  // namespace

std::int64_t uid_time_ms(const std::string& uid) {
  std::string digits = uid.substr(0, 13);
  std::erase(digits, '-');
  std::int64_t time_ms = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), time_ms, 16);
  return time_ms;
}

std::string next_session_uid(const Database& database) {
  const std::string last = query_text(database, "SELECT max(uid) FROM sessions");
  std::array<std::uint64_t, 2> random{};
  sqlite3_randomness(sizeof random, random.data());
  const std::int64_t time_ms = last.empty() ? unix_time_ms() : std::max(unix_time_ms(), uid_time_ms(last) + 1);
  return uuid_text(time_ms, random[0], random[1]);
}

}  // namespace pgtune::db
