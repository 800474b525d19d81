/* round.c - see round.h. */
#include "render/round.h"

#include <math.h>

#include "render/markdown.h"

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

static void promise_words(struct str *out, const struct round_view *view)
{
	static const char *const verdicts[] = {
		[ROUND_PROMISE_NONE] = "",
		[ROUND_PROMISE_ARRIVED] = "the promised gain arrived",
		[ROUND_PROMISE_LESS] = "less than promised",
		[ROUND_PROMISE_MORE] = "more than promised: the place got faster than assumed",
		[ROUND_PROMISE_OPEN] = "these runs cannot tell whether it arrived",
	};

	if (view->promise == ROUND_PROMISE_NONE) {
		str_add(out, "the run before promised no gain that could be measured");
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

static void moved_words(struct str *out, const struct round_view *view)
{
	char before[32], after[32];

	if (!view->has_baselines) {
		str_add(out, "one of the two runs has no baseline: nothing can be compared");
		return;
	}
	str_addf(out, "%s: wall time %s -> %s, ", compare_outcome_name(view->verdict.outcome),
		paper_time(before, sizeof(before), view->before_ns),
		paper_time(after, sizeof(after), view->after_ns));
	change_words(out, view->ratio, view->ratio_lo, view->ratio_hi);
}

static void machine_words(struct str *out, const struct round_view *view)
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

	moved_words(&moved, view);
	promise_words(&promise, view);
	paper_ink(paper, INK_BOLD, "Since %s", view->before_id);
	paper_add(paper, " (round %u)\n", view->round);
	paper_wrap(paper, 2, INK_PLAIN, moved.at);
	if (view->output_changed)
		paper_wrap(paper, 2, INK_WARN,
			"the output is another than before: see whether it is still right");
	if (view->has_baselines && view->class != FULLY_COMPARABLE) {
		machine_words(&machine, view);
		paper_wrap(paper, 2, INK_WARN, machine.at);
	}
	paper_wrap(paper, 2, INK_PLAIN, promise.at);
	if (isfinite(view->compounded) && view->verdict.outcome != COMPARE_INCONCLUSIVE)
		paper_add(
			paper, "  all rounds together: %.2f times as fast\n", 1 / view->compounded);
	paper_add(paper, "  ");
	paper_ink(paper, view->stop ? INK_GOOD : INK_BOLD, "%s", view->next);
	paper_add(paper, "\n  (two sessions, not interleaved: advisory; `assay ab OLD -- NEW` is "
			 "exact)\n\n");
}

void round_agent(struct paper *paper, const struct round_view *view)
{
	str_auto struct str moved = {0}, promise = {0};

	moved_words(&moved, view);
	promise_words(&promise, view);
	paper_add(paper, "round %u, against %s: %s\n", view->round, view->before_id, moved.at);
	paper_add(paper, "promise: %s\n", promise.at);
	paper_add(paper, "%s%s\n",
		view->output_changed ? "the output is another than before; " : "", view->next);
}

static void put_number(struct jsonw *w, const char *key, double value, const char *reason)
{
	if (isfinite(value))
		jsonw_put_double(w, key, value);
	else
		jsonw_put_missing(w, key, reason);
}

static void promise_json(struct jsonw *w, const struct round_view *view)
{
	static const char none[] = "the run before promised no gain that could be measured";

	jsonw_key(w, "promise");
	jsonw_begin_object(w);
	jsonw_put_text(w, "result", round_promise_word(view->promise));
	jsonw_put_text(w, "location", view->promised_location);
	put_number(w, "gain", view->promised, none);
	put_number(w, "gain_lo", view->promised_lo, none);
	put_number(w, "gain_hi", view->promised_hi, none);
	put_number(w, "gain_at", view->promised_at, none);
	jsonw_end_object(w);
}

void round_json(struct jsonw *w, const struct round_view *view)
{
	static const char few[] = "too few runs for an interval";
	static const char none[] = "one of the two runs has no baseline";

	jsonw_put_u64(w, "round", view->round);
	jsonw_put_text(w, "before", view->before_id);
	jsonw_put_text(w, "after", view->after_id);
	jsonw_put_text(w, "outcome",
		view->has_baselines ? compare_outcome_name(view->verdict.outcome) : "inconclusive");
	jsonw_put_bool(w, "advisory", true);
	jsonw_put_text(w, "class", fingerprint_class_name(view->class));
	jsonw_put_bool(w, "output_changed", view->output_changed);
	put_number(w, "before_ns", round(view->before_ns), none);
	put_number(w, "after_ns", round(view->after_ns), none);
	put_number(w, "ratio", view->ratio, none);
	put_number(w, "ratio_lo", view->ratio_lo, few);
	put_number(w, "ratio_hi", view->ratio_hi, few);
	put_number(w, "compounded_ratio", view->compounded, none);
	put_number(w, "gained", view->gained, none);
	promise_json(w, view);
	jsonw_put_bool(w, "stop", view->stop);
	jsonw_put_text(w, "next", view->next);
}

void round_markdown(struct str *out, const struct round_view *view)
{
	str_addf(out, "\n## Since the run before (round %u, against %s)\n\n- ", view->round,
		view->before_id);
	moved_words(out, view);
	str_add(out, "\n- ");
	promise_words(out, view);
	str_add(out, "\n- the machines: ");
	machine_words(out, view);
	if (view->output_changed)
		str_add(out, "\n- the output is another than before");
	if (isfinite(view->compounded))
		str_addf(out,
			"\n- all rounds together: %.3f of the time of round 0, %.2f times as "
			"fast",
			view->compounded, 1 / view->compounded);
	str_addf(out, "\n- %s\n\nTwo sessions were compared, not interleaved runs: advisory.\n",
		view->next);
}

static void time_cell(struct str *out, double ns)
{
	char text[32];

	str_addf(out, " | %s", isfinite(ns) ? paper_time(text, sizeof(text), ns) : "-");
}

static void history_row(struct str *out, const struct round_line_view *line)
{
	str_addf(out, "| %u | %s", line->round, line->run_id);
	time_cell(out, line->before_ns);
	time_cell(out, line->after_ns);
	if (isfinite(line->ratio))
		str_addf(out, " | %.3f", line->ratio);
	else
		str_add(out, " | -");
	if (isfinite(line->ratio_lo) && isfinite(line->ratio_hi))
		str_addf(out, " (%.3f to %.3f)", line->ratio_lo, line->ratio_hi);
	if (isfinite(line->promised))
		str_addf(out, " | %.3f", line->promised);
	else
		str_add(out, " | -");
	if (isfinite(line->compounded))
		str_addf(out, " | %.3f", line->compounded);
	else
		str_add(out, " | -");
	str_addf(out, " | %s | ", *line->verdict ? line->verdict : "-");
	if (*line->first)
		markdown_code(out, line->first, true);
	else
		str_add(out, "-");
	str_add(out, " |\n");
}

void history_markdown(struct str *out, const struct round_line_view *lines, uint32_t count)
{
	str_add(out, "# History\n\nTimes are medians of wall time. A ratio is the time after over "
		     "the time before; all of them multiplied are the compounded one. Promised is "
		     "the ratio that the run before expected. Stop when a round brings less than "
		     "5 %, or when what is next scores below 2.\n");
	for (uint32_t i = 0; i < count; i++) {
		bool known = false;

		for (uint32_t k = 0; k < i; k++)
			known = known || str_equal(lines[k].target, lines[i].target);
		if (known)
			continue;
		str_add(out, "\n## ");
		markdown_code(out, lines[i].target, false);
		str_add(out, "\n\n| round | run | before | after | ratio | promised | compounded | "
			     "verdict | first now |\n|---|---|---|---|---|---|---|---|---|\n");
		for (uint32_t k = i; k < count; k++)
			if (str_equal(lines[k].target, lines[i].target))
				history_row(out, &lines[k]);
	}
}
