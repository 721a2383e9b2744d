-- Every order of whole calls.
interleave(threads(2,starts), locks * (from "rwlock_rlock" + from "rwlock_wlock" + from "rwlock_unlock") + waits + ends)
