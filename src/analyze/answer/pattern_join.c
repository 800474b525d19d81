/* pattern_join.c - what the patterns say about the places of an answer.
 *
 * A pattern is one witness.  Where the ledger has an explanation that two support, both are said,
 * the pattern first, because it names what was seen there; where there is none, the pattern is the
 * cause.  Its advice is given in both cases.  What only says in which setting the place runs (an
 * interpreter) is said where nothing else explains it. */
#include <math.h>

#include "analyze/answer.h"
#include "analyze/label.h"
#include "base/str.h"
#include "hotspot_parts.h"

/* A shape that has less of the place's time does not explain it. */
#define EXPLAINS_LEAST 0.3
#define REASON_MOST 0.95 /* of the place: with more the reason is all of it */

/* The function of the row is the place, or on the way from the innermost function to it. */
static bool row_fits(const struct pattern_row *row, const struct hotspot *spot)
{
	if (!*row->function || spot->pattern || row->share < EXPLAINS_LEAST * spot->value)
		return false;
	for (uint32_t i = 0; i < spot->chain_count && i <= spot->chain_place; i++)
		if (label_same_function(row->function, spot->chain[i].function))
			return true;
	return label_same_function(row->function, spot->function);
}

/* A fix may remove what the reason names, and leave the rest of the place's work. */
static void reason_bound(double share, struct arena *arena, struct hotspot *spot)
{
	const char *note = spot->gain_all_note ? spot->gain_all_note : "";

	if (!(spot->value > 0) || share >= REASON_MOST * spot->value || isnan(spot->gain_all_lo))
		return;
	spot->gain_all_lo *= share / spot->value;
	spot->gain_all_note = arena_format(arena,
		"the lower bound counts only what the reason names%s%s", *note ? ", " : "", note);
}

static void row_join(const struct pattern_row *row, struct arena *arena, struct hotspot *spot)
{
	spot->pattern = row;
	if (!row->of_setting)
		reason_bound(row->share, arena, spot);
	spot->why =
		spot->cause ? arena_format(arena, "%s; %s", row->means, spot->cause) : row->means;
	spot->cause = spot->why;
}

/* By more than where it is. */
static bool is_explained(const struct hotspot *spot)
{
	return spot->because && !spot->because->is_place;
}

static void rows_join(const struct pattern_view *patterns, bool of_setting, struct arena *arena,
	struct hotspot_list *rows)
{
	for (uint32_t i = 0; i < patterns->count; i++) {
		const struct pattern_row *row = &patterns->rows[i];

		for (uint32_t k = 0; row->of_setting == of_setting && k < rows->count; k++)
			if (row_fits(row, &rows->rows[k])) {
				if (!of_setting || !is_explained(&rows->rows[k]))
					row_join(row, arena, &rows->rows[k]);
				break;
			}
	}
}

void hotspots_join_patterns(const struct evidence *evidence, const struct signals *signals,
	struct arena *arena, struct hotspot_list *rows, struct pattern_view *ret_patterns)
{
	pattern_book_auto struct pattern_book *book = NULL;
	struct err err = {0};

	*ret_patterns = (struct pattern_view){0};
	if (pattern_book_load(&book, &err) < 0)
		return; /* a test reads the texts */
	patterns_match(book, &evidence->piece[EVIDENCE_PROFILE], signals, arena, ret_patterns);
	rows_join(ret_patterns, false, arena, rows);
	rows_join(ret_patterns, true, arena, rows);
}
