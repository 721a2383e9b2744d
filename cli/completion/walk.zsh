
# The command to be run: completed as if it stood alone.
_pct_target()
{
    _normal
}

_pct_strategy()
{
    local expl
    _wanted strategies expl strategy compadd -a _pct_strategies
}

_pct()
{
    local curcontext=$curcontext context state state_descr line
    typeset -A opt_args
    _arguments -C '(- *)--help[print a summary]' '(- *)--version[print the version]' \
        '1:command:->command' '*::argument:->argument'
    case $state in
    command) _describe -t commands 'pct command' _pct_commands ;;
    argument)
        local name=$words[1]
        curcontext=${curcontext%:*}-$name:
        if [[ $name = help ]]; then
            _describe -t commands 'pct command' _pct_commands
        elif (( CURRENT > 2 && $+functions[_pct_command_${name}_$words[2]] )); then
            shift words
            (( CURRENT-- ))
            _pct_command_${name}_$words[1]
        elif (( $+functions[_pct_command_$name] )); then
            _pct_command_$name
        fi
        ;;
    esac
}

if [[ ${funcstack[1]} = _pct ]]; then
    _pct "$@"
else
    compdef _pct pct
fi
