/* scale.c - see scale.h.  The verdict stands first; the table and the chart are its evidence. */
#include "render/scale.h"

#include <math.h>
#include <stdio.h>

#include "render/bench.h"
#include "render/scale_chart.h"
#include "render/shorten.h"

enum { ROOM = 32, TITLE_COLUMNS = 90, AGENT_POINTS = 16, P95 = 3, P99 = 4 };

static void time_cell(struct table *table, enum ink ink, bool known, double ns)
{
	char text[ROOM];

	table_cell(table, ink, "%s", known ? paper_time(text, sizeof(text), ns) : "");
}

static void share_cell(struct table *table, double share)
{
	if (isfinite(share))
		table_cell(table, INK_DIM, "%+.0f %%", share * 100);
	else
		table_cell(table, INK_DIM, "%s", "");
}

/* Half of the median's interval, as a share. */
static void interval_cell(struct table *table, const struct summary *time)
{
	double half = (time->median_interval.hi - time->median_interval.lo) / 2 / time->median;

	if (isfinite(half))
		table_cell(table, INK_DIM, "%.1f %%", half * 100);
	else
		table_cell(table, INK_DIM, "%s", "");
}

static void row_begin(struct table *table, const struct scale_point *point)
{
	const struct summary *time = point->time;
	const struct summary_percentile *p = time->percentiles;
	bool some = point->command->used_count;
	char count[ROOM];

	table_cell(table, INK_BOLD, "%s", paper_count(count, sizeof(count), (double)point->size));
	table_cell(table, INK_PLAIN, "%u", point->command->used_count);
	time_cell(table, INK_BOLD, some, time->median);
	interval_cell(table, time);
	time_cell(table, INK_PLAIN, some && !p[P95].worst_of_all, p[P95].value);
	time_cell(table, INK_PLAIN, some && !p[P99].worst_of_all, p[P99].value);
	time_cell(table, INK_PLAIN, some && p[P95].worst_of_all, time->max);
	if (some)
		table_cell(table, INK_PLAIN, "%.4g", point->rate);
	else
		table_cell(table, INK_PLAIN, "%s", "");
}

static void size_row(struct table *table, const struct scale_view *view, uint32_t index)
{
	const struct scale_point *point = &view->points[index];
	double times = view->p95_known ? point->times_p95 : point->times;
	char unit[SCALE_LABEL_SIZE];

	row_begin(table, point);
	if (isfinite(times))
		table_cell(table, INK_PLAIN, "%.3g", times);
	else
		table_cell(table, INK_PLAIN, "%s", "");
	table_cell(table, INK_PLAIN, "%s",
		isfinite(point->per_unit_ns) ? scale_time_label(unit, point->per_unit_ns) : "");
	time_cell(table, INK_DIM, isfinite(point->predicted_ns), point->predicted_ns);
	share_cell(table, point->off_share);
}

static void number_cell(struct table *table, bool known, double value, const char *unit)
{
	if (known)
		table_cell(table, INK_PLAIN, "%.*f%s", *unit ? 0 : 2, value, unit);
	else
		table_cell(table, INK_PLAIN, "%s", "");
}

static void thread_row(struct table *table, const struct scale_view *view, uint32_t index)
{
	const struct scale_point *point = &view->points[index];
	bool some = point->command->used_count;

	row_begin(table, point);
	number_cell(table, some, point->speedup, "");
	number_cell(table, some, point->efficiency * 100, " %");
	number_cell(table, some, point->parallelism, "");
	table_cell(table, INK_DIM, "%s", some && !point->fitted ? "more than there are CPUs" : "");
}

static void points_table(struct paper *paper, const struct scale_view *view)
{
	table_auto struct table table = {0};
	bool threads = view->options.threads;

	table_columns(&table, threads ? ">threads" : ">n", ">runs", ">median", ">+-", ">p95",
		">p99", ">worst", ">per s",
		threads		  ? ">speed-up"
		: view->p95_known ? ">p95 x"
				  : ">median x",
		threads ? ">efficiency" : ">per unit", threads ? ">CPUs used" : ">law",
		threads ? "" : ">off");
	for (uint32_t i = 0; i < view->point_count; i++)
		(threads ? thread_row : size_row)(&table, view, i);
	table_print(&table, paper, 2);
}

static void troubles(struct paper *paper, const struct scale_view *view)
{
	for (uint32_t i = 0; i < view->point_count; i++) {
		char name[ROOM];

		snprintf(name, sizeof(name), "%s %llu", view->options.threads ? "threads" : "n =",
			(unsigned long long)view->points[i].size);
		bench_troubles(paper, name, view->points[i].command);
	}
}

static enum ink verdict_ink(const struct scale_view *view)
{
	if (view->expectation == SCALE_WORSE)
		return INK_BAD;
	return view->doubt == SCALE_SURE ? INK_BOLD : INK_WARN;
}

void scale_text(struct paper *paper, const struct scale_view *view)
{
	str_auto struct str title = {0}, verdict = {0}, trust = {0}, advice = {0};

	name_shorten(view->title, TITLE_COLUMNS, &title);
	paper_add(paper, "\n");
	paper_ink(paper, INK_BOLD, "%s", str_text(&title));
	paper_ink(paper, INK_DIM, "   %u sizes, %s\n", view->point_count,
		view->options.threads || view->options.metric == SCALE_WALL ? "wall time"
									    : "CPU time");
	scale_verdict_words(view, &verdict);
	scale_trust_words(view, &trust);
	scale_advice_words(view, &advice);
	paper_wrap(paper, 2, verdict_ink(view), str_text(&verdict));
	if (advice.len)
		paper_wrap(paper, 2, INK_PLAIN, str_text(&advice));
	if (trust.len)
		paper_wrap(paper, 2, INK_DIM, str_text(&trust));
	paper_add(paper, "\n");
	points_table(paper, view);
	troubles(paper, view);
	paper_add(paper, "\n");
	scale_chart(paper, view);
	paper_add(paper, "\n");
}

static void agent_point(struct paper *paper, const struct scale_view *view, uint32_t index)
{
	const struct scale_point *point = &view->points[index];
	const struct bench_command *command = point->command;

	paper_add(paper, "%s = %llu runs = %u", view->options.threads ? "threads" : "n",
		(unsigned long long)point->size, command->used_count);
	if (command->used_count)
		paper_add(paper, " median_ns = %.0f [%.0f .. %.0f] max = %.0f", point->time->median,
			point->time->median_interval.lo, point->time->median_interval.hi,
			point->time->max);
	if (command->used_count && view->options.threads)
		paper_add(paper, " speedup = %.3f%s", point->speedup,
			point->fitted ? "" : " (more than there are CPUs)");
	if (isfinite(point->off_share) && !view->options.threads)
		paper_add(paper, " off = %+.1f%%", point->off_share * 100);
	if (command->failed)
		paper_add(paper, " FAILED exit %d signal %d", command->failed->exit_status,
			command->failed->signal);
	paper_add(paper, "\n");
}

/* With many points the first and the last: a failure is at the end more often than not. */
static void agent_points(struct paper *paper, const struct scale_view *view)
{
	uint32_t half = AGENT_POINTS / 2;

	for (uint32_t i = 0; i < view->point_count; i++) {
		if (view->point_count > AGENT_POINTS && i == half)
			paper_add(paper, "and %u in between: use --json\n",
				view->point_count - AGENT_POINTS);
		if (view->point_count <= AGENT_POINTS || i < half || i >= view->point_count - half)
			agent_point(paper, view, i);
	}
}

void scale_agent(struct paper *paper, const struct scale_view *view)
{
	str_auto struct str words = {0};
	const struct scale_law *law = &view->law;

	paper_add(paper, "command: %.*s\nverdict: ", 120, view->title);
	scale_verdict_words(view, &words);
	paper_add(paper, "%s\n", str_text(&words));
	str_clear(&words);
	scale_trust_words(view, &words);
	if (words.len)
		paper_add(paper, "trust: %s\n", str_text(&words));
	str_clear(&words);
	scale_advice_words(view, &words);
	if (words.len)
		paper_add(paper, "advice: %s\n", str_text(&words));
	agent_points(paper, view);
	if (view->doubt == SCALE_SURE)
		paper_add(paper, "next: assay record -- PROGRAM (at the largest size)\n");
	else if (!view->options.threads && law->suggested[0])
		paper_add(paper, "next: assay scale --sizes %llu..%llux2 CMD\n",
			(unsigned long long)view->points[0].size,
			(unsigned long long)law->suggested[law->suggested[1] != 0]);
	else
		paper_add(paper, "next: assay scale -n %u CMD\n",
			view->rounds * 4 > 7 ? view->rounds * 4 : 7);
}
