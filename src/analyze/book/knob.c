/* knob.c - see knob.h. */
#include "analyze/knob.h"

#include <errno.h>

#include "analyze/text_block.h"
#include "base/str.h"

static int knob_take(void *to, struct text_reader *reader, const struct text_block *block)
{
	static const char *const keys[] = {"knob", "group", "path", "want", "why", "risk",
		"offered", "held", "unless", "refusal", "absent", "only", NULL};
	struct knob_book *book = to;
	int r = text_block_check(reader, block, keys, 6, NULL);

	if (r == 0)
		vec_push(&book->knobs, (struct knob){
					       .name = text_block_value(block, "knob"),
					       .group = text_block_value(block, "group"),
					       .path = text_block_value(block, "path"),
					       .want = text_block_value(block, "want"),
					       .why = text_block_value(block, "why"),
					       .risk = text_block_value(block, "risk"),
					       .offered = text_block_value(block, "offered"),
					       .held = text_block_value(block, "held"),
					       .unless = text_block_value(block, "unless"),
					       .refusal = text_block_value(block, "refusal"),
					       .absent = text_block_value(block, "absent"),
					       .only = text_block_find(block, "only"),
				       });
	return r;
}

int knob_book_load(struct knob_book *book, struct err *err)
{
	return data_read("knobs.txt", &book->texts, knob_take, book, err);
}

void knob_book_done(struct knob_book *book)
{
	vec_done(&book->knobs);
	arena_done(&book->texts);
}

int knob_check_name(const struct knob_book *book, const char *name, struct err *err)
{
	const char *names[128];
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
	err_set(err, ERR_USAGE, EINVAL, "unknown setting or group '%s'", name);
	return err_nearest(err, str_nearest(name, names), "assay tune plan lists them");
}

uint32_t knob_view_count(const struct knob_view *view, const char *state)
{
	uint32_t count = 0;

	vec_foreach (const struct knob_row, row, &view->rows)
		count += !row->optional && str_equal(row->state, state);
	return count;
}

bool knob_row_is_like(const struct knob_row *a, const struct knob_row *b)
{
	return a->knob && a->knob == b->knob && str_equal(a->state, b->state) &&
	       a->optional == b->optional && str_same(a->now, b->now) && str_same(a->old, b->old) &&
	       str_same(a->want, b->want) && str_same(a->reason, b->reason);
}
