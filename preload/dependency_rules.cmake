# What the parts of the room may use. Included from tests/project/dependency_rules.cmake.
room(preload/shim "${host}" preload/kernels/)
room(preload/kernels "${host}")
room(preload/program "${tool_host}" ${below} tool/pgtune/rooms tool/pgtune/export/ preload/shim/ preload/kernels/)
