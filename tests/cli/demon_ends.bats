#!/usr/bin/env bats
# Intrusive lists whose ends do not tell a head from an element: which of what they lead to others are called with.
load common
load demon

setup()
{
    enter_demon || return
}

# judges STATUS FLAGS CONTRACT...: `pct demon` of the routine of demon_ends.c, where others may cancel a job.
judges()
{
    judge demon_ends.c "--bound 2 --points=calls" "$@"
}

unsure="no call was tried on what may be a list's head, not its element"
run='proc run(j) require ready: j.ready != 0'
cancel='proc cancel(j) ensure off: j.ready = 0'

@test "the head before a list's first job is no job, though null pointers end the list" {
    judges 0 '-DFIXED -DSENTINEL -DWHICH=c->last' 'test use(c) object container_of(c.last, struct job, link)' \
        'proc run(j) require any: j.ready >= 0' "$cancel" 'object container_of(j.link.previous, job, link)'
    has '1 single calls of others were made' # on the last
    has "$unsure"
}

@test "jobs between a first and a last one that contracts name" {
    judges 1 '-DWHICH=c->first->next' 'test use(c) object container_of(c.first, job, link) object '\
'container_of(c.last, job, link)' \
        "$run" "$cancel" 'object container_of(j.link.previous, job, link)'
    has 'another thread calls cancel(container_of(container_of(c.last, job, link).link.previous, job, link))'
    lacks "$unsure"
}

@test "a ring without a head: the job that a function is entered with, and all by pointers of their own" {
    judges 1 '-DRING -DWHICH=c->first->next' 'test use(c) object container_of(c.first.next, job, link)' "$run" "$cancel"
    has 'another thread calls cancel(container_of(c.first.next, job, link))'
    judges 0 '-DRING -DFIXED -DWHICH=c->first->next' \
        'test use(c) object container_of(c.first.next, job, link)' "$run" "$cancel"
    has "$unsure"
    has 'let an array of pointers to the elements themselves be one'
    judges 1 '-DRING -DALL -DWHICH=c->first->next' 'test use(c)' "$run" "$cancel"
    has 'another thread calls cancel(c.all[1])'
}
