/* Choices from a few words: see config.h. */
#include "config.h"
#include "text.h"
#include <errno.h>
#include <pct/random.h>

static const char *const points_words[] = PCT_POINTS_WORDS;
static const char *const races_words[] = PCT_RACES_WORDS;
static const char *const memory_words[] = PCT_MEMORY_WORDS;
static const char *const end_words[] = PCT_END_WORDS;

int pct_config_parse_word(uint8_t *value, const char *text, const char *const *words, unsigned count, const char *what,
                          char *error, size_t size)
{
    for (unsigned i = 0; i < count; i++)
        if (pct_text_same(text, words[i])) {
            *value = (uint8_t)i;
            return 0;
        }
    struct pct_text message;
    pct_text_refuse(&message, error, size, what, text, " is not a choice; it must be ");
    for (unsigned i = 0; i < count; i++) {
        pct_text_add(&message, !i ? "" : i + 1 < count ? ", " : " or ");
        pct_text_add(&message, words[i]);
    }
    return -EINVAL;
}

int pct_config_parse_points(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    return pct_config_parse_word(&config->memory_points, text, points_words, PCT_POINTS_COUNT, what, error, size);
}

int pct_config_parse_races(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    return pct_config_parse_word(&config->races, text, races_words, PCT_RACES_COUNT, what, error, size);
}

int pct_config_parse_memory(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    return pct_config_parse_word(&config->memory, text, memory_words, PCT_PATCH_COUNT, what, error, size);
}

int pct_config_parse_modules(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    size_t i = 0;
    for (; text[i] && i + 1 < sizeof config->modules; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '+' && c <= '9') ||
              c == '_')) /* + , - . / 0-9 */
            break;
        config->modules[i] = c == ',' ? '/' : c;
    }
    config->modules[i] = '\0';
    if (!text[i])
        return 0;
    struct pct_text message;
    pct_text_init(&message, error, size);
    pct_text_add(&message, what);
    pct_text_add(&message, ": expected names of libraries, such as libz,libstdc++; at most 47 letters");
    return -EINVAL;
}

int pct_config_parse_sample(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    char percent[8] = "";
    size_t length = 0;
    uint64_t value;
    while (text[length] && text[length] != '-' && length + 1 < sizeof percent) {
        percent[length] = text[length];
        length++;
    }
    bool seeded = text[length] == '-';
    int failed = pct_config_parse_u64(&value, seeded ? percent : text, 1, 99, what, error, size);
    if (!failed && seeded)
        failed = pct_config_parse_u64(&config->sample_seed, text + length + 1, 0, UINT64_MAX, what, error, size);
    if (failed)
        return failed;
    config->sample = (uint8_t)value;
    config->sample_fixed = seeded;
    return 0;
}

/* Characters of patterns that stand in a token as they are. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '*' || c == '^' || c == '$' || c == '+' || c == '-';
}

static const char digits[] = "0123456789abcdef";

/* Patterns with commas in between, as a token has them: into field[room]. */
static int parse_patterns(char *field, size_t room, const char *text, const char *what, char *error, size_t size)
{
    size_t used = 0;
    struct pct_text message;
    bool empty = true; /* the pattern */
    for (const char *c = text; *c; c++) {
        bool comma = *c == ',', plain = is_plain(*c);
        if (used + 3 >= room || (comma && (empty || !c[1]))) {
            pct_text_init(&message, error, size);
            pct_text_add(&message, what);
            pct_text_add(&message, comma ? ": there is an empty pattern in "
                                         : ": too long for a token, which has room for about ");
            if (!comma) {
                pct_text_add_u64(&message, room - 8);
                pct_text_add(&message, " letters: ");
            }
            pct_text_add_quoted(&message, text);
            return -EINVAL;
        }
        empty = comma;
        field[used++] = comma ? '/' : plain ? *c : '%';
        if (!comma && !plain) {
            field[used++] = digits[(unsigned char)*c >> 4];
            field[used++] = digits[*c & 15];
        }
    }
    field[used] = '\0';
    return 0;
}

static void format_patterns(const char *field, char *text, size_t size)
{
    struct pct_text out;
    pct_text_init(&out, text, size);
    for (const char *c = field; *c; c++) {
        unsigned value = 0;
        for (int i = 1; *c == '%' && i < 3; i++)
            for (unsigned digit = 0; digit < 16; digit++)
                value |= digits[digit] == c[i] ? digit << (i == 1 ? 4 : 0) : 0;
        pct_text_add_char(&out, *c == '%' ? (char)value : *c == '/' ? ',' : *c);
        c += *c == '%' ? 2 : 0;
    }
}

/* Only what parse would have made of its text, and what can be made text again. */
static int take_patterns(char *field, size_t room, const char *text, const char *what, char *error, size_t size)
{
    enum { MOST = sizeof((struct pct_config *)0)->focus };
    char given[MOST], plain[MOST];
    size_t i = 0;
    bool whole = true;
    for (; text[i] && i + 1 < room; i++) {
        given[i] = text[i];
        whole &= text[i] != '%' || (text[i + 1] && text[i + 2]);
    }
    given[i] = '\0';
    if (whole && !text[i]) {
        format_patterns(given, plain, sizeof plain);
        if (*plain && !parse_patterns(field, room, plain, what, error, size) && pct_text_same(field, given))
            return 0;
    }
    struct pct_text message;
    pct_text_init(&message, error, size);
    pct_text_add(&message, what);
    pct_text_add(&message, ": not patterns as a token has them: ");
    pct_text_add_quoted(&message, text);
    return -EINVAL;
}

/* What config.h says of each of these members. */
#define PATTERNS(member)                                                                                               \
    int pct_config_parse_##member(struct pct_config *config, const char *text, const char *what, char *error,          \
                                  size_t size)                                                                         \
    {                                                                                                                  \
        return parse_patterns(config->member, sizeof config->member, text, what, error, size);                         \
    }                                                                                                                  \
    int pct_config_take_##member(struct pct_config *config, const char *text, const char *what, char *error,           \
                                 size_t size)                                                                          \
    {                                                                                                                  \
        return take_patterns(config->member, sizeof config->member, text, what, error, size);                          \
    }                                                                                                                  \
    void pct_config_format_##member(const struct pct_config *config, char *text, size_t size)                          \
    {                                                                                                                  \
        format_patterns(config->member, text, size);                                                                   \
    }
PATTERNS(focus)
PATTERNS(watch)
PATTERNS(functions)
#undef PATTERNS

int pct_config_parse_end(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    return pct_config_parse_word(&config->end, text, end_words, PCT_END_COUNT, what, error, size);
}

void pct_config_draw_k(struct pct_config *config, const struct pct_strategy *strategy)
{
    enum { LEAST = 5, SCALES = 8 }; /* 32 to 8,191 */
    for (const char *c = config->strategy; *c; c++)
        if (*c == '/')
            return;
    uint64_t depth = 0, *k = NULL;
    for (unsigned i = 0; strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++) {
        if (pct_text_same(strategy->params[i].name, "k") && !(config->given >> i & 1))
            k = &config->run.param[i];
        if (pct_text_same(strategy->params[i].name, "depth"))
            depth = config->run.param[i];
    }
    if (!k)
        return;
    uint64_t scale = UINT64_C(1) << (LEAST + pct_random_below(config->run.seed, PCT_STREAM_SCALE, 0, SCALES));
    *k = scale + pct_random_below(config->run.seed, PCT_STREAM_SCALE, 1, scale);
    if (*k < depth)
        *k = depth;
}

void pct_config_become(struct pct_config *config, const struct pct_strategy **strategy,
                       const struct pct_strategy *member)
{
    struct pct_run before = config->run;
    const struct pct_param *from = (*strategy)->params;
    uint32_t given = config->given;
    *strategy = member;
    config->given = 0;
    struct pct_text name;
    pct_text_init(&name, config->strategy, sizeof config->strategy);
    pct_text_add(&name, member->name);
    for (unsigned i = 0; i < PCT_MAX_PARAMS; i++)
        config->run.param[i] = 0;
    for (unsigned i = 0; member->params && i < PCT_MAX_PARAMS && member->params[i].name; i++) {
        config->run.param[i] = member->params[i].default_value;
        for (unsigned j = 0; from && j < PCT_MAX_PARAMS && from[j].name; j++)
            if (pct_text_same(member->params[i].name, from[j].name)) {
                config->run.param[i] = before.param[j];
                config->given |= (given >> j & 1) << i;
            }
    }
}

/* Half of the runs wait before the handlers: many programs do not join their threads, and what these still do is most
 * of what can go wrong. */
enum pct_end pct_end_of_run(uint8_t end, uint64_t seed)
{
    static const enum pct_end ends[PCT_DRAWN_ENDS] = { PCT_END_BEFORE, PCT_END_BEFORE, PCT_END_BEHIND, PCT_END_FREE };
    return end == PCT_END_DRAWN ? ends[pct_random_below(seed, PCT_STREAM_END, 0, PCT_DRAWN_ENDS)] : (enum pct_end)end;
}

int pct_config_parse_spurious(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    static const char *const words[] = { "off", "on" };
    uint8_t word = 0;
    int status = pct_config_parse_word(&word, text, words, 2, what, error, size);
    if (!status)
        config->spurious = word;
    return status;
}

int pct_config_parse_some(bool *all, const char *text, const char *what, char *error, size_t size)
{
    static const char *const words[] = { "some", "all" };
    uint8_t word = 0;
    int status = pct_config_parse_word(&word, text, words, 2, what, error, size);
    if (!status)
        *all = word;
    return status;
}

bool pct_config_draw_spurious(const struct pct_config *config, uint32_t thread, uint32_t count)
{
    return config->spurious &&
           !pct_random_below(config->run.seed, PCT_STREAM_SPURIOUS, (uint64_t)thread << 32 | count, PCT_SPURIOUS_COINS);
}

void pct_config_clear_reserved(struct pct_config *config)
{
    config->real_time = config->still = config->sample_fixed = false;
    config->max_steps = config->passed_races = config->ordered = config->slack = 0;
    config->memory_points = PCT_POINTS_SHARED;
    config->races = PCT_RACES_OFF;
    config->memory = PCT_PATCH_OFF;
    config->modules[0] = config->focus[0] = config->watch[0] = config->functions[0] = '\0';
    config->sample = 0;
    config->end = PCT_END_PLAIN;
    config->spurious = false;
#define CLEAR(name) config->name = false;
    PCT_CONFIG_ALL(CLEAR)
#undef CLEAR
}

void pct_config_add_numbers(struct pct_text *text, const struct pct_config *config)
{
    if (config->sample) {
        pct_text_add(text, ",memory-sample=");
        pct_text_add_u64(text, config->sample);
    }
    if (config->sample && config->sample_fixed) {
        pct_text_add_char(text, '-');
        pct_text_add_u64(text, config->sample_seed);
    }
    if (config->passed_races) {
        pct_text_add(text, ",races-passed=");
        pct_text_add_u64(text, config->passed_races);
    }
    if (config->ordered) {
        pct_text_add(text, ",ordered=");
        pct_text_add_hex(text, config->ordered, 16);
    }
    if (config->end) {
        pct_text_add(text, ",end=");
        pct_text_add(text, end_words[config->end]);
    }
    if (config->slack) {
        pct_text_add(text, ",slack=");
        pct_config_add_slack(text, config->slack);
    }
    if (config->spurious)
        pct_text_add(text, ",spurious=on");
    if (config->functions[0]) {
        pct_text_add(text, ",functions=");
        pct_text_add(text, config->functions);
    }
#define ADD(name)                                                                                                      \
    if (config->name)                                                                                                  \
        pct_text_add(text, "," #name "=all");
    PCT_CONFIG_ALL(ADD)
#undef ADD
}

size_t pct_config_numbers_length(const struct pct_config *config)
{
    size_t length = 0;
    for (const char *c = config->focus; *c; c++)
        length++;
    if (length)
        length += sizeof ",focus=" - 1;
    for (const char *c = config->watch; *c; c++)
        length++;
    if (config->watch[0])
        length += sizeof ",watch=" - 1;
    for (const char *c = config->functions; *c; c++)
        length++;
    if (config->functions[0])
        length += sizeof ",functions=" - 1;
    if (config->sample)
        length += sizeof ",memory-sample=99-" - 1 + 20;
    if (config->races == PCT_RACES_FAIL)
        length += sizeof ",races-passed=" - 1 + 20;
    if (config->memory_points == PCT_POINTS_LEARNED)
        length += sizeof "learned,ordered=" - sizeof "all" + 16;
    if (config->end)
        length += sizeof ",end=before" - 1;
    char time[32];
    struct pct_text slack;
    pct_text_init(&slack, time, sizeof time);
    pct_config_add_slack(&slack, config->slack);
    if (config->slack)
        length += sizeof ",slack=" - 1 + slack.length;
    if (config->spurious)
        length += sizeof ",spurious=on" - 1;
#define LENGTH(name)                                                                                                   \
    if (config->name)                                                                                                  \
        length += sizeof "," #name "=all" - 1;
    PCT_CONFIG_ALL(LENGTH)
#undef LENGTH
    return length;
}

void pct_config_settle(struct pct_config *config)
{
    if (config->memory_points == PCT_POINTS_LEARNED && config->races == PCT_RACES_OFF)
        config->races = PCT_RACES_REPORT;
}

int pct_config_parse_ordered(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    uint64_t value = 0;
    size_t i = 0;
    for (; i < 16 && text[i]; i++) {
        unsigned digit = 0;
        while (digit < 16 && digits[digit] != text[i])
            digit++;
        if (digit == 16)
            break;
        value = value << 4 | digit;
    }
    if (i == 16 && !text[i] && value) {
        config->ordered = value;
        return 0;
    }
    struct pct_text message;
    pct_text_init(&message, error, size);
    pct_text_add(&message, what);
    pct_text_add(&message, ": not 16 hexadecimal digits: ");
    pct_text_add_quoted(&message, text);
    return -EINVAL;
}
