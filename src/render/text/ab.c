/* ab.c - the verdict of `assay ab` for people and agents: the numbers, the outcome and by what,
 * then one line each on why, on what may be claimed, and on what disturbed it. */
#include "render/ab.h"

#include <math.h>

#include "render/bench.h"
#include "render/gate.h"

enum { AGENT_NAME = 40 };
#define CONTESTED_MUCH 0.1 /* share of the time in which tasks waited for a CPU: worth a line */

const char *ab_comparability(const struct ab_page *page)
{
	return page->build_count ? "ADVISORY" : "FULLY_COMPARABLE";
}

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

/* Memory and faults decide nothing, so they have no verdict: they moved or they did not. */
static const char *outcome_word(const struct ab_view *ab, uint32_t metric)
{
	static const char *const words[] = {
		[COMPARE_INCONCLUSIVE] = "not clear",
		[COMPARE_EQUIVALENT] = "same",
		[COMPARE_IMPROVED] = "less",
		[COMPARE_REGRESSED] = "more",
	};
	enum compare_outcome outcome = ab->metrics[metric].outcome;

	return metric < ab->deciding_count ? compare_outcome_name(outcome) : words[outcome];
}

static char *metric_number(char *buf, size_t capacity, const char *name, double value)
{
	if (str_equal(name, "memory"))
		return paper_bytes(buf, capacity, value);
	return str_equal(name, "faults") ? paper_count(buf, capacity, value)
					 : paper_time(buf, capacity, value);
}

static void metric_row(struct table *table, const struct ab_view *ab, uint32_t metric)
{
	const struct comparison *one = &ab->metrics[metric];
	str_auto struct str effect = {0}, interval = {0};
	char a[32], b[32];

	gate_percent(&effect, one->effect);
	if (one->constant) {
		str_add(&interval, "never varies");
	} else {
		gate_interval(&interval, one);
	}
	table_cell(table, INK_PLAIN, "%s", one->name);
	table_cell(table, INK_PLAIN, "%s", metric_number(a, sizeof(a), one->name, one->median_a));
	table_cell(table, INK_PLAIN, "%s", metric_number(b, sizeof(b), one->name, one->median_b));
	table_cell(table, INK_BOLD, "%s", str_text(&effect));
	table_cell(table, INK_DIM, "%s", str_text(&interval));
	table_cell(table, INK_DIM, "%.2g", one->adjusted_p);
	table_cell(table, metric < ab->deciding_count ? outcome_ink(one->outcome) : INK_DIM, "%s",
		outcome_word(ab, metric));
}

/* By what the rows were judged: a change has p below alpha, and an interval without 0. */
static void levels_text(struct paper *paper, const struct ab_view *ab)
{
	const struct comparison *wall = &ab->metrics[0];
	str_auto struct str line = {0};

	if (!ab->metric_count || ab->pair_count < COMPARE_PAIRS_MIN)
		return;
	str_addf(&line, "intervals of %.4g %%, where equivalent %.4g %%; a change needs p < %.3g",
		(1 - wall->alpha / wall->correction) * 100, wall->same_confidence * 100,
		wall->alpha);
	paper_wrap(paper, 2, INK_DIM, str_text(&line));
}

static void metrics_table(struct paper *paper, const struct ab_view *ab)
{
	table_auto struct table table = {0};

	table_columns(&table, "", ">A", ">B", ">B over A", ">interval", ">p", "");
	for (uint32_t i = 0; i < ab->metric_count; i++)
		metric_row(&table, ab, i);
	table_print(&table, paper, 2);
	levels_text(paper, ab);
	if (!ab->cpu_is_known)
		paper_wrap(paper, 2, INK_DIM,
			"cpu: not measured, a run used less than the kernel can account for");
}

/* What is open: whether it changed at all, or only whether by as much as matters. */
static void open_text(struct paper *paper, const struct comparison *by)
{
	if (by->adjusted_p < by->alpha)
		paper_add(paper, ": %s time changed, but cannot tell yet by more than %.3g %%, ",
			by->name, by->min_effect * 100);
	else
		paper_add(paper, ": cannot tell by %s time yet, ", by->name);
}

/* How many more pairs, and how long they take. */
static void more_text(struct paper *paper, const struct ab_view *ab)
{
	char time[32];

	if (!ab->more_pairs) {
		paper_add(paper, ": cannot tell from this data, ");
		return;
	}
	open_text(paper, ab->verdict.by);
	paper_add(paper, "needs about %llu more pairs (%s), ", (unsigned long long)ab->more_pairs,
		paper_time(time, sizeof(time), (double)ab->more_pairs * (double)ab->pair_ns));
}

static void verdict_text(struct paper *paper, const struct ab_view *ab)
{
	const struct compare_verdict *verdict = &ab->verdict;
	const struct comparison *by = verdict->by;

	paper_ink(
		paper, outcome_ink(verdict->outcome), "%s", compare_outcome_name(verdict->outcome));
	if (verdict->outcome == COMPARE_REGRESSED || verdict->outcome == COMPARE_IMPROVED)
		paper_add(paper,
			": B takes %.2f %% %s %s time than A (between %+.2f %% and %+.2f %%), ",
			fabs(by->effect) * 100, by->effect > 0 ? "more" : "less", by->name,
			by->lo * 100, by->hi * 100);
	else if (verdict->outcome == COMPARE_EQUIVALENT)
		paper_add(paper, ": A and B are the same within %.3g %%, ", by->min_effect * 100);
	else
		more_text(paper, ab);
	paper_add(paper, "%u pairs\n", ab->pair_count);
}

/* What was taken out of wall time, or why nothing could be though others had the CPUs. */
static void corrected_words(struct str *out, const struct ab_view *ab)
{
	const char *a = ab->a->uncorrected, *b = ab->b->uncorrected;

	if (ab->corrected)
		str_addf(out,
			"corrected wall: wall time less the time it waited for a CPU (%.1f %% of "
			"A, %.1f %% of B)",
			ab->a->queue_share * 100, ab->b->queue_share * 100);
	else if (ab->contested_high > CONTESTED_MUCH && (a || b))
		str_addf(out,
			"wall time may include waiting for a CPU; how much is unknown for %s: %s",
			a ? "A" : "B", a ? a : b);
}

static void corrected_text(struct paper *paper, const struct ab_view *ab)
{
	str_auto struct str line = {0};

	corrected_words(&line, ab);
	if (line.len)
		paper_wrap(paper, 2, INK_DIM, str_text(&line));
}

static const char *claim_of(const struct ab_view *ab)
{
	static const char *const claims[] = {
		[COMPARE_INCONCLUSIVE] = "nothing yet",
		[COMPARE_EQUIVALENT] = "B is as fast as A",
		[COMPARE_IMPROVED] = "B is faster than A",
		[COMPARE_REGRESSED] = "B is slower than A",
	};

	return claims[ab->verdict.outcome];
}

void ab_claim(const struct ab_page *page, struct str *ret_supports, struct str *ret_not)
{
	str_add(ret_supports, claim_of(page->view));
	str_addf(ret_supports, " on this machine with this input%s",
		page->same_output ? ", with the same output" : "");
	str_addf(ret_not, "other machines, inputs, loads or cache states%s%s",
		page->same_output ? "" : ", equal results",
		page->build_count ? ", a change of the source alone" : "");
}

static void claim_text(struct paper *paper, const struct ab_page *page)
{
	str_auto struct str line = {0}, other = {0};
	const char *before = "; weak: ";

	str_add(&line, "supports: ");
	ab_claim(page, &line, &other);
	str_addf(&line, "; does not support: %s", str_text(&other));
	for (unsigned i = 0; i < AB_WEAKNESSES; i++)
		if (page->view->weaknesses & 1u << i) {
			str_addf(&line, "%s%s", before, ab_weakness_text(i));
			before = ", ";
		}
	paper_wrap(paper, 2, INK_DIM, str_text(&line));
}

static void disturbed_text(struct paper *paper, const struct ab_view *ab)
{
	str_auto struct str line = {0};

	if (!ab->disturbed_count)
		return;
	str_addf(&line, "disturbed on one side: %u of %u pairs", ab->disturbed_count,
		ab->pair_count);
	for (unsigned i = 1; i < AB_DISTURBANCES; i++)
		if (ab->disturbances[i])
			str_addf(&line, ", %u %s", ab->disturbances[i], ab_disturbance_text(i));
	if (ab->calm_differs)
		str_addf(&line, "; without them: %s (%s %+.2f %%, %+.2f %% .. %+.2f %%)",
			compare_outcome_name(ab->calm_verdict.outcome), ab->calm_verdict.by->name,
			ab->calm_verdict.by->effect * 100, ab->calm_verdict.by->lo * 100,
			ab->calm_verdict.by->hi * 100);
	paper_wrap(paper, 2, ab->calm_differs ? INK_WARN : INK_DIM, str_text(&line));
}

static void neighbours_text(struct paper *paper, const struct ab_view *ab)
{
	const uint32_t left[] = {ab->leftovers_a, ab->leftovers_b};

	for (unsigned i = 0; i < 2; i++) {
		str_auto struct str line = {0};

		if (!left[i])
			continue;
		str_addf(&line,
			"%c left processes running in %u run%s; they kept running beside %s",
			"AB"[i], left[i], left[i] == 1 ? "" : "s", i ? "A and B" : "B and A");
		paper_wrap(paper, 2, INK_WARN, str_text(&line));
	}
	if (ab->load_changed) {
		str_auto struct str line = {0};

		str_addf(&line,
			"other work came and went: CPU contention was %.0f %% to %.0f %% of the "
			"time",
			ab->contested_low * 100, ab->contested_high * 100);
		paper_wrap(paper, 2, INK_WARN, str_text(&line));
	}
}

static void steps_text(struct paper *paper, const struct ab_page *page)
{
	str_auto struct str line = {0};

	if (!page->step_count)
		return;
	str_addf(&line, "together, %s time: ", page->step_metric);
	for (uint32_t i = 0; i + 1 < page->step_count; i++)
		str_addf(&line, "%s %+.2f %%, ", page->steps[i].path, page->steps[i].effect * 100);
	str_addf(&line, "this %+.2f %%: %+.2f %% (multiplied)",
		page->steps[page->step_count - 1].effect * 100,
		page->steps[page->step_count - 1].cumulative * 100);
	paper_wrap(paper, 2, INK_PLAIN, str_text(&line));
}

static void side_text(struct paper *paper, const struct ab_page *page, unsigned side)
{
	const struct bench_command *command = side ? page->view->b : page->view->a;

	paper_add(paper, "  %c  ", "AB"[side]);
	if (page->names[side])
		paper_add(paper, "%s (%.12s)  ", page->names[side], page->commits[side]);
	paper_add(paper, "%s\n", command->name);
}

static void explanation_text(struct paper *paper, const struct ab_page *page)
{
	str_auto struct str line = {0};

	if (!page->explanation)
		return;
	str_addf(&line, "why: %s", page->explanation->text);
	paper_wrap(paper, 2, INK_PLAIN, str_text(&line));
}

void ab_text(struct paper *paper, const struct ab_page *page)
{
	const struct ab_view *ab = page->view;
	const char *note = compare_note_text(ab->verdict.note);

	paper_add(paper, "\n");
	side_text(paper, page, 0);
	side_text(paper, page, 1);
	paper_add(paper, "\n");
	metrics_table(paper, ab);
	paper_add(paper, "\n  ");
	verdict_text(paper, ab);
	corrected_text(paper, ab);
	if (*note)
		paper_wrap(paper, 2, INK_DIM, note);
	explanation_text(paper, page);
	if (ab->tier)
		paper_add(paper, "  p95 of wall time of B is %.2f times that of A: %s\n",
			ab->tail_ratio, ab_tier_name(ab->tier));
	steps_text(paper, page);
	claim_text(paper, page);
	disturbed_text(paper, ab);
	neighbours_text(paper, ab);
	bench_troubles(paper, "A", ab->a);
	bench_troubles(paper, "B", ab->b);
	paper_add(paper, "\n");
}

static void agent_metric(struct paper *paper, const struct ab_view *ab, uint32_t metric)
{
	const struct comparison *one = &ab->metrics[metric];
	char a[32], b[32];

	if (metric >= ab->deciding_count) {
		paper_add(paper, "%s %+.1f %% (%s)", one->name, one->effect * 100,
			outcome_word(ab, metric));
		paper_add(paper, metric + 1 < ab->metric_count ? ", " : "\n");
		return;
	}
	paper_add(paper, "%s: A %s, B %s, %+.2f %% [%+.2f .. %+.2f] p = %.2g %s\n", one->name,
		paper_time(a, sizeof(a), one->median_a), paper_time(b, sizeof(b), one->median_b),
		one->effect * 100, one->lo * 100, one->hi * 100, one->adjusted_p,
		compare_outcome_name(one->outcome));
}

static void agent_verdict(struct paper *paper, const struct ab_page *page)
{
	const struct ab_view *ab = page->view;
	char time[32];

	paper_add(paper, "verdict: %s by %s, %u pairs, %s\n",
		compare_outcome_name(ab->verdict.outcome), ab->verdict.by->name, ab->pair_count,
		ab_comparability(page));
	if (ab->more_pairs)
		paper_add(paper, "needs: about %llu more pairs, %s\n",
			(unsigned long long)ab->more_pairs,
			paper_time(
				time, sizeof(time), (double)ab->more_pairs * (double)ab->pair_ns));
	if (ab->calm_differs)
		paper_add(paper, "without %u disturbed pairs: %s\n", ab->disturbed_count,
			compare_outcome_name(ab->calm_verdict.outcome));
}

void ab_agent(struct paper *paper, const struct ab_page *page)
{
	const struct ab_view *ab = page->view;
	const char *note = compare_note_text(ab->verdict.note);
	str_auto struct str corrected = {0};

	for (unsigned i = 0; i < 2; i++)
		paper_add(paper, "%c: %.*s%s%.*s\n", "AB"[i], AGENT_NAME,
			page -> names[i] ? page -> names[i] : "", page->names[i] ? ": " : "",
			AGENT_NAME, i ? ab->b->name : ab->a->name);
	for (uint32_t i = 0; i < ab->metric_count; i++)
		agent_metric(paper, ab, i);
	agent_verdict(paper, page);
	corrected_words(&corrected, ab);
	if (corrected.len)
		paper_add(paper, "%s\n", str_text(&corrected));
	if (*note)
		paper_add(paper, "note: %s\n", note);
	if (page->explanation && page->explanation->cause != AB_CAUSE_UNKNOWN)
		paper_add(paper, "why: %s\n", page->explanation->text);
	if (ab->a->failed)
		bench_troubles(paper, "A", ab->a);
	if (ab->b->failed)
		bench_troubles(paper, "B", ab->b);
	paper_add(
		paper, "runs: %s\n", page->artifact ? page->artifact : "not stored (-o RUN.assay)");
	paper_add(paper, "next: %s\n",
		ab->verdict.outcome == COMPARE_REGRESSED      ? "assay record -- B, then assay diff"
		: ab->verdict.outcome == COMPARE_INCONCLUSIVE ? "assay ab --budget 5m A -- B"
							      : "assay bench 'B' --save NAME");
}
