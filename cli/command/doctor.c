/* `pct doctor`: is this program controllable? The verdict is the worst of the reasons (cli/binary/diagnosis.h). */
#include "parse.h"
#include <cli/base/cli.h>
#include <cli/binary/diagnosis.h>

static error_t parse(int key, char *argument, struct argp_state *state)
{
    const char **program = state->input;
    if (key == ARGP_KEY_END && !*program)
        argp_error(state, "no program is given");
    if (key != ARGP_KEY_ARG)
        return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
    if (*program)
        argp_error(state, "one program at a time");
    *program = argument;
    return 0;
}

static const struct argp argp = {
    .parser = parse,
    .args_doc = "PROGRAM",
    .doc = "Say whether pct can control a program, and if not, why and what to do.\v"
           "Reads the files of the program and its libraries, and runs nothing. The exit status is 0 if the program "
           "can be controlled, at least partly, and 1 if not.",
};

int pct_cmd_doctor(int argc, char **argv)
{
    static struct pct_diagnosis d;
    static const char *const marks[] = {
        [PCT_DIAGNOSIS_NOTE] = "note", [PCT_DIAGNOSIS_PARTLY] = "partly", [PCT_DIAGNOSIS_NOT] = "not"
    };
    static const char *const verdicts[] = { [PCT_DIAGNOSIS_NOTE] = "controllable",
                                            [PCT_DIAGNOSIS_PARTLY] =
                                                "partly controllable: what it does there is counted and reported",
                                            [PCT_DIAGNOSIS_NOT] = "not controllable" };
    const char *word = NULL;
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &word);
    int status = pct_diagnose(&d, word, true);
    if (status)
        return status;
    for (size_t i = 0; i < d.count; i++)
        printf("%-6s  %s\n", marks[d.reasons[i].kind], d.reasons[i].text);
    printf("%s: %s\n", word, verdicts[pct_diagnosis_worst(&d)]);
    return pct_diagnosis_worst(&d) == PCT_DIAGNOSIS_NOT;
}
