// SPDX-License-Identifier: MIT
// A database file somebody hands over as a recording: opened, checked, read, and its searches stored as recorded.
#include <fstream>

#include "db/database.hpp"
#include "db/queries/queries.hpp"
#include "db/upkeep/merge.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/recording/recordings.hpp"

namespace pgtune::fuzz {

void recording(std::string_view bytes) {
  static const support::ScratchFolder folder;
  try {
    std::ofstream(folder / "recording.db", std::ios::binary) << bytes;
    const std::vector<db::Database> databases = tool::open_recordings((folder / "recording.db").string());
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
