/* causal.c - the curves of `assay causal` as a table, and why there may be none. */
#include "render/markdown.h"

#include "render/causal.h"

static void gain_markdown(struct str *out, const struct causal_gain *gain)
{
	if (!gain->is_known)
		str_add(out, gain->trials ? " (few) |" : " - |");
	else
		str_addf(out, " %.1f (%.1f to %.1f) |", 100 * gain->gain, 100 * gain->lo,
			100 * gain->hi);
}

static void rows_markdown(
	struct str *out, const struct causal_view *view, uint32_t from, uint32_t to)
{
	str_add(out,
		"\n| target | kind | 25 % | 50 % | 75 % | gone | slope | of samples | pairs |\n"
		"|---|---|---|---|---|---|---|---|---|\n");
	for (uint32_t i = from; i < to; i++) {
		const struct causal_target_view *target = &view->targets[i];

		str_add(out, "| ");
		markdown_code(out, target->name, true);
		str_addf(out, " | %s |", causal_class_name(target->curve.class));
		for (uint32_t level = 0; level < CAUSAL_LEVELS; level++)
			gain_markdown(out, &target->curve.gains[level]);
		if (target->curve.slope_is_known)
			str_addf(out, " %.2f (%.2f to %.2f) |", target->curve.slope,
				target->curve.slope_lo, target->curve.slope_hi);
		else
			str_add(out, " - |");
		if (target->samples > 0)
			str_addf(out, " %.0f %% |", 100 * target->sample_share);
		else
			str_add(out, " - |");
		str_addf(out, " %u |\n", target->curve.trials);
	}
}

static void reasons_markdown(struct str *out, const struct causal_view *view)
{
	str_addf(out,
		"\n## Why believe it\n\n%u pairs of experiments in random order, each target "
		"compared with itself at normal speed; intervals are 95 %%.\n",
		view->pairs);
	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++) {
		str_auto struct str sentence = {0};

		if (!view->guards[i].is_bad)
			continue;
		causal_doubt_sentence(&sentence, &view->guards[i]);
		markdown_add(out, "- **%s**: %s\n", causal_doubt_name(view->guards[i].doubt),
			str_text(&sentence));
	}
}

/* No gain can be told: what the work costs. */
static void costs_markdown(struct str *out, const struct causal_view *view)
{
	str_auto struct str sentence = {0};

	causal_work_sentence(&sentence, view);
	if (sentence.len)
		markdown_add(out, "\nNo gain is given: %s.\n", sentence.at);
	str_add(out, "\n| target | of samples |\n|---|---|\n");
	for (uint32_t i = 0; i < view->target_count; i++) {
		str_add(out, "| ");
		markdown_code(out, view->targets[i].name, true);
		str_addf(out, " | %.0f %% |\n", 100 * view->targets[i].sample_share);
	}
}

void causal_markdown(struct str *out, const struct causal_view *view, const char *target)
{
	str_auto struct str nothing = {0};

	str_add(out, "# What would the program gain?\n\n");
	markdown_code(out, target, false);
	str_add(out, "\n");
	causal_nothing(&nothing, view);
	if (nothing.len) {
		markdown_add(out, "\n%s.\n", nothing.at);
		return;
	}
	if (view->point->is_end)
		str_add(out, "\nWhole runs are compared: the program's end is its progress.\n");
	else
		markdown_add(out, "\nProgress is judged by '%s' (%.1f per second).\n",
			view->point->name, view->point->per_second);
	if (view->pace != CAUSAL_PACE_OWN) {
		costs_markdown(out, view);
		reasons_markdown(out, view);
		return;
	}
	for (uint32_t i = 0; i < view->flat_from && i < 3; i++) {
		str_auto struct str sentence = {0};

		causal_sentence(&sentence, view, &view->targets[i]);
		if (sentence.len)
			markdown_add(out, i ? "- %s.\n" : "\n- %s.\n", sentence.at);
	}
	if (view->flat_from) {
		str_add(out, "\n## Worth changing: gain of the program in %\n");
		rows_markdown(out, view, 0, view->flat_from);
	}
	if (view->flat_from < view->target_count) {
		str_add(out,
			"\n## Hot, but not worth changing (or not distinguishable from that)\n");
		rows_markdown(out, view, view->flat_from, view->target_count);
	}
	reasons_markdown(out, view);
}
