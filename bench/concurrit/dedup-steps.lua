-- Large steps: from point to point.
interleave(threads(2, from "dequeue"), point + ends)
