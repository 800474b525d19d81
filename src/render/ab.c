/* ab.c - the verdict of `assay ab`: first the outcome and by what, then the numbers it rests on. */
#include <math.h>

#include "render/bench.h"

static enum ink outcome_ink(enum compare_outcome outcome)
{
	static const enum ink inks[] = {
		[COMPARE_INCONCLUSIVE] = INK_WARN,
		[COMPARE_EQUIVALENT] = INK_PLAIN,
		[COMPARE_IMPROVED] = INK_GOOD,
		[COMPARE_REGRESSED] = INK_BAD,
	};

	return inks[outcome];
}

static void percent(struct str *out, double share)
{
	if (isfinite(share))
		str_addf(out, "%+.2f %%", share * 100);
	else
		str_add(out, "no bound");
}

static void metric_row(struct table *table, const struct comparison *one)
{
	str_auto struct str effect = {0}, interval = {0};
	char a[32], b[32];

	percent(&effect, one->effect);
	percent(&interval, one->lo);
	str_add(&interval, " .. ");
	percent(&interval, one->hi);
	table_cell(table, INK_PLAIN, "%s", one->name);
	table_cell(table, INK_PLAIN, "%s", paper_time(a, sizeof(a), one->median_a));
	table_cell(table, INK_PLAIN, "%s", paper_time(b, sizeof(b), one->median_b));
	table_cell(table, INK_BOLD, "%s", str_text(&effect));
	table_cell(table, INK_DIM, "%s", str_text(&interval));
	table_cell(table, INK_DIM, "%.2g", one->adjusted_p);
	table_cell(table, outcome_ink(one->outcome), "%s", compare_outcome_name(one->outcome));
}

static void metrics_table(struct paper *paper, const struct bench_ab *ab)
{
	table_auto struct table table = {0};

	table_column(&table, "", false);
	table_column(&table, "A", true);
	table_column(&table, "B", true);
	table_column(&table, "B over A", true);
	table_column(&table, "95 % interval", true);
	table_column(&table, "p", true);
	table_column(&table, "", false);
	for (uint32_t i = 0; i < ab->metric_count; i++)
		metric_row(&table, &ab->metrics[i]);
	table_print(&table, paper, 2);
	if (!ab->cpu_is_known)
		paper_wrap(paper, 2, INK_DIM,
			"cpu: not measured, a run used less than the kernel accounts for");
}

static void verdict_text(struct paper *paper, const struct bench_ab *ab)
{
	const struct compare_verdict *verdict = &ab->verdict;
	const struct comparison *by = verdict->by;

	paper_ink(
		paper, outcome_ink(verdict->outcome), "%s", compare_outcome_name(verdict->outcome));
	if (by && (verdict->outcome == COMPARE_REGRESSED || verdict->outcome == COMPARE_IMPROVED))
		paper_add(paper, ": B takes %.2f %% %s %s time than A (%+.2f %% .. %+.2f %%), ",
			fabs(by->effect) * 100, by->effect > 0 ? "more" : "less", by->name,
			by->lo * 100, by->hi * 100);
	else if (by && verdict->outcome == COMPARE_EQUIVALENT)
		paper_add(paper, ": A and B are the same within %.3g %%, ", by->min_effect * 100);
	else if (by && by->pairs_needed)
		paper_add(paper, ": %s time cannot be told yet, about %llu pairs would do, ",
			by->name, (unsigned long long)by->pairs_needed);
	else
		paper_add(paper, ": the data cannot tell, ");
	paper_add(paper, "%u pairs\n", ab->pair_count);
}

void ab_text(struct paper *paper, const struct bench_ab *ab)
{
	const char *note = compare_note_text(ab->verdict.note);

	paper_add(paper, "\n  A  %s\n  B  %s\n\n", ab->a->name, ab->b->name);
	metrics_table(paper, ab);
	paper_add(paper, "\n  ");
	verdict_text(paper, ab);
	if (*note)
		paper_wrap(paper, 2, INK_DIM, note);
	bench_troubles(paper, "A", ab->a);
	bench_troubles(paper, "B", ab->b);
	paper_add(paper, "\n");
}

void ab_agent(struct paper *paper, const struct bench_ab *ab)
{
	const char *note = compare_note_text(ab->verdict.note);

	paper_add(paper, "A: %.120s\nB: %.120s\n", ab->a->name, ab->b->name);
	for (uint32_t i = 0; i < ab->metric_count; i++) {
		const struct comparison *one = &ab->metrics[i];

		paper_add(paper,
			"%s: A %.0f ns, B %.0f ns, B/A-1 = %+.4f [%+.4f .. %+.4f] p = %.2g %s\n",
			one->name, one->median_a, one->median_b, one->effect, one->lo, one->hi,
			one->adjusted_p, compare_outcome_name(one->outcome));
	}
	paper_add(paper, "verdict: ");
	verdict_text(paper, ab);
	if (*note)
		paper_add(paper, "note: %s\n", note);
	if (ab->a->failed)
		bench_troubles(paper, "A", ab->a);
	if (ab->b->failed)
		bench_troubles(paper, "B", ab->b);
	paper_add(paper, "next: %s\n",
		ab->verdict.outcome == COMPARE_REGRESSED      ? "assay record -- B, then assay diff"
		: ab->verdict.outcome == COMPARE_INCONCLUSIVE ? "assay ab --budget 5m A -- B"
							      : "assay bench 'B' --save NAME");
}

static void number(struct jsonw *w, const char *key, double value)
{
	if (isfinite(value))
		jsonw_put_double(w, key, value);
	else
		jsonw_put_missing(w, key, "it takes at least 6 pairs");
}

static void effect_json(struct jsonw *w, const struct comparison *one)
{
	number(w, "effect", one->effect);
	number(w, "lo", one->lo);
	number(w, "hi", one->hi);
	jsonw_put_double(w, "p", one->adjusted_p);
}

static void metric_json(struct jsonw *w, const struct comparison *one)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", one->name);
	jsonw_put_text(w, "outcome", compare_outcome_name(one->outcome));
	number(w, "median_a_ns", one->median_a);
	number(w, "median_b_ns", one->median_b);
	effect_json(w, one);
	jsonw_put_double(w, "p_unadjusted", one->p);
	jsonw_put_double(w, "alpha", one->alpha);
	jsonw_put_double(w, "min_effect", one->min_effect);
	jsonw_put_u64(w, "pairs", one->a_count);
	number(w, "detectable", one->detectable);
	if (one->pairs_needed)
		jsonw_put_u64(w, "pairs_needed", one->pairs_needed);
	else
		jsonw_put_missing(w, "pairs_needed",
			one->outcome == COMPARE_INCONCLUSIVE ? "no number of pairs would do"
							     : "it is settled");
	jsonw_end_object(w);
}

static void verdict_json(struct jsonw *w, const struct bench_ab *ab)
{
	const struct compare_verdict *verdict = &ab->verdict;

	jsonw_key(w, "verdict");
	jsonw_begin_object(w);
	jsonw_put_text(w, "outcome", compare_outcome_name(verdict->outcome));
	jsonw_put_text(w, "metric", verdict->by->name);
	effect_json(w, verdict->by);
	jsonw_put_bool(w, "confirmed_by_wall", verdict->confirmed);
	jsonw_put_text(w, "note", compare_note_text(verdict->note));
	jsonw_end_object(w);
}

static void pairs_json(struct jsonw *w, const struct bench_ab *ab)
{
	jsonw_key(w, "pairs");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < ab->pair_count; i++) {
		const struct bench_run *a = ab->pairs[i].a, *b = ab->pairs[i].b;

		jsonw_begin_object(w);
		jsonw_put_text(w, "first", a->position < b->position ? "a" : "b");
		jsonw_put_u64(w, "a_wall_ns", a->wall_ns);
		jsonw_put_u64(w, "b_wall_ns", b->wall_ns);
		jsonw_put_u64(w, "a_cpu_ns", a->user_ns + a->system_ns);
		jsonw_put_u64(w, "b_cpu_ns", b->user_ns + b->system_ns);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void ab_json(struct jsonw *w, const struct bench_ab *ab)
{
	verdict_json(w, ab);
	jsonw_key(w, "metrics");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < ab->metric_count; i++)
		metric_json(w, &ab->metrics[i]);
	jsonw_end_array(w);
	jsonw_put_bool(w, "cpu_measured", ab->cpu_is_known);
	pairs_json(w, ab);
	jsonw_key(w, "a");
	jsonw_begin_object(w);
	bench_command_json(w, ab->a);
	jsonw_end_object(w);
	jsonw_key(w, "b");
	jsonw_begin_object(w);
	bench_command_json(w, ab->b);
	jsonw_end_object(w);
}
