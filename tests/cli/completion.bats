#!/usr/bin/env bats
# `pct completion`: the words that shells offer are those of the option tables, and commands to be run are completed as
# such.
load common

setup()
{
    enter
    touch file.trace other.trace
    mkdir folder
    for shell in bash zsh fish; do
        "$pct" completion $shell > pct.$shell
    done
}

# complete WORD...: what bash offers for the last word, sorted.
complete_bash()
{
    bash --norc -c '
        source ./pct.bash
        COMP_WORDS=(pct "$@") COMP_CWORD=$# COMP_WORDBREAKS=$'"' \\t\\n\"><=;|&(:'"'
        _pct
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort
}

# All long options of a command, by argp itself.
options_of()
{
    "$pct" "$1" --usage | grep -o -e '--[a-z][a-z-]*' | grep -v -x -e --version | sort -u
}

@test "bash: commands, and each option of each command that --usage has" {
    [[ "$(complete_bash '')" == *$'\n'campaign$'\n'* ]]
    is "$(complete_bash rep | paste -s -d ' ')" 'replay report'
    is "$(complete_bash help cov)" coverage
    seen=0
    for command in $("$pct" help | awk '/^  [a-z]/ { print $1 }'); do
        case $command in version | help) continue ;; esac
        is "$(complete_bash "$command" -- | tr -d = | sort -u)" "$(options_of "$command")"
        seen=$((seen + 1))
    done
    [ $seen -ge 17 ]
    is "$(complete_bash campaign report --f)" '--format='
}

@test "bash: values, words of the command's own, and the command to be run" {
    is "$(complete_bash report fi)" file.trace
    is "$(complete_bash run --trace f)" $'file.trace\nfolder'
    is "$(complete_bash run --trace = f)" $'file.trace\nfolder'
    is "$(complete_bash run --save = f)" folder
    is "$(complete_bash run --time = f)" ''
    is "$(complete_bash run --each-test = f)" ''
    is "$(complete_bash run -t f)" $'file.trace\nfolder'
    is "$(complete_bash run -S random-)" $'random-delay\nrandom-walk'
    is "$(complete_bash run --strategy = sur)" $'surw\nsurw-one'
    is "$(complete_bash strategies random-w)" random-walk
    # Behind -n stands a number, and then the command; its options are its own.
    [[ $'\n'"$(complete_bash run -n 100 bas)"$'\n' == *$'\n'bash$'\n'* ]]
    [[ $'\n'"$(complete_bash run --runs = 100 -- bas)"$'\n' == *$'\n'bash$'\n'* ]]
    is "$(complete_bash run -- cat f)" $'file.trace\nfolder'
    is "$(complete_bash run cat --tr)" ''
    is "$(complete_bash replay TOKEN -- cat o)" other.trace
    is "$(complete_bash replay o)" other.trace
    is "$(complete_bash campaign merge out f)" $'file.trace\nfolder'
}

@test "bash: the script has no faults that shellcheck sees" {
    command -v shellcheck > /dev/null || skip 'shellcheck is not installed'
    run shellcheck -s bash "$root/cli/completion/walk.bash"
    is "$status" 0
    bash -n pct.bash
}

# complete_fish LINE
complete_fish()
{
    XDG_CONFIG_HOME=$PWD fish --private -c 'source pct.fish; complete -C $argv[1]' "$1" 2>&1 | cut -f 1 | sort
}

@test "fish: commands, options, values, and the command to be run" {
    command -v fish > /dev/null || skip 'fish is not installed'
    is "$(complete_fish 'pct rep' | paste -s -d ' ')" 'replay report'
    for command in run campaign replay explore demon; do
        is "$(complete_fish "pct $command --" | tr -d = | sort -u)" "$(options_of $command)"
    done
    [[ "$(complete_fish 'pct report f')" == *file.trace* ]]
    is "$(complete_fish 'pct run --strategy random-' | paste -s -d ' ')" 'random-delay random-walk'
    is "$(complete_fish 'pct run -S random-w')" random-walk
    [[ $'\n'"$(complete_fish 'pct run -n 100 bas')"$'\n' == *$'\n'bash$'\n'* ]]
    [[ $'\n'"$(complete_fish 'pct run --runs=100 -- bas')"$'\n' == *$'\n'bash$'\n'* ]]
    [[ "$(complete_fish 'pct run -- cat f')" == *file.trace* ]]
    [[ "$(complete_fish 'pct run -- cat --tr')" != *--trace* ]]
    [[ "$(complete_fish 'pct replay TOKEN -- cat o')" == *other.trace* ]]
    is "$(complete_fish 'pct campaign report --form')" --format
}

# complete_zsh LINE: what zsh shows when it is asked for all, by a terminal of its own.
complete_zsh()
{
    zsh -f << END
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'PS1= PS2=; stty -echo; unsetopt zle_bracketed_paste; fpath=($PWD \$fpath); autoload -Uz compinit; \
compinit -u -D'
zpty -w shell 'source ./pct.zsh; zstyle ":completion:*" list-colors; LISTMAX=9999; setopt list_rows_first'
zpty -w shell 'list() { compadd() { local -a all; builtin compadd -A all "\$@"; print -rl -- \$all }; }'
zpty -w shell 'zle -C all complete-word show; show() { list; _main_complete; print -r END; compstate[insert]= \
compstate[list]= }; bindkey "^X" all'
zpty -w shell 'print READY'
zpty -r shell text '*READY*READY*' 
zpty -w -n shell \$'$1\x18'
zpty -r shell text '*END*'
print -r -- \$text
END
}

@test "zsh: the script can be read, and completes" {
    command -v zsh > /dev/null || skip 'zsh is not installed'
    zsh -n pct.zsh
    shown=$(complete_zsh 'pct rep')
    [[ $shown == *replay*report* ]]
    shown=$(complete_zsh 'pct run --')
    for option in $(options_of run); do
        [[ $shown == *"$option"* ]] || { echo "no $option: $shown"; false; }
    done
    shown=$(complete_zsh 'pct run -S random-')
    [[ $shown == *random-delay* && $shown == *random-walk* ]]
    [[ "$(complete_zsh 'pct report f')" == *file.trace* ]]
    [[ "$(complete_zsh 'pct run -n 100 -- cat o')" == *other.trace* ]]
}

@test "completion: bad words" {
    run "$pct" completion
    is "$status" 2
    has 'no shell is given: `pct completion bash`, zsh or fish'
    run "$pct" completion tcsh
    is "$status" 2
    has "'tcsh' is none of the shells"
}
