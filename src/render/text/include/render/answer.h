/* answer.h - the answer of the main job: on one screen, and for agents.  Computes nothing. */
#pragma once

#include "analyze/answer.h"
#include "render/paper.h"

struct round_view;

/* What is shown beside the answer. */
struct answer_page {
	const struct answer_view *view;
	const struct evidence *evidence;
	const char *target;    /* the command line that was measured */
	const char *directory; /* where the evidence is */
	const char *run_id;
	const struct round_view *round; /* since the run before; NULL: there is none */
	bool partial;			/* it was cut short */
};

void answer_text(struct paper *paper, const struct answer_page *page);
void answer_agent(struct paper *paper, const struct answer_page *page);

/* A value of a signal for people: "12.3 %", "1.25 s", "4.1 MiB", "812". */
void signal_value(struct str *out, const struct signal *signal);

enum { ANSWER_ROWS_SHOWN = 6, ANSWER_FLAT_SHOWN = 3 };

/* "12.3 % (8.0 to 16.5) when it is 50 % faster", and where it is known when all of it is gone, by
 * which way. */
void answer_gain(struct str *out, const struct hotspot *spot);
/* "CPU", "CPU 60 %, allocation 20 %"; a word of them. */
void hotspot_kinds(struct str *out, const struct hotspot *spot);
const char *hotspot_kind_word(const struct hotspot *spot, const struct hotspot_kind *kind);
/* "step() 95 % <- [parse() 97 %] <- main() 100 %" */
void hotspot_chain(struct str *out, const struct hotspot *spot);
void hotspot_agreement(struct str *out, const struct hotspot *spot);
void hotspot_mechanisms(struct str *out, const struct hotspot *spot);
/* "open (-3.1 to 12.0)", "" when experiments tell the gain or none were made. */
void hotspot_open(struct str *out, const struct hotspot *spot);
