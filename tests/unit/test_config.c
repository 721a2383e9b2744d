/* Unit tests of common/config.c: specs and tokens. Links with: common/config.c, common/text.c,
 * strategies/ *.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../../common/config.h"
#include "../../common/text.h"
#include "../../strategies/strategies.h"
#include "../sample.h"
#include <errno.h>
#include <inttypes.h>
#include <pct/random.h>
#include <stdio.h>
#include <string.h>

#define EXAMPLE "pct1:pct,depth=3,k=1207:42:671f3a20:8f1c22d0a1b2c3d4:" EXAMPLE_CHECK
#define EXAMPLE_CHECK "33ab"

/* What an out-of-tree strategy may declare, good and bad. */
/* clang-format off */
static const struct pct_param many[] = {
    { "a", 1, 0, UINT64_MAX, "", NULL, false }, { "b-2", 2, 2, 2, "", NULL, false },
    { "c", 3, 0, UINT64_MAX, "", NULL, false }, { "d", 4, 0, UINT64_MAX, "", NULL, false },
    { "e", 5, 0, UINT64_MAX, "", NULL, false }, { "f", 6, 0, UINT64_MAX, "", NULL, false },
    { "g", 7, 0, UINT64_MAX, "", NULL, false }, { "h", 8, 0, UINT64_MAX, "", NULL, false },
    { 0 }
};
/* clang-format on */
static const struct pct_strategy with_many = { .abi = PCT_STRATEGY_ABI, .name = "many", .params = many };
static struct pct_param bad_params[PCT_MAX_PARAMS + 2];
static const struct pct_strategy with_bad = { .abi = PCT_STRATEGY_ABI, .name = "bad", .params = bad_params };

static const struct pct_strategy *find(const char *name, char *error, size_t size)
{
    struct pct_text text;
    const struct pct_strategy *strategy = pct_strategy_find(name);
    if (!strncmp(name, "./many", 6) || !strncmp(name, "/tmp/", 5))
        strategy = &with_many;
    if (!strcmp(name, "./bad.so"))
        strategy = &with_bad;
    pct_text_init(&text, error, size);
    if (!strategy && strcmp(name, "silent") != 0)
        pct_text_add(&text, "unknown, says find");
    return strategy;
}

static char error[512];

static int parse_spec(struct pct_config *config, const char *spec)
{
    memset(error, '#', sizeof error);
    return pct_config_parse_spec(config, spec, find, error, sizeof error);
}

static int parse_token(struct pct_config *config, const char *token)
{
    memset(error, '#', sizeof error);
    return pct_config_parse_token(config, token, find, error, sizeof error);
}

/* The message of a refusal: one line that has this in it. */
static void assert_says(const char *part)
{
    size_t length = strnlen(error, sizeof error);
    assert_true(length > 0 && length < sizeof error);
    assert_null(strchr(error, '\n'));
    if (!strstr(error, part))
        fail_msg("'%s' is not in '%s'", part, error);
}

static void assert_spec_fails(const char *spec, const char *part)
{
    struct pct_config config, before;
    memset(&config, 0x5a, sizeof config);
    config.real_time = true;
    before = config;
    assert_int_equal(parse_spec(&config, spec), -EINVAL);
    assert_says(part);
    assert_memory_equal(&config, &before, sizeof config);
}

static void assert_token_fails(const char *token, const char *part)
{
    struct pct_config config, before;
    memset(&config, 0x5a, sizeof config);
    config.real_time = true;
    before = config;
    assert_int_equal(parse_token(&config, token), -EINVAL);
    assert_says(part);
    assert_memory_equal(&config, &before, sizeof config);
}

static void test_spec(void **unused)
{
    (void)unused;
    struct pct_config config = { .run.seed = 7, .epoch = 9 };
    assert_int_equal(parse_spec(&config, "pct"), 0);
    assert_string_equal(config.strategy, "pct");
    assert_int_equal(config.given, 0);
    assert_int_equal(config.run.param[0], 0);
    assert_int_equal(config.run.param[1], 1000);
    assert_int_equal(config.run.seed, 7);
    assert_int_equal(config.epoch, 9);
    assert_false(config.real_time);

    assert_int_equal(parse_spec(&config, "pct,k=0x4B7"), 0);
    assert_int_equal(config.given, 2);
    assert_int_equal(config.run.param[0], 0);
    assert_int_equal(config.run.param[1], 1207);

    assert_int_equal(parse_spec(&config, "pct,max-steps=500,k=5,time=real,depth=64"), 0);
    assert_int_equal(config.given, 3);
    assert_int_equal(config.run.param[0], 64);
    assert_int_equal(config.run.param[1], 5);
    assert_int_equal(config.max_steps, 500);
    assert_true(config.real_time);

    /* What a spec does not name stays as it was: there are variables for it. */
    assert_int_equal(parse_spec(&config, "none"), 0);
    assert_true(config.real_time);
    assert_int_equal(config.max_steps, 500);
    assert_int_equal(config.run.param[0], 0);
    assert_int_equal(parse_spec(&config, "pct,time=still,k=5,depth=3"), 0);
    assert_true(config.still);
    assert_false(config.real_time);
    assert_int_equal(parse_spec(&config, "none,time=virtual,max-steps=0"), 0);
    assert_false(config.real_time);
    assert_int_equal(config.max_steps, 0);

    assert_int_equal(parse_spec(&config, "./many dir/x.so,g=18446744073709551615"), 0);
    assert_string_equal(config.strategy, "./many dir/x.so");
    assert_int_equal(config.run.param[6], UINT64_MAX);
}

static void test_spec_bad(void **unused)
{
    (void)unused;
    assert_spec_fails("", "no strategy is named");
    assert_spec_fails(",depth=3", "no strategy is named");
    assert_spec_fails("pcx", "unknown, says find");
    assert_spec_fails("silent", "unknown strategy 'silent'");
    assert_spec_fails("pct,dept=3", "has no parameter 'dept'; did you mean 'depth'?");
    assert_spec_fails("pct,max_steps=3", "did you mean 'max-steps'?");
    assert_spec_fails("pct,tiem=real", "did you mean 'time'?");
    assert_spec_fails("pct,quantum=3",
                      "it has depth, k, spin, final, sequential, phases, later, earlier, only, time, max-steps");
    assert_spec_fails("none,quantum=3", "strategy none has no parameter 'quantum'; it has time, max-steps");
    assert_spec_fails("pct,=3", "has no parameter ''");
    assert_spec_fails("pct,depth", "expected PARAM=VALUE after the strategy's name, not 'depth'");
    assert_spec_fails("pct,", "expected PARAM=VALUE");
    assert_spec_fails("pct,depth=3,", "expected PARAM=VALUE");
    assert_spec_fails("./many,here.so", "the path of a strategy cannot have ',' in it");
    assert_spec_fails("./many:here.so", "cannot have ':' in it");
    assert_spec_fails("./many\nhere.so", "cannot have control characters");
    assert_spec_fails("pct,depth=0", "depth: '0' is out of range; it must be 1 to 64");
    assert_spec_fails("pct,depth=65", "depth: '65' is out of range; it must be 1 to 64");
    assert_spec_fails("pct,k=18446744073709551616", "k: '18446744073709551616' is out of range");
    assert_spec_fails("pct,depth=", "depth: '' is not a whole number; it must be 1 to 64");
    assert_spec_fails("pct,depth=three", "'three' is not a whole number");
    assert_spec_fails("pct,depth=-1", "'-1' is not a whole number");
    assert_spec_fails("pct,depth= 3", "is not a whole number");
    assert_spec_fails("pct,depth=3=4", "'3=4' is not a whole number");
    assert_spec_fails("pct,depth=3,depth=3", "'depth' is given twice");
    assert_spec_fails("pct,time=real,time=real", "'time' is given twice");
    assert_spec_fails("pct,max-steps=1,max-steps=2", "'max-steps' is given twice");
    assert_spec_fails("pct,time=slow", "it must be virtual, real or still");
    assert_spec_fails("pct,max-steps=no", "max-steps: 'no' is not a whole number");
}

/* Texts longer than anything has room for. */
static void test_spec_long(void **unused)
{
    (void)unused;
    static char spec[5000];
    memset(spec, 'x', sizeof spec - 1);
    assert_spec_fails(spec, "too long");
    memcpy(spec, "pct,", 4);
    assert_spec_fails(spec, "too long");
    memcpy(spec, "pct,depth=", 10);
    spec[400] = '\0';
    assert_spec_fails(spec, "not a whole number");

    /* A path that just fits in a token, with the longest of everything; and one letter more. */
#define LARGEST "18446744073709551615"
    static const char rest[] = ",a=" LARGEST ",c=" LARGEST ",d=" LARGEST ",e=" LARGEST ",f=" LARGEST ",g=" LARGEST
                               ",h=" LARGEST ",max-steps=" LARGEST ",time=real,memory-points=all,races=report"
                               ",memory=atomics,memory-modules=libx/liby/libz/libaaaaaaaaaaaa/"
                               "libbbbbbbbbbbbbb,end=before,rounds=all,calls=all,strings=all,statics=all"
                               ",explored=all,streams=all";
    size_t longest = 0, just = 0;
    for (size_t length = 20; length < 300; length++) {
        memset(spec, 'x', sizeof spec);
        memcpy(spec, "/tmp/", 5);
        strcpy(spec + length, rest);
        struct pct_config config = { .run.seed = UINT64_MAX, .epoch = UINT64_MAX, .has_hash = true };
        if (parse_spec(&config, spec)) {
            assert_says("too long");
            continue;
        }
        longest = length;
        char token[2 * PCT_TOKEN_MAX];
        size_t size = pct_config_format_token(token, sizeof token, &config, &with_many);
        assert_true(size < PCT_TOKEN_MAX);
        if (size == PCT_TOKEN_MAX - 1)
            just++;
        struct pct_config back = { 0 };
        assert_int_equal(parse_token(&back, token), 0);
        assert_string_equal(back.strategy, config.strategy);
    }
    assert_int_equal(just, 1);
    /* Without that many parameters the path itself has the limit. */
    memset(spec, 'x', sizeof spec);
    memcpy(spec, "/tmp/", 5);
    struct pct_config config = { 0 };
    spec[sizeof config.strategy - 1] = '\0';
    assert_true(longest < sizeof config.strategy - 1);
    assert_int_equal(parse_spec(&config, spec), 0);
    assert_string_equal(config.strategy, spec);
    spec[sizeof config.strategy - 1] = 'x';
    spec[sizeof config.strategy] = '\0';
    assert_spec_fails(spec, "the strategy's path is too long");
}

static void set_bad(const char *name, uint64_t default_value, uint64_t min, uint64_t max)
{
    memset(bad_params, 0, sizeof bad_params);
    bad_params[0] = (struct pct_param){ .name = "fine", .default_value = 1, .min = 1, .max = 1, .help = "" };
    bad_params[1] =
        (struct pct_param){ .name = name, .default_value = default_value, .min = min, .max = max, .help = "" };
}

/* Out-of-tree strategies whose parameters a token could not hold. */
static void test_bad_strategy(void **unused)
{
    (void)unused;
    set_bad("fine-too", 5, 0, 9);
    struct pct_config config = { 0 };
    assert_int_equal(parse_spec(&config, "./bad.so"), 0);
    static const char *const names[] = { "", "Upper", "with_underscore", "a:b", "a,b", "a=b", "a b", "\n" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        set_bad(names[i], 5, 0, 9);
        assert_spec_fails("./bad.so", "name");
    }
    set_bad("time", 5, 0, 9);
    assert_spec_fails("./bad.so", "reserved");
    set_bad("max-steps", 5, 0, 9);
    assert_spec_fails("./bad.so", "reserved");
    set_bad("fine", 5, 0, 9);
    assert_spec_fails("./bad.so", "two parameters of one name");
    set_bad("word", 5, 0, 9);
    bad_params[1].zero = "none";
    assert_int_equal(parse_spec(&config, "./bad.so"), 0);
    bad_params[1].zero = "no,ne";
    assert_spec_fails("./bad.so", "a word for a parameter's value 0");
    set_bad("word", 5, 1, 9);
    bad_params[1].zero = "none";
    assert_spec_fails("./bad.so", "a word for a parameter's value 0");
    set_bad("low", 5, 6, 9);
    assert_spec_fails("./bad.so", "out of its own range");
    set_bad("high", 10, 6, 9);
    assert_spec_fails("./bad.so", "out of its own range");
    for (int i = 0; i < PCT_MAX_PARAMS + 1; i++) {
        static char names[PCT_MAX_PARAMS + 1][3];
        names[i][1] = (char)('a' + i % 26);
        names[i][2] = '\0';
        names[i][0] = (char)('a' + i / 26);
        bad_params[i] = (struct pct_param){ .name = names[i], .help = "" };
    }
    assert_spec_fails("./bad.so", "more parameters than pct has room for");
}

/* The word for 0, and parameters that stand in a token only when they differ from their defaults. */
static void test_words(void **unused)
{
    (void)unused;
    struct pct_config config = { 0 }, again = { 0 };
    char token[PCT_TOKEN_MAX];
    static const char *const cases[][2] = {
        /* a spec, and how its token begins */
        { "pct,depth=auto", "pct1:pct,depth=auto,k=1000:0:" },
        { "pct,k=5,spin=16,final=1,depth=2", "pct1:pct,depth=2,k=5:0:" },
        { "pct,spin=never,depth=2,sequential=1,k=7", "pct1:pct,depth=2,k=7,spin=never,sequential=1:0:" },
        { "pct,phases=1,final=0,spin=3", "pct1:pct,depth=auto,k=1000,spin=3,final=0,phases=1:0:" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse_spec(&config, cases[i][0]), 0);
        pct_config_format_token(token, sizeof token, &config, find("pct", error, sizeof error));
        assert_memory_equal(token, cases[i][1], strlen(cases[i][1]));
        assert_int_equal(pct_config_parse_token(&again, token, find, error, sizeof error), 0);
        assert_memory_equal(again.run.param, config.run.param, sizeof config.run.param);
    }
    assert_spec_fails("pct,depth=0", "depth: '0' is out of range; it must be 1 to 64, or auto");
    assert_spec_fails("pct,depth=aut", "depth: 'aut' is not a whole number; it must be 1 to 64, or auto");
    assert_spec_fails("pct,k=auto", "k: 'auto' is not a whole number; it must be 1 to");
    assert_spec_fails("pct,k=0", "k: '0' is out of range; it must be 1 to 1000000000000");
}

static void test_example(void **unused)
{
    (void)unused;
    struct pct_config config = { .real_time = true, .max_steps = 5 };
    assert_int_equal(parse_token(&config, EXAMPLE), 0);
    assert_string_equal(config.strategy, "pct");
    assert_int_equal(config.run.param[0], 3);
    assert_int_equal(config.run.param[1], 1207);
    assert_int_equal(config.given, 3);
    assert_int_equal(config.run.seed, 42);
    assert_int_equal(config.epoch, 0x671f3a20);
    assert_true(config.has_hash);
    assert_int_equal(config.hash, UINT64_C(0x8f1c22d0a1b2c3d4));
    assert_false(config.real_time); /* all of a run is in its token */
    assert_int_equal(config.max_steps, 0);
    /* The message about something that is no token shows a good one. */
    assert_token_fails("hello", EXAMPLE);
}

/* Random configurations: the token has all of them, and there is but one token for each. */
static void random_config(struct pct_config *config, const struct pct_strategy **strategy, uint64_t i)
{
    memset(config, 0, sizeof *config);
    uint64_t r = pct_random(1, PCT_STREAM_USER, i);
    size_t built_in = 0;
    while (pct_strategies[built_in])
        built_in++;
    if (r % (built_in + 1) == built_in) {
        *strategy = &with_many;
        strcpy(config->strategy, r & 256 ? "./many/x.so" : "/tmp/a b/\xc3\xa4.so");
    } else {
        *strategy = pct_strategies[r % (built_in + 1)];
        strcpy(config->strategy, (*strategy)->name);
    }
    const struct pct_param *params = (*strategy)->params;
    for (unsigned p = 0; params && params[p].name; p++) {
        uint64_t range = params[p].max - params[p].min;
        uint64_t offset = pct_random(i, PCT_STREAM_USER + 1, p) >> (r >> (8 + p) & 63);
        config->run.param[p] = params[p].min + (range == UINT64_MAX ? offset : offset % (range + 1));
        if (!params[p].quiet || config->run.param[p] != params[p].default_value)
            config->given |= UINT32_C(1) << p;
    }
    config->run.seed = pct_random(i, PCT_STREAM_USER + 2, 0) >> (r >> 16 & 63);
    config->epoch = pct_random(i, PCT_STREAM_USER + 2, 1) >> (r >> 24 & 63);
    config->has_hash = r >> 32 & 1;
    config->hash = config->has_hash ? pct_random(i, PCT_STREAM_USER + 2, 2) >> (r >> 40 & 63) : 0;
    config->real_time = r >> 33 & 1;
    config->max_steps = r >> 34 & 1 ? pct_random(i, PCT_STREAM_USER + 2, 3) >> (r >> 48 & 63) : 0;
    config->slack = r >> 35 & 1 ? 1000 * pct_random_below(i, PCT_STREAM_USER + 2, 4, 1000) : 0;
}

static void test_round_trip(void **unused)
{
    (void)unused;
    for (uint64_t i = 0; i < sampled(50000); i++) {
        struct pct_config config, back = { .max_steps = i, .real_time = true };
        const struct pct_strategy *strategy;
        random_config(&config, &strategy, i);
        char token[PCT_TOKEN_MAX], again[PCT_TOKEN_MAX];
        size_t length = pct_config_format_token(token, sizeof token, &config, strategy);
        assert_int_equal(length, strlen(token));
        if (parse_token(&back, token))
            fail_msg("%s: %s", token, error);
        assert_string_equal(back.strategy, config.strategy);
        assert_int_equal(back.given, config.given);
        assert_memory_equal(&back.run, &config.run, sizeof config.run);
        assert_int_equal(back.epoch, config.epoch);
        assert_int_equal(back.real_time, config.real_time);
        assert_int_equal(back.max_steps, config.max_steps);
        assert_int_equal(back.slack, config.slack);
        assert_int_equal(back.has_hash, config.has_hash);
        assert_int_equal(back.hash, config.hash);
        pct_config_format_token(again, sizeof again, &back, strategy);
        assert_string_equal(again, token);
    }
}

/* A buffer of any size is terminated and not overrun. */
static void test_format_bounds(void **unused)
{
    (void)unused;
    struct pct_config config;
    const struct pct_strategy *strategy;
    random_config(&config, &strategy, 3);
    for (size_t size = 0; size < 100; size++) {
        char out[128];
        memset(out, '#', sizeof out);
        size_t length = pct_config_format_token(out, size, &config, strategy);
        assert_true(size ? length < size : length == 0);
        if (size)
            assert_int_equal(out[length], '\0');
        for (size_t i = size; i < sizeof out; i++)
            assert_int_equal(out[i], '#');
    }
}

/* The token with its last five characters made right for what stands before them. */
static const char *with_check(const char *format, ...)
{
    static char token[2 * PCT_TOKEN_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(token, sizeof token - 8, format, arguments);
    va_end(arguments);
    snprintf(token + length, 8, ":%04x", (unsigned)(XXH3_64bits(token, (size_t)length) & 0xffff));
    return token;
}

static void test_token_bad(void **unused)
{
    (void)unused;
    static const char *const foreign[] = { "",       "p",     "pct",    "pct:",  "pct1", "pct01:x",
                                           "PCT1:x", "pct0:", "pct-1:", "pctx:", "42",   "pct1;pct:1:2:-:0000",
                                           " pct1:" };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        assert_token_fails(foreign[i], "is not a token");
    assert_token_fails("pct2:whatever", "this token has version 2, and this pct reads version 1 only");
    assert_token_fails("pct2:pct,depth=3,k=1207:42:671f3a20:8f1c22d0a1b2c3d4:" EXAMPLE_CHECK, "version 2");
    assert_token_fails("pct10:", "version 10");
    assert_token_fails("pct99999999999999999999999999:", "this token has version");

    assert_token_fails("pct1:", "damaged or cut short");
    assert_token_fails("pct1::::", "damaged or cut short");
    static const char example[] = EXAMPLE;
    char cut[sizeof example];
    for (size_t length = 5; length < sizeof example - 1; length++) {
        memcpy(cut, example, length);
        cut[length] = '\0';
        assert_token_fails(cut, "damaged or cut short");
    }
    static char longer[4000];
    memset(longer, 'x', sizeof longer - 1);
    memcpy(longer, "pct1:", 5);
    assert_token_fails(longer, "damaged or cut short");

    /* Right check digits, wrong text. */
    assert_token_fails(with_check("pct1:pct,depth=3,k=5:42:0"), "was not written by pct");     /* no hash */
    assert_token_fails(with_check("pct1:pct,depth=3,k=5:42:0:-:-"), "was not written by pct"); /* too many */
    assert_token_fails(with_check("pct1:pct,depth=3,k=5:042:0:-"), "was not written by pct");  /* leading zero */
    assert_token_fails(with_check("pct1:pct,depth=3,k=5::0:-"), "was not written by pct");     /* no seed */
    assert_token_fails(with_check("pct1:pct,depth=3,k=5:0x2a:0:-"), "was not written by pct");
    assert_token_fails(with_check("pct1:pct,depth=3,k=5:42:0A:-"), "was not written by pct");   /* upper case */
    assert_token_fails(with_check("pct1:pct,depth=3,k=5:42:0:1234"), "was not written by pct"); /* short hash */
    assert_token_fails(with_check("pct1:pct,depth=3,k=5:42:0:"), "was not written by pct");
    assert_token_fails(with_check("pct1:pct,k=5,depth=3:42:0:-"), "was not written by pct"); /* order */
    assert_token_fails(with_check("pct1:pct,depth=3,k=5,time=virtual:42:0:-"), "was not written by pct");
    assert_token_fails(with_check("pct1:pct,depth=3,k=5,max-steps=0:42:0:-"), "was not written by pct");
    assert_token_fails(with_check("pct1:pct,depth=3,k=5:99999999999999999999:0:-"), "was not written by pct");
    assert_token_fails(with_check("pct1:pct,depth=3:42:0:-"),
                       "another version of its strategy: it lacks parameter 'k'");
    assert_token_fails(with_check("pct1:pct,depth=3,k=5,x=1:42:0:-"), "has no parameter 'x'");
    assert_token_fails(with_check("pct1:pct,depth=99,k=5:42:0:-"), "it must be 1 to 64");
    assert_token_fails(with_check("pct1:later,depth=9:42:0:-"), "unknown, says find");
    assert_token_fails(with_check("pct1::42:0:-"), "no strategy is named");
}

/* Every damage of a single character of 60 tokens: replaced by any other byte, left out, doubled, swapped with the
 * next.
 *
 * Each is refused unless the 16 check digits match by chance, once in 65,536 damages; and of those most are no tokens
 * for another reason. A damage that passes is understood as what it says, no more can be asked for. */
static unsigned long damages, passed, matched;

static void check_damage(const char *damaged, const char *token)
{
    struct pct_config config = { 0 };
    if (!strcmp(damaged, token))
        return;
    damages++;
    const char *check = strrchr(damaged, ':');
    char digits[8] = "";
    if (check)
        snprintf(digits, sizeof digits, "%04x", (unsigned)(XXH3_64bits(damaged, (size_t)(check - damaged)) & 0xffff));
    bool match = check && !strcmp(check + 1, digits);
    matched += match;
    if (parse_token(&config, damaged)) {
        assert_says("");
        return;
    }
    assert_true(match);
    passed++;
}

static void test_token_damage(void **unused)
{
    (void)unused;
    for (uint64_t i = 0; i < sampled(60); i++) {
        struct pct_config config;
        const struct pct_strategy *strategy;
        random_config(&config, &strategy, i);
        char token[PCT_TOKEN_MAX], damaged[PCT_TOKEN_MAX + 1];
        size_t length = pct_config_format_token(token, sizeof token, &config, strategy);
        for (size_t at = 0; at < length; at++) {
            strcpy(damaged, token);
            for (int c = 0; c < 256; c++) {
                damaged[at] = (char)c;
                check_damage(damaged, token);
            }
            strcpy(damaged, token);
            memmove(damaged + at, damaged + at + 1, length - at);
            check_damage(damaged, token);
            strcpy(damaged, token);
            memmove(damaged + at + 1, damaged + at, length - at + 1);
            check_damage(damaged, token);
            strcpy(damaged, token);
            if (at + 1 < length) {
                damaged[at] = token[at + 1];
                damaged[at + 1] = token[at];
            }
            check_damage(damaged, token);
        }
    }
    assert_true(damages > sampled(500000));
    if (sample() > 1)
        return;
    /* A Poisson variable of mean 19 exceeds three times that with probability below 1e-10. */
    assert_true(matched < 3 * damages / 65536);
    assert_true(passed * 4 < matched);
}

/* Garbage, made of what tokens and specs are made of: no crash, a message for every refusal, and whatever passes is
 * understood (its own token reads back the same). */
static void test_garbage(void **unused)
{
    (void)unused;
    static const char *const parts[] = { "pct",
                                         "pct1",
                                         "pct2",
                                         ":",
                                         ",",
                                         "=",
                                         "depth",
                                         "k",
                                         "time",
                                         "real",
                                         "max-steps",
                                         "3",
                                         "0",
                                         "-",
                                         "0x",
                                         "18446744073709551616",
                                         "./many",
                                         "random-delay",
                                         "inverse",
                                         "length",
                                         "ffffffffffffffff",
                                         "\n",
                                         "\xff",
                                         "/",
                                         "",
                                         "quantum",
                                         "round-robin" };
    const size_t count = sizeof parts / sizeof parts[0];
    unsigned good = 0;
    for (uint64_t i = 0; i < sampled(300000); i++) {
        char text[1024] = "";
        uint64_t pieces = pct_random_below(i, PCT_STREAM_USER, 0, 14);
        for (uint64_t p = 1; p <= pieces; p++)
            strcat(text, parts[pct_random_below(i, PCT_STREAM_USER, p, count)]);
        struct pct_config config = { 0 };
        if (parse_spec(&config, text) == 0) {
            char token[PCT_TOKEN_MAX];
            struct pct_config back = { 0 };
            pct_config_format_token(token, sizeof token, &config, find(config.strategy, error, sizeof error));
            assert_int_equal(parse_token(&back, token), 0);
            assert_memory_equal(&back.run, &config.run, sizeof config.run);
            good++;
        } else {
            assert_says("");
        }
        if (parse_token(&config, text))
            assert_says("");
        if (parse_token(&config, with_check("pct1:%s", text)))
            assert_says("");
    }
    assert_true(good > sampled(100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec),         cmocka_unit_test(test_spec_bad),      cmocka_unit_test(test_spec_long),
        cmocka_unit_test(test_bad_strategy), cmocka_unit_test(test_words),         cmocka_unit_test(test_example),
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_format_bounds), cmocka_unit_test(test_token_bad),
        cmocka_unit_test(test_token_damage), cmocka_unit_test(test_garbage),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
