/* history.c - see history.h.
 *
 *     {"schema":"assay.history/1","time":"2026-01-31T12:00:00Z","time_ns":...,"by":"bench",
 *      "command":"./prog data","fingerprint":"8ddd...","git":"de57...","runs":20,
 *      "wall_ns":...,"wall_p95_ns":...,"cpu_ns":...,"cpu_p95_ns":...,"max_rss_bytes":...}
 *
 * What was not measured is null. */
#include "model/history.h"

#include <math.h>
#include <string.h>

#include "base/io.h"
#include "base/jsonw.h"
#include "json_lines.h"
#include "json_member.h"

#define SCHEMA "assay.history/1"

/* A number above 0, else NAN. */
static double positive_number(const json_t *line, const char *key)
{
	double value = json_member_number(line, key);

	return value > 0 ? value : (double)NAN;
}

static bool take_line(void *context, const json_t *line)
{
	struct history *history = context;
	struct history_row row = {
		.time_ns = json_member_count(line, "time_ns"),
		.by = json_member_text(line, "by", &history->texts),
		.command = json_member_text(line, "command", &history->texts),
		.fingerprint = json_member_text(line, "fingerprint", &history->texts),
		.git = json_member_text(line, "git", &history->texts),
		.runs = json_member_count(line, "runs"),
		.wall_ns = positive_number(line, "wall_ns"),
		.wall_p95_ns = positive_number(line, "wall_p95_ns"),
		.cpu_ns = positive_number(line, "cpu_ns"),
		.cpu_p95_ns = positive_number(line, "cpu_p95_ns"),
		.max_rss_bytes = positive_number(line, "max_rss_bytes"),
	};

	if (!*row.command)
		return false;
	vec_push(&history->rows, row);
	return true;
}

static struct json_lines lines_of(struct history *history)
{
	return (struct json_lines){SCHEMA, take_line, history, &history->skipped, "history"};
}

void history_read(struct history *history, const char *text, size_t len)
{
	struct json_lines lines = lines_of(history);

	json_lines_read(&lines, text, len);
}

int history_load(struct history *history, const char *path, struct err *err)
{
	struct json_lines lines = lines_of(history);

	return json_lines_load(&lines, path, err);
}

void history_done(struct history *history)
{
	arena_done(&history->texts);
	vec_done(&history->rows);
}

void history_line(const struct history_row *row, struct str *out)
{
	struct jsonw w = {.out = out, .compact = true};

	jsonw_begin_object(&w);
	jsonw_put_text(&w, "schema", SCHEMA);
	json_lines_put_time(&w, row->time_ns);
	jsonw_put_text(&w, "by", row->by);
	jsonw_put_text(&w, "command", row->command);
	jsonw_put_text(&w, "fingerprint", row->fingerprint);
	jsonw_put_text(&w, "git", row->git);
	jsonw_put_u64(&w, "runs", row->runs);
	jsonw_put_double(&w, "wall_ns", row->wall_ns);
	jsonw_put_double(&w, "wall_p95_ns", row->wall_p95_ns);
	jsonw_put_double(&w, "cpu_ns", row->cpu_ns);
	jsonw_put_double(&w, "cpu_p95_ns", row->cpu_p95_ns);
	jsonw_put_double(&w, "max_rss_bytes", row->max_rss_bytes);
	jsonw_end_object(&w);
	str_add_char(out, '\n');
}

int history_append(const char *path, const struct history_row *rows, size_t count, struct err *err)
{
	str_auto struct str text = {0};

	for (size_t i = 0; i < count; i++)
		history_line(&rows[i], &text);
	return io_append(path, IO_SHARED, str_text(&text), text.len, err);
}
