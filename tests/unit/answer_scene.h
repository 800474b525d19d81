/* answer_scene.h - a profile written as text, what is known of its loops, and the answer to it: for
 * the tests of the answer.  A test calls scene_of(), scene_first() and scene_done(). */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/algorithm.h"
#include "analyze/answer.h"
#include "analyze/hot_code.h"
#include "analyze/round.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "model/manifest.h"
#include "model/run.h"
#include "profile_text.h"
#include "render/answer.h"
#include "render/answer_json.h"
#include "render/markdown.h"

#define HEAD "event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

struct scene {
	struct arena arena;
	struct evidence evidence;
	struct run *run;
	struct hot_code code;
	uint32_t *loops, *callee;
	struct signal rows[4];
	struct signals signals;
	struct ledger_view ledger;
	struct answer_view view;
};

static inline bool location_is(
	const struct run *run, row_id location, const char *function, unsigned line)
{
	row_id frame = run->locations.at[location - 1].frame;

	while (frame && run->frames.at[frame - 1].outer)
		frame = run->frames.at[frame - 1].outer;
	return frame && run->frames.at[frame - 1].line == line &&
	       str_equal(run_text(run,
				 run->functions.at[run->frames.at[frame - 1].function - 1].name),
		       function);
}

/* `loops`: "parse:88 walk:7", the places that are in a loop of their function; NULL: the code was
 * not looked at. */
static inline struct scene scene_of(const char *profile, const char *loops)
{
	struct scene s = {0};
	char word[64], *line;
	int len;

	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		s.evidence.piece[i] = (struct evidence_piece){NULL, "", "it was not asked for", ""};
	s.run = profile_text_run(profile);
	s.evidence.piece[EVIDENCE_PROFILE] =
		(struct evidence_piece){s.run, "profile.assay", "", ""};
	s.code.count = s.run->locations.count + 1;
	s.loops = arena_take(&s.arena, s.code.count * sizeof(*s.loops));
	s.callee = arena_take(&s.arena, s.code.count * sizeof(*s.callee));
	for (uint32_t i = 1; i < s.code.count; i++)
		s.loops[i] = HOT_CODE_KNOWN;
	for (; loops && sscanf(loops, " %63s%n", word, &len) == 1; loops += len) {
		line = strrchr(word, ':');
		*line++ = '\0';
		for (uint32_t i = 1; i < s.code.count; i++)
			if (location_is(s.run, i, word, (unsigned)atoi(line)))
				s.loops[i] |= 1;
	}
	if (!loops)
		s.code.count = 0;
	return s;
}

static inline const struct answer_view *scene_answer(struct scene *s)
{
	s->code.loops = s->loops;
	s->code.callee = s->callee;
	s->evidence.code = &s->code;
	evidence_view_causal(&s->evidence, &s->arena);
	answer_make(&s->evidence, &s->signals, &s->ledger, &s->arena, &s->view);
	return &s->view;
}

static inline const struct hotspot *scene_first(struct scene *s)
{
	assert_non_null(scene_answer(s)->first);
	return s->view.first;
}

static inline void scene_signal(struct scene *s, const char *name, double value)
{
	s->rows[s->signals.rows.count] = (struct signal){.name = name, .value = value};
	s->signals.rows.at = s->rows;
	s->signals.rows.count++;
}

static inline void scene_done(struct scene *s)
{
	run_close(s->run);
	arena_done(&s->arena);
}

#define PARSER                                                                                     \
	HEAD "95 main:1;run:5;parse:88;step:10\n2 main:1;run:5;parse:90\n3 main:1;run:6;other:3\n"
