-- Two turns.
interleave_bounded(threads(2, starts), accesses * (from "js_gc" + from "clear_context_thread") + ends, 2)
