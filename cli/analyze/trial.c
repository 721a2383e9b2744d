/* Trials: see trial.h. */
#include "trial.h"
#include <cli/campaign/engine.h>
#include <cli/binary/locate.h>
#include <cli/campaign/outcome.h>
#include <cli/base/status_line.h>
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

int pct_trials_begin(struct pct_trials *trials)
{
    if (!trials->begun)
        trials->begun = pct_cli_now();
    if (!trials->running) {
        trials->room = trials->jobs;
        trials->running = calloc(trials->jobs, sizeof *trials->running);
        trials->places = calloc(trials->jobs, sizeof *trials->places);
    }
    if (trials->running && trials->places)
        return 0;
    pct_cli_say("out of memory");
    return trials->status = PCT_EXIT_INTERNAL;
}

/* The list, where the shim finds it. */
static int write_list(struct pct_trials *trials, struct pct_trial_place *place, const char *list)
{
    if (!place->list_path[0]) {
        place->list = pct_locate_scratch(place->list_path, sizeof place->list_path, false);
        if (place->list < 0) {
            place->list_path[0] = 0;
            pct_cli_say("cannot make a scratch file for the schedule: %s", strerror(-place->list));
            return trials->status = PCT_EXIT_INTERNAL;
        }
    }
    int failed = ftruncate(place->list, 0) || lseek(place->list, 0, SEEK_SET)
                     ? -EIO
                     : pct_cli_write_all(place->list, list, strlen(list));
    if (failed)
        pct_cli_say("cannot write to %s: %s", place->list_path, strerror(-failed));
    return failed ? trials->status = PCT_EXIT_INTERNAL : 0;
}

/* What all trials have in common, with a schedule of our own. */
static void make_config(const struct pct_trials *trials, struct pct_config *config, const char *strategy, uint64_t seed)
{
    const struct pct_config *given = &trials->config;
    *config = *given;
    config->run = (struct pct_run){ .seed = seed };
    config->given = 0;
    config->list[0] = '\0';
    config->has_hash = false;
    /* Whatever the seed of this trial decides: which accesses are points stays. */
    if (config->sample && !config->sample_fixed && seed != given->run.seed) {
        config->sample_fixed = true;
        config->sample_seed = given->run.seed;
    }
    config->end = (uint8_t)pct_end_of_run(given->end, given->run.seed);
    snprintf(config->strategy, sizeof config->strategy, "%s", strategy);
}

int pct_trial_start(struct pct_trials *trials, unsigned place, const struct pct_try *what, uint64_t seed)
{
    static struct pct_config config; /* large */
    struct pct_launch *launch = &trials->launch;
    char token[PCT_TOKEN_MAX], error[256];
    if (trials->status)
        return trials->status;
    struct pct_beside beside = { .sites = what->sites };
    launch->sites = NULL;
    if (what->strategy) {
        make_config(trials, &config, what->strategy, seed);
        if (strlen(what->list) < sizeof config.list)
            strcpy(config.list, what->list);
        else if (write_list(trials, &trials->places[place], what->list))
            return trials->status;
        else
            beside.schedule = trials->places[place].list_path;
    } else {
        config = trials->config;
        config.has_hash = false;
    }
    pct_config_format_token(token, sizeof token, &config, pct_cli_find_strategy(config.strategy, error, sizeof error));
    struct pct_process *process = &trials->running[place];
    process->worker = place;
    trials->status = pct_process_start(process, launch, token, &beside, pct_engine_cpu(trials->room, place), true);
    return trials->status;
}

int pct_trial_look(struct pct_trials *trials, struct pct_trial *trial)
{
    struct pct_failure failure;
    pct_process_result(&trial->process, &trial->result);
    trials->runs++;
    trials->progress.runs++;
    if (pct_outcome_is_void(&trial->result)) {
        pct_status_line_clear(trials->progress.quiet);
        trials->status = pct_outcome_explain(&trials->launch, &trial->process, &trial->result);
        pct_trial_close(trial);
        return trials->status;
    }
    if (trials->launch.forks.state == PCT_FORKING_TRY)
        pct_forking_try(&trials->launch, &trial->process, &trial->result);
    trial->fails = pct_failure_read(&failure, &trial->result) && pct_failure_same(&failure, &trials->failure);
    return 0;
}

int pct_trials_interrupt(struct pct_trials *trials, int signal)
{
    pct_status_line_clear(trials->progress.quiet);
    pct_cli_say("interrupted after %llu runs", (unsigned long long)trials->runs);
    return trials->status = 128 + signal;
}

/* Start it, wait for it, judge it. */
static int run(struct pct_trials *trials, struct pct_trial *trial, const struct pct_try *what)
{
    struct pct_process *process = &trials->running[0];
    int ended = -1;
    memset(trial, 0, sizeof *trial);
    if (pct_trial_start(trials, 0, what, what->seed))
        return trials->status;
    int signal = 0;
    while (!signal && ended < 0) {
        signal = pct_launch_wait(&trials->launch, process, 1, pct_cli_now() + PCT_STATUS_LINE_TICK, &ended);
        pct_trials_draw_progress(trials);
    }
    if (signal) {
        pct_process_kill(process, SIGKILL);
        pct_process_close(process);
        return pct_trials_interrupt(trials, signal);
    }
    trial->process = *process;
    memset(process, 0, sizeof *process);
    return pct_trial_look(trials, trial);
}

int pct_trial_run(struct pct_trials *trials, struct pct_trial *trial, const char *strategy, const char *list,
                  uint64_t seed, const char *sites)
{
    return run(
        trials, trial,
        &(struct pct_try){ .strategy = strategy, .list = (char *)(uintptr_t)list, .seed = seed, .sites = sites });
}

int pct_trial_again(struct pct_trials *trials, struct pct_trial *trial)
{
    return run(trials, trial, &(struct pct_try){ .strategy = NULL });
}

void pct_trial_close(struct pct_trial *trial)
{
    pct_result_close(&trial->result);
    pct_process_close(&trial->process);
}

int pct_trials_verdict(const struct pct_trials *trials, unsigned failed, unsigned of)
{
    unsigned enough = (unsigned)(trials->rate * trials->repeat + 0.999);
    if (failed >= enough)
        return 1;
    return failed + trials->repeat - of < enough ? 0 : -1;
}

void pct_trials_finish(struct pct_trials *trials)
{
    for (unsigned i = 0; trials->places && i < trials->room; i++)
        if (trials->places[i].list_path[0]) {
            unlink(trials->places[i].list_path);
            close(trials->places[i].list);
        }
    free(trials->places);
    free(trials->running);
    trials->places = NULL;
    trials->running = NULL;
}
