/* tune.c - see tune.h.
 *
 * Old values of all chosen knobs are on disk before the first is written, because writing one can
 * change another: a governor resets no_turbo, and processors of one frequency domain share a file.
 * For the same reason a knob that is as wanted already is journaled and held when the knob that
 * resets it is written.  One wait for the disk per apply, whatever the number of knobs: a full disk
 * shows itself there, before anything has changed.  What is appended later (what a knob reads back)
 * need not be waited for: kill -9 does not lose it, and after a power cut every knob is void. */
#include "drive/tune.h"

#include <errno.h>

#include "tune_parts.h"

const char *tune_state_name(enum tune_state state)
{
	static const char *const names[TUNE_STATES] = {"absent", "set", "change", "unsupported",
		"denied", "applied", "failed", "active", "reverted", "left", "stuck", "differs"};

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
			item.state = str_equal(item.want, item.now) ? TUNE_SET : TUNE_REVERTED;
		} else if (!tune_entry_is_ours(entry, item.now)) {
			item.state = TUNE_LEFT;
			item.reason = "changed by someone else since then";
		}
		vec_push(&tune->items, item);
	}
	return 0;
}

/* The kernel took nothing: the journal goes back to what held before this intent. */
static void item_refused(struct tune *tune, struct tune_item *item, int code)
{
	const struct tune_entry *open = tune_journal_find(&tune->journal, item->path);
	const char *refusal = tune->options.knobs[item->knob].refusal;
	struct tune_line line = {.path = item->path};
	struct err ignored = {0};

	item->state = refusal ? TUNE_UNSUPPORTED : TUNE_FAILED;
	item->reason = refusal ? refusal : err_words(code);
	line.event = open ? "done" : "closed";
	line.new = open ? open->written : NULL;
	line.how = open ? NULL : "refused";
	/* Without that line the file still has its old value, which is all that revert asks. */
	(void)tune_journal_append(tune, line, &ignored);
}

/* The kernel made something else of it.  That is only ours if the journal says so; when it cannot
 * take the line, the old value goes back at once. */
static void item_strayed(struct tune *tune, struct tune_item *item, const char *now)
{
	struct err ignored = {0};
	int r;

	item->state = TUNE_FAILED;
	item->reason = arena_format(&tune->texts, "the kernel changed %s to %s", item->want, now);
	r = tune_journal_append(tune,
		(struct tune_line){.event = "done", .path = item->path, .new = now}, &ignored);
	if (r < 0)
		(void)tune_value_write(tune, item->path, item->now);
	else
		item->now = now;
}

static void item_apply(struct tune *tune, struct tune_item *item)
{
	const struct tune_entry *open = tune_journal_find(&tune->journal, item->path);
	struct err ignored = {0};
	const char *now = NULL;
	int r = tune_value_read(tune, item->path, &now, NULL), wrote = 0;

	if (r < 0) { /* it may come back with its processor, in another state: the intent stays */
		item->state = TUNE_ABSENT;
		item->reason = "gone with a CPU that another setting removed";
		return;
	}
	if (!str_equal(now, item->want))
		wrote = tune_value_write(tune, item->path, item->want);
	r = tune_value_read(tune, item->path, &now, NULL);
	item->old = open && tune_entry_is_ours(open, item->now)
			    ? arena_format(&tune->texts, "%s", open->old)
			    : item->now;
	if (wrote < 0 && r >= 0 && str_equal(now, item->now)) {
		item_refused(tune, item, -wrote);
	} else if (r < 0) {
		item->state = TUNE_FAILED;
		item->reason = err_words(-r);
	} else if (!str_equal(now, item->want)) {
		item_strayed(tune, item, now);
	} else {
		item->now = now;
		item->state = item->held ? TUNE_SET : TUNE_APPLIED;
		(void)tune_journal_append(tune,
			(struct tune_line){.event = "done", .path = item->path, .new = now},
			&ignored);
	}
}

/* A later knob may have changed an earlier one: once more, and what stands then is ours. */
static void item_settle(struct tune *tune, struct tune_item *item)
{
	const char *now;

	if (tune_value_read(tune, item->path, &now, NULL) < 0 || str_equal(now, item->want))
		return;
	(void)tune_value_write(tune, item->path, item->want); /* what is read back decides */
	if (tune_value_read(tune, item->path, &now, NULL) < 0 || str_equal(now, item->want))
		return;
	item_strayed(tune, item, now);
	item->reason = "another setting changed it back";
}

/* Whether the knob that resets this one is about to be written. */
static bool item_is_held(const struct tune *tune, const struct tune_item *item)
{
	const char *held = tune->options.knobs[item->knob].held;

	if (!held || item->state != TUNE_SET)
		return false;
	vec_foreach (const struct tune_item, other, &tune->items)
		if (other->chosen && str_equal(tune->options.knobs[other->knob].name, held))
			return true;
	return false;
}

static int intents_write(struct tune *tune, struct err *err)
{
	str_auto struct str text = {0};

	vec_foreach (const struct tune_item, item, &tune->items)
		if (item->chosen || item->held)
			tune_journal_add(tune,
				(struct tune_line){.event = "intent",
					.path = item->path,
					.knob = tune->options.knobs[item->knob].name,
					.old = item->now,
					.new = item->want,
					.by = tune->options.by},
				&text);
	return text.len ? tune_journal_write(tune, &text, true, err) : 0;
}

int tune_apply(struct tune *tune, struct err *err)
{
	int r;

	/* Consent may have taken minutes, and another tune may have reverted meanwhile: what was
	 * set when it was planned need not be now. */
	vec_foreach (struct tune_item, item, &tune->items)
		if (item->chosen || item->state == TUNE_SET)
			item->chosen = tune_item_look(tune, item) == TUNE_CHANGE && item->chosen;
	vec_foreach (struct tune_item, item, &tune->items) {
		item->held = item_is_held(tune, item);
		if (item->held)
			item->want = item->now; /* one of several that will do */
	}
	r = intents_write(tune, err);
	if (r < 0)
		return r;
	vec_foreach (struct tune_item, item, &tune->items)
		if (item->chosen || item->held)
			item_apply(tune, item);
	vec_foreach (struct tune_item, item, &tune->items)
		if (item->state == TUNE_APPLIED || (item->held && item->state == TUNE_SET))
			item_settle(tune, item);
	return 0;
}
