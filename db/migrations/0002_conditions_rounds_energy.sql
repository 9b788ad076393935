-- SPDX-License-Identifier: MIT
-- Schema 2: conditions and kind of a session, rounds of every stage, throttle times and temperature of blocks, energy
-- windows, ceilings. Runs with foreign keys switched off, because sessions is made anew; they are checked afterwards.

DROP VIEW session_keys;

-- Results taken under different conditions are different results. key is canonical text, conditions_json the same
-- fields for readers other than pgtune.
CREATE TABLE conditions (
  id              INTEGER PRIMARY KEY,
  key             TEXT NOT NULL UNIQUE,
  conditions_json TEXT NOT NULL
) STRICT;

-- Schema 1 knew no other.
INSERT INTO conditions (key, conditions_json)
SELECT 'sustained rotated uniform:20231107 observed',
       '{"data":"uniform","data_seed":20231107,"l2":"rotated","locked_sm_clock_hz":0.0,"regime":"sustained"}'
WHERE EXISTS (SELECT 1 FROM sessions);

-- finished_at is NULL while the session runs, and for ever when it was killed. A search finds the answer for its key; a
-- bench measures chosen variants again and answers nothing.
CREATE TABLE new_sessions (
  id           INTEGER PRIMARY KEY,
  device       INTEGER NOT NULL REFERENCES devices,
  environment  INTEGER NOT NULL REFERENCES environments,
  problem      INTEGER NOT NULL REFERENCES problems,
  template     INTEGER NOT NULL REFERENCES templates,
  conditions   INTEGER NOT NULL REFERENCES conditions,
  kind         TEXT NOT NULL CHECK (kind IN ('search', 'bench')),
  source       TEXT NOT NULL CHECK (source IN ('gpu', 'replay')),
  started_at   TEXT NOT NULL,
  finished_at  TEXT,
  seed         INTEGER NOT NULL,
  command_line TEXT NOT NULL
) STRICT;
INSERT INTO new_sessions
SELECT sessions.id, device, environment, problem, template, conditions.id, 'search', source, started_at, finished_at,
       seed, command_line
FROM sessions, conditions;
DROP TABLE sessions;
ALTER TABLE new_sessions RENAME TO sessions;
CREATE INDEX sessions_by_problem ON sessions (problem, template);

-- NULL where not measured. Both times count the block with its lead-in.
ALTER TABLE blocks ADD COLUMN graph INTEGER NOT NULL DEFAULT 0 CHECK (graph IN (0, 1));
ALTER TABLE blocks ADD COLUMN temperature_c REAL;
ALTER TABLE blocks ADD COLUMN power_cap_s REAL;
ALTER TABLE blocks ADD COLUMN thermal_s REAL;

-- Who was measured in a session beside others: a variant (its trial may be an earlier session's), an algorithm of the
-- reference (index in its report), or with neither the idle GPU.
CREATE TABLE contenders (
  id        INTEGER PRIMARY KEY,
  session   INTEGER NOT NULL REFERENCES sessions,
  variant   INTEGER REFERENCES variants,
  algorithm INTEGER CHECK (algorithm >= 0),
  CHECK (variant IS NULL OR algorithm IS NULL)
) STRICT;
CREATE UNIQUE INDEX contenders_by_session ON contenders (session, ifnull(variant, 0), ifnull(algorithm, -1));

-- Blocks of a session's rounds ("floor", "race", "final"). In a round of the floor the same algorithm has two.
CREATE TABLE round_blocks (
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
  PRIMARY KEY (contender, stage, round, position)
) STRICT, WITHOUT ROWID;

INSERT INTO contenders (session, variant) SELECT DISTINCT session, variant FROM final_blocks ORDER BY session, variant;
INSERT INTO contenders (session, algorithm)
SELECT DISTINCT session, algorithm FROM reference_blocks ORDER BY session, algorithm;
INSERT INTO round_blocks (contender, stage, round, position, launches, time_s, sm_clock_hz, graph)
SELECT contenders.id, stage, round, position, launches, time_s, sm_clock_hz, 0
FROM final_blocks
JOIN contenders ON contenders.session = final_blocks.session AND contenders.variant = final_blocks.variant;
INSERT INTO round_blocks (contender, stage, round, position, launches, time_s, sm_clock_hz, graph)
SELECT contenders.id, stage, round, position, launches, time_s, sm_clock_hz, 0
FROM reference_blocks
JOIN contenders ON contenders.session = reference_blocks.session AND contenders.algorithm = reference_blocks.algorithm;
DROP TABLE final_blocks;
DROP TABLE reference_blocks;

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

-- What a GPU reached at most; the newest of a device, driver branch and source counts.
CREATE TABLE ceilings (
  id            INTEGER PRIMARY KEY,
  device        INTEGER NOT NULL REFERENCES devices,
  environment   INTEGER NOT NULL REFERENCES environments,
  source        TEXT NOT NULL CHECK (source IN ('gpu', 'replay')),
  measured_at   TEXT NOT NULL,
  ceilings_json TEXT NOT NULL
) STRICT;

-- Sessions with what results are looked up by, spelled out.
CREATE VIEW session_keys AS
SELECT sessions.id AS session, devices.uuid AS device_uuid, environments.driver_branch AS driver_branch,
       problems.key AS problem_key, templates.name AS template_name, templates.content_hash AS template_hash,
       sessions.source AS source, conditions.key AS conditions_key, sessions.kind AS kind, sessions.device AS device,
       sessions.problem AS problem, sessions.conditions AS conditions
FROM sessions
JOIN devices ON devices.id = sessions.device
JOIN environments ON environments.id = sessions.environment
JOIN problems ON problems.id = sessions.problem
JOIN templates ON templates.id = sessions.template
JOIN conditions ON conditions.id = sessions.conditions;
