/* doctor.c - two passes over data/capabilities.txt: what each capability is for, then the tiers.
 *
 * The file is ours and compiled in, so a line that is not understood is simply not used; a test
 * checks that every capability the probes know stands in it. */
#include "analyze/doctor.h"

#include <string.h>

#include "base/str.h"
#include "data/texts.h"
#include "model/run.h"

_Static_assert((int)DOCTOR_NO == CAPABILITY_NO && (int)DOCTOR_STATUSES == CAPABILITY_STATUSES,
	"the same order");

static const char *capabilities_text(void)
{
	for (const struct data_text *text = data_texts; text->name; text++)
		if (str_equal(text->name, "capabilities.txt"))
			return text->text;
	return "";
}

const char *doctor_status_name(enum doctor_status status)
{
	static const char *const names[DOCTOR_STATUSES] = {"ok", "limited", "no"};

	return status < DOCTOR_STATUSES ? names[status] : "unknown";
}

/* What stands behind `key` and its blanks when the line starts with that word, else NULL. */
static const char *line_value(const char *line, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len) != 0 || (line[len] != ' ' && line[len] != ':'))
		return NULL;
	return line + len + strspn(line + len, " ");
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
	*ret_text = known ? at + strspn(at, " ") : "not known: not everything was tried";
	return known ? holds : -1;
}

static void take_line(struct doctor_view *view, char *line, struct doctor_row **row, bool *decided)
{
	const char *value, *text;

	if ((value = line_value(line, "capability")))
		*row = row_find(view, value);
	else if ((value = line_value(line, "purpose")) && *row)
		(*row)->purpose = value;
	else if ((value = line_value(line, "commands")) && *row)
		(*row)->commands = value;
	else if ((value = line_value(line, "tier"))) {
		vec_push(&view->tiers,
			(struct doctor_tier){.name = value, .text = "", .best = true});
		*decided = false;
	} else if ((value = line_value(line, "when")) && view->tiers.count && !*decided) {
		struct doctor_tier *tier = &view->tiers.at[view->tiers.count - 1];
		int holds = condition_holds(view, value, &text);

		*decided = holds != 0;
		if (*decided)
			tier->text = text;
		tier->best = tier->best && holds > 0;
	}
}

static void take_data(struct doctor_view *view)
{
	const char *data = capabilities_text();
	char *copy = arena_text(&view->texts, data, strlen(data)), *end;
	struct doctor_row *row = NULL;
	bool decided = true;

	for (char *line = strtok_r(copy, "\n", &end); line; line = strtok_r(NULL, "\n", &end))
		if (*line != '#')
			take_line(view, line, &row, &decided);
}

void doctor_build(const struct run *run, struct doctor_view *ret_view)
{
	struct doctor_view view = {.privileged = true};

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
	take_data(&view);
	*ret_view = view;
}

void doctor_done(struct doctor_view *view)
{
	vec_done(&view->rows);
	vec_done(&view->tiers);
	arena_done(&view->texts);
}
