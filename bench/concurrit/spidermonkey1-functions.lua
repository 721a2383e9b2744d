-- Every order of the accesses in the two functions.
interleave(threads(2, starts), accesses * (from "js_gc" + from "clear_context_thread") + ends)
