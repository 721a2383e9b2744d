// A campaign that goes on repeats the run that it began with: where a library was rebuilt, or a file has changed, it takes other steps, and there
// is no guarantee for the runs before and after together. The program file is the same, which alone was looked at. Likewise shards, of which each
// had another library.
//
// BUILD: gcc -O1 -g -pthread -shared -fPIC -DLIBRARY=3 -o %p.so %s && gcc -O1 -g -pthread -o %p %s %p.so
// RUN: mkdir -p %t/new; gcc -O1 -g -pthread -shared -fPIC -DLIBRARY=2 -o %t/new/campaign_library.so %s; cp %p.so %t
// RUN: pct campaign -q -s 1 -n 20 -S pct -d 2 --db %t/db -- %p; pct campaign -q -n 30 --db %t/db -S pct -- %p; pct campaign report %t/db | grep 'missed with probability'
// RUN: cp %p.so %p.old; gcc -O1 -g -pthread -shared -fPIC -DLIBRARY=2 -o %p.so %s; pct campaign -n 40 -S pct --db %t/db -- %p > %t/out 2>&1; grep 'first run, repeated, took other steps than' %t/out && grep 'no guarantee .* the first run, repeated, took other steps: ' %t/out
