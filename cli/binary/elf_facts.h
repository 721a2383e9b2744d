/* What an ELF file says about itself, as far as it decides whether pct can control the program. For the doctor. Of a
 * script (#!), all of this is said of the program that runs it. */
#ifndef PCT_CLI_ELF_FACTS_H
#define PCT_CLI_ELF_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PCT_RAW_NUMBER_MAX = 512 };

/* System call instructions in the code itself, which no preloaded library can wrap. */
struct pct_raw_calls {
    uint64_t total;
    uint64_t unknown;                       /* the number is not loaded just before */
    uint64_t by_number[PCT_RAW_NUMBER_MAX]; /* of those that load their number as a constant before */
    uint64_t legacy;                        /* int 0x80 and sysenter */
    uint64_t clock, random; /* no system calls, but as little under control: rdtsc and rdtscp; rdrand and rdseed */
};

struct pct_elf_facts {
    bool is_elf;
    bool is_64;
    unsigned machine; /* EM_* */
    unsigned type;    /* ET_* */
    bool has_dynamic;
    char interpreter[PATH_MAX]; /* PT_INTERP, "" for none */
    bool is_go;
    bool imports_syscall, imports_io_uring, imports_seccomp, imports_clone;
    bool imports_priorities;
    bool imports_threads; /* what makes threads: of libc, C++, OpenMP, GLib and their like */
    bool has_futexes;     /* and what looks like calls of futex() */
    struct pct_raw_calls raw;
};

enum { PCT_INTERPRETER_DEPTH = 4 /* scripts that run scripts */, PCT_INTERPRETER_LINE = 512 };

/* The first line of a script. */
struct pct_interpreter_line {
    char interpreter[PCT_INTERPRETER_LINE],
        argument[PCT_INTERPRETER_LINE]; /* argument: its first word, "" if there is none */
};

/* Returns whether the file is a script (#!). */
bool pct_elf_read_script(const char *path, struct pct_interpreter_line *script);

/* The program that runs for this file: of a script, what its first line names. Returns path, or buffer, which has room
 * for PATH_MAX bytes. */
const char *pct_elf_program(const char *path, char *buffer);

/* Read the file. code: also decode its code and count raw system calls (some seconds for 100 MB), and look for calls of
 * futex() in what makes no threads, too. Returns 0 (also for a file that is not ELF) or a negative errno. */
int pct_elf_facts_read(struct pct_elf_facts *facts, const char *path, bool code);

/* Whether the file is an ELF program for another processor, or for 32 bits: this pct cannot control it. Then *bits and
 * *machine (EM_*) say which. */
bool pct_elf_is_foreign(const char *path, unsigned *bits, unsigned *machine);

/* The first library that this program needs whose name begins with `prefix`, as in the program. False: none, or no ELF.
 */
bool pct_elf_needs(const char *path, const char *prefix, char *name, size_t size);

/* Whether this program has locks of its own, as Rust's std, C++20's atomics that are waited for, or Abseil: it makes
 * threads, and calls futex(), by syscall() or itself. While such a lock is free, it is an atomic instruction and no
 * call. */
bool pct_elf_locks_inline(const char *path);

/* How many instructions of this program's own code read the processor's clock or its random numbers, which nothing
 * controls. */
uint64_t pct_elf_reads_hardware(const char *path);

/* Whether this file was built to tell of its memory accesses (pct-cc, -fsanitize=thread). */
bool pct_elf_tells(const char *path);

/* Whether the symbols of this file have a definition of this name. */
bool pct_elf_defines(const char *path, const char *name);

/* Whether this file calls flockfile() or ftrylockfile() by name. */
bool pct_elf_locks_streams(const char *path);

/* Whether this program makes threads by C++'s or Rust's library, which start each with a function of their own. */
bool pct_elf_has_library_threads(const char *path);

/* Decode `size` bytes of x86-64 code and add its system call instructions to *raw. */
void pct_raw_calls_count(struct pct_raw_calls *raw, const unsigned char *code, size_t size);

/* The name of a system call that matters to control, or NULL. */
const char *pct_raw_calls_name(unsigned number);

/* Whether the call of this number can make a thread wait, or start one. */
bool pct_raw_calls_wait(unsigned number);

#endif
