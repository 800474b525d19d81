/* ledger_fuzz.c - any bytes as a ledger: what is taken from it, written out and read again, is the
 * same; its runs can be compared and shown. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/ledger_history.h"
#include "model/ledger.h"
#include "render/answer_json.h"
#include "render/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct ledger *ledger)
{
	arena_auto struct arena arena = {0};
	str_auto struct str text = {0}, document = {0};
	struct paper paper = {.out = &text};
	struct jsonw json = {.out = &document};
	struct ledger_history history;

	ledger_history_make(ledger, &(struct ledger_query){0}, &arena, &history);
	ledger_text(&paper, &history);
	ledger_agent(&paper, &history);
	jsonw_begin_object(&json);
	ledger_json(&json, &history);
	jsonw_end_object(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ledger_auto struct ledger ledger = {0}, again = {0};
	str_auto struct str text = {0};

	ledger_read(&ledger, (const char *)data, size);
	vec_foreach (const struct ledger_entry, entry, &ledger.rows)
		ledger_line(entry, &text);
	ledger_read(&again, str_text(&text), text.len);
	if (again.skipped || again.rows.count != ledger.rows.count)
		abort();
	for (uint32_t i = 0; i < again.rows.count; i++)
		if (strcmp(ledger.rows.at[i].hypothesis, again.rows.at[i].hypothesis) != 0 ||
			ledger.rows.at[i].time_ns != again.rows.at[i].time_ns ||
			ledger.rows.at[i].number_count != again.rows.at[i].number_count)
			abort();
	if (ledger.rows.count < 200)
		show(&ledger);
	return 0;
}
