/* budget.c - see budget.h.
 *
 * One line, one budget: a line that is not understood ends the reading and is named, because a
 * budget that is skipped in silence is a gate that stands open. */
#include "analyze/budget.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/text_block.h"
#include "base/str.h"

static const char *const metric_names[GATE_METRICS] = {
	[GATE_WALL] = "wall", [GATE_CPU] = "cpu", [GATE_RSS] = "max_rss"};

static const char *const statistic_names[BUDGET_STATISTICS] = {
	[BUDGET_MEDIAN] = "median",
	[BUDGET_MEAN] = "mean",
	[BUDGET_MIN] = "min",
	[BUDGET_MAX] = "max",
	[BUDGET_P75] = "p75",
	[BUDGET_P90] = "p90",
	[BUDGET_P95] = "p95",
	[BUDGET_P99] = "p99",
};

const char *gate_metric_name(enum gate_metric metric)
{
	return metric_names[metric];
}

enum gate_metric gate_metric_named(const char *name)
{
	return str_index(metric_names, GATE_METRICS, name);
}

const char *budget_statistic_name(enum budget_statistic statistic)
{
	return statistic_names[statistic];
}

/* "64MiB" in bytes; NAN when it is no size. */
static double size_of(const char *text)
{
	static const struct {
		const char *unit;
		double bytes;
	} units[] = {{"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"kB", 1e3},
		{"MB", 1e6}, {"GB", 1e9}};
	char *end;
	double value = strtod(text, &end);

	for (unsigned i = 0; end != text && i < sizeof(units) / sizeof(*units); i++)
		if (str_equal(end, units[i].unit))
			return value * units[i].bytes;
	return (double)NAN;
}

/* "250ms" in nanoseconds; a number without a unit is not taken for seconds. */
static double duration_of(const char *text)
{
	size_t len = strlen(text);
	uint64_t ns;

	if (!len || (text[len - 1] >= '0' && text[len - 1] <= '9') ||
		str_to_duration(text, &ns) < 0)
		return (double)NAN;
	return (double)ns;
}

/* "+5%" as a share. */
static double change_of(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end != text && str_equal(end, "%") ? value / 100 : (double)NAN;
}

static bool limit_take(struct budget *budget, const char *word)
{
	bool relative = *word == '+' || *word == '-';
	double *slot = relative ? &budget->relative : &budget->absolute;
	double value = relative			    ? change_of(word)
		       : budget->metric == GATE_RSS ? size_of(word)
						    : duration_of(word);

	if (!isfinite(value) || !isnan(*slot) || (relative ? value <= -1 : value <= 0) ||
		value > 1e18)
		return false;
	*slot = value;
	return true;
}

/* What is expected where the line went wrong, NULL: it is a budget. */
static const char *budget_parse(char *line, struct budget *budget)
{
	char *rest = line, *word = text_word_next(&rest);

	budget->metric = gate_metric_named(word);
	if (budget->metric == GATE_METRICS)
		return "a metric: wall, cpu or max_rss";
	word = text_word_next(&rest);
	if (word && !str_equal(word, "<=")) {
		budget->statistic = str_index(statistic_names, BUDGET_STATISTICS, word);
		if (budget->statistic == BUDGET_STATISTICS)
			return "<= or a statistic: median, mean, min, max, p75, p90, p95 or p99";
		word = text_word_next(&rest);
	}
	if (!word || !str_equal(word, "<="))
		return "<= and the budget";
	word = text_word_next(&rest);
	if (!word)
		return "a budget behind <=";
	for (; word; word = text_word_next(&rest))
		if (!limit_take(budget, word))
			return budget->metric == GATE_RSS
				       ? "one size (64MiB), one change (+5%), or both"
				       : "one time (250ms), one change (+5%), or both";
	return NULL;
}

static int row_refuse(
	const struct text_reader *reader, const char *what, const char *row, const char *expected)
{
	int r = text_refuse(reader, reader->line, what, row);

	err_hint(reader->err, "expected %s; an example: wall p95 <= 400ms +5%%  # why", expected);
	return r;
}

static bool is_known(const struct budget_book *book, const struct budget *budget)
{
	vec_foreach (const struct budget, row, &book->rows)
		if (row->metric == budget->metric && row->statistic == budget->statistic &&
			str_equal(row->pattern, budget->pattern))
			return true;
	return false;
}

static int row_take(
	struct budget_book *book, const struct text_reader *reader, char *row, const char *pattern)
{
	struct budget budget = {
		.pattern = pattern,
		.absolute = (double)NAN,
		.relative = (double)NAN,
		.note = "",
		.line = reader->line,
	};
	const char *whole = arena_copy(reader->arena, row), *expected;
	char *note = strchr(row, '#');

	if (note) {
		*note = '\0';
		budget.note = str_trim(note + 1);
	}
	if (!pattern)
		return row_refuse(reader, "a budget outside of any command:", whole,
			"[COMMAND] on a line before it");
	expected = budget_parse(row, &budget);
	if (expected)
		return row_refuse(reader, "not a budget:", whole, expected);
	if (is_known(book, &budget))
		return row_refuse(
			reader, "a duplicate budget:", whole, "one line per metric and statistic");
	vec_push(&book->rows, budget);
	return 0;
}

static int header_take(const struct text_reader *reader, char *row, const char **ret_pattern)
{
	size_t len = strlen(row);

	if (row[len - 1] != ']' || len < 3)
		return row_refuse(reader, "this command has no closing bracket:", row,
			"[COMMAND] alone on its line");
	row[len - 1] = '\0';
	*ret_pattern = str_trim(row + 1);
	return 0;
}

int budget_book_read(
	struct budget_book *book, const char *text, size_t len, const char *name, struct err *err)
{
	struct arena *arena = &book->texts;
	struct text_reader reader = {arena, name, arena_text(arena, text, len), 0, err};
	const char *pattern = NULL;
	char *row;
	int r = 0;

	book->name = arena_copy(arena, name);
	if (memchr(text, '\0', len)) {
		err_set(err, ERR_USAGE, EINVAL, "%s: not text: it contains a zero byte", name);
		return err_hint(err, "write one budget a line: wall p95 <= 400ms +5%%");
	}
	while (r >= 0 && (row = text_row_next(&reader)))
		r = *row == '[' ? header_take(&reader, row, &pattern)
				: row_take(book, &reader, row, pattern);
	return r;
}

void budget_book_done(struct budget_book *book)
{
	arena_done(&book->texts);
	vec_done(&book->rows);
}

bool budget_applies(const struct budget *budget, const char *command)
{
	return str_equal(budget->pattern, command) || fnmatch(budget->pattern, command, 0) == 0;
}

double budget_value(const struct summary *summary, enum budget_statistic statistic,
	struct interval *ret_interval)
{
	static const unsigned percentiles[BUDGET_STATISTICS] = {[BUDGET_P75] = SUMMARY_P75,
		[BUDGET_P90] = SUMMARY_P90,
		[BUDGET_P95] = SUMMARY_P95,
		[BUDGET_P99] = SUMMARY_P99};
	const struct summary_percentile *one =
		percentiles[statistic] ? &summary->percentiles[percentiles[statistic]] : NULL;
	double value = statistic == BUDGET_MEDIAN ? summary->median
		       : statistic == BUDGET_MEAN ? summary->mean
		       : statistic == BUDGET_MIN  ? summary->min
		       : one			  ? one->value
						  : summary->max;

	*ret_interval = statistic == BUDGET_MEDIAN ? summary->median_interval
			: one			   ? one->interval
						   : (struct interval){value, value};
	return value;
}
