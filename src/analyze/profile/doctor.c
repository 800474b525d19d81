/* doctor.c - data/capabilities.txt: what each capability is for, and the tiers that follow. */
#include "analyze/doctor.h"

#include <string.h>

#include "analyze/text_block.h"
#include "base/str.h"
#include "model/run.h"

_Static_assert((int)DOCTOR_NO == CAPABILITY_NO && (int)DOCTOR_STATUSES == CAPABILITY_STATUSES,
	"the same order");

const char *doctor_status_name(enum doctor_status status)
{
	static const char *const names[DOCTOR_STATUSES] = {"ok", "limited", "no"};

	return status < DOCTOR_STATUSES ? names[status] : "unknown";
}

static struct doctor_row *row_find(struct doctor_view *view, const char *name)
{
	vec_foreach (struct doctor_row, row, &view->rows)
		if (str_equal(row->name, name))
			return row;
	return NULL;
}

static const struct doctor_row *row_of_word(
	const struct doctor_view *view, const char *word, size_t len)
{
	vec_foreach (const struct doctor_row, row, &view->rows)
		if (strlen(row->name) == len && strncmp(row->name, word, len) == 0)
			return row;
	return NULL;
}

/* "A B!: TEXT": whether A works and B does so fully (1 or 0); `ret_text` is TEXT.  -1 when one was
 * not tried (the run was interrupted): the tier is not known then, and must not look as if
 * something were missing.
 */
static int condition_holds(const struct doctor_view *view, const char *at, const char **ret_text)
{
	bool holds = true, known = true;

	while (*at && *at != ':') {
		size_t len = strcspn(at, " :!");
		const struct doctor_row *row = row_of_word(view, at, len);
		bool whole = at[len] == '!';

		known = known && row;
		holds = holds && row &&
			(whole ? row->status == DOCTOR_OK : row->status != DOCTOR_NO);
		at += len + whole;
		at += strspn(at, " ");
	}
	at += *at == ':';
	*ret_text = known ? at + strspn(at, " ") : "unknown: not every capability was tried";
	return known ? holds : -1;
}

static void tier_add(struct doctor_view *view, const struct text_block *block)
{
	struct doctor_tier tier = {.name = text_block_value(block, "tier"), .best = true};
	const char *text;

	for (unsigned i = 0; !tier.text && i < block->count; i++) {
		int holds;

		if (!str_equal(block->pairs[i].key, "when"))
			continue;
		holds = condition_holds(view, block->pairs[i].value, &text);
		if (holds != 0)
			tier.text = text;
		tier.best = tier.best && holds > 0;
	}
	if (!tier.text) {
		tier.text = text_block_value(block, "else");
		tier.best = false;
	}
	vec_push(&view->tiers, tier);
}

static int block_take(void *to, struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"capability", "purpose", "commands", NULL};
	static const char *const tier_keys[] = {"tier", "when", "else", NULL};
	struct doctor_view *view = to;
	bool tier = str_equal(block->pairs[0].key, "tier");
	int r = text_block_check(reader, block, tier ? tier_keys : keys, 3, tier ? "when" : NULL);
	struct doctor_row *row;

	if (r < 0)
		return r;
	if (tier)
		tier_add(view, block);
	else if ((row = row_find(view, text_block_value(block, "capability")))) {
		row->purpose = text_block_value(block, "purpose");
		row->commands = text_block_value(block, "commands");
	}
	return 0;
}

void doctor_build(const struct run *run, struct doctor_view *ret_view)
{
	struct doctor_view view = {.privileged = true};
	struct err err = {0}; /* the text is ours, and a test reads it */

	vec_foreach (const struct capability_row, from, &run->capabilities) {
		struct doctor_row row = {
			.name = run_text(run, from->name),
			.reason = run_text(run, from->reason),
			.fix = run_text(run, from->fix),
			.status = (enum doctor_status)from->status,
			.purpose = "",
			.commands = "",
		};

		/* source/probe.h: a fix starts with sudo exactly when privilege is what lacks. */
		row.root_adds = row.status != DOCTOR_OK && str_starts(row.fix, "sudo ");
		view.counts[row.status]++;
		vec_push(&view.rows, row);
	}
	vec_foreach (const struct doctor_row, row, &view.rows)
		if (str_equal(row->name, "privileges"))
			view.privileged = row->status == DOCTOR_OK;
	vec_foreach (struct doctor_row, row, &view.rows)
		row->root_adds = row->root_adds && !view.privileged;
	(void)data_read("capabilities.txt", &view.texts, block_take, &view, &err);
	*ret_view = view;
}

void doctor_done(struct doctor_view *view)
{
	vec_done(&view->rows);
	vec_done(&view->tiers);
	arena_done(&view->texts);
}
