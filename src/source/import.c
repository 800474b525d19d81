/* import.c - which format is it: a table, asked in order, by content and never by file name.
 *
 * A file is read whole, because detection may have to look past a program's own output.  A day of
 * `perf stat -j -I 1000` with ten events is 164 MB; 57 MB take 1.2 s on 2 vCPUs. */
#include "source/import.h"

#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/str.h"
#include "import_format.h"
#include "source/emit.h"

enum { IMPORT_LIMIT = 256 << 20 };

static const struct import_format *const formats[] = {
	&import_perf_stat_json,
	&import_perf_stat_csv,
	NULL,
};

bool import_line_next(struct import_text *rest, struct import_text *line, bool *ret_whole)
{
	const char *end = rest->len ? memchr(rest->at, '\n', rest->len) : NULL;
	size_t len = end ? (size_t)(end - rest->at) : rest->len;

	if (!rest->len)
		return false;
	*line = (struct import_text){rest->at, len};
	*ret_whole = end;
	rest->at += len + (end != NULL);
	rest->len -= len + (end != NULL);
	if (line->len && line->at[line->len - 1] == '\r')
		line->len--;
	return true;
}

bool import_line_is_empty(struct import_text line)
{
	size_t i = 0;

	while (i < line.len && (line.at[i] == ' ' || line.at[i] == '\t'))
		i++;
	return i == line.len || line.at[i] == '#';
}

const char *import_skip_name(enum import_skip skip)
{
	static const char *const names[] = {[IMPORT_FOREIGN] = "foreign_lines",
		[IMPORT_MALFORMED] = "malformed_lines",
		[IMPORT_METRIC] = "metric_lines",
		[IMPORT_RANGE] = "values_out_of_range",
		[IMPORT_TOO_MANY] = "events_beyond_limit",
		[IMPORT_TRUNCATED] = "truncated_lines"};

	return names[skip];
}

/* One warning for all lines that hold a loss; another tool's own metrics are none. */
static int note_skipped(const struct import_report *report, const struct wire_sink *sink)
{
	static const char *const words[] = {[IMPORT_FOREIGN] = "of something else",
		[IMPORT_MALFORMED] = "malformed",
		[IMPORT_RANGE] = "with a value out of range",
		[IMPORT_TOO_MANY] = "of events beyond the first 4096",
		[IMPORT_TRUNCATED] = "cut off at the end of the file"};
	str_auto struct str text = {0};
	uint64_t lost = 0;

	for (unsigned i = 0; i < IMPORT_SKIPS; i++) {
		if (i == IMPORT_METRIC || !report->skipped[i])
			continue;
		str_addf(&text, "%s%llu %s", lost ? ", " : "",
			(unsigned long long)report->skipped[i], words[i]);
		lost += report->skipped[i];
	}
	if (!lost)
		return 0;
	str_addf(&text, "; %llu of %llu lines were not used", (unsigned long long)lost,
		(unsigned long long)report->lines);
	return emit_note(sink, "import-lines-skipped", str_text(&text),
		report->skipped[IMPORT_TRUNCATED] ? "the file ends early: was perf still writing?"
						  : NULL);
}

static int format_unknown(struct import_text text, const char *name, struct err *err)
{
	static const char human[] = "Performance counter stats for";

	err_set(err, ERR_USAGE, EINVAL,
		text.len ? "%s is in no format that assay reads" : "%s is empty", name);
	if (text.len && memmem(text.at, text.len, human, strlen(human)))
		err_hint(err, "this is perf stat's text for people; record with `perf stat -j` or "
			      "`perf stat -x,`");
	else
		err_hint(err, "it reads the output of `perf stat -j` and `perf stat -x SEPARATOR`");
	return -EINVAL;
}

int import_bytes(const char *bytes, size_t len, const char *name, const struct wire_sink *sink,
	struct import_report *ret_report, struct err *err)
{
	struct import_text text = {bytes, len};
	struct import_report report = {0};
	int r;

	for (const struct import_format *const *format = formats; *format; format++) {
		if (!(*format)->detect(text))
			continue;
		report.kind = (*format)->kind;
		r = (*format)->read(text, sink, &report);
		if (r == 0)
			r = note_skipped(&report, sink);
		if (r < 0)
			return err_set(
				err, ERR_USAGE, -r, "cannot take in %s: %s", name, err_words(-r));
		*ret_report = report;
		return 0;
	}
	return format_unknown(text, name, err);
}

int import_file(const char *path, const struct wire_sink *sink, struct import_report *ret_report,
	struct err *err)
{
	bool is_stdin = str_equal(path, "-");
	str_auto struct str text = {0};
	int r = io_read(is_stdin ? "/dev/stdin" : path, IMPORT_LIMIT, &text, err);

	if (r < 0)
		return r;
	return import_bytes(
		str_text(&text), text.len, is_stdin ? "stdin" : path, sink, ret_report, err);
}
