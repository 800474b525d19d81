/* tune_journal_fuzz.c - any bytes as a journal: what is taken from it is short and printable, and
 * written out and read again it is the same. */
#include <stdlib.h>
#include <string.h>

#include "drive/tune_journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	if (!tune_text_is_plain(text, strlen(text)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tune_journal journal = {0}, again = {0};
	str_auto struct str text = {0};

	tune_journal_read(&journal, (const char *)data, size);
	vec_foreach (const struct tune_entry, entry, &journal.entries) {
		check_text(entry->path);
		check_text(entry->knob);
		check_text(entry->old);
		check_text(entry->written);
		if (!entry->active)
			continue;
		if (tune_journal_find(&journal, entry->path) != entry)
			abort(); /* a path is open once */
		tune_journal_line(
			&(struct tune_line){
				.event = "intent",
				.path = entry->path,
				.knob = entry->knob,
				.old = entry->old,
				.new = entry->written,
			},
			&text);
	}
	tune_journal_read(&again, str_text(&text), text.len);
	if (again.skipped || again.torn ||
		tune_journal_count(&again) != tune_journal_count(&journal))
		abort();
	tune_journal_done(&again);
	tune_journal_done(&journal);
	return 0;
}
