
# The number of the word with which the command to be run begins, if it has begun or may begin here; else nothing.
function __pct_target
    set -l words (commandline -opc)
    # Set below for each command; a name that is none has no such variable.
    string match -qr '^[a-z]+$' -- "$words[2]"; or return 1
    set -l valued_of __pct_valued_$words[2]
    set -l own_of __pct_own_$words[2]
    set -q $own_of; or return 1
    set -l valued $$valued_of
    set -l own $$own_of
    set -l seen 0
    set -l i 3
    test -n "$own"; or return 1
    while test $i -le (count $words)
        if test "$words[$i]" = --
            echo (math $i + 1)
            return 0
        else if string match -q -- '-*' $words[$i]
            contains -- $words[$i] $valued; and set i (math $i + 1)
        else if test $seen -ge $own
            echo $i
            return 0
        else
            set seen (math $seen + 1)
        end
        set i (math $i + 1)
    end
    # Behind an option that wants a word there is none.
    test $i -eq (math (count $words) + 1); and test $seen -ge $own; or return 1
    echo $i
end

# Whether the command to be run has begun before the word at the cursor.
function __pct_begun
    set -l target (__pct_target); or return 1
    test $target -le (count (commandline -opc)); or contains -- -- (commandline -opc)
end

function __pct_first
    test (count (commandline -opc)) -eq 1
end

# Whether the options of command $argv[1] can stand here.
function __pct_in
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]; and not __pct_begun
end

function __pct_in_below
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]; and test "$words[3]" = $argv[2]
end

function __pct_complete_target
    set -l words (commandline -opc)
    set -l target (__pct_target)
    set -l begun ''
    test $target -le (count $words); and set begun (string join ' ' -- (string escape -- $words[$target..-1]))' '
    set -l current (commandline -ct)
    complete --do-complete="$begun$current"
end

complete -c pct -f
complete -c pct -n __pct_target -xa '(__pct_complete_target)'
