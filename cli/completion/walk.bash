# shellcheck shell=bash disable=SC2034,SC2154 # what _pct_command() sets, and the lists below
# The replies for a word of a kind; $2: what it begins with, $3: what stands before each reply.
_pct_reply()
{
    case $1 in
    command) mapfile -t COMPREPLY < <(compgen -W "$_pct_commands" -- "$2") ;;
    strategy) mapfile -t COMPREPLY < <(compgen -P "$3" -W "$_pct_strategies" -- "$2") ;;
    file | directory)
        mapfile -t COMPREPLY < <(compgen -P "$3" "-${1:0:1}" -- "$2")
        compopt -o filenames 2> /dev/null
        ;;
    esac
}

# The kind of the value of option $1.
_pct_value()
{
    case $1 in
    '') ;;
    *)
        [[ " $files" != *" $1 "* ]] || echo file
        [[ " $directories" != *" $1 "* ]] || echo directory
        [[ " $strategies" != *" $1 "* ]] || echo strategy
        ;;
    esac
}

# The words behind `pct` up to the cursor: words[0], ...; at[i]: where words[i] is in COMP_WORDS. bash splits
# --name=value.
_pct_words()
{
    local i
    words=() at=()
    for ((i = 1; i <= COMP_CWORD; i++)); do
        if [[ ${#words[@]} -gt 0 && ${words[-1]:-} == --* && ${COMP_WORDS[i]} == = ]] ||
            [[ ${#words[@]} -gt 0 && ${words[-1]:-} == --*= && ${COMP_WORDS[i - 1]} == = ]]; then
            words[-1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
            at+=("$i")
        fi
    done
}

# The command to be run, which begins with the word of this number in COMP_WORDS.
_pct_target()
{
    if [ "$(type -t _command_offset)" = function ]; then
        _command_offset "$1"
    elif [ "$1" = "$COMP_CWORD" ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$2")
        compopt -o filenames 2> /dev/null
    else
        _pct_reply file "$2"
    fi
}

_pct()
{
    local words at options valued files directories strategies own repeats target
    local i=0 last name='' owned=0 current kinds before=''
    COMPREPLY=()
    _pct_words
    last=$((${#words[@]} - 1)) current=${words[-1]}
    if [ $last -gt 0 ]; then
        name=${words[0]} i=1
        if [ $last -gt 1 ]; then
            _pct_command "$name ${words[1]}"
            [ -z "$options" ] || name+=" ${words[i++]}"
        fi
    fi
    _pct_command "$name"
    read -r -a kinds <<< "$own"
    for (( ; i < last; i++)); do
        case ${words[i]} in
        --)
            [ -n "$target" ] || continue
            _pct_target $((at[i] + 1)) "$current"
            return
            ;;
        -*) [[ " $valued" != *" ${words[i]} "* ]] || before=${words[i++]} ;;
        *)
            if [[ -n $target && $owned -ge ${#kinds[@]} ]]; then
                _pct_target "${at[i]}" "$current"
                return
            fi
            owned=$((owned + 1))
            ;;
        esac
    done
    if [ "$i" -gt "$last" ]; then # the word at the cursor is the value of the option before it
        _pct_reply "$(_pct_value "$before")" "$current"
    elif [[ $current == --*=* ]]; then
        before=''
        [[ $COMP_WORDBREAKS == *=* ]] || before=${current%%=*}=
        _pct_reply "$(_pct_value "${current%%=*}")" "${current#*=}" "$before"
    elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
        [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2> /dev/null
    elif [ "$owned" -lt ${#kinds[@]} ]; then
        _pct_reply "${kinds[owned]}" "$current"
    elif [ -n "$target" ]; then
        _pct_target "${at[last]}" "$current"
    elif [ -n "$repeats" ]; then
        _pct_reply "${kinds[-1]}" "$current"
    fi
}
complete -F _pct pct
