/* diff_counts.c - see diff_counts.h.
 *
 * The prices are those of ab_explain.c and data/metrics: they name the event, they do not measure
 * it.  Logarithms, because factors multiply: twice the instructions at half the clock rate is four
 * times the time, and each explains half of it. */
#include "analyze/diff_counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stat.h"
#include "base/mem.h"
#include "base/shift.h"
#include "base/stats.h"
#include "base/str.h"
#include "model/run.h"

#define CONFIDENCE 0.95
#define SAME 0.005 /* a change of the time below this explains nothing */

static const struct price {
	const char *event;
	double cycles;
} prices[] = {
	{"branch-misses", 15},
	{"cache-misses", 100},
	{"LLC-load-misses", 100},
	{"L1-dcache-load-misses", 10},
	{"L1-icache-load-misses", 10},
	{"dTLB-load-misses", 30},
	{"iTLB-load-misses", 30},
	{"page-faults", 2000},
};

struct side {
	struct stat_view view;
	bool partial;
};

bool diff_counts_possible(const struct run *a, const struct run *b)
{
	return a->counts.count && b->counts.count && a->executions.count && b->executions.count;
}

/* "cycles:u" is an event called "cycles". */
static bool event_is(const char *name, const char *plain)
{
	size_t len = strcspn(name, ":");

	return strlen(plain) == len && strncmp(name, plain, len) == 0;
}

/* Logarithms of the values above 0, sorted; how many. */
static size_t logs_take(const double *values, uint32_t count, double *ret_logs)
{
	size_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		if (values[i] > 0)
			ret_logs[n++] = log(values[i]);
	stats_sort(ret_logs, n);
	return n;
}

static void interval_make(const double *a, uint32_t a_count, const double *b, uint32_t b_count,
	struct diff_count_row *row)
{
	mem_auto double *left = mem_new((size_t)a_count + 1, sizeof(*left));
	mem_auto double *right = mem_new((size_t)b_count + 1, sizeof(*right));
	size_t n = logs_take(a, a_count, left), m = logs_take(b, b_count, right);
	struct shift shift;

	row->lo = row->hi = (double)NAN;
	if (!n || !m)
		return;
	shift = shift_between_sorted(left, n, right, m, CONFIDENCE);
	if (!isfinite(shift.lo) || !isfinite(shift.hi))
		return;
	row->lo = expm1(shift.lo);
	row->hi = expm1(shift.hi);
	row->moved = row->lo > 0 || row->hi < 0;
}

static void change_make(struct diff_count_row *row)
{
	row->difference = row->change = row->lo = row->hi = (double)NAN;
	if (!*row->reason && (isnan(row->a) || isnan(row->b)))
		row->reason = "one side has no value";
	if (*row->reason)
		return;
	row->difference = row->b - row->a;
	if (row->a > 0)
		row->change = row->b / row->a - 1;
	else
		row->reason = "it is 0 in A, so there is no ratio";
}

/* Whether all executions that have a value have the same one: a program that depends on the clock
 * or on its threads does not, in a simulator either. */
static bool each_is_same(const double *each, uint32_t count)
{
	double first = (double)NAN;

	for (uint32_t i = 0; i < count; i++) {
		if (!isnan(first) && !isnan(each[i]) && (each[i] < first || each[i] > first))
			return false;
		first = isnan(first) ? each[i] : first;
	}
	return true;
}

/* Why these two have no change, "" when they have one. */
static const char *row_reason(const struct side *a, const struct stat_event *left,
	const struct side *b, const struct stat_event *right)
{
	if (!left->known || !right->known)
		return left->known ? right->reason : left->reason;
	if (left->simulated != right->simulated)
		return left->simulated ? "not comparable: simulated in A, measured in B"
				       : "not comparable: measured in A, simulated in B";
	if (left->simulated && (a->partial || b->partial))
		return a->partial ? "not comparable: the simulation of A covers only a part"
				  : "not comparable: the simulation of B covers only a part";
	return "";
}

static void row_make(const struct side *a, const struct stat_event *left, const struct side *b,
	const struct stat_event *right, struct diff_count_row *row)
{
	*row = (struct diff_count_row){
		.name = left->name,
		.unit = left->unit,
		.core = left->core,
		.a = left->known ? left->value : (double)NAN,
		.b = right->known ? right->value : (double)NAN,
		.explains_share = (double)NAN,
		.simulated = left->simulated && right->simulated,
		.reason = row_reason(a, left, b, right),
	};
	change_make(row);
	row->exact = row->simulated && !isnan(row->difference) &&
		     each_is_same(left->each, a->view.execution_count) &&
		     each_is_same(right->each, b->view.execution_count);
	if (row->exact)
		row->moved = row->a < row->b || row->a > row->b;
	else if (!isnan(row->difference))
		interval_make(left->each, a->view.execution_count, right->each,
			b->view.execution_count, row);
}

static double time_median(const struct stat_view *view, bool cpu)
{
	return view->simulated ? (double)NAN : cpu ? view->cpu_ns : view->wall_ns;
}

static double *times_make(const struct stat_view *view, bool cpu)
{
	double *times = mem_new((size_t)view->execution_count + 1, sizeof(*times));

	for (uint32_t i = 0; i < view->execution_count; i++) {
		const struct stat_execution *e = &view->executions[i];

		times[i] = (double)(cpu ? e->user_ns + e->system_ns : e->wall_ns);
	}
	return times;
}

/* CPU time of each execution; wall time where somebody else's process was counted. */
static void time_make(
	const struct stat_view *a, const struct stat_view *b, struct diff_count_row *row)
{
	bool cpu = a->has_usage && b->has_usage && a->cpu_ns > 0 && b->cpu_ns > 0;
	bool timed = !a->simulated && !b->simulated;
	mem_auto double *left = times_make(a, cpu);
	mem_auto double *right = times_make(b, cpu);

	*row = (struct diff_count_row){
		.name = cpu ? "cpu_ns" : "wall_ns",
		.unit = "ns",
		.core = "",
		.a = time_median(a, cpu),
		.b = time_median(b, cpu),
		.explains_share = (double)NAN,
		.reason = timed ? "" : "it was simulated, not timed",
	};
	change_make(row);
	if (timed)
		interval_make(left, a->execution_count, right, b->execution_count, row);
}

static struct ab_side side_of(const struct stat_view *view)
{
	bool usage = view->has_usage;
	struct ab_side side = {
		.cpu_ns = usage ? view->cpu_ns : (double)NAN,
		.system_share =
			usage && view->cpu_ns >= 5e7 ? view->system_ns / view->cpu_ns : (double)NAN,
		.faults = usage ? view->minor_faults + view->major_faults : (double)NAN,
		.waits = usage ? view->voluntary_switches : (double)NAN,
		.pushes = usage ? view->involuntary_switches : (double)NAN,
		.instructions = (double)NAN,
		.cycles = (double)NAN,
		.branch_misses = (double)NAN,
		.cache_misses = (double)NAN,
	};

	ab_side_add_events(&side, view);
	return side;
}

/* time = instructions * cycles per instruction / clock rate. */
static void factors_make(
	const struct ab_side *a, const struct ab_side *b, struct diff_counts_view *view)
{
	double time = log(view->time.b / view->time.a);
	double work = log(b->instructions / a->instructions);
	double cycles = log(b->cycles / a->cycles);

	view->work_share = view->stall_share = view->clock_share = (double)NAN;
	if (!(fabs(time) >= log1p(SAME)) || !isfinite(work) || !isfinite(cycles))
		return;
	view->work_share = work / time;
	view->stall_share = (cycles - work) / time;
	view->clock_share = (time - cycles) / time;
}

/* A miss: its increase at its price, over the increase of the cycles, times what cycles explain of
 * the time. */
static void row_explain(const struct ab_side *a, const struct ab_side *b,
	const struct diff_counts_view *view, struct diff_count_row *row)
{
	double cycles = b->cycles - a->cycles;
	double of_time = view->work_share + view->stall_share; /* of the cycles, all of it */

	if (event_is(row->name, "instructions")) {
		row->explains_share = view->work_share;
		return;
	}
	if (event_is(row->name, "cycles")) {
		row->explains_share = of_time;
		return;
	}
	for (unsigned i = 0; i < sizeof(prices) / sizeof(*prices); i++) {
		double share = (row->b - row->a) * prices[i].cycles / cycles * of_time;

		if (!event_is(row->name, prices[i].event) || !isfinite(share))
			continue;
		row->explains_share = share;
		row->priced = true;
	}
}

static int compare_rows(const void *x, const void *y)
{
	const struct diff_count_row *a = x, *b = y;
	double left = isnan(a->explains_share) ? (double)-INFINITY : a->explains_share;
	double right = isnan(b->explains_share) ? (double)-INFINITY : b->explains_share;

	if (left < right || left > right)
		return left > right ? -1 : 1;
	left = isnan(a->change) ? -1 : fabs(log1p(a->change));
	right = isnan(b->change) ? -1 : fabs(log1p(b->change));
	if (left < right || left > right)
		return left > right ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void rows_make(const struct side *a, const struct side *b, struct arena *arena,
	struct diff_counts_view *view)
{
	const struct ab_side of_a = side_of(&a->view), of_b = side_of(&b->view);

	factors_make(&of_a, &of_b, view);
	view->rows = arena_take(arena, a->view.event_count * sizeof(*view->rows));
	for (uint32_t i = 0; i < a->view.event_count; i++)
		for (uint32_t k = 0; k < b->view.event_count; k++) {
			const struct stat_event *left = &a->view.events[i];
			const struct stat_event *right = &b->view.events[k];
			struct diff_count_row *row = &view->rows[view->row_count];

			if (!str_equal(left->name, right->name) ||
				!str_equal(left->core, right->core))
				continue;
			view->row_count++;
			row_make(a, left, b, right, row);
			row_explain(&of_a, &of_b, view, row);
			break;
		}
	if (view->row_count)
		qsort(view->rows, view->row_count, sizeof(*view->rows), compare_rows);
	view->explanation = ab_explain(&of_a, &of_b, arena);
}

/* What explains a change of time has nothing to say where no time is known. */
static void simulation_explain(struct diff_counts_view *view)
{
	bool both = view->simulated_a && view->simulated_b;

	view->explanation.cause = AB_CAUSE_UNKNOWN;
	view->explanation.text =
		both ? "counts of valgrind's CPU model, not of this CPU; the program was not timed"
		: view->simulated_a
			? "A was simulated and B was measured: neither their counts nor their "
			  "times can be compared"
			: "A was measured and B was simulated: neither their counts nor their "
			  "times can be compared";
}

void diff_counts_make(const struct run *a, const struct run *b, struct arena *arena,
	struct diff_counts_view *ret_view)
{
	const struct metric_book no_metrics = {0};
	struct side left = {.partial = a->partial}, right = {.partial = b->partial};
	struct diff_counts_view view = {0};

	stat_view_make(a, &no_metrics, arena, &left.view);
	stat_view_make(b, &no_metrics, arena, &right.view);
	view.executions_a = left.view.used_count;
	view.executions_b = right.view.used_count;
	view.simulated_a = left.view.simulated;
	view.simulated_b = right.view.simulated;
	time_make(&left.view, &right.view, &view.time);
	rows_make(&left, &right, arena, &view);
	if (view.simulated_a || view.simulated_b)
		simulation_explain(&view);
	*ret_view = view;
}
