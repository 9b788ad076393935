// SPDX-License-Identifier: MIT
// What is fuzzed: everything that reads text or files from elsewhere. A target takes any bytes and returns; an
// exception that escapes, a sanitizer's finding or a broken promise (std::abort) is a bug. The names are also those of
// the folders of the corpus and of libFuzzer's programs.
#pragma once

#include <array>
#include <string_view>

namespace pgtune::fuzz {

void expression(std::string_view bytes);
void foreign_table(std::string_view bytes);
void operation_json(std::string_view bytes);
void record_text(std::string_view bytes);
void recording(std::string_view bytes);
void shape_list(std::string_view bytes);
void template_json(std::string_view bytes);
void user_config(std::string_view bytes);
void worker_reply(std::string_view bytes);
void worker_request(std::string_view bytes);

struct Target {
  std::string_view name;
  void (*run)(std::string_view);
};

inline constexpr std::array<Target, 10> kTargets{{{"expression", expression},
                                                  {"foreign_table", foreign_table},
                                                  {"operation_json", operation_json},
                                                  {"record_text", record_text},
                                                  {"recording", recording},
                                                  {"shape_list", shape_list},
                                                  {"template_json", template_json},
                                                  {"user_config", user_config},
                                                  {"worker_reply", worker_reply},
                                                  {"worker_request", worker_request}}};

}  // namespace pgtune::fuzz
