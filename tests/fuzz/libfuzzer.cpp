// SPDX-License-Identifier: MIT
// One target as a program of libFuzzer's; PGTUNE_FUZZ_TARGET is its function.
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/targets.hpp"
#include "tuner/util/json_cursor.hpp"

namespace {

using nlohmann::json;

/// All values in `value`, itself first, in the order of the text.
void list_values(json& value, std::vector<json*>& out) {
  out.push_back(&value);
  if (!value.is_structured()) return;
  for (json& child : value) list_values(child, out);
}

/// One random edit: a value of another kind or from elsewhere in `document`, or a child that is gone, renamed or twice.
void edit(json& document, std::minstd_rand& random) {
  std::vector<json*> values;
  list_values(document, values);
  const auto any = [&random](std::size_t count) { return random() % count; };
  json& value = *values[any(values.size())];
  const json others[] = {nullptr, true, -1, 1e300, std::int64_t{1} << 62, "x", "", json::array(), json::object()};
  const auto choice = any(4);
  if (choice == 0 && value.is_structured() && !value.empty()) {
    const auto child = std::next(value.begin(), static_cast<std::ptrdiff_t>(any(value.size())));
    if (value.is_array() && any(2) == 0) {
      value.push_back(*child);
    } else {
      if (value.is_object() && any(2) == 0) value[child.key() + "x"] = *child;
      value.erase(child);
    }
  } else if (choice == 1) {
    value = others[any(std::size(others))];
  } else {
    value = json(*values[any(values.size())]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pgtune::fuzz::PGTUNE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// Edits of bytes rarely leave JSON that is read to its end, so half of the edits of JSON are of its values.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::minstd_rand random(seed);
  auto document = pgtune::parse_json({reinterpret_cast<const char*>(data), size}, "");
  if (!document || random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  edit(*document, random);
  const std::string text = document->dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
