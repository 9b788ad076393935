// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/known_gpu.hpp"

#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "db/queries/queries.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

std::string file_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The first word after `label` that fits.
std::optional<std::string> word_after(const std::string& text, const std::string& label,
                                      bool (*fits)(const std::string&)) {
  const std::size_t found = text.find(label);
  if (found == std::string::npos) return std::nullopt;
  std::istringstream words(text.substr(found + label.size()));
  for (std::string word; words >> word;) {
    if (fits(word)) return word;
  }
  return std::nullopt;
}

bool is_uuid(const std::string& word) { return word.starts_with("GPU-"); }

/// "580.159.04", and not the "x86_64" that some drivers put before it.
bool is_version(const std::string& word) {
  return word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) paths.push_back(*it);
  return paths;
}

}  // namespace

std::optional<DeviceInfo> known_gpu(const db::Database& database, const std::string& option,
                                    const Environment& environment, const fs::path& driver_folder,
                                    const ReadLimits& read_limits) {
  if (environment("CUDA_VISIBLE_DEVICES")) return std::nullopt;
  const std::vector<fs::path> gpus = entries(driver_folder / "gpus");
  if (gpus.size() != 1) return std::nullopt;
  const auto uuid = word_after(file_text(gpus.front() / "information"), "GPU UUID:", is_uuid);
  const auto driver = word_after(file_text(driver_folder / "version"), "Kernel Module", is_version);
  if (!uuid || !driver) return std::nullopt;
  const bool meant = option == "auto" || option == "0" || (option.starts_with("GPU-") && uuid->starts_with(option));
  if (!meant) return std::nullopt;
  auto info = db::find_device(database, *uuid);
  if (!info || info->driver_version != *driver) return std::nullopt;
  const auto limits = read_limits(*uuid);
  if (!limits || limits->mig_mode) return std::nullopt;
  info->power_limit_w = limits->power_limit_w;
  return info;
}

}  // namespace pgtune::tool
