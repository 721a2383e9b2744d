# pct_add_test(NAME name [RUNS number] [TIMEOUT seconds] [OPTIONS option...] COMMAND target [argument...])
#
# A test that runs a target under many schedules: `ctest -L pct` runs all of these, `ctest -LE pct` all others. The seeds are
# fixed, so that the same commit gives the same result. PCT names the command `pct` if it is not in the PATH.
find_program(PCT pct REQUIRED)

function(pct_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;RUNS;TIMEOUT" "OPTIONS;COMMAND")
  if(NOT arg_RUNS)
    set(arg_RUNS 100)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  # CMake replaces the name of a target by its file where it is the command, which it is not here.
  list(POP_FRONT arg_COMMAND target)
  add_test(NAME ${arg_NAME}
           COMMAND ${PCT} run -n ${arg_RUNS} -s 1 ${arg_OPTIONS} -- $<TARGET_FILE:${target}> ${arg_COMMAND})
  set_tests_properties(${arg_NAME} PROPERTIES LABELS pct TIMEOUT ${arg_TIMEOUT})
endfunction()
