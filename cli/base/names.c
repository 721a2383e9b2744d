/* Names for the numbers that stand in a trace, from the tables of <pct/trace.h>. Called by all that print a trace. */
#include "cli.h"

const char *pct_name_op(unsigned op)
{
    static const char *const names[] = {
#define NAME(id, name, class) name,
        PCT_OPS(NAME)
#undef NAME
    };
    return op < PCT_OP_COUNT ? names[op] : "?";
}

const char *pct_name_op_identifier(unsigned op)
{
    static const char *const names[] = {
#define NAME(id, name, class) #id,
        PCT_OPS(NAME)
#undef NAME
    };
    return op < PCT_OP_COUNT ? names[op] : "?";
}

unsigned pct_name_op_class(unsigned op)
{
    static const unsigned char classes[] = {
#define CLASS(id, name, class) PCT_CLASS_##class,
        PCT_OPS(CLASS)
#undef CLASS
    };
    return op < PCT_OP_COUNT ? classes[op] : PCT_CLASS_NONE;
}

const char *pct_name_class(unsigned class_)
{
    static const char *const names[] = {
#define NAME(id, name) name,
        PCT_CLASSES(NAME)
#undef NAME
    };
    return class_ < PCT_CLASS_COUNT ? names[class_] : "?";
}

const char *pct_name_verdict(unsigned verdict)
{
    static const char *const names[] = {
#define NAME(id, name) name,
        PCT_VERDICTS(NAME)
#undef NAME
    };
    return verdict < sizeof names / sizeof *names ? names[verdict] : "?";
}

const char *pct_name_uncontrolled(unsigned kind)
{
    static const char *const names[] = {
#define NAME(id, text) text,
        PCT_UNCONTROLLED(NAME) // NOLINT(bugprone-suspicious-missing-comma): long texts stand on two lines
#undef NAME
    };
    return kind < PCT_UNCONTROLLED_COUNT ? names[kind] : "?";
}

bool pct_name_is_blind(unsigned kind)
{
    return kind == PCT_UNCONTROLLED_SITE || kind == PCT_UNCONTROLLED_MODULE || kind == PCT_UNCONTROLLED_UNSEEN;
}
