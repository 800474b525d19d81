/* spans.c - see spans.h.  Shares are of the sum over all spans: the file does not say which lie in
 * which, nor how long the program ran on how many CPUs. */
#include "analyze/spans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/run.h"

static const char *const by_words[] = {
	[SPANS_BY_CUMULATIVE] = "cumulative",
	[SPANS_BY_COUNT] = "count",
	[SPANS_BY_P95] = "p95",
};

bool spans_by_of(const char *word, enum spans_by *ret_by)
{
	for (unsigned i = 0; i < sizeof(by_words) / sizeof(*by_words); i++)
		if (!word || str_equal(word, by_words[i])) {
			*ret_by = (enum spans_by)i;
			return true;
		}
	return false;
}

const char *spans_by_word(enum spans_by by)
{
	return by_words[by];
}

static double key_of(const struct span_view *span, enum spans_by by)
{
	return by == SPANS_BY_COUNT ? (double)span->count
	       : by == SPANS_BY_P95 ? span->p95_ns
				    : span->total_ns;
}

/* The larger first, the unknown last, equal ones by name, so that the order is always the same. */
static int span_compare(const void *left, const void *right, void *by)
{
	const struct span_view *a = left, *b = right;
	double x = key_of(a, *(enum spans_by *)by), y = key_of(b, *(enum spans_by *)by);

	if (isnan(x) || isnan(y))
		return isnan(x) != isnan(y) ? (isnan(x) ? 1 : -1) : strcmp(a->name, b->name);
	return x != y ? (x < y ? 1 : -1) : strcmp(a->name, b->name);
}

static void spans_take(const struct run *run, struct arena *arena, struct spans_view *view)
{
	double sum_ns = 0;

	view->spans = arena_take(arena, (run->spans.count + 1) * sizeof(*view->spans));
	vec_foreach (const struct span_row, row, &run->spans) {
		view->spans[view->span_count++] = (struct span_view){
			.name = run_text(run, row->name),
			.category = run_text(run, row->category),
			.evidence = run_text(run, row->evidence),
			.count = row->count,
			.total_ns = row->total_ns,
			.p50_ns = row->p50_ns,
			.p95_ns = row->p95_ns,
			.p99_ns = row->p99_ns,
			.p999_ns = row->p999_ns,
			.max_ns = row->max_ns,
		};
		sum_ns += isnan(row->total_ns) ? 0 : row->total_ns;
	}
	for (uint32_t i = 0; i < view->span_count; i++)
		view->spans[i].share = sum_ns > 0 ? view->spans[i].total_ns / sum_ns : (double)NAN;
	if (view->span_count)
		qsort_r(view->spans, view->span_count, sizeof(*view->spans), span_compare,
			&view->by);
}

static void claims_take(const struct run *run, struct arena *arena, struct spans_view *view)
{
	view->claims = arena_take(arena, (run->claims.count + 1) * sizeof(*view->claims));
	vec_foreach (const struct claim_row, row, &run->claims)
		view->claims[view->claim_count++] = (struct claim_view){
			.name = run_text(run, row->name),
			.verdict = run_text(run, row->verdict),
			.evidence = run_text(run, row->evidence),
		};
}

static void facts_take(const struct run *run, struct arena *arena, struct spans_view *view)
{
	view->facts = arena_take(arena, (run->facts.count + 1) * sizeof(*view->facts));
	vec_foreach (const struct fact_row, row, &run->facts)
		if (str_equal(run_text(run, row->witness), "program") && !row->reason)
			view->facts[view->fact_count++] = (struct spans_fact){
				.name = run_text(run, row->name),
				.unit = run_text(run, row->unit),
				.value = row->value,
			};
}

void spans_view_make(
	const struct run *run, enum spans_by by, struct arena *arena, struct spans_view *ret_view)
{
	struct spans_view view = {.target = run_text(run, run->target), .by = by, .scenario = ""};

	spans_take(run, arena, &view);
	claims_take(run, arena, &view);
	facts_take(run, arena, &view);
	vec_foreach (const struct field_row, row, &run->fields)
		if (str_equal(run_text(run, row->group), "program") &&
			str_equal(run_text(run, row->name), "scenario"))
			view.scenario = run_text(run, row->value);
	*ret_view = view;
}
