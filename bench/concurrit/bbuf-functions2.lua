-- Every order of the calls that the consumers make in get().
interleave(threads(2, from "get"), (locks + waits) * from "get" + ends)
