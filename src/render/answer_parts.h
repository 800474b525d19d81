/* answer_parts.h - words about hotspots that every form of the answer uses. */
#pragma once

#include "render/answer.h"

void hotspot_gain(struct str *out, const struct hotspot *spot);
void hotspot_agreement(struct str *out, const struct hotspot *spot);
void hotspot_mechanisms(struct str *out, const struct hotspot *spot);
uint32_t ledger_count(const struct ledger_view *ledger, enum hypothesis_verdict verdict);
