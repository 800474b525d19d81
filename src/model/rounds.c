/* rounds.c - see rounds.h.
 *
 *     {"schema":"assay.round/1","time_ns":...,"run":"20260131-120000","target":"./prog data",
 *      "fingerprint":"8ddd...","against":"20260131-110000","round":1,"verdict":"improved",
 *      "before_ns":...,"after_ns":...,"ratio":0.71,...,"compounded":0.71,"first":"parse.c:142"} */
#include "model/rounds.h"

#include <string.h>

#include "base/io.h"
#include "base/jsonw.h"
#include "json_lines.h"
#include "json_member.h"

#define SCHEMA "assay.round/1"

/* The numbers of a row, by name: reader and writer go through the same list. */
static const struct {
	const char *key;
	size_t at;
} numbers[] = {
	{"before_ns", offsetof(struct round_row, before_ns)},
	{"after_ns", offsetof(struct round_row, after_ns)},
	{"ratio", offsetof(struct round_row, ratio)},
	{"ratio_lo", offsetof(struct round_row, ratio_lo)},
	{"ratio_hi", offsetof(struct round_row, ratio_hi)},
	{"compounded", offsetof(struct round_row, compounded)},
	{"promised", offsetof(struct round_row, promised)},
	{"promised_lo", offsetof(struct round_row, promised_lo)},
	{"promised_hi", offsetof(struct round_row, promised_hi)},
	{"score", offsetof(struct round_row, score)},
};

static const struct {
	const char *key;
	size_t at;
} texts[] = {
	{"run", offsetof(struct round_row, run_id)},
	{"target", offsetof(struct round_row, target)},
	{"fingerprint", offsetof(struct round_row, fingerprint)},
	{"against", offsetof(struct round_row, against)},
	{"verdict", offsetof(struct round_row, verdict)},
	{"first", offsetof(struct round_row, first)},
};

enum { NUMBERS = sizeof(numbers) / sizeof(*numbers), TEXTS = sizeof(texts) / sizeof(*texts) };

static bool take_line(void *context, const json_t *line)
{
	struct rounds *rounds = context;
	struct round_row row = {0};

	row.time_ns = json_member_count(line, "time_ns");
	row.round = (uint32_t)json_member_count(line, "round");
	for (unsigned i = 0; i < TEXTS; i++) {
		const char *text = json_member_text(line, texts[i].key, &rounds->texts);

		memcpy((char *)&row + texts[i].at, &text, sizeof(text));
	}
	for (unsigned i = 0; i < NUMBERS; i++) {
		double number = json_member_number(line, numbers[i].key);

		memcpy((char *)&row + numbers[i].at, &number, sizeof(number));
	}
	if (!*row.run_id || !*row.target)
		return false;
	vec_push(&rounds->rows, row);
	return true;
}

static struct json_lines lines_of(struct rounds *rounds)
{
	return (struct json_lines){SCHEMA, take_line, rounds, &rounds->skipped, "history"};
}

void rounds_read(struct rounds *rounds, const char *text, size_t len)
{
	struct json_lines lines = lines_of(rounds);

	json_lines_read(&lines, text, len);
}

int rounds_load(struct rounds *rounds, const char *path, struct err *err)
{
	struct json_lines lines = lines_of(rounds);

	return json_lines_load(&lines, path, err);
}

void rounds_done(struct rounds *rounds)
{
	arena_done(&rounds->texts);
	vec_done(&rounds->rows);
}

void round_line(const struct round_row *row, struct str *out)
{
	struct jsonw w = {.out = out, .compact = true};

	jsonw_begin_object(&w);
	jsonw_put_text(&w, "schema", SCHEMA);
	jsonw_put_u64(&w, "time_ns", row->time_ns);
	jsonw_put_u64(&w, "round", row->round);
	for (unsigned i = 0; i < TEXTS; i++) {
		const char *text;

		memcpy(&text, (const char *)row + texts[i].at, sizeof(text));
		jsonw_put_text(&w, texts[i].key, text ? text : "");
	}
	for (unsigned i = 0; i < NUMBERS; i++) {
		double number;

		memcpy(&number, (const char *)row + numbers[i].at, sizeof(number));
		jsonw_put_double(&w, numbers[i].key, number); /* NAN is null */
	}
	jsonw_end_object(&w);
	str_add_char(out, '\n');
}

int round_append(const char *path, const struct round_row *row, struct err *err)
{
	str_auto struct str text = {0};

	round_line(row, &text);
	return io_append(path, IO_PRIVATE, str_text(&text), text.len, err);
}
