/* profile_options.h - what the commands that read samples have in common: which samples are meant.
 */
#pragma once

#include "analyze/profile_filter.h"
#include "cli.h"

/* Rows for an option table; profile_filter_take() reads them. */
/* clang-format off */
#define PROFILE_FILTER_OPTIONS                                                                     \
	{"event", 'e', "EVENT", false, NULL, "samples of this event (default: the first one)"},    \
	{"thread", 0, "NAME|TID", false, NULL, "only this thread, or all with this " \
		"name"}, \
	{"module", 0, "NAME", false, NULL, "only samples taken in this binary"},                   \
	{"function", 0, "FN", false, NULL, "only samples with this function on the stack"},        \
	{"time", 0, "A..B", false, NULL, "only this part, since the start: 2s..5s, ..500ms, " \
		"1m.."}, \
	{"only", 0, "SIDE", false, "user|kernel", "only user or kernel samples"}
/* clang-format on */

int profile_filter_take(const struct cli *cli, struct profile_filter *ret_filter, struct err *err);

struct profile_quality;

/* What the envelope of a page tells of a loaded run: its notes, and before them what spoils its
 * samples.  A run of its own, because a loaded one takes no more notes; close it. */
struct run *profile_front(const struct run *run, const struct profile_quality *quality);

/* --min PCT as a share. */
int profile_min_take(const struct cli *cli, double *ret_share, struct err *err);

/* The line that --agent ends with where the product was a file: read the run as text. */
void profile_next(struct paper *paper, const char *path);
