-- SPDX-License-Identifier: MIT
-- Schema 10: sessions of another kind, which search for a host pipeline, with what they measure. sessions is made anew for
-- its CHECK; foreign keys are off meanwhile.

DROP VIEW session_keys;
CREATE TABLE new_sessions (
  id           INTEGER PRIMARY KEY,
  device       INTEGER NOT NULL REFERENCES devices,
  environment  INTEGER NOT NULL REFERENCES environments,
  problem      INTEGER NOT NULL REFERENCES problems,
  template     INTEGER NOT NULL REFERENCES templates,
  conditions   INTEGER NOT NULL REFERENCES conditions,
  kind         TEXT NOT NULL CHECK (kind IN ('search', 'bench', 'pipeline')),
  source       TEXT NOT NULL CHECK (source IN ('gpu', 'replay')),
  started_at   TEXT NOT NULL,
  finished_at  TEXT,
  seed         INTEGER NOT NULL,
  command_line TEXT NOT NULL,
  uid          TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO new_sessions
SELECT id, device, environment, problem, template, conditions, kind, source, started_at, finished_at, seed,
       command_line, uid
FROM sessions;
DROP TABLE sessions;
ALTER TABLE new_sessions RENAME TO sessions;
CREATE INDEX sessions_by_problem ON sessions (problem, template);
CREATE UNIQUE INDEX sessions_by_uid ON sessions (uid);

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

-- Samples of screening and of rounds, each of so many whole runs.
CREATE TABLE pipeline_samples (
  session   INTEGER NOT NULL REFERENCES sessions,
  candidate TEXT NOT NULL,
  ordinal   INTEGER NOT NULL,
  stage     INTEGER NOT NULL REFERENCES stages,
  round     INTEGER NOT NULL,
  position  INTEGER NOT NULL,
  runs      INTEGER NOT NULL,
  host_s    REAL NOT NULL,
  device_s  REAL NOT NULL,
  PRIMARY KEY (session, candidate, ordinal)
) STRICT, WITHOUT ROWID;
