/* Diagnoses as JSON, for `pct explain --json`: docs/explain.schema.json says what is in it. */
#ifndef PCT_CLI_DIAGNOSIS_JSON_H
#define PCT_CLI_DIAGNOSIS_JSON_H

#include "diagnosis.h"

struct json_object;
struct pct_frame;

/* The best `most` of them into this array. */
void pct_diagnoses_json(struct json_object *to, const struct pct_diagnoses *diagnoses, size_t most);

/* A frame of a stack into this array. */
void pct_frame_json(struct json_object *to, const struct pct_frame *frame);

#endif
