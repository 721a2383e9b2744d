-- Large steps: from point to point.
interleave(threads(2, from "pqueue_get"), point + ends)
