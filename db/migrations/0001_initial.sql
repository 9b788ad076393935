-- SPDX-License-Identifier: MIT
-- Schema 1. Facts that repeat (devices, variants, builds, outcomes) are rows of their own and joined by integer keys, so
-- that a full grid of a few thousand variants stays small. Times in seconds, sizes in bytes, JSON text is only stored.

-- One row a state of a device: a changed power limit or driver makes a new row, so old sessions keep what they ran on.
CREATE TABLE devices (
  id           INTEGER PRIMARY KEY,
  uuid         TEXT NOT NULL,
  name         TEXT NOT NULL,
  architecture TEXT NOT NULL,
  info_json    TEXT NOT NULL,
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
  math_mode    TEXT NOT NULL,
  layout       TEXT NOT NULL,
  problem_json TEXT NOT NULL
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

-- Part of a session a block was timed in: "screen", "final".
CREATE TABLE stages (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- finished_at is NULL while the session runs, and for ever when it was killed.
CREATE TABLE sessions (
  id           INTEGER PRIMARY KEY,
  device       INTEGER NOT NULL REFERENCES devices,
  environment  INTEGER NOT NULL REFERENCES environments,
  problem      INTEGER NOT NULL REFERENCES problems,
  template     INTEGER NOT NULL REFERENCES templates,
  source       TEXT NOT NULL CHECK (source IN ('gpu', 'replay')),
  started_at   TEXT NOT NULL,
  finished_at  TEXT,
  seed         INTEGER NOT NULL,
  command_line TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_problem ON sessions (problem, template);

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

-- Blocks of a trial, in the order taken. sm_clock_hz is 0 where it was not measured.
CREATE TABLE blocks (
  trial       INTEGER NOT NULL REFERENCES trials,
  ordinal     INTEGER NOT NULL,
  stage       INTEGER NOT NULL REFERENCES stages,
  round       INTEGER NOT NULL,
  position    INTEGER NOT NULL,
  launches    INTEGER NOT NULL,
  time_s      REAL NOT NULL,
  sm_clock_hz REAL NOT NULL,
  PRIMARY KEY (trial, ordinal)
) STRICT, WITHOUT ROWID;

-- Blocks of the finalists. They belong to the session, as the variant's trial may be an earlier session's.
CREATE TABLE final_blocks (
  session     INTEGER NOT NULL REFERENCES sessions,
  variant     INTEGER NOT NULL REFERENCES variants,
  ordinal     INTEGER NOT NULL,
  stage       INTEGER NOT NULL REFERENCES stages,
  round       INTEGER NOT NULL,
  position    INTEGER NOT NULL,
  launches    INTEGER NOT NULL,
  time_s      REAL NOT NULL,
  sm_clock_hz REAL NOT NULL,
  PRIMARY KEY (session, variant, ordinal)
) STRICT, WITHOUT ROWID;

-- Blocks of the reference's algorithms, by rank in its report.
CREATE TABLE reference_blocks (
  session     INTEGER NOT NULL REFERENCES sessions,
  algorithm   INTEGER NOT NULL,
  ordinal     INTEGER NOT NULL,
  stage       INTEGER NOT NULL REFERENCES stages,
  round       INTEGER NOT NULL,
  position    INTEGER NOT NULL,
  launches    INTEGER NOT NULL,
  time_s      REAL NOT NULL,
  sm_clock_hz REAL NOT NULL,
  PRIMARY KEY (session, algorithm, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE reference_reports (
  session     INTEGER PRIMARY KEY REFERENCES sessions,
  library     TEXT NOT NULL,
  report_json TEXT NOT NULL
) STRICT;

-- The answer of a finished session; a session in which nothing was valid has none.
CREATE TABLE best (
  session           INTEGER PRIMARY KEY REFERENCES sessions,
  variant           INTEGER NOT NULL REFERENCES variants,
  time_s            REAL NOT NULL,
  tflops            REAL NOT NULL,
  ratio             REAL NOT NULL,
  ratio_low         REAL NOT NULL,
  ratio_high        REAL NOT NULL,
  reference_first_s REAL NOT NULL,
  reference_best_s  REAL NOT NULL,
  complete          INTEGER NOT NULL CHECK (complete IN (0, 1)),
  answer_json       TEXT NOT NULL
) STRICT;

-- Sessions with what results are looked up by, spelled out.
CREATE VIEW session_keys AS
SELECT sessions.id AS session, devices.uuid AS device_uuid, environments.driver_branch AS driver_branch,
       problems.key AS problem_key, templates.name AS template_name, templates.content_hash AS template_hash,
       sessions.source AS source, sessions.device AS device, sessions.problem AS problem
FROM sessions
JOIN devices ON devices.id = sessions.device
JOIN environments ON environments.id = sessions.environment
JOIN problems ON problems.id = sessions.problem
JOIN templates ON templates.id = sessions.template;
