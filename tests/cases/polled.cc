// Who waits for another thread by a file, whatever it polls with, comes after all that one did before. Of these calls,
// 83 were not known, and what was written before the file was made was reported as a race.
//
// BUILD: pct-c++ -std=c++20 -O1 -g -pthread -o %p %s
// RUN: cd %t && for name in $(%p --list); do pct run -q --state none -n 4 -s 1 --races=fail -- %p $name || exit; done
#include "../snippets/polled.cc"
