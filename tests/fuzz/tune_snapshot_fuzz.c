/* tune_snapshot_fuzz.c - any bytes as a snapshot: refused with a way out, or rows of short
 * printable texts. */
#include <stdlib.h>
#include <string.h>

#include "drive/tune_snapshot.h"
#include "source/tune_journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	if (!tune_text_is_plain(text, strlen(text)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tune_snapshot_auto struct tune_snapshot snapshot;
	struct err err = {0};

	if (tune_snapshot_read(&snapshot, (const char *)data, size, "a.json", &err) < 0) {
		if (!err.text[0] || !err.hint[0])
			abort();
		return 0;
	}
	vec_foreach (const struct tune_expected, row, &snapshot.rows) {
		check_text(row->knob);
		check_text(row->path);
		if (row->value)
			check_text(row->value);
	}
	return 0;
}
