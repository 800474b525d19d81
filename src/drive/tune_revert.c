/* tune_revert.c - the way back.
 *
 * First in reverse order, each knob only if it still has what we wrote.  Then once more forwards
 * over those: a governor that goes back takes no_turbo with it, and some knobs are held until
 * another is back.  Nothing is remembered in between but the journal, so dying here costs nothing:
 * a knob that has its old value already is simply done, and one that another knob resets is marked
 * before the first write, so that the reset is not taken for somebody else's hand. */
#include <errno.h>

#include "tune_parts.h"

static void item_restore(struct tune *tune, struct tune_item *item)
{
	int wrote = tune_value_write(tune, item->path, item->old);
	int r = tune_value_read(tune, item->path, &item->now, NULL);

	item->state = r >= 0 && str_equal(item->now, item->old) ? TUNE_REVERTED : TUNE_STUCK;
	item->reason = item->state == TUNE_REVERTED ? NULL
		       : wrote < 0		    ? err_words(-wrote)
		       : r < 0			    ? err_words(-r)
						    : "the kernel did not return to the old value";
}

static bool entry_is_resettable(const struct tune *tune, const struct tune_entry *entry)
{
	uint32_t knob = tune_knob_of(tune, entry->knob, entry->path);

	return knob != UINT32_MAX && tune->options.knobs[knob].held;
}

/* Whether we may write over `now`: it is ours, or what another knob of ours made of it while we
 * were at work. */
static bool entry_is_ours(const struct tune *tune, const struct tune_entry *entry, const char *now)
{
	return tune_entry_is_ours(entry, now) ||
	       (!entry->confirmed && entry_is_resettable(tune, entry));
}

static void resettables_mark(struct tune *tune)
{
	str_auto struct str text = {0};
	struct err ignored = {0};

	vec_foreach (const struct tune_entry, entry, &tune->journal.entries) {
		const char *now;

		if (entry->active && entry_is_resettable(tune, entry) &&
			tune_value_read(tune, entry->path, &now, NULL) >= 0 &&
			tune_entry_is_ours(entry, now))
			tune_journal_add(tune,
				(struct tune_line){.event = "back", .path = entry->path}, &text);
	}
	if (text.len)
		(void)tune_journal_write(tune, &text, false, &ignored);
}

/* `back` is the value to bring back. */
static void entry_revert(struct tune *tune, const struct tune_entry *entry, const char *back)
{
	struct tune_item item = tune_item_of(tune, entry);
	int r = tune_value_read(tune, entry->path, &item.now, NULL);

	item.old = arena_format(&tune->texts, "%s", back);
	if (item.knob == UINT32_MAX) {
		item.state = TUNE_STUCK;
		item.reason =
			"this version of assay does not know that setting; restore it by hand";
	} else if (r < 0) {
		item.now = NULL;
		item.state = TUNE_STUCK;
		item.reason = err_words(-r);
	} else if (str_equal(item.now, item.old)) {
		item.state = TUNE_REVERTED;
	} else if (entry_is_ours(tune, entry, item.now)) {
		item_restore(tune, &item);
	} else {
		item.state = TUNE_LEFT;
		item.reason = "changed by someone else since then, left alone";
	}
	vec_push(&tune->items, item);
}

/* `items` are in reverse order: from the last one on is forwards. */
static void items_settle(struct tune *tune)
{
	for (uint32_t i = tune->items.count; i-- > 0;) {
		struct tune_item *item = &tune->items.at[i];
		const char *now;

		if (item->knob == UINT32_MAX || item->state == TUNE_LEFT ||
			tune_value_read(tune, item->path, &now, NULL) < 0)
			continue;
		item->now = now;
		if (!str_equal(now, item->old)) {
			item_restore(tune, item);
		} else if (item->state == TUNE_STUCK) { /* it came back with its processor */
			item->state = TUNE_REVERTED;
			item->reason = NULL;
		}
	}
}

/* What is back is told to the journal: a path that an earlier session had changed is still changed,
 * but has that one's value again.  A full disk must not keep the machine tuned: a line that is
 * missing costs nothing. */
static void items_close(struct tune *tune, bool own_only)
{
	str_auto struct str text = {0};
	struct err ignored = {0};

	vec_foreach (const struct tune_item, item, &tune->items) {
		const struct tune_entry *entry = tune_journal_find(&tune->journal, item->path);
		struct tune_line line = {
			.event = "closed", .path = item->path, .how = tune_state_name(item->state)};

		if (item->state == TUNE_STUCK)
			continue;
		if (item->state == TUNE_REVERTED && own_only && entry &&
			entry->session != tune->session)
			line = (struct tune_line){
				.event = "done", .path = item->path, .new = item->now};
		tune_journal_add(tune, line, &text);
	}
	if (text.len)
		(void)tune_journal_write(tune, &text, false, &ignored);
}

int tune_revert(struct tune *tune, bool own_only, struct err *err)
{
	int r = tune_journal_load(tune, err);

	tune->items.count = 0;
	if (r < 0)
		return r;
	resettables_mark(tune);
	for (uint32_t i = tune->journal.entries.count; i-- > 0;) {
		const struct tune_entry *entry = &tune->journal.entries.at[i];

		if (!entry->active || (own_only && entry->last_session != tune->session))
			continue;
		entry_revert(tune, entry, own_only ? entry->outer : entry->old);
	}
	items_settle(tune);
	items_close(tune, own_only);
	tune_journal_tidy(tune);
	return 0;
}
