#!/usr/bin/env bats
# Intrusive lists: what a pointer leads to is a member of a structure (container_of), in paths and as what others know.
load common
load demon

setup()
{
    enter_demon || return
}

# judges STATUS STATEMENT CONTRACT...: `pct demon` of the routine that does this with each job; others may cancel one.
judges()
{
    printf '%s\n' "${@:3}" > spec.demon
    # shellcheck disable=SC2086 # none, or some
    "$cc" -g -O0 -pthread -DRUN="$2" -DLATEST=first -DHEAP=0 -DHEAD='&q->head' ${flag-} -o program \
        "$root/tests/cli/demon_lists.c"
    run --separate-stderr timeout 120 "$pct" demon --bound 1 --emit-test test.c --spec spec.demon -- ./program
    is "$status" "$1"
}

jobs=('proc run(j) require ready: j.ready = 1' 'proc cancel(j) ensure off: j.ready = 0')
links=('proc run_link(l) require ready: container_of(l, job, link).ready = 1'
    'proc cancel_link(l) ensure off: container_of(l, job, link).ready = 0')

@test "a list's jobs, by its head: found, and written as a test" {
    judges 1 'run(job_of(l))' 'test use(q) object container_of(q.head.next, struct job, link)' "${jobs[@]}"
    has 'another thread calls cancel(container_of(q.head.next, job, link))'
    has '      container_of(q.head.next, job, link).ready: 1 -> 0'
    grep -qx '    cancel(behind(follow(&queue, 48), -8));' test.c
    "$cc" -Wall -Wextra -Werror -g -O0 -pthread -DRUN='run(job_of(l))' -DLATEST=first -DHEAP=0 -DHEAD='&q->head' -o \
        demon-test \
        "$root/tests/cli/demon_lists.c" test.c
    run --separate-stderr bash -c "$(tail -n 1 <<< "$output")"
    is "$status" 134
    has 'replayed identically'
}

@test "jobs by the links that functions take; the correction is proven stable" {
    judges 1 'run_link(l)' 'test use(q)' "${links[@]}"
    has 'another thread calls cancel_link(q.bucket[2])'
    has '      container_of(q.bucket[2], job, link).ready: 1 -> 0'
    flag=-DFIXED judges 0 'run_link(l)' 'test use(q) rely locked: holds(q.lock) implies unchanged(q.head.next)' \
        'and unchanged(container_of(q.head.next, job, link).ready) and unchanged(q.head.next.next)' \
        'and unchanged(container_of(q.head.next.next, job, link).ready)' "${links[@]}"
    has '3 proven stable'
    has 'no interference found'
}

@test "jobs by a shared pointer, and by each element of an array" {
    judges 1 'run(job_of(l))' 'shared latest' 'test use(q) object container_of(latest, job, link)' "${jobs[@]}"
    has 'another thread calls cancel(container_of(latest, job, link))'
    grep -qx '    cancel(behind(latest, -8));' test.c
    judges 1 'run(job_of(l))' 'test use(q) object container_of(q.bucket[0], job, link)' "${jobs[@]}"
    has 'another thread calls cancel(container_of(q.bucket[2], job, link))'
}

@test "the head of a list is no job, whether others know it or not" {
    flag='-UHEAP -DHEAP=1' judges 0 'run(job_of(l))' 'test use(q) object container_of(q.head.next, job, link)' \
        'proc run(j) require any: j.runs >= 0' \
        'proc cancel(j) object container_of(j.link.next, job, link) ensure off: j.ready = 0'
    has '4 single calls of others were made' # of two jobs
    flag='-UHEAD -DHEAD=&others.head -ULATEST -DLATEST=second' judges 0 'run(job_of(l))' 'shared latest' \
        'test use(q) object container_of(latest, job, link)' 'proc run(j) require any: j.runs >= 0' \
        'proc cancel(j) object container_of(j.link.next, job, link) ensure off: j.ready = 0'
    has '2 single calls of others were made'
}

@test "what may be the head of a list is no job: others do not know it, or the list has become empty" {
    flag='-UHEAD -DHEAD=&others.head -ULATEST -DLATEST=second -DBLOCKS' judges 0 'run(job_of(l))' 'shared latest' \
        'test use(q) object container_of(latest, job, link)' 'proc run(j) require any: j.runs >= 0' \
        'proc cancel(j) object container_of(j.link.next, job, link) ensure off: j.ready = 0'
    has "no call was tried on what may be a list's head, not its element"
    flag=-DEMPTY judges 0 'run(job_of(l))' 'test use(q) object container_of(q.head.next, job, link)' \
        'proc check(q) require some: q.length > 0' "${jobs[1]}"
    flag=-DEMPTY judges 0 'run(job_of(l))' 'test use(q)' 'proc check(q) require some: q.length > 0' "${links[1]}"
    has 'candidates were refuted by a real run'
    lacks 'calls made the program fail'
}

@test "jobs in memory of the heap, by the list's head that others know" {
    flag=-DBLOCKS judges 1 'run(job_of(l))' 'test use(q) object container_of(q.head.previous, job, link)' "${jobs[@]}"
    has 'another thread calls cancel(container_of(q.head.previous, job, link))'
}

@test "containers that are none are refused by name" {
    local path say
    while IFS='|' read -r path say; do
        judges 2 'run_link(l)' 'test use(q)' " object $path" "${links[@]}"
        say=${say/PROGRAM/$PWD/program}
        is "$stderr" "pct: spec.demon:${say/PATH:/$path:}"
    done << 'END'
q.head.next|3: object container_of(PATH, TYPE, MEMBER) is expected, not q.head.next: what other paths lead to is known
container_of(q.head.next, jib, link)|2: PATH: PROGRAM has no structure jib; did you mean job?
container_of(q.head.next, job, lonk)|2: PATH: struct job has no member 'lonk'; did you mean link?
container_of(q.head.next, job, runs)|2: PATH: runs of job is no structure link, which the pointer leads to
container_of(q.head, job, link)|2: PATH: what stands before `, job` does not point to a structure
container_of(q.length, job, link)|2: PATH: what stands before `, job` does not point to a structure
container_of(q.head.next job, link)|2: ',' is expected, not job
container_of(q.head.next, job)|2: ',' is expected, not )
container_of(q, queue, head)|2: PATH: head of queue is no structure queue, which the pointer leads to
END
    judges 2 'run_link(l)' 'test use(q) rely none: container_of(q.head.next, job, link) = null' "${links[@]}"
    has 'is a structure: name a member, as in container_of(q.head.next, job, link).member'
}
