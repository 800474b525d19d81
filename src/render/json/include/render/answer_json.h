/* answer_json.h - "data" of the main job, of causal and of ledger.  Each writes members into the
 * open object. */
#pragma once

#include "base/jsonw.h"

struct answer_page;
struct causal_view;
struct job_check_view;
struct job_view;
struct ledger_history;
struct plan_page;
struct round_view;

/* The members "answer", "hotspots", "flat", "ledger", "signals" and "not_measured". */
void answer_json(struct jsonw *w, const struct answer_page *page);
/* The members "run", "directory", "state", "phases", "artifacts" and "round". */
void job_json(struct jsonw *w, const struct job_view *view);
void job_check_json(struct jsonw *w, const struct job_check_view *view);
void plan_json(struct jsonw *w, const struct plan_page *page);	 /* the member "plan" */
void round_json(struct jsonw *w, const struct round_view *view); /* the members of "round" */

/* `coz_file`: where profile.coz was written, or NULL. */
void causal_json(struct jsonw *w, const struct causal_view *view, const char *coz_file);
void ledger_json(struct jsonw *w, const struct ledger_history *history);
