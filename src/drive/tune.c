/* tune.c - see tune.h.
 *
 * Old values are taken of all chosen knobs before the first is written, because writing one can
 * change another: a governor resets no_turbo, and processors of one frequency domain share a file.
 * Then each knob: its intent on disk, the write, what it reads back on disk. */
#include "drive/tune.h"

#include <errno.h>

#include "tune_parts.h"

const char *tune_state_name(enum tune_state state)
{
	static const char *const names[TUNE_STATES] = {"absent", "set", "change", "unsupported",
		"denied", "applied", "failed", "active", "reverted", "left", "stuck"};

	return state < TUNE_STATES ? names[state] : "unknown";
}

void tune_look(struct tune *tune)
{
	tune->items.count = 0;
	for (uint32_t i = 0; i < tune->options.knob_count; i++)
		tune_knob_expand(tune, i);
}

int tune_status(struct tune *tune, struct err *err)
{
	int r = tune_journal_load(tune, err);

	tune->items.count = 0;
	if (r < 0)
		return r;
	vec_foreach (const struct tune_entry, entry, &tune->journal.entries) {
		struct tune_item item;

		if (!entry->active)
			continue;
		item = tune_item_of(tune, entry);
		r = tune_value_read(tune, entry->path, &item.now, NULL);
		if (r < 0) {
			item.now = NULL;
			item.state = TUNE_STUCK;
			item.reason = err_words(-r);
		} else if (str_equal(item.now, entry->old)) {
			item.state = TUNE_REVERTED;
		} else if (!tune_entry_is_ours(entry, item.now)) {
			item.state = TUNE_LEFT;
			item.reason = "changed by someone else since";
		}
		vec_push(&tune->items, item);
	}
	return 0;
}

/* The kernel took nothing: the journal goes back to what held before this intent. */
static int item_refused(
	struct tune *tune, struct tune_item *item, const char *earlier, struct err *err)
{
	struct tune_line line = {.path = item->path};

	item->state = TUNE_FAILED;
	line.event = earlier ? "done" : "closed";
	line.new = earlier;
	line.how = earlier ? NULL : "refused";
	return tune_journal_append(tune, line, err);
}

static int item_apply(struct tune *tune, struct tune_item *item, struct err *err)
{
	const struct tune_entry *open = tune_journal_find(&tune->journal, item->path);
	const char *name = tune->options.knobs[item->knob].name, *now = NULL;
	int r = tune_value_read(tune, item->path, &now, NULL), wrote = 0;

	if (r < 0) { /* gone with a processor that SMT took offline */
		item->state = TUNE_FAILED;
		item->reason = err_words(-r);
		return 0;
	}
	r = tune_journal_append(tune,
		(struct tune_line){.event = "intent",
			.path = item->path,
			.knob = name,
			.old = item->now,
			.new = item->want},
		err);
	if (r < 0)
		return r;
	if (!str_equal(now, item->want))
		wrote = tune_value_write(tune, item->path, item->want);
	r = tune_value_read(tune, item->path, &now, NULL);
	item->old = open ? arena_format(&tune->texts, "%s", open->old) : item->now;
	if (wrote < 0)
		item->reason = err_words(-wrote);
	if (wrote < 0 && r >= 0 && str_equal(now, item->now))
		return item_refused(tune, item, open ? open->written : NULL, err);
	item->state = r >= 0 && str_equal(now, item->want) ? TUNE_APPLIED : TUNE_FAILED;
	if (item->state == TUNE_FAILED && !item->reason)
		item->reason = arena_format(&tune->texts, "the kernel made %s of %s",
			r < 0 ? "nothing readable" : now, item->want);
	if (r < 0)
		return 0;
	item->now = now;
	return tune_journal_append(
		tune, (struct tune_line){.event = "done", .path = item->path, .new = now}, err);
}

/* A later knob may have changed an earlier one: once more, and what stands then is ours. */
static int item_settle(struct tune *tune, struct tune_item *item, struct err *err)
{
	const char *now;

	if (tune_value_read(tune, item->path, &now, NULL) < 0 || str_equal(now, item->want))
		return 0;
	(void)tune_value_write(tune, item->path, item->want); /* what is read back decides */
	if (tune_value_read(tune, item->path, &now, NULL) < 0)
		return 0;
	item->now = now;
	if (!str_equal(now, item->want)) {
		item->state = TUNE_FAILED;
		item->reason = "another knob changed it back";
	}
	return tune_journal_append(
		tune, (struct tune_line){.event = "done", .path = item->path, .new = now}, err);
}

int tune_apply(struct tune *tune, struct err *err)
{
	int r = 0;

	vec_foreach (struct tune_item, item, &tune->items)
		if (item->chosen) /* consent may have taken minutes */
			item->chosen = tune_item_look(tune, item) == TUNE_CHANGE;
	vec_foreach (struct tune_item, item, &tune->items)
		if (r >= 0 && item->chosen)
			r = item_apply(tune, item, err);
	vec_foreach (struct tune_item, item, &tune->items)
		if (r >= 0 && item->state == TUNE_APPLIED)
			r = item_settle(tune, item, err);
	return r;
}
