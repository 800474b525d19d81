/* doctor.h - the doctor's answer for people, agents and programs. */
#pragma once

#include "analyze/doctor.h"
#include "base/jsonw.h"
#include "render/paper.h"

/* Tiers, one line per capability, the fix below each that is not ok. */
void doctor_text(struct paper *paper, const struct doctor_view *view);

/* At most 40 lines of ASCII; ends with the next command. */
void doctor_agent(struct paper *paper, const struct doctor_view *view);

/* "capabilities", "tiers", "root_adds" into the open object. */
void doctor_json(struct jsonw *w, const struct doctor_view *view);
