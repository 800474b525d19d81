/* doctor.h - the doctor's answer for people and agents. */
#pragma once

#include "analyze/doctor.h"
#include "render/paper.h"

/* Tiers, one line per capability, the fix below each that is not ok. */
void doctor_text(struct paper *paper, const struct doctor_view *view);

/* At most 40 lines of ASCII; ends with the next command. */
void doctor_agent(struct paper *paper, const struct doctor_view *view);
