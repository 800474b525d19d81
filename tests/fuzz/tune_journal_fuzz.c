/* tune_journal_fuzz.c - any bytes as a journal: what is taken from it is short and printable, and
 * written out and read again it is the same.  Each line gets its check, else none would be taken;
 * the bytes as they are must give nothing that those do not. */
#include <stdlib.h>
#include <string.h>

#include "source/tune_journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	if (!tune_text_is_plain(text, strlen(text)))
		abort();
}

static void seal_lines(const uint8_t *data, size_t size, struct str *out)
{
	while (size) {
		const uint8_t *newline = memchr(data, '\n', size);
		size_t len = newline ? (size_t)(newline - data) : size;

		tune_journal_seal((const char *)data, len, out);
		len += newline != NULL;
		data += len;
		size -= len;
	}
}

static void check_journal(const char *bytes, size_t len)
{
	struct tune_journal journal = {0}, again = {0};
	str_auto struct str text = {0};

	tune_journal_read(&journal, bytes, len);
	vec_foreach (const struct tune_entry, entry, &journal.entries) {
		check_text(entry->path);
		check_text(entry->knob);
		check_text(entry->old);
		check_text(entry->written);
		check_text(entry->outer);
		if (entry->by)
			check_text(entry->by);
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str_auto struct str sealed = {0};

	seal_lines(data, size, &sealed);
	check_journal((const char *)data, size);
	check_journal(str_text(&sealed), sealed.len);
	return 0;
}
