// SPDX-License-Identifier: MIT
// A database file somebody hands over as a recording: opened, checked, read, and its searches stored as recorded.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "db/database.hpp"
#include "db/queries/queries.hpp"
#include "db/upkeep/merge.hpp"
#include "tests/fuzz/targets.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/recording/recordings.hpp"

namespace pgtune::fuzz {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

void recording(std::string_view bytes) {
  static const RecordingFile file;
  try {
    const std::vector<db::Database> databases = tool::open_recordings(file.write(bytes).string());
    const db::Database& database = databases.front();
    static_cast<void>(db::list_best(database, {}));
    static_cast<void>(db::totals(database));
    static_cast<void>(tool::usual_device(databases));
    db::Database stored = db::Database::open_memory();
    for (const db::SessionRow& session : db::list_sessions(database)) {
      static_cast<void>(db::find_problem(database, session.problem_key));
      db::store_recorded(database, session.id, stored);
    }
  } catch (const db::Error&) {
    // How db/ refuses.
  } catch (const tool::CommandError&) {
    // How the tool refuses.
  }
}

}  // namespace pgtune::fuzz
