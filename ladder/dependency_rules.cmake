# What the room may use. Included from tests/project/dependency_rules.cmake.
room(ladder/program "${tool_host}" ${below} tool/pgtune/rooms)
