// SPDX-License-Identifier: MIT
// Documents that are wrong in one place, and how they are refused.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "tuner/util/result.hpp"

namespace pgtune::testing {

/// An edit of a valid document and what the error must hold.
struct Edit {
  const char* pointer;  ///< JSON pointer of what is replaced; a last part "-" appends
  const char* value;    ///< JSON text; empty: the field is removed
  const char* where;    ///< how the error starts, after "sample.json: "
  const char* what;     ///< part of the message
};

/// `parse` refuses `document` once it is edited.
template <typename Parse>
void expect_refusal(nlohmann::json document, const Edit& edit, const Parse& parse) {
  const nlohmann::json::json_pointer pointer(edit.pointer);
  if (std::string_view(edit.value).empty()) {
    document[pointer.parent_pointer()].erase(pointer.back());
  } else {
    document[pointer] = nlohmann::json::parse(edit.value);
  }
  const auto parsed = parse(document);
  ASSERT_FALSE(parsed) << edit.pointer << " = " << edit.value;
  EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(parsed.error().text(), ::testing::StartsWith(std::string("sample.json: ") + edit.where));
  EXPECT_THAT(parsed.error().text(), ::testing::HasSubstr(edit.what));
}

/// `parse` takes `document`, but not with a field that it does not know in any of its objects.
template <typename Parse>
void expect_no_further_fields(const nlohmann::json& document, const Parse& parse) {
  using Pointer = nlohmann::json::json_pointer;
  const auto whole = parse(document);
  ASSERT_TRUE(whole) << whole.error().text();
  std::set<std::string> objects;
  const nlohmann::json leaves = document.flatten();
  for (const auto& [path, value] : leaves.items()) {
    for (Pointer at(path); !at.empty();) {
      at = at.parent_pointer();
      if (document[at].is_object()) objects.insert(at.to_string());
    }
  }
  for (const std::string& object : objects) {
    nlohmann::json changed = document;
    changed[Pointer(object)]["zzz"] = 1;
    const auto parsed = parse(changed);
    ASSERT_FALSE(parsed) << object;
    EXPECT_THAT(parsed.error().text(), ::testing::HasSubstr("unknown field 'zzz'")) << object;
  }
}

}  // namespace pgtune::testing
