# Reads preload/intercepts.def and writes one line of tab-separated fields for each row:
#     name  version  family  scheduling point  note  section
# where section is the comment above the rows. Called by the generators and checks in scripts/, on every build.
#
# A row may stand on several lines; a string may hold escaped quotes and commas. Whatever looks like a row and cannot be
# read is an error: a function that silently left the table would silently not be intercepted.

function fail(message) {
    printf "%s:%d: %s\n", FILENAME, FNR, message > "/dev/stderr"
    failed = 1
    exit 1
}

# Take one argument off the front of `rest`; strings lose their quotes.
function argument(    value, c, i) {
    sub(/^[ \t]+/, "", rest)
    value = ""
    if (substr(rest, 1, 1) == "\"") {
        for (i = 2; i <= length(rest); i++) {
            c = substr(rest, i, 1)
            if (c == "\\") {
                i++
                value = value substr(rest, i, 1)
            } else if (c == "\"") {
                break
            } else {
                value = value c
            }
        }
        rest = substr(rest, i + 1)
    } else if (match(rest, /^[A-Za-z_][A-Za-z0-9_]*/)) {
        value = substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
    } else {
        fail("cannot read this row: " row)
    }
    sub(/^[ \t]+/, "", rest)
    if (rest !~ /^[,)]/)
        fail("expected `,` or `)` in this row: " row)
    rest = substr(rest, 2)
    return value
}

function emit(    name, version, family, point, note) {
    rest = row
    sub(/^[ \t]*ROW\(/, "", rest)
    name = argument()
    version = argument()
    family = argument()
    point = argument()
    note = argument()
    if (rest !~ /^[ \t]*$/)
        fail("this row has more than five fields: " row)
    if (name in seen)
        fail(name " has two rows")
    seen[name] = 1
    printf "%s\t%s\t%s\t%s\t%s\t%s\n", name, version, family, point, note, section
}

# The first comment of the file explains it; comments at the start of a line after that are headings.
!in_comment && !in_row && /^\/\*/ {
    in_comment = 1
    comment = ""
}
in_comment {
    line = $0
    sub(/^[ \t]*\/?\*+[ \t]*/, "", line)
    ended = line ~ /\*\//
    sub(/[ \t]*\*\/.*$/, "", line)
    sub(/^\/$/, "", line)
    comment = comment (comment == "" || line == "" ? "" : " ") line
    if (ended || $0 ~ /^[ \t]*\*\//) {
        in_comment = 0
        if (headings++ > 0)
            section = comment
    }
    next
}
!in_row && /^[ \t]*ROW\(/ {
    in_row = 1
    row = ""
}
in_row {
    row = row (row == "" ? "" : " ") $0
    if ($0 ~ /\)[ \t]*$/) {
        in_row = 0
        emit()
    }
    next
}
/^[ \t]*$/ { next }
{ fail("neither a comment nor a row: " $0) }
END {
    if (failed)
        exit 1
    if (in_row || in_comment) {
        printf "%s: ends inside a row or a comment\n", FILENAME > "/dev/stderr"
        exit 1
    }
}
