-- Large steps: from point to point.
interleave(threads(2, starts), point + ends)
