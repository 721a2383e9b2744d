/* `pct doctor`: is this program controllable? The verdict is the worst of the reasons
 * (cli/binary/controllability.h). With --system: what this machine allows (cli/process/machine.h). */
#include "parse.h"
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include <cli/binary/controllability.h>
#include <cli/process/machine.h>
#include <cli/process/settings.h>

enum { KEY_SYSTEM = 2000, COLUMN = 24 };

static const struct argp_option options[] = {
    { "system", KEY_SYSTEM, NULL, 0, "say what this machine allows, what follows for pct, and the way out", 0 },
    { 0 },
};

struct arguments {
    const char *program;
    bool system;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *w = state->input;
    const struct pct_setting settings[] = {
        { KEY_SYSTEM, .on = &w->system },
        { ARGP_KEY_ARG, .text = &w->program, .once = "one program at a time" },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    if (!w->program && !w->system)
        argp_error(state, "no program is given, nor --system");
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "PROGRAM\n--system [PROGRAM]",
    .doc = "Say whether pct can control a program, and if not, why and what to do; with --system, what this machine "
           "allows.\v"
           "Reads the files of the program and its libraries, and runs nothing of it; --system tries each call that "
           "pct may need. The exit status is 0 if the program can be controlled, at least partly, and 1 if not.",
};

static int diagnose_machine(void)
{
    static struct pct_machine machine;
    static const char *const marks[] = { [PCT_MACHINE_OK] = "ok",
                                         [PCT_MACHINE_NOTE] = "note",
                                         [PCT_MACHINE_LIMITED] = "partly",
                                         [PCT_MACHINE_NOT] = "not" };
    static const char *const verdicts[] = { [PCT_MACHINE_OK] = "pct has all that it uses",
                                            [PCT_MACHINE_NOTE] = "pct has all that it uses",
                                            [PCT_MACHINE_LIMITED] = "pct works, but for what is marked \"partly\"",
                                            [PCT_MACHINE_NOT] = "pct does not work here" };
    pct_machine_examine(&machine, NULL);
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stdout);
    for (size_t i = 0; i < machine.count; i++) {
        const struct pct_machine_fact *fact = &machine.facts[i];
        fprintf(out, "%-6s  %-13s  ", marks[fact->kind], fact->what);
        pct_cli_print_clean(out, fact->text, sizeof fact->text);
        if (*fact->way)
            fprintf(out, "\n%*sway out: %s", COLUMN - 1, "", fact->way);
        fputc('\n', out);
    }
    fprintf(out, "this machine: %s\n", verdicts[pct_machine_worst(&machine)]);
    pct_cli_narrow_end(&narrow);
    return pct_machine_worst(&machine) == PCT_MACHINE_NOT;
}

static int diagnose_program(const char *word)
{
    static struct pct_controllability d;
    static const char *const marks[] = {
        [PCT_CONTROLLABILITY_NOTE] = "note", [PCT_CONTROLLABILITY_PARTLY] = "partly", [PCT_CONTROLLABILITY_NOT] = "not"
    };
    static const char *const verdicts[] = { [PCT_CONTROLLABILITY_NOTE] = "controllable",
                                            [PCT_CONTROLLABILITY_PARTLY] =
                                                "partly controllable: what it does there is counted and reported",
                                            [PCT_CONTROLLABILITY_NOT] = "not controllable" };
    int status = pct_controllability_find(&d, word, true);
    if (status)
        return status;
    for (size_t i = 0; i < d.count; i++) {
        printf("%-6s  ", marks[d.reasons[i].kind]);
        pct_cli_wrap(stdout, d.reasons[i].text, pct_status_line_columns(stdout), 8, 8);
        putchar('\n');
    }
    pct_cli_print_clean(stdout, word, SIZE_MAX);
    printf(": %s\n", verdicts[pct_controllability_worst(&d)]);
    return pct_controllability_worst(&d) == PCT_CONTROLLABILITY_NOT;
}

int pct_cmd_doctor(int argc, char **argv)
{
    struct arguments w = { 0 };
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &w);
    int machine = w.system ? diagnose_machine() : 0;
    if (w.system && w.program)
        putchar('\n');
    int program = w.program ? diagnose_program(w.program) : 0;
    return program ? program : machine;
}
