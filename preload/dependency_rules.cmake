# What the parts of the room may use. Included from tests/project/dependency_rules.cmake.
room(preload/shim "${host}")
room(preload/program "${tool_host}" ${below} tool/pgtune/rooms preload/shim/)
