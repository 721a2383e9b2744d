/* Trials: see trial.h. */
#include "trial.h"
#include "locate.h"
#include "outcome.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool pct_failure_read(struct pct_failure *failure, const struct pct_result *result)
{
    *failure = (struct pct_failure){ .ending = result->ending, .code = result->code };
    const struct pct_trace_header *header = result->children ? &result->child.header : &result->trace.header;
    if (result->ending == PCT_ENDING_ASSERTION)
        snprintf(failure->message, sizeof failure->message, "%s", header->message);
    return result->ending != PCT_ENDING_EXIT || result->code;
}

bool pct_failure_same(const struct pct_failure *a, const struct pct_failure *b)
{
    return a->ending == b->ending && a->code == b->code && !strcmp(a->message, b->message);
}

const char *pct_failure_format(char *buffer, size_t size, const struct pct_failure *failure)
{
    if (failure->ending == PCT_ENDING_EXIT)
        snprintf(buffer, size, "exit status %d", failure->code);
    else if (failure->ending == PCT_ENDING_CRASH || failure->ending == PCT_ENDING_KILLED)
        snprintf(buffer, size, "%s by signal %d (%s)", pct_ending_name(failure->ending), failure->code - 128,
                 sigdescr_np(failure->code - 128) ? sigdescr_np(failure->code - 128) : "unknown");
    else
        snprintf(buffer, size, "%s%s%s", pct_ending_name(failure->ending), failure->message[0] ? ": " : "",
                 failure->message);
    return buffer;
}

/* The list, where the shim finds it. */
static int write_list(struct pct_trials *trials, const char *list)
{
    if (!trials->list_path[0]) {
        trials->list = pct_locate_scratch(trials->list_path, sizeof trials->list_path, false);
        if (trials->list < 0) {
            trials->list_path[0] = 0;
            pct_cli_say("cannot make a scratch file for the schedule: %s", strerror(-trials->list));
            return PCT_EXIT_INTERNAL;
        }
    }
    int failed = ftruncate(trials->list, 0) || lseek(trials->list, 0, SEEK_SET)
                     ? -EIO
                     : pct_cli_write_all(trials->list, list, strlen(list));
    if (failed)
        pct_cli_say("cannot write to %s: %s", trials->list_path, strerror(-failed));
    return failed ? PCT_EXIT_INTERNAL : 0;
}

/* Start it, wait for it, judge it. */
static int run(struct pct_trials *trials, struct pct_trial *trial, const struct pct_config *config)
{
    char token[PCT_TOKEN_MAX], error[256];
    if (trials->status)
        return trials->status;
    double begin = pct_cli_now();
    pct_config_format_token(token, sizeof token, config, pct_cli_find_strategy(config->strategy, error, sizeof error));
    memset(trial, 0, sizeof *trial);
    trials->status = pct_process_start(&trial->process, &trials->launch, token, -1, true);
    if (trials->status)
        return trials->status;
    int ended = -1;
    int signal = pct_launch_wait(&trials->launch, &trial->process, 1, 0, &ended);
    if (signal) {
        pct_process_kill(&trial->process, SIGKILL);
        pct_process_close(&trial->process);
        pct_cli_say("interrupted after %llu runs", (unsigned long long)trials->runs);
        return trials->status = 128 + signal;
    }
    pct_process_result(&trial->process, &trial->result);
    trials->runs++;
    trials->seconds += pct_cli_now() - begin;
    if (pct_outcome_is_void(&trial->result)) {
        trials->status = pct_outcome_explain(&trials->launch, &trial->process, &trial->result);
        pct_trial_close(trial);
        return trials->status;
    }
    struct pct_failure failure;
    trial->fails = pct_failure_read(&failure, &trial->result) && pct_failure_same(&failure, &trials->failure);
    return 0;
}

int pct_trial_run(struct pct_trials *trials, struct pct_trial *trial, const char *strategy, const char *list,
                  uint64_t seed)
{
    struct pct_config config = { .run = { .seed = seed },
                                 .epoch = trials->config.epoch,
                                 .real_time = trials->config.real_time,
                                 .max_steps = trials->config.max_steps,
                                 .memory_points = trials->config.memory_points,
                                 .races = trials->config.races,
                                 .memory = trials->config.memory,
                                 .sample = trials->config.sample,
                                 .sample_fixed = trials->config.sample_fixed,
                                 .sample_seed = trials->config.sample_seed,
                                 .ordered = trials->config.ordered,
                                 .passed_races = trials->config.passed_races };
    strcpy(config.modules, trials->config.modules);
    strcpy(config.focus, trials->config.focus);
    /* Whatever the seed of this trial decides: which accesses are points stays. */
    if (config.sample && !config.sample_fixed && seed != trials->config.run.seed) {
        config.sample_fixed = true;
        config.sample_seed = trials->config.run.seed;
    }
    snprintf(config.strategy, sizeof config.strategy, "%s", strategy);
    bool fits = strlen(list) < sizeof config.list;
    if (fits)
        strcpy(config.list, list);
    else if (!trials->status)
        trials->status = write_list(trials, list);
    trials->launch.schedule = fits ? NULL : trials->list_path;
    int failed = run(trials, trial, &config);
    trials->launch.schedule = NULL;
    return failed;
}

int pct_trial_again(struct pct_trials *trials, struct pct_trial *trial)
{
    struct pct_config config = trials->config;
    config.has_hash = false;
    return run(trials, trial, &config);
}

void pct_trial_close(struct pct_trial *trial)
{
    pct_result_close(&trial->result);
    pct_process_close(&trial->process);
}

int pct_trials_fail(struct pct_trials *trials, const char *switches)
{
    static struct pct_trial trial;
    unsigned failed = 0, enough = (unsigned)(trials->rate * trials->repeat + 0.999);
    for (unsigned i = 0; i < trials->repeat; i++) {
        if (pct_trial_run(trials, &trial, "schedule", switches, trials->config.run.seed))
            return -1;
        failed += trial.fails;
        pct_trial_close(&trial);
        if (failed >= enough || failed + trials->repeat - i - 1 < enough)
            break;
    }
    return failed >= enough;
}

void pct_trials_finish(struct pct_trials *trials)
{
    if (trials->list_path[0]) {
        unlink(trials->list_path);
        close(trials->list);
        trials->list_path[0] = 0;
    }
}
