/* tune_revert.c - the way back.
 *
 * First in reverse order, each knob only if it still has what we wrote.  Then once more forwards
 * over those: a governor that goes back takes no_turbo with it, and some knobs are held until
 * another is back.  Nothing is remembered in between but the journal, so dying here costs nothing:
 * a knob that has its old value already is simply done. */
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
						    : "the kernel did not keep the old value";
}

static void entry_revert(struct tune *tune, const struct tune_entry *entry)
{
	struct tune_item item = tune_item_of(tune, entry);
	int r = tune_value_read(tune, entry->path, &item.now, NULL);

	if (item.knob == UINT32_MAX) {
		item.state = TUNE_STUCK;
		item.reason = "this version of assay does not know that knob; write it by hand";
	} else if (r < 0) {
		item.now = NULL;
		item.state = TUNE_STUCK;
		item.reason = err_words(-r);
	} else if (str_equal(item.now, entry->old)) {
		item.state = TUNE_REVERTED;
	} else if (tune_entry_is_ours(entry, item.now)) {
		item_restore(tune, &item);
	} else {
		item.state = TUNE_LEFT;
		item.reason = "changed by someone else since, left";
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
			tune_value_read(tune, item->path, &now, NULL) < 0 ||
			str_equal(now, item->old))
			continue;
		item_restore(tune, item);
	}
}

int tune_revert(struct tune *tune, bool own_only, struct err *err)
{
	struct err ignored = {0};
	int r = tune_journal_load(tune, err);

	tune->items.count = 0;
	if (r < 0)
		return r;
	for (uint32_t i = tune->journal.entries.count; i-- > 0;) {
		const struct tune_entry *entry = &tune->journal.entries.at[i];

		if (entry->active && (!own_only || entry->session == tune->session))
			entry_revert(tune, entry);
	}
	items_settle(tune);
	/* A full disk must not keep the machine tuned: a line that is missing costs nothing. */
	vec_foreach (const struct tune_item, item, &tune->items)
		if (item->state != TUNE_STUCK)
			(void)tune_journal_append(tune,
				(struct tune_line){.event = "closed",
					.path = item->path,
					.how = tune_state_name(item->state)},
				&ignored);
	tune_journal_tidy(tune);
	return 0;
}
