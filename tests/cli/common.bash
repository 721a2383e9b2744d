# For all tests of the command: where the build is, and the programs that they run. Loaded by each .bats file.
# shellcheck shell=bash
bats_require_minimum_version 1.5.0

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
build=${TESTED_BUILD:-${PCT_BUILD:-build}}
case $build in /*) ;; *) build=$root/$build ;; esac
pct=$build/pct
cc=${CC:-gcc}
# It names the build, to these tests; to pct it would be a mistyped variable. bats loads this once for the file, and
# again for each test, which inherit what that has left.
unset PCT_BUILD
export TESTED_BUILD=$build

# compiled NAME SOURCE [OPTION...]: into the directory of the tests; made once for all files that want it.
compiled()
{
    local made=$build/test-output/cli-${cc##*/} source=$root/tests/cli/$2
    if [ ! "$made/$1" -nt "$source" ]; then
        mkdir -p "$made"
        "$cc" -g -O1 -pthread "${@:3}" -o "$made/$1.$$" "$source"
        mv "$made/$1.$$" "$made/$1"
    fi
    cp "$made/$1" "$BATS_FILE_TMPDIR"
}

# Compile what the tests of this file run.
compile_targets()
{
    compiled target target.c
    compiled static target.c -static
    compiled server server.c
    "$cc" -O1 -fPIC -shared -I"$root/include" -o "$BATS_FILE_TMPDIR/lowest.so" "$root/tests/cli/lowest.c"
}

# Each test has a directory of its own, with the programs in it.
enter()
{
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state # nothing is learned from other tests
    ln -sf "$BATS_FILE_TMPDIR/target" "$BATS_FILE_TMPDIR/static" "$BATS_FILE_TMPDIR/server" \
        "$BATS_FILE_TMPDIR/lowest.so" .
}

# has TEXT: whether the last command printed it, to either stream.
has()
{
    case $output$'\n'${stderr:-} in *"$1"*) return 0 ;; esac
    printf 'not printed: %s\n--- output (status %s):\n%s\n--- standard error:\n%s\n' "$1" "$status" "$output" \
        "${stderr:-}"
    return 1
}

lacks()
{
    case $output$'\n'${stderr:-} in *"$1"*)
        printf 'printed: %s\n--- output:\n%s\n--- standard error:\n%s\n' "$1" "$output" "${stderr:-}"
        return 1
        ;;
    esac
}

# is VALUE EXPECTED
is()
{
    [ "$1" = "$2" ] || {
        printf 'got %s, expected %s\n--- output:\n%s\n--- standard error:\n%s\n' "$1" "$2" "${output:-}" "${stderr:-}"
        return 1
    }
}

# query FILE SQL [OPTION...]: the rows, a line each. Read-only, or it would make a file that is not there.
query()
{
    sqlite3 -batch -init /dev/null -readonly "${@:3}" "$1" "$2"
}

# The last line of the last command's standard error: the command that replays a failure.
replay_line()
{
    printf '%s\n' "$stderr" | tail -n 1
}

# The token in that line.
replay_token()
{
    replay_line | grep -o 'pct1:[^ '"'"']*'
}

# steps_of TRACE: the steps as `before step N: thread T: OPERATION`, without the objects: that of a creation is not
# known before it is made.
steps_of()
{
    "$pct" trace "$1" -f jsonl | sed -n 's/.*"step":\([0-9]*\),"thread":\([0-9]*\),"op":"\([^"]*\)".*/before step \1: '\
'thread \2: \3/p'
}

# follows_schema NAME FILE: this JSON is what docs/NAME.schema.json says, which names all its members.
follows_schema()
{
    /usr/bin/python3 - "$root/docs/$1.schema.json" "$2" << 'PYTHON'
import json, jsonschema, sys
root, document = (json.load(open(path)) for path in sys.argv[1:3])
jsonschema.Draft7Validator.check_schema(root)
jsonschema.Draft7Validator(root).validate(document)
def closed(schema, value, at="$"):
    """Members that the schema does not name."""
    while "$ref" in schema:
        schema = root["definitions"][schema["$ref"].split("/")[-1]]
    if value is not None and "anyOf" in schema:
        return closed(schema["anyOf"][-1], value, at)
    for key, item in value.items() if isinstance(value, dict) else ():
        assert key in schema["properties"], f"{at}.{key} is not in the schema"
        closed(schema["properties"][key], item, f"{at}.{key}")
    for item in value if isinstance(value, list) else ():
        closed(schema["items"], item, at + "[]")
closed(root, document)
PYTHON
}
