/* knob.c - see knob.h.  The table is ours and compiled in: a line that is not understood is not
 * used, and a test checks that each knob is complete. */
#include "analyze/knob.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "data/texts.h"

static const char *knobs_text(void)
{
	for (const struct data_text *text = data_texts; text->name; text++)
		if (str_equal(text->name, "knobs.txt"))
			return text->text;
	return "";
}

static void take_member(struct knob *knob, const char *key, const char *value)
{
	const struct {
		const char *key, **member;
	} members[] = {
		{"group", &knob->group},
		{"path", &knob->path},
		{"want", &knob->want},
		{"offered", &knob->offered},
		{"held", &knob->held},
		{"unless", &knob->unless},
		{"refusal", &knob->refusal},
		{"absent", &knob->absent},
		{"why", &knob->why},
		{"risk", &knob->risk},
	};

	for (unsigned i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (str_equal(key, members[i].key))
			*members[i].member = value;
	if (str_equal(key, "only"))
		knob->only = true;
}

void knob_book_load(struct knob_book *book)
{
	const char *text = knobs_text();
	char *line = arena_text(&book->texts, text, strlen(text)), *next;

	*book = (struct knob_book){.texts = book->texts};
	for (; line; line = next) {
		char *value;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		value = line + strcspn(line, " ");
		if (*value)
			*value++ = '\0';
		value = str_trim(value);
		if (str_equal(line, "knob"))
			vec_push(&book->knobs, (struct knob){.name = value});
		else if (book->knobs.count)
			take_member(&book->knobs.at[book->knobs.count - 1], line, value);
	}
}

void knob_book_done(struct knob_book *book)
{
	vec_done(&book->knobs);
	arena_done(&book->texts);
}

int knob_check_name(const struct knob_book *book, const char *name, struct err *err)
{
	const char *names[128], *nearest;
	uint32_t count = 0;

	vec_foreach (const struct knob, knob, &book->knobs) {
		if (str_equal(name, knob->name) || str_equal(name, knob->group))
			return 0;
		if (count < 126) {
			names[count++] = knob->name;
			names[count++] = knob->group;
		}
	}
	names[count] = NULL;
	nearest = str_nearest(name, names);
	err_set(err, ERR_USAGE, EINVAL, "there is no knob or group '%s'", name);
	if (nearest)
		err_hint(err, "did you mean %s?", nearest);
	else
		err_hint(err, "assay tune plan lists them");
	return -EINVAL;
}

uint32_t knob_view_count(const struct knob_view *view, const char *state)
{
	uint32_t count = 0;

	vec_foreach (const struct knob_row, row, &view->rows)
		count += !row->optional && str_equal(row->state, state);
	return count;
}

static bool text_is_like(const char *a, const char *b)
{
	return a && b ? str_equal(a, b) : a == b;
}

bool knob_row_is_like(const struct knob_row *a, const struct knob_row *b)
{
	return a->knob && a->knob == b->knob && str_equal(a->state, b->state) &&
	       a->optional == b->optional && text_is_like(a->now, b->now) &&
	       text_is_like(a->old, b->old) && text_is_like(a->want, b->want) &&
	       text_is_like(a->reason, b->reason);
}
