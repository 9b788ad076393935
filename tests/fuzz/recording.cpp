// SPDX-License-Identifier: MIT
// A database file somebody hands over as a recording: opened, checked, loaded and replayed.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "db/database.hpp"
#include "db/queries/queries.hpp"
#include "db/queries/stored_records.hpp"
#include "targets.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/replay/recorded_versions.hpp"
#include "tool/pgtune/replay/recording_loader.hpp"
#include "tuner/device/replay_device.hpp"

namespace pgtune::fuzz {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::milliseconds kNoWait{0};

class RecordingFile {
 public:
  RecordingFile() : folder_(fs::temp_directory_path() / ("pgtune_fuzz_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~RecordingFile() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  [[nodiscard]] fs::path write(std::string_view bytes) const {
    fs::path file = folder_ / "recording.db";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  fs::path folder_;
};

void replay(const std::vector<db::Database>& databases, const db::SessionRow& session) {
  const db::Database& database = databases.front();
  const auto stored = db::find_problem(database, session.problem_key);
  if (!stored) return;
  const Problem& problem = *stored;
  space::TemplateDefinition definition;
  definition.name = session.template_name;
  definition.content_hash = session.template_hash;
  static_cast<void>(tool::recorded_problems(database, definition));
  space::TemplateDefinition edited = definition;
  edited.content_hash += "edited";
  static_cast<void>(tool::recorded_versions(databases, edited, problem));
  device::Recording recording = tool::load_recording(databases, definition, problem);
  std::vector<Variant> variants;
  for (const auto& [name, recorded] : recording.problems.front().variants)
    variants.push_back({definition.name, {{name.substr(0, 8), std::int64_t{1}}}});
  device::ReplayDevice device(std::move(recording));
  static_cast<void>(device.measure_ceilings());
  if (!device.prepare({problem, db::conditions_of(session.conditions_key)})) return;
  protocol::RequestId id = 0;
  for (const Variant& variant : variants) {
    device.submit_build({++id, variant, nullptr, {}, "sm_90a"});
    device.submit_trial({++id, variant, {}, {}, 0});
    static_cast<void>(device.wait(kNoWait));
  }
  protocol::RoundRequest round;
  round.contenders = {BaselineAlgorithm{0}};
  round.order = {0};
  static_cast<void>(device.run_round(round));
  static_cast<void>(device.measure_energy({}));
}

}  // namespace

void recording(std::string_view bytes) {
  static const RecordingFile file;
  try {
    const std::vector<db::Database> databases = tool::open_recordings(file.write(bytes).string());
    const db::Database& database = databases.front();
    static_cast<void>(db::list_best(database, {}));
    static_cast<void>(db::totals(database));
    static_cast<void>(tool::recorded_device(database));
    for (const db::SessionRow& session : db::list_sessions(database)) {
      try {
        replay(databases, session);
      } catch (const tool::CommandError&) {
        // Not a session that can be replayed; another may be.
      }
    }
  } catch (const db::Error&) {
    // How db/ refuses.
  } catch (const tool::CommandError&) {
    // How the tool refuses.
  }
}

}  // namespace pgtune::fuzz
