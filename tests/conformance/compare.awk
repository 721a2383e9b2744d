# The differences in the results of tests/conformance/run: expected.tsv first, then results.tsv. Exit status 1 if there
# is one that is not expected, or one that is and did not show. A result with a question mark may show or not.
# -v strategies='NAME...': those of the runs.
BEGIN {
    OFS = "\t"
    count = split(strategies, names, " ")
    for (i = 1; i <= count; i++) {
        ran[names[i]]
        of_word["all"] = of_word["all"] "," names[i]
        if (names[i] != "none")
            of_word["all but none"] = of_word["all but none"] "," names[i]
    }
}
FNR == NR {
    if (/^#/ || $3 == "n/a")
        next
    count = split($2 in of_word ? of_word[$2] : $2, variants, ",")
    optional = sub(/\?$/, "", $3)
    for (i = 1; i <= count; i++) {
        if (!(variants[i] in ran))
            continue
        expected[$1, variants[i], $3]
        if (optional)
            shown[$1, variants[i], $3]
    }
    next
}
!($1 in native) { tests++ }
$2 == "native" {
    native[$1] = $4
    kinds[$4]++
    next
}
{ runs++ }
$4 == native[$1] {
    same++
    same_here[$1, $2]++
    next
}
{
    if (($1, $2, $4) in expected)
        shown[$1, $2, $4]
    else
        unexpected++
    different[$1, $2, $4]++
    if (different[$1, $2, $4] == 1)
        order[++pairs] = $1 SUBSEP $2 SUBSEP $4
}
END {
    printf "%d tests; natively", tests
    for (kind in kinds)
        printf " %d %s", kinds[kind], kind
    printf "; %d of %d runs under pct end in the same way\n", same, runs
    for (i = 1; i <= pairs; i++) {
        split(order[i], of, SUBSEP)
        print (order[i] in expected ? "expected" : "UNEXPECTED"), of[1], of[2], \
            native[of[1]] " natively, " of[3] " in " different[order[i]] " of " \
            different[order[i]] + same_here[of[1], of[2]] " runs"
    }
    for (pair in expected) {
        split(pair, of, SUBSEP)
        if (of[1] in native && !(pair in shown)) {
            print "NOT SEEN", of[1], of[2], of[3]
            unexpected++
        }
    }
    exit unexpected > 0
}
