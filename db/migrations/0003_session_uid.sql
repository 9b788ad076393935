-- SPDX-License-Identifier: MIT
-- Schema 3: a uid names a session in every file it is copied or merged into. It begins with a time in milliseconds that
-- grows from session to session of one file, so that "newest" is the highest uid as it is the highest id. Needs
-- pgtune_digest() (db/session_uid.hpp).

ALTER TABLE sessions ADD COLUMN uid TEXT NOT NULL DEFAULT '';

-- Sessions of older schemas get a UUID of version 8 from what they hold: copies of one file agree. Sessions with one
-- time of start, in whole seconds, or with an earlier one than their predecessor's (the clock was set back) get the
-- next millisecond. The first trial's time tells sessions apart that began alike in two files.
WITH started AS (
  SELECT id, row_number() OVER (ORDER BY id) AS place,
         1000 * CAST(strftime('%s', started_at) AS INTEGER) AS started_ms
  FROM sessions
), timed AS (
  SELECT id, place + max(ifnull(started_ms, 0) - place) OVER (ORDER BY id) AS time_ms FROM started
), named AS (
  SELECT sessions.id, timed.time_ms,
         pgtune_digest(devices.uuid, devices.name, devices.info_json, environments.driver_version,
                       environments.nvrtc_version, environments.cublaslt_version, environments.pgtune_version,
                       environments.host_os, problems.key, templates.name, templates.content_hash, conditions.key,
                       sessions.kind, sessions.source, started_at, seed, command_line,
                       (SELECT recorded_at FROM trials WHERE trials.session = sessions.id ORDER BY id LIMIT 1))
           AS digest
  FROM sessions
  JOIN timed ON timed.id = sessions.id
  LEFT JOIN devices ON devices.id = sessions.device
  LEFT JOIN environments ON environments.id = sessions.environment
  LEFT JOIN problems ON problems.id = sessions.problem
  LEFT JOIN templates ON templates.id = sessions.template
  LEFT JOIN conditions ON conditions.id = sessions.conditions
)
UPDATE sessions
SET uid = printf('%08x-%04x-8%s-8%s-%s', time_ms >> 16, time_ms & 65535, substr(digest, 1, 3), substr(digest, 4, 3),
                 substr(digest, 7, 12))
FROM named
WHERE named.id = sessions.id;

CREATE UNIQUE INDEX sessions_by_uid ON sessions (uid);
