# Rates of failure and what follows from them, for the scripts of this directory, which put it before their own.

# One end (sign -1 or 1) of the interval of Wilson, 95 %, for this many hits in this many runs: the p at which these
# hits are z standard deviations away.
function wilson(runs, hits, sign,    z, p)
{
    z = 1.959964
    if (!runs)
        return sign < 0 ? 0 : 1
    p = hits / runs
    p = (p + z * z / (2 * runs) + sign * z * sqrt(p * (1 - p) / runs + z * z / (4 * runs * runs))) / (1 + z * z / runs)
    return p < 1e-12 ? 0 : p > 1 ? 1 : p
}

# The median of the runs to the first failure, if each fails with probability p: runs are independent. Empty if p is 0.
function median(p)
{
    if (p < 1e-12)
        return ""
    if (p > 1 - 1e-12)
        return 1
    p = log(0.5) / log(1 - p)
    return p <= 1 ? 1 : p == int(p) ? p : int(p) + 1
}
