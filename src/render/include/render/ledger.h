/* ledger.h - the ledger of explanations: screen, agent, JSON, Markdown. */
#pragma once

#include "analyze/hypothesis.h"
#include "analyze/ledger_history.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "render/paper.h"

void ledger_text(struct paper *paper, const struct ledger_history *history);
void ledger_agent(struct paper *paper, const struct ledger_history *history);
void ledger_json(struct jsonw *json, const struct ledger_history *history);

/* hypothesis.md: one run with all its reasons, falsifiers and what is missing.  `run` has what
 * changed, NULL: nothing is known of earlier runs. */
void ledger_markdown(struct str *out, const struct ledger_view *view, const struct ledger_run *run);
