/* round.c - see round.h. */
#include "render/round.h"

#include <math.h>

/* "-24.1 % (-26.0 to -22.3)": the change of time, after the round. */
static void change_words(struct str *out, double ratio, double lo, double hi)
{
	str_addf(out, "%+.1f %%", 100 * (ratio - 1));
	if (isfinite(lo) && isfinite(hi))
		str_addf(out, " (%+.1f to %+.1f)", 100 * (lo - 1), 100 * (hi - 1));
	else
		str_add(out, " (too few runs for an interval)");
}

static void gain_words(struct str *out, double gain, double lo, double hi)
{
	str_addf(out, "%.1f %%", 100 * gain);
	if (isfinite(lo) && isfinite(hi))
		str_addf(out, " (%.1f to %.1f)", 100 * lo, 100 * hi);
}

const char *round_no_promise(const struct round_view *view)
{
	return view->is_place_unchanged
		       ? "the place that the earlier run named takes as much time as before, as "
			 "far as the samples tell: no gain was due"
		       : "the earlier run promised no measurable gain";
}

void round_promise_words(struct str *out, const struct round_view *view)
{
	static const char *const verdicts[] = {
		[ROUND_PROMISE_NONE] = "",
		[ROUND_PROMISE_ARRIVED] = "the promised gain arrived",
		[ROUND_PROMISE_LESS] = "less than promised",
		[ROUND_PROMISE_MORE] = "more than promised",
		[ROUND_PROMISE_OPEN] = "these runs cannot tell whether it arrived",
	};

	if (view->promise == ROUND_PROMISE_NONE) {
		str_add(out, round_no_promise(view));
		return;
	}
	str_addf(out, "promised for %s with %.0f %% less time there: ",
		*view->promised_location ? view->promised_location : "the change",
		100 * view->promised_at);
	gain_words(out, view->promised, view->promised_lo, view->promised_hi);
	str_add(out, " less time; measured: ");
	gain_words(out, view->gained, view->gained_lo, view->gained_hi);
	str_addf(out, "; %s", verdicts[view->promise]);
}

/* "cpu time 2.00 s -> 1.50 s, -25.0 % (-26.0 to -24.1)" */
static void metric_words(struct str *out, const struct comparison *one)
{
	char before[32], after[32];

	str_addf(out, "%s %s -> %s, ", one->name, paper_time(before, sizeof(before), one->median_a),
		paper_time(after, sizeof(after), one->median_b));
	change_words(out, 1 + one->effect, 1 + one->lo, 1 + one->hi);
}

/* What decided comes first. */
void round_moved_words(struct str *out, const struct round_view *view)
{
	const struct compare_verdict *verdict = &view->verdict;

	if (!view->has_baselines) {
		str_add(out, "one of the two runs has no baseline, so they cannot be compared");
		return;
	}
	str_addf(out, "%s: ", compare_outcome_name(verdict->outcome));
	metric_words(out, verdict->by);
	if (verdict->by == &view->wall)
		return;
	str_add(out, "; ");
	metric_words(out, &view->wall);
	if (*compare_note_text(verdict->note))
		str_addf(out, "; %s", compare_note_text(verdict->note));
}

void round_machine_words(struct str *out, const struct round_view *view)
{
	str_addf(out, "%s", fingerprint_class_name(view->class));
	for (uint32_t i = 0; i < view->difference_count && i < 3; i++)
		str_addf(out, "%s%s", i ? ", " : ": ", view->differences[i].field);
	if (view->difference_count > 3)
		str_addf(out, " and %u more", view->difference_count - 3);
}

void round_text(struct paper *paper, const struct round_view *view)
{
	str_auto struct str moved = {0}, promise = {0}, machine = {0};

	round_moved_words(&moved, view);
	round_promise_words(&promise, view);
	paper_ink(paper, INK_BOLD, "Since %s", view->before_id);
	paper_add(paper, " (round %u)\n", view->round);
	paper_wrap(paper, 2, INK_PLAIN, moved.at);
	if (view->output_changed)
		paper_wrap(paper, 2, INK_WARN,
			"the output differs from the earlier run: check that it is still right");
	if (view->has_baselines && view->class != FULLY_COMPARABLE) {
		round_machine_words(&machine, view);
		paper_wrap(paper, 2, INK_WARN, machine.at);
	}
	paper_wrap(paper, 2, INK_PLAIN, promise.at);
	if (isfinite(view->compounded) && view->verdict.outcome != COMPARE_INCONCLUSIVE)
		paper_add(
			paper, "  all rounds together: %.2f times as fast\n", 1 / view->compounded);
	paper_add(paper, "  ");
	paper_ink(paper, view->stop ? INK_GOOD : INK_BOLD, "%s", view->next);
	paper_add(paper, "\n  (two sessions, not interleaved: advisory; `assay ab OLD -- NEW` is "
			 "more reliable)\n\n");
}

void round_agent(struct paper *paper, const struct round_view *view)
{
	str_auto struct str moved = {0}, promise = {0};

	round_moved_words(&moved, view);
	round_promise_words(&promise, view);
	paper_add(paper, "round %u, against %s: %s\n", view->round, view->before_id, moved.at);
	paper_add(paper, "promise: %s\n", promise.at);
	paper_add(paper, "%s%s\n",
		view->output_changed ? "the output differs from the earlier run; " : "",
		view->next);
}
