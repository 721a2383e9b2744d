-- Large steps: from point to point.
interleave(threads(3, starts), point + ends)
