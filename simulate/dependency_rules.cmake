# What the room may use. Included from tests/project/dependency_rules.cmake.
room(simulate/program "${tool_host}" ${below} tool/pgtune/learning/ tool/pgtune/rooms)
