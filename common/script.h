/* The channel between `pct script` and the runs that it makes: a file that both map. The command writes the script,
 * what the names in it stand for, and which way its choices go; the run writes how far the script came. Behind the head
 * stand pct_script_name, pct_script_range, pct_script_choice (made, and planned), pct_script_note,
 * pct_script_other_note, pct_script_switch, and the texts, each ended by a zero. */
#ifndef PCT_COMMON_SCRIPT_H
#define PCT_COMMON_SCRIPT_H

#include "exploration.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCT_SCRIPT_MAGIC "PCTSCRP"
#define PCT_SCRIPT_VERSION 17u

enum { PCT_SCRIPT_CHOICES = 4096, PCT_SCRIPT_NOTES = 4096, PCT_SCRIPT_SWITCHES = 65536, PCT_SCRIPT_POINTERS = 4 };
enum { PCT_SCRIPT_PROCESSES = 64, PCT_SCRIPT_PARTS = 32, PCT_SCRIPT_POSTS = 256, PCT_SCRIPT_POST_NAME = 48 };

/* What came of the script. */
enum pct_script_outcome {
    PCT_SCRIPT_NEVER, /* the run has not begun it */
    PCT_SCRIPT_UNDER_WAY,
    PCT_SCRIPT_ENDED,
    PCT_SCRIPT_DID_NOT_FIT, /* it cannot go on: the threads do not do what it says */
    PCT_SCRIPT_ASSERTION,   /* one of its own has failed */
    PCT_SCRIPT_WRONG        /* it is wrong itself */
};

/* What a name in a script stands for. */
enum pct_script_kind {
    PCT_SCRIPT_VARIABLE,
    PCT_SCRIPT_FUNCTION,
    PCT_SCRIPT_LINE,
    PCT_SCRIPT_BODY,   /* a function with code of its own, in whose own code threads can stop */
    PCT_SCRIPT_ENTERED /* what threads enter first that a library starts with the FUNCTION of this name */
};

struct pct_script_name {
    uint32_t text, kind;   /* text: its place behind the head, in bytes; enum pct_script_kind */
    uint32_t first, count; /* its ranges */
    /* If there are pointers: in its ranges stands one, and what is meant is this far behind where it points to, in
     * bytes; for all but the last there stands one again. size: of what is meant, in bytes. */
    uint64_t offset[PCT_SCRIPT_POINTERS], size;
    uint32_t pointers;
    uint32_t refusal; /* of LINE: a text, why threads cannot stop where its code begins; 0: they can */
};

struct pct_script_range {
    uint64_t from, to; /* as the file says, before it is relocated */
    uint32_t module;   /* the place of the name of its file, without directories; 0: the program */
    uint32_t unused;
};

enum pct_script_choice_kind {
    PCT_SCRIPT_CHOICE_PLAIN,
    PCT_SCRIPT_CHOICE_TURN,     /* of the thread that goes on; --all=dpor leaves out what commutes */
    PCT_SCRIPT_CHOICE_TURNS_END /* no choice: the turns before are over, as far as --all=dpor may change their order */
};

enum { PCT_SCRIPT_TURN_MOST = 16, PCT_SCRIPT_TURN_THREADS = 64 }; /* ways of a TURN; its threads have ids below */

struct pct_script_choice {
    uint32_t of, chosen;                  /* this many ways, and the one that was taken, from 0 */
    uint32_t process, number;             /* whose it is: 0 is the first process; of its choices, from 0 */
    uint32_t kind;                        /* enum pct_script_choice_kind */
    uint32_t at;                          /* of those that are not PLAIN: entries of the log before */
    uint64_t list;                        /* of a TURN: bit i: thread i takes part, */
    uint64_t able;                        /* and is among the ways, */
    uint8_t thread[PCT_SCRIPT_TURN_MOST]; /* which are these */
    uint64_t stand;                       /* of those that are not PLAIN: bit i: thread i stands; */
    uint32_t let; /* how often others could go on so far, as the chosen ones were blocked, or spun */
    uint32_t unused;
};

/* Why choices of threads were none that --all=dpor may leave out. X(identifier, text) */
#define PCT_SCRIPT_WHOLES(X)                                                                                           \
    X(ENDS, "of an interleave with a function that says when it is over")                                              \
    X(MOVING, "of an interleave up to what is a function, or depends on other threads")                                \
    X(MANY, "among more than 16 threads, or with one that is not among the first 64")                                  \
    X(OWN, "of threads, beside interleave")

enum pct_script_whole {
#define PCT_SCRIPT_WHOLE_ENUM(id, text) PCT_SCRIPT_WHOLE_##id,
    PCT_SCRIPT_WHOLES(PCT_SCRIPT_WHOLE_ENUM)
#undef PCT_SCRIPT_WHOLE_ENUM
        PCT_SCRIPT_WHOLE_COUNT
};

/* This line of the script was done when the run had made this many steps. */
struct pct_script_note {
    uint32_t line, thread; /* thread: that it was about, plus 1; 0: none */
    uint64_t step;
};

/* The same of another process than the first. */
struct pct_script_other_note {
    struct pct_script_note note;
    uint32_t process;
    uint32_t image; /* programs that it was before, plus 1: written last */
};

enum pct_script_switch_kind {
    PCT_SCRIPT_SWITCH_NONE, /* not written yet */
    PCT_SCRIPT_SWITCH_THREAD,
    PCT_SCRIPT_SWITCH_AWAITED, /* of a thread for which the process waited */
    PCT_SCRIPT_SWITCH_POST,
    PCT_SCRIPT_SWITCH_WAIT,
    PCT_SCRIPT_SWITCH_CHOICE, /* of the program's, by pct_choose() */
    PCT_SCRIPT_SWITCH_END
};

/* Behind this many steps of a process: this thread (value) went on, and not the one that the strategy `schedule` would
 * let without a list; this place of the board was posted, or awaited (PCT_SCRIPT_POSTS: in vain); this way of a choice
 * was taken; or the process ended with this low half of its hash. */
struct pct_script_switch {
    uint64_t step;
    uint32_t value;
    uint16_t process; /* 0: the first, else that of its pct_script_process */
    uint8_t image;    /* programs that it was before, by exec */
    uint8_t kind;     /* enum pct_script_switch_kind; written last */
};

/* How the script came along in one process. */
struct pct_script_said {
    uint32_t outcome; /* enum pct_script_outcome; NEVER also: no part of it is for this process */
    uint32_t line;    /* of the script, where it is */
    uint64_t step;    /* steps that the run had made when the script was over */
    uint32_t outside; /* the process waits for what the outside may do, and `message` says why; written last */
    uint32_t runs;    /* a thread has passed no point for this many seconds, and `message` says more; written last */
    uint64_t offset;  /* where in the file `file` it was then, as `message` has that: "NAME+0xOFFSET" */
    char file[256];   /* "": that is not known */
    uint32_t vain;    /* it did not fit as nobody could post what it waited for on the board */
    uint32_t over;    /* the script has nothing more to say to this process */
    uint32_t waits;   /* it waits for the board: for this place */
    char place[PCT_SCRIPT_POST_NAME];
    uint32_t image; /* programs that the process was before */
    uint64_t came;  /* steps that it had made when it passed its last scheduling point; written last */
    uint32_t given; /* the line that gives a choice which the program has not asked for, as `wanted` has it; 0: none */
    char wanted[60];
    char awaited[512];  /* what that line waits for */
    char message[1024]; /* why it could not go on, or what is wrong */
};

/* A process that another one of the run has made: the first of these is process 1. */
struct pct_script_process {
    uint32_t ticket;  /* that it has in its family (preload/time/family.h) */
    uint32_t choices; /* that it has made */
    uint32_t pid;     /* it has left a trace, in the file of this number (preload/run/end.c); 0: not yet */
    uint32_t image;   /* which is of this program: as in its notes */
    char path[48];    /* preload/time/family.h; "": not known */
    struct pct_script_said said;
};

/* A line of the script that is for another process than the first: of this number, or (0) that runs this program. */
struct pct_script_part {
    uint32_t line, number;
    uint32_t begun; /* there was such a process, */
    uint32_t taken; /* or one that this earlier line was for, too; 0: none */
    char program[256];
};

/* A place of the board. */
struct pct_script_post {
    char name[PCT_SCRIPT_POST_NAME];
    int64_t value;
    uint32_t there; /* written last */
    uint32_t unused;
};

struct pct_script_channel {
    char magic[8];
    uint32_t version;
    uint32_t began; /* whether the first process has begun it, or how many tried to be that */
    /* The command's. */
    uint32_t names, ranges; /* how many */
    uint32_t planned;       /* this many choices are those of the plan, */
    uint32_t name;          /* the text of the script's file name, and */
    uint32_t script;        /* of itself */
    uint32_t script_size;
    uint32_t texts_size;
    uint32_t speaker; /* behind the run: the process that `said` is of, pct_script_settle() */
    uint64_t seed;    /* of the choices behind the planned ones; 0: the first way of each, */
    uint64_t avoid;   /* but in a TURN, if there is another, that of none of these threads (bit i: thread i) */
    uint64_t log;     /* where in the file the log is (struct pct_channel), in bytes; 0: the run writes none */
    uint32_t bound;   /* of preemptions by choices of threads, plus 1; 0: none */
    uint32_t wholes;  /* the run's: bit i: enum pct_script_whole i */
    uint32_t keeps;   /* the command's: processes that the script has lines for leave traces */
    /* The run's. */
    uint32_t choices;     /* that were made, in this order */
    uint32_t own_choices; /* by the first process; the next two are its alone */
    uint32_t notes;
    uint32_t other_notes;        /* of all other processes; more than PCT_SCRIPT_NOTES: the rest has no place */
    uint32_t switches;           /* of all processes; more than PCT_SCRIPT_SWITCHES: the rest has no place */
    uint32_t parts;              /* for other processes */
    uint32_t processes;          /* that were made; those behind PCT_SCRIPT_PROCESSES have no script */
    uint32_t posts;              /* that were begun */
    uint32_t posted;             /* a futex, shared: counts those that are there, and the end of all waits */
    uint32_t deadlocked;         /* all processes waited: whoever waits does so in vain; the place for that, plus 1 */
    uint32_t lost_turns;         /* processes did not go on one at a time to the end (pct_family_lost_turns()) */
    uint32_t ticket;             /* as in its pct_script_process; of the first process */
    uint64_t waited;             /* how often a process has begun to wait for the board: then each step is to be told */
    struct pct_script_said said; /* of the first process */
    char program[256];           /* that it runs: its path */
    struct pct_script_part part[PCT_SCRIPT_PARTS];
    struct pct_script_process process[PCT_SCRIPT_PROCESSES];
    struct pct_script_post post[PCT_SCRIPT_POSTS];
};

static inline struct pct_script_name *pct_script_names(struct pct_script_channel *c)
{
    return (struct pct_script_name *)(void *)(c + 1);
}

static inline struct pct_script_range *pct_script_ranges(struct pct_script_channel *c)
{
    return (struct pct_script_range *)(void *)(pct_script_names(c) + c->names);
}

static inline struct pct_script_choice *pct_script_choices(struct pct_script_channel *c)
{
    return (struct pct_script_choice *)(void *)(pct_script_ranges(c) + c->ranges);
}

/* Those that the command wants, in any order. */
static inline struct pct_script_choice *pct_script_plan(struct pct_script_channel *c)
{
    return pct_script_choices(c) + PCT_SCRIPT_CHOICES;
}

static inline struct pct_script_note *pct_script_notes(struct pct_script_channel *c)
{
    return (struct pct_script_note *)(void *)(pct_script_plan(c) + PCT_SCRIPT_CHOICES);
}

static inline struct pct_script_other_note *pct_script_other_notes(struct pct_script_channel *c)
{
    return (struct pct_script_other_note *)(void *)(pct_script_notes(c) + PCT_SCRIPT_NOTES);
}

static inline struct pct_script_switch *pct_script_switches(struct pct_script_channel *c)
{
    return (struct pct_script_switch *)(void *)(pct_script_other_notes(c) + PCT_SCRIPT_NOTES);
}

static inline char *pct_script_texts(struct pct_script_channel *c)
{
    return (char *)(pct_script_switches(c) + PCT_SCRIPT_SWITCHES);
}

/* NULL: there is none. */
static inline struct pct_channel *pct_script_log(struct pct_script_channel *c)
{
    return c->log ? (struct pct_channel *)(void *)((char *)c + c->log) : NULL;
}

/* Bytes of a channel, without a log. */
static inline size_t pct_script_size(uint32_t names, uint32_t ranges, uint32_t texts)
{
    return sizeof(struct pct_script_channel) + names * sizeof(struct pct_script_name) +
           ranges * sizeof(struct pct_script_range) + 2 * PCT_SCRIPT_CHOICES * sizeof(struct pct_script_choice) +
           PCT_SCRIPT_NOTES * (sizeof(struct pct_script_note) + sizeof(struct pct_script_other_note)) +
           PCT_SCRIPT_SWITCHES * sizeof(struct pct_script_switch) + texts;
}

/* What a script may know of a thread. */
struct pct_script_look {
    uint64_t address; /* of the object of its pending operation; 0: none */
    uint64_t place;   /* where in the program's code that is called: behind the call; 0: not known */
    uint64_t start;   /* the function that the thread began with; 0: not known */
    uint32_t number;  /* of the object */
    uint64_t readers; /* bit i: thread i has what it waits for for reading, as others may, too */
    uint32_t holder;  /* the thread that holds what it waits for, PCT_NO_THREAD: none, or it is not known */
    uint8_t op;       /* enum pct_op */
    uint8_t class_;   /* of the object, enum pct_class */
    bool finished;
    bool ready;    /* the operation could complete */
    bool deadline; /* it waits, but not for ever */
    bool function; /* before FUNCTION_ENTER: one begins there, */
    bool line;     /* code of a line does */
    uint8_t unused;
};

/* Of the process that is about to begin the script. */
struct pct_script_self {
    uint32_t number;     /* 0: the first, else that of its pct_script_process */
    uint32_t image;      /* programs that it was before, plus 1 */
    const char *program; /* the file that it runs, without directories */
    bool same;           /* that is the first process's */
};

/* How the wait for a word of the channel ended. */
enum pct_script_await {
    PCT_SCRIPT_AWAIT_CHANGED,
    PCT_SCRIPT_AWAIT_VAIN, /* no other process could change it any more, as each has ended or waits, too */
    PCT_SCRIPT_AWAIT_RUNS  /* the one that could has passed no scheduling point for too long */
};

/* That one. */
struct pct_script_runner {
    uint32_t process; /* 0: the first */
    uint32_t image;   /* programs that it was before */
    uint64_t step;    /* behind which it passed the last */
    char text[112];   /* which it is, and for how long it has run since */
};

/* What the shim offers to the library that has the script; on the turn of the thread that holds the baton. */
struct pct_script_host {
    /* False: there is no such thread. */
    bool (*look)(uint32_t thread, struct pct_script_look *look);
    /* The operation before which this thread, which there is, stands (enum pct_op); PCT_OP_COUNT: it has ended. */
    uint32_t (*pending)(uint32_t thread);
    const uint32_t *renamed;  /* how often threads have been given names */
    const uint32_t *numbered; /* how many numbers have been given to objects: one may be another's from then on */
    const uint64_t *heap_end; /* up to here there is memory behind the program, which is given back from there only */
    /* Its name, as pthread_setname_np() has set it. */
    void (*name)(uint32_t thread, char name[16]);
    /* Whether this thread, which stands at a point, has left the function that began with this stack, where it was to
     * return to `link`. False also where that is not known. forget: for good. */
    bool (*has_left)(uint32_t thread, uint64_t stack, uint64_t link, bool *forget);
    /* What stands here, this many bytes of it. False: this is no memory. */
    bool (*read)(uint64_t address, void *bytes, size_t size);
    /* Sleep while this word of the channel has this value, at least for a moment: this process is idle to its family.
     * *runner is set where that says so. */
    enum pct_script_await (*await)(const uint32_t *word, uint32_t value, struct pct_script_runner *runner);
    /* Wake those that sleep so: the word has changed. */
    void (*wake)(const uint32_t *word);
    /* The next pct_script_switch of this process; step: of the run, UINT64_MAX: that which it has come to. */
    void (*record)(enum pct_script_switch_kind kind, uint32_t value, uint64_t step);
    /* And of this other one, where it stood. */
    void (*record_of)(const struct pct_script_runner *runner, enum pct_script_switch_kind kind, uint32_t value);
};

#endif
