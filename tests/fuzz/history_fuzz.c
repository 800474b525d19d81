/* history_fuzz.c - any bytes as a history: what is taken from it, written out and read again, is
 * the same, and the noise computed from it is a number. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyze/gate_history.h"
#include "model/history.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	history_auto struct history history = {0}, again = {0};
	str_auto struct str text = {0};

	history_read(&history, (const char *)data, size);
	vec_foreach (const struct history_row, row, &history.rows) {
		struct gate_noise noise =
			gate_history_noise(&history, row->command, row->fingerprint, GATE_WALL);

		if (!isfinite(noise.iqr) || noise.iqr < 0 || noise.entries > GATE_HISTORY_MOST)
			abort();
		history_line(row, &text);
	}
	history_read(&again, str_text(&text), text.len);
	if (again.skipped || again.rows.count != history.rows.count)
		abort();
	for (uint32_t i = 0; i < again.rows.count; i++) {
		const struct history_row *a = &history.rows.at[i], *b = &again.rows.at[i];

		if (!str_equal(a->command, b->command) || a->time_ns != b->time_ns ||
			!is_same(a->wall_ns, b->wall_ns) ||
			!is_same(a->max_rss_bytes, b->max_rss_bytes))
			abort();
	}
	return 0;
}
