// SPDX-License-Identifier: MIT
// Where a search keeps what it learns. The tool implements this on the SQLite database; tests use an in-memory fake.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/contender.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/family.hpp"
#include "tuner/model/fatal_trial.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/session/answer.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

/// A search finds the answer; a bench measures chosen variants again and never replaces it; what a family measures of
/// one of its problems answers nothing.
enum class SessionKind { kSearch, kBench, kFamily };

/// Identifies results that may be compared and reused: same problem, contents of the templates, device class and
/// conditions. A trial is one template's and is reused whatever others it was searched with.
struct StoreKey {
  Problem problem;
  space::TemplateSet templates;
  DeviceInfo device;  ///< the board at hand: results of its class count, and its own are preferred
  Conditions conditions = {};
  /// Trials are reused by sessions of their kind: a search of a problem knows nothing of what a family measured there.
  SessionKind kind = SessionKind::kSearch;
};

/// Whose answers are asked for: those of every board of the class, or of the board at hand alone.
enum class Boards { kOfClass, kThisOne };

/// What look(Boards) finds of the board at hand; else, unless `this_board` is asked for, of all of its class, though
/// another's be newer: boards differ.
template <typename Look>
[[nodiscard]] auto own_first(bool this_board, const Look& look) {
  auto own = look(Boards::kThisOne);
  return own || this_board ? own : look(Boards::kOfClass);
}

struct StoredTrial {
  TrialReport report;
  BuildInfo build;
  bool on_this_board = true;  ///< else on another one of its class
};

/// A contender's samples of one stage of rounds (floor, race or final), paired by Sample::round with the others'.
struct ContenderSamples {
  Contender contender;
  std::vector<Sample> samples;
};

/// One energy window of a contender, or of the idle GPU.
struct EnergyRecord {
  std::optional<Contender> contender;  ///< nothing: idle
  int index = 0;                       ///< of this contender's windows, from 0
  EnergyWindow window;
};

class Store {
 public:
  virtual ~Store() = default;

  /// The last finished session for this key, if any. One that tried the whole grid of the key's templates, and ended
  /// complete, answers for the preset too; one that did not, where there is no other.
  [[nodiscard]] virtual std::optional<Answer> answer(const StoreKey& key, Boards boards) = 0;
  /// Trials already known for this key, by Variant::id(), the newest of each variant; where it was right on another
  /// board, this board's own if that was right too.
  [[nodiscard]] virtual std::map<std::string, StoredTrial> trials(const StoreKey& key) = 0;

  /// Each variant's newest sample of a race, by Variant::id(), in sessions of the key's kind on this board.
  [[nodiscard]] virtual std::map<std::string, Sample> raced(const StoreKey& key) = 0;

  /// Whatever crashed or hung when it was last tried on a problem, under the device's driver version (compilers:
  /// NVRTC version) and on its architecture; of any template, problem and device.
  [[nodiscard]] virtual std::vector<FatalTrial> fatal_trials(const DeviceInfo& device) = 0;

  /// Opens a session of the key's kind; the later calls belong to it.
  virtual void begin(const StoreKey& key, std::uint64_t seed, const std::string& command_line) = 0;
  virtual void save_baseline(const BaselineReport& baseline) = 0;
  /// One transaction: outcome, build and samples of one variant.
  virtual void save_trial(const Variant& variant, const BuildInfo& build, const TrialReport& report) = 0;
  /// One transaction: the samples of every contender of one stage. A second call for the stage replaces the first.
  virtual void save_rounds(Stage stage, const std::vector<ContenderSamples>& samples) = 0;
  /// Adds one energy window.
  virtual void save_energy(const EnergyRecord& record) = 0;
  /// The newest ceilings measured on this very board while it was of its class, and new ones.
  [[nodiscard]] virtual std::optional<Ceilings> ceilings(const DeviceInfo& device) = 0;
  virtual void save_ceilings(const Ceilings& ceilings) = 0;
  /// Marks the session finished with its answer (absent: nothing valid).
  virtual void finish(const std::optional<Answer>& answer) = 0;

  /// The newest family of exactly this range. The key's problem is the one with the largest M.
  [[nodiscard]] virtual std::optional<Family> family(const StoreKey& key, std::int64_t first_m, bool one_order,
                                                     Boards boards) = 0;
  /// In a session of its own.
  virtual void save_family(const StoreKey& key, const Family& family, std::uint64_t seed,
                           const std::string& command_line) = 0;
};

}  // namespace pgtune::session
