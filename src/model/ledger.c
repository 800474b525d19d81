/* ledger.c - see ledger.h.
 *
 *     {"schema":"assay.ledger/1","time":"2026-01-31T12:00:00Z","time_ns":...,"run_id":"2026...",
 *      "fingerprint":"8ddd...","target":"./prog data","hypothesis":"page_fault_storm",
 *      "verdict":"supports","why":"...","share":0.4,"noisy":false,"numbers":{"fault_samples":0.4}}
 *
 * What was not measured is null. */
#include "model/ledger.h"

#include <string.h>

#include "base/io.h"
#include "base/jsonw.h"
#include "json_lines.h"
#include "json_member.h"

enum { NUMBERS_MOST = 256 };

#define SCHEMA "assay.ledger/1"

static void numbers_take(struct ledger *ledger, json_t *numbers, struct ledger_entry *entry)
{
	size_t count = json_object_size(numbers);
	struct ledger_number *rows;
	const char *name;
	json_t *value;

	if (!count || count > NUMBERS_MOST)
		return;
	rows = arena_take(&ledger->texts, count * sizeof(*rows));
	entry->numbers = rows;
	json_object_foreach(numbers, name, value)
	{
		rows[entry->number_count++] = (struct ledger_number){
			arena_copy(&ledger->texts, name), json_member_number(numbers, name)};
	}
}

static bool take_line(void *context, const json_t *line)
{
	struct ledger *ledger = context;
	struct ledger_entry entry = {
		.time_ns = json_member_count(line, "time_ns"),
		.run_id = json_member_text(line, "run_id", &ledger->texts),
		.fingerprint = json_member_text(line, "fingerprint", &ledger->texts),
		.target = json_member_text(line, "target", &ledger->texts),
		.hypothesis = json_member_text(line, "hypothesis", &ledger->texts),
		.verdict = json_member_text(line, "verdict", &ledger->texts),
		.why = json_member_text(line, "why", &ledger->texts),
		.share = json_member_number(line, "share"),
		.noisy = json_is_true(json_object_get(line, "noisy")),
	};

	if (!*entry.run_id || !*entry.target || !*entry.hypothesis || !*entry.verdict)
		return false;
	numbers_take(ledger, json_object_get(line, "numbers"), &entry);
	vec_push(&ledger->rows, entry);
	return true;
}

static struct json_lines lines_of(struct ledger *ledger)
{
	return (struct json_lines){SCHEMA, take_line, ledger, &ledger->skipped, "ledger"};
}

void ledger_read(struct ledger *ledger, const char *text, size_t len)
{
	struct json_lines lines = lines_of(ledger);

	json_lines_read(&lines, text, len);
}

int ledger_load(struct ledger *ledger, const char *path, struct err *err)
{
	struct json_lines lines = lines_of(ledger);

	return json_lines_load(&lines, path, err);
}

void ledger_done(struct ledger *ledger)
{
	arena_done(&ledger->texts);
	vec_done(&ledger->rows);
}

void ledger_line(const struct ledger_entry *entry, struct str *out)
{
	struct jsonw w = {.out = out, .compact = true};

	jsonw_begin_object(&w);
	jsonw_put_text(&w, "schema", SCHEMA);
	json_lines_put_time(&w, entry->time_ns);
	jsonw_put_text(&w, "run_id", entry->run_id);
	jsonw_put_text(&w, "fingerprint", entry->fingerprint);
	jsonw_put_text(&w, "target", entry->target);
	jsonw_put_text(&w, "hypothesis", entry->hypothesis);
	jsonw_put_text(&w, "verdict", entry->verdict);
	jsonw_put_text(&w, "why", entry->why);
	jsonw_put_double(&w, "share", entry->share); /* NAN is null */
	jsonw_put_bool(&w, "noisy", entry->noisy);
	jsonw_open_object(&w, "numbers");
	for (uint32_t i = 0; i < entry->number_count; i++)
		jsonw_put_double(&w, entry->numbers[i].name, entry->numbers[i].value);
	jsonw_end_object(&w);
	jsonw_end_object(&w);
	str_add_char(out, '\n');
}

int ledger_append(
	const char *path, const struct ledger_entry *entries, size_t count, struct err *err)
{
	str_auto struct str text = {0};

	for (size_t i = 0; i < count; i++)
		ledger_line(&entries[i], &text);
	return io_append(path, IO_PRIVATE, str_text(&text), text.len, err);
}
