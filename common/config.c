/* Configurations as text: specs, tokens, numbers, names of variables. See config.h.
 *
 * Used by the shim at start-up and when it reports, inside the target, and by the `pct` command; so that both read and
 * write the same text. No libc: nothing here allocates, prints or looks at the locale.
 *
 * The grammar of a token (docs/TOKEN.md explains it):
 *
 *     TOKEN = "pct1" ":" SPEC ":" SEED ":" EPOCH ":" HASH ":" CHECK
 *     SPEC  = NAME *( "," PARAM "=" VALUE ) [ "," LISTNAME "=" LIST ] [ ",time=" WORD ] [ ",max-steps=" VALUE ]
 *             [ ",memory-points=" WORD ] [ ",races=" WORD ] [ ",memory=" WORD ]
 *             [ ",memory-modules=" NAME *( "/" NAME ) ] [ ",focus=" PATTERN *( "/" PATTERN ) ]
 *             [ ",watch=" PATTERN *( "/" PATTERN ) ] [ ",memory-sample=" VALUE [ "-" VALUE ] ]
 *             [ ",races-passed=" VALUE ] [ ",ordered=" DIGEST ] [ ",end=" WORD ] [ ",slack=" TIME ]
 *             [ ",spurious=on" ] [ ",functions=" PATTERN *( "/" PATTERN ) ] [ ",rounds=all" ]
 *             [ ",calls=all" ] [ ",strings=all" ] [ ",statics=all" ] [ ",explored=all" ] [ ",streams=all" ]
 *     NAME  = the name of a built-in strategy, or the path of a shared object, without ":" and ","
 *     PARAM = [a-z0-9-]+, every parameter of the strategy, in the strategy's order; VALUE is decimal
 *     LIST  = [a-z0-9.-]+, if the strategy has one, or that packed (list.h); "none" if it is empty
 *     SEED  = decimal
 *     EPOCH = lower-case hexadecimal, seconds since 1970; "0": the time of the start
 *     HASH  = 16 lower-case hexadecimal digits, the hash of the trace; or "-" while it is not known
 *     CHECK = 4 lower-case hexadecimal digits: the low 16 bits of XXH3_64bits (seed 0) over all that stands before the
 *             last ":"
 *
 *     pct1:pct,depth=3,k=1207:42:671f3a20:8f1c22d0a1b2c3d4:33ab
 *
 * A new field: a member of struct pct_config; a name in reserved_names with its SEEN_*; reading in parse_reserved();
 * writing, and how long that is, in pct_config_add_numbers() and pct_config_numbers_length() (choice.c), only where it
 * is not the default, so that old tokens stay what they are; docs/TOKEN.md; tests/unit/test_config*.c. The option that
 * sets it: cli/command/configure.c, the variable: PCT_VARIABLES.
 *
 * There is exactly one token for a configuration: whatever pct itself would have written differently (a leading zero,
 * parameters in another order) is refused. The check digits let one damaged token in 65,536 pass. */
#include "config.h"
#include "list.h"
#include "number.h"
#include "text.h"
#include <errno.h>
#include <pct/random.h>

#define TOKEN_VERSION 1u

/* Names that no strategy's parameter may have. X(identifier, name) */
#define RESERVED_NAMES(X)                                                                                              \
    X(TIME, "time")                                                                                                    \
    X(MAX_STEPS, "max-steps")                                                                                          \
    X(POINTS, "memory-points")                                                                                         \
    X(RACES, "races")                                                                                                  \
    X(MEMORY, "memory")                                                                                                \
    X(MODULES, "memory-modules")                                                                                       \
    X(FOCUS, "focus")                                                                                                  \
    X(WATCH, "watch")                                                                                                  \
    X(SAMPLE, "memory-sample")                                                                                         \
    X(PASSED, "races-passed")                                                                                          \
    X(ORDERED, "ordered")                                                                                              \
    X(END, "end")                                                                                                      \
    X(SLACK, "slack")                                                                                                  \
    X(SPURIOUS, "spurious")                                                                                            \
    X(FUNCTIONS, "functions")

#define NAME(id, name) name,
#define FLAG_NAME(name) #name,
static const char *const reserved_names[] = { RESERVED_NAMES(NAME) PCT_CONFIG_ALL(FLAG_NAME) };

#define SEEN(id, name) SEEN_##id,
#define SEEN_FLAG(name) SEEN_##name,
enum { RESERVED_NAMES(SEEN) PCT_CONFIG_ALL(SEEN_FLAG) RESERVED, SEEN_LIST = RESERVED };

static const char *const time_words[] = { "virtual", "real", "still" };
static const char *const points_words[] = PCT_POINTS_WORDS;
static const char *const races_words[] = PCT_RACES_WORDS;
static const char none[] = "none"; /* the empty list */
static const char *const memory_words[] = PCT_MEMORY_WORDS;

static size_t length_of(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

/* Characters before the first `end`, or before the end of the text. */
static size_t span(const char *text, char end)
{
    size_t length = 0;
    while (text[length] && text[length] != end)
        length++;
    return length;
}

/* to[size], size > length. */
static void copy(char *to, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++)
        to[i] = from[i];
    to[length] = '\0';
}

/* The message: before 'quoted' after. */
static int fail(char *error, size_t size, const char *before, const char *quoted, const char *after)
{
    struct pct_text text;
    pct_text_init(&text, error, size);
    pct_text_add(&text, before);
    if (quoted)
        pct_text_add_quoted(&text, quoted);
    pct_text_add(&text, after);
    return -EINVAL;
}

int pct_config_parse_u64(uint64_t *value, const char *text, uint64_t min, uint64_t max, const char *what, char *error,
                         size_t size)
{
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    uint64_t result;
    enum pct_number number =
        hexadecimal ? pct_number_read(&result, text + 2, 16, true) : pct_number_read(&result, text, 10, false);
    if (number == PCT_NUMBER_OK && result >= min && result <= max) {
        *value = result;
        return 0;
    }
    struct pct_text message;
    pct_text_refuse(&message, error, size, what, text,
                    number == PCT_NUMBER_BAD ? " is not a whole number; it must be " : " is out of range; it must be ");
    pct_text_add_u64(&message, min);
    pct_text_add(&message, " to ");
    pct_text_add_u64(&message, max);
    return -EINVAL;
}

/* Specs */

static unsigned count_params(const struct pct_strategy *strategy)
{
    unsigned count = 0;
    while (strategy->params && count <= PCT_MAX_PARAMS && strategy->params[count].name)
        count++;
    return count;
}

/* Of lower-case letters, digits and '-'. */
static bool is_word(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-'))
            return false;
    return true;
}

/* Which of the reserved names this is; RESERVED: none. */
static unsigned reserved_name(const char *name)
{
    unsigned i = 0;
    while (i < RESERVED && !pct_text_same(name, reserved_names[i]))
        i++;
    return i;
}

/* An out-of-tree strategy may declare what a token could not hold: found here, before it does harm. */
static const char *bad_params(const struct pct_strategy *strategy)
{
    unsigned count = count_params(strategy);
    if (strategy->list && (!*strategy->list || !is_word(strategy->list) || reserved_name(strategy->list) < RESERVED))
        return " declares a list whose name is reserved, or not of lower-case letters, digits and '-'";
    if (count > PCT_MAX_PARAMS)
        return " declares more parameters than pct has room for";
    for (unsigned i = 0; i < count; i++) {
        const struct pct_param *param = &strategy->params[i];
        if (!*param->name)
            return " declares a parameter with an empty name";
        if (param->zero && (param->min || !is_word(param->zero)))
            return " declares a word for a parameter's value 0 that a token cannot hold, or that is out of range";
        if (!is_word(param->name))
            return " declares a parameter whose name is not of lower-case letters, digits and '-'";
        if (reserved_name(param->name) < RESERVED || (strategy->list && pct_text_same(param->name, strategy->list)))
            return " declares a parameter named as its list, or with a reserved name: time, "
                   "max-steps, "
                   "memory-points, races, memory, memory-modules, focus, watch, memory-sample, races-passed, ordered, "
                   "end, slack, spurious, functions, rounds, calls, strings, statics, explored or streams";
        if (param->default_value < param->min || param->default_value > param->max)
            return " declares a parameter whose default is out of its own range";
        for (unsigned j = 0; j < i; j++)
            if (pct_text_same(param->name, strategy->params[j].name))
                return " declares two parameters of one name";
    }
    return NULL;
}

static int fail_unknown_param(const struct pct_strategy *strategy, const char *name, char *error, size_t size)
{
    const char *words[PCT_MAX_PARAMS + RESERVED + 1];
    unsigned count = count_params(strategy);
    for (unsigned i = 0; i < count; i++)
        words[i] = strategy->params[i].name;
    if (strategy->list)
        words[count++] = strategy->list;
    for (unsigned i = 0; i < RESERVED; i++)
        words[count++] = reserved_names[i];

    struct pct_text text;
    pct_text_init(&text, error, size);
    pct_text_add(&text, "strategy ");
    pct_text_add(&text, strategy->name);
    pct_text_add(&text, " has no parameter ");
    pct_text_add_quoted(&text, name);
    const char *closest = pct_text_closest(name, words, count);
    if (closest) {
        pct_text_add(&text, "; did you mean ");
        pct_text_add_quoted(&text, closest);
        pct_text_add(&text, "?");
    } else {
        pct_text_add(&text, "; it has ");
        for (unsigned i = 0; i < count; i++) {
            pct_text_add(&text, i ? ", " : "");
            pct_text_add(&text, words[i]);
        }
    }
    return -EINVAL;
}

/* The value of a parameter; where there is a word for 0, only that means 0. */
static int parse_value(uint64_t *value, const char *text, const struct pct_param *param, char *error, size_t size)
{
    if (!param->zero)
        return pct_config_parse_u64(value, text, param->min, param->max, param->name, error, size);
    *value = 0;
    if (pct_text_same(text, param->zero))
        return 0;
    if (!pct_config_parse_u64(value, text, 1, param->max, param->name, error, size))
        return 0;
    if (size) {
        struct pct_text message;
        size_t length = length_of(error);
        pct_text_init(&message, error + length, size - length);
        pct_text_add(&message, ", or ");
        pct_text_add(&message, param->zero);
    }
    return -EINVAL;
}

static int parse_reserved(struct pct_config *config, unsigned which, const char *value, char *error, size_t size)
{
    const char *name = reserved_names[which];
    uint8_t word = 0;
    int status = 0;
    switch (which) {
    case SEEN_MAX_STEPS:
        return pct_config_parse_u64(&config->max_steps, value, 0, UINT64_MAX, name, error, size);
    case SEEN_POINTS:
        return pct_config_parse_points(config, value, name, error, size);
    case SEEN_RACES:
        return pct_config_parse_races(config, value, name, error, size);
    case SEEN_MEMORY:
        return pct_config_parse_memory(config, value, name, error, size);
    case SEEN_MODULES:
        return pct_config_parse_modules(config, value, name, error, size);
    case SEEN_FOCUS:
        return pct_config_take_focus(config, value, name, error, size);
    case SEEN_WATCH:
        return pct_config_take_watch(config, value, name, error, size);
    case SEEN_SAMPLE:
        return pct_config_parse_sample(config, value, name, error, size);
    case SEEN_ORDERED:
        return pct_config_parse_ordered(config, value, name, error, size);
    case SEEN_END:
        return pct_config_parse_end(config, value, name, error, size);
    case SEEN_SLACK:
        return pct_config_parse_slack(config, value, name, error, size);
    case SEEN_SPURIOUS:
        return pct_config_parse_spurious(config, value, name, error, size);
    case SEEN_FUNCTIONS:
        return pct_config_take_functions(config, value, name, error, size);
#define PARSE(name)                                                                                                    \
    case SEEN_##name:                                                                                                  \
        return pct_config_parse_some(&config->name, value, #name, error, size);
        PCT_CONFIG_ALL(PARSE)
#undef PARSE
    case SEEN_PASSED:
        return pct_config_parse_u64(&config->passed_races, value, 1, UINT64_MAX, name, error, size);
    default:
        status = pct_config_parse_word(&word, value, time_words, 3, name, error, size);
        if (!status) {
            config->real_time = word == 1;
            config->still = word == 2;
        }
        return status;
    }
}

/* The value of a list, or that packed. What stands in it is for the strategy to judge. */
static int parse_list(struct pct_config *config, const char *name, const char *text, char *error, size_t size)
{
    const char *characters = *text == PCT_LIST_PACKED ? PCT_LIST_PACKED_CHARACTERS : PCT_LIST_CHARACTERS;
    size_t length = 0;
    for (; text[length]; length++) {
        const char *c = characters;
        while (*c && *c != text[length])
            c++;
        if (!*c)
            return fail(error, size, "not a list of lower-case letters, digits, '.' and '-': ", text, "");
    }
    if (!length)
        return fail(error, size, "", name, " is empty; write none for an empty list");
    if (length >= sizeof config->list)
        return fail(error, size, "the list is too long for a token: ", text, "");
    copy(config->list, text, pct_text_same(text, none) ? 0 : length);
    return 0;
}

/* One `name=value`, terminated. `seen` has the reserved ones that came before. */
static int parse_param(struct pct_config *config, const struct pct_strategy *strategy, char *item, unsigned *seen,
                       char *error, size_t size)
{
    size_t name_length = span(item, '=');
    if (!item[name_length])
        return fail(error, size, "expected PARAM=VALUE after the strategy's name, not ", item,
                    span(config->strategy, '/') < length_of(config->strategy)
                        ? "; the path of a strategy cannot have ',' in it"
                        : "");
    item[name_length] = '\0';
    const char *value = item + name_length + 1;

    bool list = strategy->list && pct_text_same(item, strategy->list);
    unsigned reserved = list ? SEEN_LIST : reserved_name(item);
    if (list || reserved < RESERVED) {
        if (*seen >> reserved & 1)
            return fail(error, size, "parameter ", item, " is given twice");
        *seen |= 1u << reserved;
        return list ? parse_list(config, item, value, error, size)
                    : parse_reserved(config, reserved, value, error, size);
    }
    unsigned count = count_params(strategy);
    for (unsigned i = 0; i < count; i++) {
        const struct pct_param *param = &strategy->params[i];
        if (!pct_text_same(item, param->name))
            continue;
        if (config->given & (UINT32_C(1) << i))
            return fail(error, size, "parameter ", item, " is given twice");
        config->given |= UINT32_C(1) << i;
        return parse_value(&config->run.param[i], value, param, error, size);
    }
    return fail_unknown_param(strategy, item, error, size);
}

static size_t decimal_length(uint64_t value)
{
    size_t length = 1;
    while (value /= 10)
        length++;
    return length;
}

/* Whether parameter i stands in a token as its word for 0. */
static bool is_zero_word(const struct pct_strategy *strategy, unsigned i, const struct pct_config *config)
{
    return strategy->params[i].zero && !config->run.param[i];
}

/* The longest token that this configuration can get, whatever its seed, epoch and hash. */
static size_t longest_token(const struct pct_config *config, const struct pct_strategy *strategy)
{
    size_t length = sizeof "pct1:::::" - 1 + length_of(config->strategy) + 20 + 16 + 16 + 4;
    unsigned count = count_params(strategy);
    for (unsigned i = 0; i < count; i++)
        length += sizeof ",=" - 1 + length_of(strategy->params[i].name) +
                  (is_zero_word(strategy, i, config) ? length_of(strategy->params[i].zero)
                                                     : decimal_length(config->run.param[i]));
    if (strategy->list)
        length += sizeof ",=none" - 1 + length_of(strategy->list) + length_of(config->list);
    if (config->memory)
        length += sizeof ",memory=atomics,memory-modules=" - 1 + length_of(config->modules);
    length += pct_config_numbers_length(config);
    return length + sizeof ",time=real,max-steps=,memory-points=all,races=report" - 1 + config->still + 20;
}

bool pct_config_fits(const struct pct_config *config, const struct pct_strategy *strategy)
{
    return longest_token(config, strategy) < PCT_TOKEN_MAX;
}

/* pct_config_parse_spec(), which also says what it found. */
static int parse_spec(struct pct_config *config, const char *spec, pct_find_strategy *find,
                      const struct pct_strategy **found, char *error, size_t size)
{
    struct pct_config result = *config; /* nothing is changed unless all is well */
    size_t length = span(spec, ',');
    if (!length)
        return fail(error, size, "no strategy is named in ", spec, "; expected NAME[,PARAM=VALUE...]");
    if (length >= sizeof result.strategy)
        return fail(error, size, "the strategy's path is too long: ", spec, "");
    copy(result.strategy, spec, length);
    for (const char *c = result.strategy; *c; c++) {
        if (*c == ':')
            return fail(error, size, "the path of a strategy cannot have ':' in it: ", result.strategy, "");
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return fail(error, size, "the path of a strategy cannot have control characters in it: ", result.strategy,
                        "");
    }
    if (size)
        error[0] = '\0';
    const struct pct_strategy *strategy = find(result.strategy, error, size);
    if (!strategy)
        return size && error[0] ? -EINVAL : fail(error, size, "unknown strategy ", result.strategy, "");
    const char *bad = bad_params(strategy);
    if (bad)
        return fail(error, size, "strategy ", result.strategy, bad);

    result.given = 0;
    result.list[0] = '\0';
    unsigned count = count_params(strategy);
    for (unsigned i = 0; i < PCT_MAX_PARAMS; i++)
        result.run.param[i] = i < count ? strategy->params[i].default_value : 0;
    unsigned seen = 0;
    const char *rest = spec + length;
    while (*rest == ',') {
        char item[PCT_TOKEN_MAX];
        rest++;
        length = span(rest, ',');
        if (length >= sizeof item)
            return fail(error, size, "too long for a parameter: ", rest, "");
        copy(item, rest, length);
        if (parse_param(&result, strategy, item, &seen, error, size))
            return -EINVAL;
        rest += length;
    }
    if (!pct_config_fits(&result, strategy))
        return fail(error, size, "the strategy's path and parameters are too long for a token: ", result.strategy, "");
    *config = result;
    *found = strategy;
    return 0;
}

int pct_config_parse_spec(struct pct_config *config, const char *spec, pct_find_strategy *find, char *error,
                          size_t size)
{
    const struct pct_strategy *strategy;
    return parse_spec(config, spec, find, &strategy, error, size);
}

/* Tokens */

static unsigned check_digits(const char *text, size_t length)
{
    return (unsigned)(XXH3_64bits(text, length) & 0xffff);
}

size_t pct_config_format_token(char *out, size_t size, const struct pct_config *config,
                               const struct pct_strategy *strategy)
{
    struct pct_text text;
    pct_text_init(&text, out, size);
    pct_text_add(&text, "pct");
    pct_text_add_u64(&text, TOKEN_VERSION);
    pct_text_add_char(&text, ':');
    pct_text_add(&text, config->strategy);
    unsigned count = count_params(strategy);
    for (unsigned i = 0; i < count && i < PCT_MAX_PARAMS; i++) {
        const struct pct_param *param = &strategy->params[i];
        if (param->quiet && config->run.param[i] == param->default_value)
            continue;
        pct_text_add_char(&text, ',');
        pct_text_add(&text, param->name);
        pct_text_add_char(&text, '=');
        if (is_zero_word(strategy, i, config))
            pct_text_add(&text, param->zero);
        else
            pct_text_add_u64(&text, config->run.param[i]);
    }
    if (strategy->list) {
        pct_text_add_char(&text, ',');
        pct_text_add(&text, strategy->list);
        pct_text_add_char(&text, '=');
        pct_text_add(&text, config->list[0] ? config->list : none);
    }
    if (config->real_time)
        pct_text_add(&text, ",time=real");
    else if (config->still)
        pct_text_add(&text, ",time=still");
    if (config->max_steps) {
        pct_text_add(&text, ",max-steps=");
        pct_text_add_u64(&text, config->max_steps);
    }
    const char *const words[] = { config->memory_points ? points_words[config->memory_points] : NULL,
                                  config->races ? races_words[config->races] : NULL,
                                  config->memory ? memory_words[config->memory] : NULL,
                                  config->memory && config->modules[0] ? config->modules : NULL,
                                  config->focus[0] ? config->focus : NULL,
                                  config->watch[0] ? config->watch : NULL };
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i])
            continue;
        pct_text_add_char(&text, ',');
        pct_text_add(&text, reserved_names[SEEN_POINTS + i]);
        pct_text_add_char(&text, '=');
        pct_text_add(&text, words[i]);
    }
    pct_config_add_numbers(&text, config);
    pct_text_add_char(&text, ':');
    pct_text_add_u64(&text, config->run.seed);
    pct_text_add_char(&text, ':');
    pct_text_add_hex(&text, config->epoch, 0);
    pct_text_add_char(&text, ':');
    if (config->has_hash)
        pct_text_add_hex(&text, config->hash, 16);
    else
        pct_text_add_char(&text, '-');
    unsigned check = size ? check_digits(out, text.length) : 0;
    pct_text_add_char(&text, ':');
    pct_text_add_hex(&text, check, 4);
    return text.length;
}

/* "pct", a version without leading zeros, ":". 0 if it is not that; a version beyond reason is the largest one. */
static uint64_t token_version(const char *token)
{
    if (token[0] != 'p' || token[1] != 'c' || token[2] != 't' || token[3] == '0')
        return 0;
    uint64_t version = 0;
    const char *c;
    for (c = token + 3; *c >= '0' && *c <= '9'; c++)
        version = version > 999999 ? 999999 : version * 10 + (uint64_t)(*c - '0');
    return *c == ':' ? version : 0;
}

static int fail_newer(uint64_t version, char *error, size_t size)
{
    struct pct_text text;
    pct_text_init(&text, error, size);
    pct_text_add(&text, "this token has version ");
    pct_text_add_u64(&text, version);
    pct_text_add(&text, ", and this pct reads version ");
    pct_text_add_u64(&text, TOKEN_VERSION);
    pct_text_add(&text, " only: replay it with the newer pct that printed it");
    return -EINVAL;
}

enum { FIELD_VERSION, FIELD_SPEC, FIELD_SEED, FIELD_EPOCH, FIELD_HASH, FIELD_CHECK, FIELDS };

/* Cut text at its colons. False if there are not exactly FIELDS parts. */
static bool cut_fields(char *text, char *field[FIELDS])
{
    unsigned count = 1;
    field[0] = text;
    for (char *c = text; *c; c++) {
        if (*c != ':')
            continue;
        if (count == FIELDS)
            return false;
        *c = '\0';
        field[count++] = c + 1;
    }
    return count == FIELDS;
}

int pct_config_parse_token(struct pct_config *config, const char *token, pct_find_strategy *find, char *error,
                           size_t size)
{
    static const char damaged[] = " is damaged or cut short (its check digits do not match): copy all of it again";
    static const char foreign[] = " was not written by pct, though its check digits match";
    uint64_t version = token_version(token);
    if (!version)
        return fail(error, size, "", token,
                    " is not a token; a token looks like pct1:pct,depth=3,k=1207:42:671f3a20:8f1c22d0a1b2c3d4:33ab");
    if (version > TOKEN_VERSION)
        return fail_newer(version, error, size);

    size_t length = length_of(token);
    char text[PCT_TOKEN_MAX];
    char *field[FIELDS];
    if (length >= sizeof text)
        return fail(error, size, "token ", token,
                    " is damaged or cut short, or too long for a target: `pct replay` gives it one");
    copy(text, token, length);
    size_t checked = length;
    while (checked && text[checked] != ':')
        checked--;
    uint64_t check;
    if (length - checked != sizeof ":7f3a" - 1 ||
        pct_number_read(&check, text + checked + 1, 16, false) != PCT_NUMBER_OK || check != check_digits(text, checked))
        return fail(error, size, "token ", token, damaged);
    if (!cut_fields(text, field))
        return fail(error, size, "token ", token, foreign);

    struct pct_config result = *config;
    pct_config_clear_reserved(&result);
    const struct pct_strategy *strategy;
    int status = parse_spec(&result, field[FIELD_SPEC], find, &strategy, error, size);
    if (status)
        return status;
    result.has_hash = !pct_text_same(field[FIELD_HASH], "-");
    result.hash = 0;
    if (pct_number_read(&result.run.seed, field[FIELD_SEED], 10, false) != PCT_NUMBER_OK ||
        pct_number_read(&result.epoch, field[FIELD_EPOCH], 16, false) != PCT_NUMBER_OK ||
        (result.has_hash && pct_number_read(&result.hash, field[FIELD_HASH], 16, false) != PCT_NUMBER_OK))
        return fail(error, size, "token ", token, foreign);

    /* A default may differ from one version of a strategy to the next: a token must not depend on it, unless the
     * strategy says that it never will. */
    unsigned count = count_params(strategy);
    for (unsigned i = 0; i < count; i++)
        if (!(result.given >> i & 1) && !strategy->params[i].quiet)
            return fail(error, size, "this token is from another version of its strategy: it lacks parameter ",
                        strategy->params[i].name, "");
    char again[PCT_TOKEN_MAX];
    pct_config_format_token(again, sizeof again, &result, strategy);
    if (!pct_text_same(again, token))
        return fail(error, size, "token ", token, foreign);
    *config = result;
    return 0;
}
