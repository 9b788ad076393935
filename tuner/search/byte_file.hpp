// SPDX-License-Identifier: MIT
// Numbers and texts as bytes with a check sum, for files that stay on one machine. Private to tuner/search.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pgtune::search {

class ByteWriter {
 public:
  template <typename Number>
  void number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void text(std::string_view value) {
    number(std::uint64_t{value.size()});
    bytes_ += value;
  }
  void texts(const std::vector<std::string>& values);
  /// The written bytes and their check sum.
  [[nodiscard]] std::string bytes() &&;

 private:
  std::string bytes_;
};

/// Reads the bytes of a ByteWriter. For other bytes all values are zero or empty, and at_end() is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes);

  template <typename Number>
  void number(Number& value) {
    static_assert(std::is_arithmetic_v<Number>);
    const std::string_view own = take(sizeof(value));
    if (own.size() == sizeof(value)) std::memcpy(&value, own.data(), sizeof(value));
  }
  [[nodiscard]] std::string text();
  [[nodiscard]] std::vector<std::string> texts();
  /// Reads a number of elements of `bytes_each` bytes each; 0 if the rest is too short for them.
  [[nodiscard]] std::size_t count(std::size_t bytes_each);
  /// Whether exactly everything was read.
  [[nodiscard]] bool at_end() const { return good_ && left_.empty(); }

 private:
  std::string_view take(std::size_t size);

  std::string_view left_;
  bool good_ = true;
};

}  // namespace pgtune::search
