# What the parts of the room may use. Included from tests/project/dependency_rules.cmake.
set(pure tuner/util/ tuner/model/ pipeline/plan/ pipeline/exported/)
set(searching ${pure} tuner/protocol/ tuner/device/ tuner/session/ tuner/stats/ tuner/operation/ pipeline/search/)
room(pipeline/plan "${host}" ${pure})
room(pipeline/search "${host}" ${searching})
room(pipeline/program "${tool_host}" ${searching} db/ tuner/space/ tuner/template/ tool/pgtune/)
room(pipeline/worker "${sqlite};${cli}" ${pure} tuner/protocol/ tuner/gpu/ tool/worker/ pipeline/search/messages)
check_includes(pipeline/exported "${project}" pipeline/exported/ "")
