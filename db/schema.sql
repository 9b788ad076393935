-- SPDX-License-Identifier: MIT
-- Schema 1. Facts that repeat (devices, variants, builds, outcomes) are rows of their own and joined by integer keys, so
-- that a full grid of a few thousand variants stays small. Times in seconds, sizes in bytes, JSON text is only stored.

-- One row a state of a device: a changed power limit or driver makes a new row, so old sessions keep what they ran on.
-- hardware is the text of its device class (tuner/model/device_class.hpp) but for the driver's branch, which the
-- environment has.
CREATE TABLE devices (
  id           INTEGER PRIMARY KEY,
  uuid         TEXT NOT NULL,
  name         TEXT NOT NULL,
  architecture TEXT NOT NULL,
  info_json    TEXT NOT NULL,
  hardware     TEXT NOT NULL,
  UNIQUE (uuid, name, architecture, info_json)
) STRICT;

CREATE TABLE environments (
  id                INTEGER PRIMARY KEY,
  driver_version    TEXT NOT NULL,
  driver_branch     TEXT NOT NULL,
  nvrtc_version     TEXT NOT NULL,
  cublaslt_version  TEXT NOT NULL,
  pgtune_version    TEXT NOT NULL,
  host_os           TEXT NOT NULL,
  UNIQUE (driver_version, driver_branch, nvrtc_version, cublaslt_version, pgtune_version, host_os)
) STRICT;

CREATE TABLE problems (
  id           INTEGER PRIMARY KEY,
  key          TEXT NOT NULL UNIQUE,
  m            INTEGER NOT NULL,
  n            INTEGER NOT NULL,
  k            INTEGER NOT NULL,
  batch        INTEGER NOT NULL,
  dtype        TEXT NOT NULL,
  layout       TEXT NOT NULL,
  problem_json TEXT NOT NULL
) STRICT;

-- Results taken under different conditions are different results. key is canonical text, conditions_json the same
-- fields for readers other than pgtune.
CREATE TABLE conditions (
  id              INTEGER PRIMARY KEY,
  key             TEXT NOT NULL UNIQUE,
  conditions_json TEXT NOT NULL
) STRICT;

CREATE TABLE templates (
  id           INTEGER PRIMARY KEY,
  name         TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  UNIQUE (name, content_hash)
) STRICT;

CREATE TABLE variants (
  id              INTEGER PRIMARY KEY,
  template        INTEGER NOT NULL REFERENCES templates,
  key             TEXT NOT NULL,
  parameters_json TEXT NOT NULL,
  UNIQUE (template, key)
) STRICT;

CREATE TABLE builds (
  id                INTEGER PRIMARY KEY,
  key_hash          TEXT NOT NULL UNIQUE,
  cubin_hash        TEXT NOT NULL,
  registers         INTEGER NOT NULL,
  static_smem_bytes INTEGER NOT NULL,
  local_bytes       INTEGER NOT NULL,
  spill_bytes       INTEGER NOT NULL,
  compile_s         REAL NOT NULL
) STRICT;

-- What can become of a variant, with the reason; most trials share a few.
CREATE TABLE outcomes (
  id     INTEGER PRIMARY KEY,
  kind   TEXT NOT NULL,
  reason TEXT NOT NULL,
  UNIQUE (kind, reason)
) STRICT;

-- Part of a session a sample was timed in: "screen", "final".
CREATE TABLE stages (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- A search finds the answer for its key; a bench measures chosen variants again and answers nothing; a pipeline is a
-- search for a host pipeline. A family's sessions hold trials of one M each and answer nothing, and one of them, whose
-- template is named "family FIRST..LAST", the family. finished_at is NULL while the session runs, and stays so when it was killed. uid names a
-- session in every file that it is copied or merged into. It begins with a time in milliseconds that grows from session
-- to session of one file, so that "newest" is the highest uid as it is the highest id.
CREATE TABLE sessions (
  id           INTEGER PRIMARY KEY,
  uid          TEXT NOT NULL,
  device       INTEGER NOT NULL REFERENCES devices,
  environment  INTEGER NOT NULL REFERENCES environments,
  problem      INTEGER NOT NULL REFERENCES problems,
  template     INTEGER NOT NULL REFERENCES templates,
  conditions   INTEGER NOT NULL REFERENCES conditions,
  kind         TEXT NOT NULL CHECK (kind IN ('search', 'bench', 'pipeline', 'family')),
  source       TEXT NOT NULL CHECK (source IN ('gpu', 'replay')),
  started_at   TEXT NOT NULL,
  finished_at  TEXT,
  seed         INTEGER NOT NULL,
  command_line TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_problem ON sessions (problem, template);
CREATE UNIQUE INDEX sessions_by_uid ON sessions (uid);

-- Every trial is kept; the newest of a variant (highest id) counts. build is NULL where nothing was compiled.
-- recorded_at is Unix time in milliseconds.
CREATE TABLE trials (
  id          INTEGER PRIMARY KEY,
  session     INTEGER NOT NULL REFERENCES sessions,
  variant     INTEGER NOT NULL REFERENCES variants,
  build       INTEGER REFERENCES builds,
  outcome     INTEGER NOT NULL REFERENCES outcomes,
  cut         INTEGER NOT NULL CHECK (cut IN (0, 1)),
  max_error   REAL,
  norm_error  REAL,
  recorded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX trials_by_session ON trials (session, variant);

-- Samples of a trial, in the order taken. sm_clock_hz is 0 and the last five are NULL where they were not measured;
-- power_cap_s and thermal_s count the sample with its lead-in, whose length and power settled samples have.
CREATE TABLE samples (
  trial         INTEGER NOT NULL REFERENCES trials,
  ordinal       INTEGER NOT NULL,
  stage         INTEGER NOT NULL REFERENCES stages,
  round         INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  launches      INTEGER NOT NULL,
  time_s        REAL NOT NULL,
  sm_clock_hz   REAL NOT NULL,
  graph         INTEGER NOT NULL CHECK (graph IN (0, 1)),
  temperature_c REAL,
  power_cap_s   REAL,
  thermal_s     REAL,
  lead_in_s     REAL,
  power_w       REAL,
  PRIMARY KEY (trial, ordinal)
) STRICT, WITHOUT ROWID;

-- What was measured in a session beside others: a variant (its trial may be an earlier session's), an algorithm of the
-- baseline (index in its report), or with neither the idle GPU.
CREATE TABLE contenders (
  id        INTEGER PRIMARY KEY,
  session   INTEGER NOT NULL REFERENCES sessions,
  variant   INTEGER REFERENCES variants,
  algorithm INTEGER CHECK (algorithm >= 0),
  CHECK (variant IS NULL OR algorithm IS NULL)
) STRICT;
CREATE UNIQUE INDEX contenders_by_session ON contenders (session, ifnull(variant, 0), ifnull(algorithm, -1));

-- Samples of a session's rounds ("floor", "race", "final"). In a round of the floor the same algorithm has two.
CREATE TABLE round_samples (
  contender     INTEGER NOT NULL REFERENCES contenders,
  stage         INTEGER NOT NULL REFERENCES stages,
  round         INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  launches      INTEGER NOT NULL,
  time_s        REAL NOT NULL,
  sm_clock_hz   REAL NOT NULL,
  graph         INTEGER NOT NULL CHECK (graph IN (0, 1)),
  temperature_c REAL,
  power_cap_s   REAL,
  thermal_s     REAL,
  lead_in_s     REAL,
  power_w       REAL,
  PRIMARY KEY (contender, stage, round, position)
) STRICT, WITHOUT ROWID;

-- Energy of a steady load; energy_j is the whole board's over the window. launches and per_launch_s are 0 when idle,
-- shares NULL and the other measured fields 0 where the driver does not say.
CREATE TABLE energy_windows (
  contender           INTEGER NOT NULL REFERENCES contenders,
  ordinal             INTEGER NOT NULL,
  window_s            REAL NOT NULL,
  energy_j            REAL NOT NULL,
  steps               INTEGER NOT NULL,
  step_s              REAL NOT NULL,
  uncertainty         REAL NOT NULL,
  averaged_power_w    REAL NOT NULL,
  launches            INTEGER NOT NULL,
  per_launch_s        REAL NOT NULL,
  sm_clock_hz         REAL NOT NULL,
  power_cap_share     REAL,
  thermal_share       REAL,
  temperature_start_c REAL NOT NULL,
  temperature_end_c   REAL NOT NULL,
  PRIMARY KEY (contender, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE baseline_reports (
  session     INTEGER PRIMARY KEY REFERENCES sessions,
  library     TEXT NOT NULL,
  report_json TEXT NOT NULL
) STRICT;

-- The answer of a finished session; a session in which nothing was valid has none.
CREATE TABLE best (
  session          INTEGER PRIMARY KEY REFERENCES sessions,
  variant          INTEGER NOT NULL REFERENCES variants,
  time_s           REAL NOT NULL,
  tflops           REAL NOT NULL,
  ratio            REAL NOT NULL,
  ratio_low        REAL NOT NULL,
  ratio_high       REAL NOT NULL,
  baseline_first_s REAL NOT NULL,
  baseline_best_s  REAL NOT NULL,
  complete         INTEGER NOT NULL CHECK (complete IN (0, 1)),
  answer_json      TEXT NOT NULL
) STRICT;

-- Kernels for a range of M (tuner/model/family.hpp). The session's problem has the largest M.
CREATE TABLE families (
  session    INTEGER PRIMARY KEY REFERENCES sessions,
  first_m    INTEGER NOT NULL CHECK (first_m >= 1),
  sum_order  TEXT NOT NULL,
  compared_m INTEGER NOT NULL
) STRICT;

-- Intervals refer to kernels by ordinal.
CREATE TABLE family_kernels (
  session INTEGER NOT NULL REFERENCES sessions,
  ordinal INTEGER NOT NULL,
  variant INTEGER NOT NULL REFERENCES variants,
  PRIMARY KEY (session, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE family_intervals (
  session INTEGER NOT NULL REFERENCES sessions,
  last_m  INTEGER NOT NULL,
  kernel  INTEGER NOT NULL,
  spare   INTEGER,
  time_s  REAL NOT NULL,
  basis   TEXT NOT NULL CHECK (basis IN ('measured', 'predicted')),
  PRIMARY KEY (session, last_m)
) STRICT, WITHOUT ROWID;

-- variant is the winner of the plain search of this M; without a baseline its times are 0.
CREATE TABLE family_probes (
  session          INTEGER NOT NULL REFERENCES sessions,
  m                INTEGER NOT NULL,
  family_s         REAL NOT NULL,
  best_s           REAL NOT NULL,
  baseline_first_s REAL NOT NULL,
  baseline_best_s  REAL NOT NULL,
  variant          INTEGER NOT NULL REFERENCES variants,
  PRIMARY KEY (session, m)
) STRICT, WITHOUT ROWID;

-- What a GPU reached at most; the newest of a device, driver branch and source counts.
CREATE TABLE ceilings (
  id            INTEGER PRIMARY KEY,
  device        INTEGER NOT NULL REFERENCES devices,
  environment   INTEGER NOT NULL REFERENCES environments,
  source        TEXT NOT NULL CHECK (source IN ('gpu', 'replay')),
  measured_at   TEXT NOT NULL,
  ceilings_json TEXT NOT NULL
) STRICT;

-- Hardware counters of a variant, or of the baseline's algorithm (its library and description), on a problem under
-- conditions; the newest of each counts.
CREATE TABLE kernel_counters (
  id            INTEGER PRIMARY KEY,
  device        INTEGER NOT NULL REFERENCES devices,
  environment   INTEGER NOT NULL REFERENCES environments,
  problem       INTEGER NOT NULL REFERENCES problems,
  conditions    INTEGER NOT NULL REFERENCES conditions,
  variant       INTEGER REFERENCES variants,
  algorithm     TEXT,
  measured_at   TEXT NOT NULL,
  counters_json TEXT NOT NULL,
  CHECK ((variant IS NULL) <> (algorithm IS NULL))
) STRICT;
CREATE INDEX kernel_counters_by_problem ON kernel_counters (problem, conditions);

-- Tables of other tools that `pgtune import` read. They are of no search: table_json is the whole of one as
-- tool/pgtune/foreign/foreign_table.hpp writes it, digest the hash of that text.
CREATE TABLE foreign_tables (
  id          INTEGER PRIMARY KEY,
  imported_at TEXT NOT NULL,
  origin      TEXT NOT NULL,
  kernel      TEXT NOT NULL,
  device      TEXT NOT NULL,
  digest      TEXT NOT NULL,
  table_json  TEXT NOT NULL
) STRICT;

-- The answer of a finished search for a pipeline. Its session's template is named "pipeline", and the hash says what
-- streams and what of the space was searched.
CREATE TABLE pipeline_answers (
  session     INTEGER PRIMARY KEY REFERENCES sessions,
  time_s      REAL NOT NULL,
  bound_s     REAL NOT NULL,
  complete    INTEGER NOT NULL CHECK (complete IN (0, 1)),
  answer_json TEXT NOT NULL
) STRICT;

-- Every trial is kept; the newest of a candidate (highest id) counts.
CREATE TABLE pipeline_trials (
  id             INTEGER PRIMARY KEY,
  session        INTEGER NOT NULL REFERENCES sessions,
  candidate      TEXT NOT NULL,
  candidate_json TEXT NOT NULL,
  outcome        INTEGER NOT NULL REFERENCES outcomes,
  max_error      REAL,
  norm_error     REAL,
  recorded_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX pipeline_trials_by_session ON pipeline_trials (session, candidate);

-- Samples of screening and of rounds, each of `runs` whole runs.
CREATE TABLE pipeline_samples (
  session     INTEGER NOT NULL REFERENCES sessions,
  candidate   TEXT NOT NULL,
  ordinal     INTEGER NOT NULL,
  stage       INTEGER NOT NULL REFERENCES stages,
  round       INTEGER NOT NULL,
  position    INTEGER NOT NULL,
  runs        INTEGER NOT NULL,
  host_s      REAL NOT NULL,
  device_s    REAL NOT NULL,
  sm_clock_hz REAL,
  lead_in_s   REAL,
  PRIMARY KEY (session, candidate, ordinal)
) STRICT, WITHOUT ROWID;

-- Sessions with what results are looked up by, spelled out; device_uuid is the board.
CREATE VIEW session_keys AS
SELECT sessions.id AS session, devices.hardware || ', driver ' || environments.driver_branch AS device_class,
       devices.hardware AS hardware, environments.driver_branch AS driver_branch, devices.uuid AS device_uuid,
       problems.key AS problem_key, templates.name AS template_name, templates.content_hash AS template_hash,
       sessions.source AS source, conditions.key AS conditions_key, sessions.kind AS kind, sessions.device AS device,
       sessions.problem AS problem, sessions.conditions AS conditions
FROM sessions
JOIN devices ON devices.id = sessions.device
JOIN environments ON environments.id = sessions.environment
JOIN problems ON problems.id = sessions.problem
JOIN templates ON templates.id = sessions.template
JOIN conditions ON conditions.id = sessions.conditions;
