# find_package(pct): the command as the target pct::pct, the headers as pct::headers, and a function:
#
# pct_add_test(NAME name [RUNS number] [SEED seed] [TIMEOUT seconds] [WORKING_DIRECTORY directory]
#              [LABELS label...] [OPTIONS option...] COMMAND target|program [argument...])
#
# A test that runs a program under many schedules: RUNS of them (100), from SEED on (1, so that the same commit gives
# the same result), for at most TIMEOUT seconds (600). OPTIONS are those of `pct run`. It has the label pct: `ctest -L
# pct` runs all of these, `ctest -LE pct` all others.
get_filename_component(_pct_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(pct_EXECUTABLE "${_pct_prefix}/bin/pct")
if(NOT EXISTS "${pct_EXECUTABLE}")
  set(pct_FOUND FALSE)
  set(pct_NOT_FOUND_MESSAGE "${pct_EXECUTABLE} is missing: install pct again")
  return()
endif()

if(NOT TARGET pct::pct)
  add_executable(pct::pct IMPORTED)
  set_target_properties(pct::pct PROPERTIES IMPORTED_LOCATION "${pct_EXECUTABLE}")
endif()
if(NOT TARGET pct::headers)
  add_library(pct::headers INTERFACE IMPORTED)
  set_target_properties(pct::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_pct_prefix}/include")
endif()
unset(_pct_prefix)

function(pct_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;RUNS;SEED;TIMEOUT;WORKING_DIRECTORY" "LABELS;OPTIONS;COMMAND")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pct_add_test: unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(needed NAME COMMAND)
    if(NOT arg_${needed})
      message(FATAL_ERROR "pct_add_test: ${needed} is missing")
    endif()
  endforeach()
  foreach(pair RUNS=100 SEED=1 TIMEOUT=600)
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 name)
    if(NOT DEFINED arg_${name})
      list(GET pair 1 arg_${name})
    endif()
  endforeach()
  # CMake replaces the name of a target by its file where it is the command, which it is not here.
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set(where)
  if(arg_WORKING_DIRECTORY)
    set(where WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
  endif()
  add_test(NAME ${arg_NAME}
           COMMAND pct::pct run -n ${arg_RUNS} -s ${arg_SEED} ${arg_OPTIONS} -- ${program} ${arg_COMMAND}
           ${where})
  set_tests_properties(${arg_NAME} PROPERTIES LABELS "pct;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
