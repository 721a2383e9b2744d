/* JUnit XML: see junit.h. */
#include "junit.h"
#include <cli/base/markup.h>

static void attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    pct_markup_print(out, value);
    fputc('"', out);
}

static void counts(FILE *out, const struct pct_junit_suite *suite)
{
    attribute(out, "name", suite->name);
    fprintf(out, " tests=\"%llu\" failures=\"%llu\" errors=\"%llu\" skipped=\"0\" time=\"%.3f\">\n",
            (unsigned long long)suite->tests, (unsigned long long)suite->failures, (unsigned long long)suite->errors,
            suite->seconds);
}

void pct_junit_begin(FILE *out, const struct pct_junit_suite *suite)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
    counts(out, suite);
    fputs("  <testsuite", out);
    counts(out, suite);
}

void pct_junit_case(FILE *out, const struct pct_junit_case *test)
{
    const char *element = test->error ? "error" : "failure";
    fputs("    <testcase", out);
    attribute(out, "classname", test->class_name);
    attribute(out, "name", test->name);
    if (test->file)
        attribute(out, "file", test->file);
    if (test->file && test->line)
        fprintf(out, " line=\"%u\"", test->line);
    fprintf(out, " time=\"%.3f\">\n", test->seconds);
    if (test->message) {
        fprintf(out, "      <%s", element);
        attribute(out, "type", test->type);
        attribute(out, "message", test->message);
        fputc('>', out);
        pct_markup_print(out, test->text ? test->text : "");
        fprintf(out, "</%s>\n", element);
    } else if (test->text) {
        fputs("      <system-out>", out);
        pct_markup_print(out, test->text);
        fputs("</system-out>\n", out);
    }
    fputs("    </testcase>\n", out);
}

void pct_junit_end(FILE *out)
{
    fputs("  </testsuite>\n</testsuites>\n", out);
}
