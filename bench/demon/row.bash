# For scripts that ask about a library of Debian's: rows of a table, as Markdown.
# shellcheck shell=bash disable=SC2154 # build

print_head()
{
    echo
    echo '| structure | lock, simple, complex | points | pairs | proven stable | refuted | result | the interference |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
}

# row NAME SPEC COMMAND...
row()
{
    "$build/pct" demon --points=calls --spec "$2" --report json:report -- "${@:3}" > out 2>&1
    /usr/bin/python3 - "$1" << 'PYTHON'
import json, sys
r = json.load(open("report"))
said = "%(lock)d, %(simple)d, %(complex)d" % r["annotations"]
calls = ", then ".join(r["confirmed"][0]["calls"]) if r["confirmed"] else ""
cells = [sys.argv[1], said, r["points"], r["pairs"], r["stable"], len(r["refuted"]), r["verdict"], calls]
print("|", " | ".join(map(str, cells)), "|")
PYTHON
}
