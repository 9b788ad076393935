-- SPDX-License-Identifier: MIT
-- Schema 6: a result counts for a device class (tuner/model/device_class.hpp) and not for one board alone. hardware is the
-- text of the class but for the driver's branch, which the environment has. Needs pgtune_hardware() (db/hardware.hpp).

ALTER TABLE devices ADD COLUMN hardware TEXT NOT NULL DEFAULT '';
UPDATE devices SET hardware = pgtune_hardware(uuid, name, info_json);

-- Sessions with what results are looked up by, spelled out; device_uuid is the board.
DROP VIEW session_keys;
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
