/* ledger.h - the ledger of explanations: screen and agent. */
#pragma once

#include "analyze/hypothesis.h"
#include "analyze/ledger_history.h"
#include "base/str.h"
#include "render/paper.h"

void ledger_text(struct paper *paper, const struct ledger_history *history);
void ledger_agent(struct paper *paper, const struct ledger_history *history);
