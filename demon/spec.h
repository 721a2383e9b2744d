/* Specifications in demonL: what procedures require and ensure, and what the test may rely on. Words as in West, Nanz
 * and Meyer, "Demonic Testing of Concurrent Programs", section 3.2; types, offsets and signs are the program's.
 *
 *     shared NAME, ...                      global variables that contracts speak of
 *     ghost NAME, ...                       numbers of contracts alone, 0 at first
 *     test NAME(PARAMETER, ...)             the routine under test; one
 *     proc NAME(PARAMETER, ...)             what it calls, and what others may call
 *     require TAG: CONDITION ...            must hold when it is entered
 *     ensure TAG: CONDITION ...             what it does: others may call it
 *     modifies PATH, ...                    may change as well
 *     rely TAG: CONDITION ...               of the test: what all that others do keeps to
 *     invariant TAG: CONDITION ...          of the test: holds at each point, and others keep it
 *     guarantee TAG: CONDITION ...          of the test: what it does from point to point keeps to
 *     wait TAG: CONDITION ...               of the test: what lets it go on where it waits for others
 *     assert "FILE:LINE" TAG: CONDITION ... of the test: must hold where code of this line begins
 *
 *     array PATH has PATH                   this many elements has what a member is or points to; or NUMBER
 *     object container_of(PATH, TYPE, MEMBER)  others know this object by PATH
 *
 *     CONDITION   implies | or | and | not | = != < <= > >= | holds(PATH) | unchanged(PATH) | true | false
 *     number      + - * | NUMBER | null | PATH | &PATH, its address | old PATH | old &PATH
 *     PATH        PARAMETER or NAME, and members behind dots, those of what a member points to, too; and of what is an
 *                 array, or points to elements, one: [NUMBER]; container_of(PATH, TYPE, MEMBER): the structure of this
 *                 type whose member the pointer leads to
 *
 * A comment begins with `test`, `proc` or neither: the function below it has the name and the parameters. */
#ifndef PCT_DEMON_SPEC_H
#define PCT_DEMON_SPEC_H

#include <common/demon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    DEMON_NAME = 64,
    DEMON_PATH = 128,
    DEMON_CLAUSES = 16,
    DEMON_LEAVES = 16,
    DEMON_SHARED = 64,
    DEMON_ARRAYS = 16,
    DEMON_CONTAINERS = 16,
    DEMON_OBJECT_CLAUSES = 16
};

enum demon_op {
    DEMON_NUMBER,
    DEMON_LEAF,      /* a scalar in memory, or a parameter that is one */
    DEMON_ADDRESS,   /* of a leaf, whatever is there */
    DEMON_HOLDS,     /* of a leaf that is a mutex */
    DEMON_UNCHANGED, /* of a leaf */
    DEMON_TRUE,
    DEMON_ADD,
    DEMON_SUBTRACT,
    DEMON_MULTIPLY,
    DEMON_EQUAL, /* from here: conditions of two numbers */
    DEMON_UNEQUAL,
    DEMON_LESS,
    DEMON_AT_MOST,
    DEMON_GREATER,
    DEMON_AT_LEAST,
    DEMON_NOT, /* from here: conditions of conditions */
    DEMON_AND,
    DEMON_OR,
    DEMON_IMPLIES
};

/* A place that a path names. */
struct demon_leaf {
    char path[DEMON_PATH];
    int parameter;  /* of the procedure; -1: the shared variable `shared` */
    int shared;     /* else -1 */
    bool whole;     /* the parameter itself, which is a scalar */
    int32_t offset; /* in what it points to, or the last step leads to; below 0: before that */
    uint32_t size;  /* bytes */
    uint32_t steps; /* pointers on the way there: where each is in what the one before leads to */
    int32_t step[PCT_DEMON_STEPS];
    /* Where the root, then each step, leads to a member of a structure: 1 + its index in the specification; else 0. */
    uint32_t container[1 + PCT_DEMON_STEPS];
    bool is_signed, pointer; /* pointer: it is one */
    uint32_t lock;           /* as of struct pct_demon_cell; 0: no mutex */
};

struct demon_expr {
    enum demon_op op;
    struct demon_expr *a, *b;
    struct demon_leaf leaf;
    int64_t number;
    bool based; /* a number that is not decimal: C takes unsigned int where int is too small */
    bool old;
    unsigned line;
    /* Of a number, by C's conversions. */
    unsigned width; /* bits */
    bool is_signed;
    struct demon_expr *earlier; /* the one made before it */
};

enum demon_clause_kind { DEMON_REQUIRE, DEMON_ENSURE, DEMON_RELY, DEMON_GUARANTEE, DEMON_INVARIANT, DEMON_WAIT };

struct demon_clause {
    enum demon_clause_kind kind;
    char tag[DEMON_NAME];
    struct demon_expr *expr;
    char text[256]; /* as it was written */
    unsigned line;
};

struct demon_type {
    bool object;             /* a pointer to a structure, of this name; or */
    bool plain;              /* to a pointer or a number, or it is an array */
    char name[DEMON_NAME];   /* of that */
    uint64_t die;            /* of that, in the debug information */
    uint64_t variable;       /* what has this type, there */
    uint32_t extent;         /* bytes of the object; 0: not known */
    uint32_t size;           /* of a scalar, bytes */
    bool is_signed, pointer; /* of a scalar */
    bool truth;              /* of a scalar: 0 or 1 */
    uint32_t lock;           /* of a shared variable: as of a leaf */
    bool embedded;           /* of a shared variable: it is the structure itself */
    bool tagged;             /* of an object: `struct NAME` is what C calls it */
};

struct demon_variable {
    char name[DEMON_NAME];
    const char *from; /* the file that names it, and */
    unsigned line;
    struct demon_type type;
    uint64_t address; /* of a shared one */
    bool external;    /* of a shared one: other files can name it */
    bool indexed;     /* [NUMBER] stands behind it somewhere */
    bool ghost;       /* of a shared one: the program has none; address: a small number of its own */
};

/* `array`: how many elements a member has, or what it points to. */
struct demon_array {
    struct demon_proc *proc; /* whose parameters its paths begin with */
    struct demon_leaf leaf, by;
    bool counted; /* by a member of the same structure; else there are this many: */
    uint32_t elements;
    char structure[DEMON_NAME]; /* that it is in, and where; from the debug information */
    uint32_t offset;
    struct {
        uint32_t offset, size;
        bool is_signed;
    } length;
    unsigned line;
};

/* What a pointer in a structure leads to is a member of another: paths say so. From the debug information. */
struct demon_container {
    int parameter, shared;  /* the pointer is this parameter of the test, or shared variable; -1, both: it is one of */
    char owner[DEMON_NAME]; /* a structure or array; this many of them, and where; "": others do not know it */
    int32_t offset;
    uint32_t count;
    char path[DEMON_PATH];                                            /* the way to it, in the owner */
    char structure[DEMON_NAME], member[DEMON_NAME], link[DEMON_NAME]; /* link: the type of the member */
    uint64_t structure_die, link_die;
    uint32_t member_offset;
    bool own; /* it is in a structure of the same type as the member: the list's own, which may lead to its head */
};

/* `object` */
struct demon_object_clause {
    struct demon_proc *proc; /* whose parameters its path begins with */
    struct demon_leaf leaf;
    unsigned line;
};

struct demon_proc {
    char name[DEMON_NAME];
    const char *from; /* the file of its contract, and */
    unsigned line;
    bool is_test;
    bool is_line; /* no function, but a line that the test asserts something at: its name is FILE:LINE; its parameters
                     are the test's, and what is asserted is what it requires */
    bool is_step; /* nor that, but an operation that the test is about to make: its name says which; not of contracts */
    bool is_access; /* a step that is one to memory */
    struct demon_variable parameter[PCT_DEMON_ARGUMENTS];
    int parameters;
    struct demon_clause clause[DEMON_CLAUSES];
    int clauses;
    struct demon_leaf frame[DEMON_LEAVES]; /* what it may change */
    int frames;
    int modifies; /* this many of these by `modifies` */
    bool acts;    /* it has an ensure or modifies */
    /* From the debug information. */
    uint64_t address;
    bool external;             /* other files can call it */
    bool is_mangled;           /* there is one of this name, but as a symbol it has another, C++'s; or */
    bool is_copied;            /* one for special arguments */
    struct demon_type returns; /* size 0: nothing */
    char path[4096];           /* of the source, and */
    const char *file;          /* the last part of that */
    int file_line;
    char entry[DEMON_NAME + 16]; /* FILE:LINE of the code that it begins with; "": it is not known */
};

/* Text with contracts: a file of them, or a comment above a function, whose name and parameters are the function's. */
struct demon_source {
    char *name;                /* of the file */
    char *text;                /* of a comment: without what decorates it */
    unsigned line;             /* of the file, where the text begins */
    bool is_test;              /* a comment that begins with `test` */
    char function[DEMON_NAME]; /* of a comment; "": it is a file */
    char parameter[PCT_DEMON_ARGUMENTS][DEMON_NAME];
    int parameters; /* those without a place here, too */
};

struct demon_spec {
    const char *name;                            /* the file that has the test */
    struct demon_proc proc[PCT_DEMON_FUNCTIONS]; /* the first is the test */
    int procs;
    struct demon_variable shared[DEMON_SHARED];
    int shareds;
    struct demon_array array[DEMON_ARRAYS];
    int arrays;
    struct demon_object_clause object[DEMON_OBJECT_CLAUSES];
    int objects;
    struct demon_container container[DEMON_CONTAINERS];
    int containers;
    struct demon_expr *last; /* made: all of them hang on it */
};

/* Read a specification from files and comments, in this order; they must live as long. A test in a file goes before
 * those in comments, which are not read then; test: which of these it is, NULL: the only one. Returns it, for
 * demon_spec_free(); NULL: *error says what is wrong, and in which line. */
struct demon_spec *demon_spec_parse(const struct demon_source *sources, size_t count, const char *test, char *error,
                                    size_t size);
/* The word that begins its clauses of this kind. */
const char *demon_clause_word(const struct demon_proc *proc, enum demon_clause_kind kind);

/* How the test comes there: "enters", "reaches", "is about to". */
const char *demon_proc_verb(const struct demon_proc *proc);

/* Whether it is a parameter or shared variable itself. */
static inline bool demon_leaf_is_bare(const struct demon_leaf *leaf)
{
    return !leaf->path[strcspn(leaf->path, ".[(")];
}

/* Where the parameter or shared variable stands that the path begins with, behind all `container_of(`. */
static inline const char *demon_leaf_root(const struct demon_leaf *leaf)
{
    const char *bracket = strrchr(leaf->path, '(');
    return bracket ? bracket + 1 : leaf->path;
}

/* Whether it has a clause of this kind. */
bool demon_proc_has(const struct demon_proc *proc, enum demon_clause_kind kind);

/* How much had to be said: conditions, and those joined by `and` one by one. */
struct demon_annotations {
    unsigned lock;    /* with `holds` */
    unsigned simple;  /* a comparison of numbers that is linear, or with null */
    unsigned complex; /* all others, and each place that `modifies` names */
};
struct demon_annotations demon_count_annotations(const struct demon_spec *spec);

/* Give it back, with its expressions. NULL: nothing to do. */
void demon_spec_free(struct demon_spec *spec);

/* Find the names in the debug information of this program, and what the plan has to know it by. False: *error says what
 * there is not. */
bool demon_shape_resolve(struct demon_spec *spec, const char *program, struct pct_demon_plan *plan, char *error,
                         size_t size);

/* The global variable of this program that begins at this address and that other files can name. False: there is none.
 */
bool demon_shape_name_object(const char *program, uint64_t address, char name[DEMON_NAME]);

/* Give each expression its type by C's conversions, once its leaves have theirs. False: *error says why it has none. */
bool demon_type_check(struct demon_spec *spec, char *error, size_t size);

/* The same of one condition, in this file. */
bool demon_type_condition(const char *from, struct demon_expr *e, char *error, size_t size);

#endif
