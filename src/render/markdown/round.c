/* round.c - what moved since the run before, and HISTORY.md. */
#include "render/markdown.h"

#include <math.h>

#include "render/paper.h"
#include "render/round.h"

void round_markdown(struct str *out, const struct round_view *view)
{
	str_auto struct str moved = {0}, promise = {0}, machine = {0};

	round_moved_words(&moved, view);
	round_promise_words(&promise, view);
	markdown_add(out, "\n## Since the earlier run (round %u, against %s)\n\n- %s\n- %s",
		view->round, view->before_id, str_text(&moved), str_text(&promise));
	if (view->has_baselines) {
		round_machine_words(&machine, view);
		markdown_add(out, "\n- the machines: %s", str_text(&machine));
	}
	if (view->output_changed)
		str_add(out, "\n- the output differs from the earlier run");
	if (isfinite(view->compounded) && view->verdict.outcome != COMPARE_INCONCLUSIVE)
		str_addf(out,
			"\n- all rounds together: %.3f of the time of round 0, %.2f times as "
			"fast",
			view->compounded, 1 / view->compounded);
	markdown_add(out, "\n- %s\n\nTwo sessions were compared, not interleaved runs: advisory.\n",
		view->next);
}

static void time_cell(struct str *out, double ns)
{
	char text[32];

	str_addf(out, " | %s", isfinite(ns) ? paper_time(text, sizeof(text), ns) : "-");
}

static void ratio_cell(struct str *out, double ratio)
{
	if (isfinite(ratio))
		str_addf(out, " | %.3f", ratio);
	else
		str_add(out, " | -");
}

static void history_row(struct str *out, const struct round_line_view *line)
{
	markdown_add_cells(out, "| %u | %s", line->round, line->run_id);
	time_cell(out, line->before_ns);
	time_cell(out, line->after_ns);
	ratio_cell(out, line->ratio);
	if (isfinite(line->ratio_lo) && isfinite(line->ratio_hi))
		str_addf(out, " (%.3f to %.3f)", line->ratio_lo, line->ratio_hi);
	ratio_cell(out, line->promised);
	ratio_cell(out, line->compounded);
	markdown_add_cells(out, " | %s | ", *line->verdict ? line->verdict : "-");
	if (*line->first)
		markdown_code(out, line->first, true);
	else
		str_add(out, "-");
	str_add(out, " |\n");
}

void history_markdown(struct str *out, const struct round_line_view *lines, uint32_t count)
{
	str_add(out,
		"# History\n\nTimes are medians of wall time. A ratio is the time after over the "
		"time before; compounded is the product of all ratios. Promised is the ratio that "
		"the earlier run predicted. Stop when a round gains less than 5 %, or when the "
		"next candidate scores below 2 and no experiment proves a gain of 5 % for it.\n");
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
