/* machine_json.h - "data" of the commands about the machine, the program and how far to trust a
 * run: doctor, env, tune, harness, audit, attest.  Each writes members into the open object. */
#pragma once

#include "base/jsonw.h"

struct attest_check;
struct attest_document;
struct audit_view;
struct doctor_view;
struct env_diff;
struct fingerprint_view;
struct harness_view;
struct knob_view;
struct target_view;

/* "capabilities", "tiers", "root_adds". */
void doctor_json(struct jsonw *w, const struct doctor_view *view);
/* The value of "target": every fact, the libraries, and the rows as "findings". */
void target_json(struct jsonw *w, const struct target_view *view);
void env_json(struct jsonw *w, const struct fingerprint_view *view);
void env_diff_json(struct jsonw *w, const struct env_diff *diff);
void tune_json(struct jsonw *w, const struct knob_view *view); /* one object per file */
void harness_json(struct jsonw *w, const struct harness_view *view);
void audit_json(struct jsonw *w, const struct audit_view *view);
void attest_json(struct jsonw *w, const struct attest_document *document);
void attest_check_json(struct jsonw *w, const struct attest_check *check);
