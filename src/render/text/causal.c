/* causal.c - see causal.h: for people and for agents. */
#include "render/causal.h"

#include "render/shorten.h"

/* Bounds this far apart say no more than a question mark does. */
#define TELLS_NOTHING 0.8

enum { WIDE = 96, OTHER_COLUMNS = 64, SAMPLES_COLUMNS = 12, COST_COLUMNS = 36, NAME_LEAST = 12 };

enum { TARGETS_SHOWN = 10, FLAT_SHOWN = 6, AGENT_TARGETS = 6 };

static void cell_gain(struct table *table, const struct causal_gain *gain)
{
	enum ink ink = gain->lo > 0 ? INK_GOOD : gain->hi < 0 ? INK_BAD : INK_PLAIN;

	if (!gain->trials)
		table_cell(table, INK_DIM, "-");
	else if (!gain->is_known || gain->hi - gain->lo > TELLS_NOTHING)
		table_cell(table, INK_DIM, "%.0f ?", 100 * gain->gain);
	else
		table_cell(table, ink, "%.1f ±%.1f", 100 * gain->gain, 50 * (gain->hi - gain->lo));
}

/* What the work costs, where no gain can be told. */
static void table_costs(struct paper *paper, const struct causal_view *view, uint32_t count)
{
	table_auto struct table table = {0};
	unsigned width = paper_width(paper);
	unsigned space_left = width > COST_COLUMNS + NAME_LEAST ? width - COST_COLUMNS : NAME_LEAST;

	table_columns(&table, "target", ">of samples", ">CPU time of a visit");
	for (uint32_t i = 0; i < count; i++) {
		const struct causal_target_view *target = &view->targets[i];

		str_auto struct str name = {0};

		path_shorten(target->name, space_left, &name);
		table_cell(&table, INK_BOLD, "%s", str_text(&name));
		table_cell(&table, INK_PLAIN, "%.0f %%", 100 * target->sample_share);
		table_time(&table, INK_PLAIN, target->sample_share * view->work_ns);
	}
	table_print(&table, paper, 2);
}

static void table_targets(
	struct paper *paper, const struct causal_view *view, uint32_t from, uint32_t to)
{
	table_auto struct table table = {0};
	unsigned width = paper_width(paper);
	bool narrow = width < WIDE;
	/* What the other columns take with bounds of usual width. */
	unsigned others = narrow ? OTHER_COLUMNS : OTHER_COLUMNS + SAMPLES_COLUMNS;
	unsigned space_left = width > others + NAME_LEAST ? width - others : NAME_LEAST;

	table_columns(&table, "target", "kind", ">25 %", ">50 %", ">75 %", ">gone");
	if (!narrow)
		table_column(&table, "of samples", true);
	table_column(&table, "pairs", true);
	for (uint32_t i = from; i < to; i++) {
		const struct causal_target_view *target = &view->targets[i];

		str_auto struct str name = {0};

		path_shorten(target->name, space_left, &name);
		table_cell(
			&table, INK_BOLD, "%s%s", str_text(&name), target->waits ? " (waits)" : "");
		table_cell(&table, INK_PLAIN, "%s", causal_class_name(target->curve.class));
		for (uint32_t level = 0; level < CAUSAL_LEVELS; level++)
			cell_gain(&table, &target->curve.gains[level]);
		if (!narrow && target->samples > 0)
			table_cell(&table, INK_PLAIN, "%.0f %%", 100 * target->sample_share);
		else if (!narrow)
			table_cell(&table, INK_DIM, "-");
		table_cell(&table, INK_PLAIN, "%u", target->curve.trials);
	}
	table_print(&table, paper, 2);
}

static void doubts_add(struct paper *paper, const struct causal_view *view, unsigned indent)
{
	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++) {
		str_auto struct str text = {0};

		if (!view->guards[i].is_bad || !view->pairs)
			continue;
		if (view->pace != CAUSAL_PACE_OWN && i != CAUSAL_DOUBT_PACED &&
			i != CAUSAL_DOUBT_PEER)
			continue; /* they speak of gains */
		causal_doubt_sentence(&text, &view->guards[i]);
		paper_wrap(paper, indent, INK_WARN, str_text(&text));
	}
}

/* The fallback is named, with what it cannot see. */
static void engine_add(struct paper *paper, const struct causal_view *view)
{
	str_auto struct str text = {0};

	if (!view->is_inside)
		return;
	str_add(&text, "engine: preload (no BPF), which does not see ");
	for (unsigned i = 0; causal_not_seen[i]; i++)
		str_addf(&text, "%s%s", i ? ", " : "", causal_not_seen[i]);
	paper_wrap(paper, 0, INK_DIM, str_text(&text));
}

static void head_add(struct paper *paper, const struct causal_view *view)
{
	char rate[32], time[32];

	if (!view->point)
		return;
	paper_time(time, sizeof(time), (double)view->measured_ns);
	if (view->point->is_end)
		paper_add(paper, "%u pairs of whole runs in %s\n", view->pairs, time);
	else
		paper_add(paper, "%u pairs of experiments in %s; progress: %s '%s', %s/s\n",
			view->pairs, time, view->point->is_latency ? "latency of" : "visits of",
			view->point->name,
			paper_count(rate, sizeof(rate), view->point->per_second));
	if (view->disturbed)
		paper_add(paper, "  %u more pairs were excluded: other programs used the CPUs\n",
			view->disturbed);
	for (uint32_t i = 0; i < view->point_count; i++)
		if (!view->points[i].is_chosen && view->points[i].visits > 0)
			paper_add(paper,
				"  other progress point: '%s', %s/s (choose with --progress)\n",
				view->points[i].name,
				paper_count(rate, sizeof(rate), view->points[i].per_second));
}

static void flat_add(struct paper *paper, const struct causal_view *view)
{
	uint32_t to = view->target_count;

	if (view->flat_from == to)
		return;
	if (to - view->flat_from > FLAT_SHOWN)
		to = view->flat_from + FLAT_SHOWN;
	paper_ink(paper, INK_BOLD, "\nNot worth changing, or not distinguishable from that\n");
	table_targets(paper, view, view->flat_from, to);
}

/* What both begin with; false: there is no answer, and that has been said. */
static bool beginning_add(struct paper *paper, const struct causal_view *view)
{
	str_auto struct str nothing = {0};

	head_add(paper, view);
	engine_add(paper, view);
	causal_nothing(&nothing, view);
	if (nothing.len)
		paper_wrap(paper, 0, INK_WARN, nothing.at);
	else
		doubts_add(paper, view, 0);
	return !nothing.len;
}

static void paced_add(struct paper *paper, const struct causal_view *view, uint32_t shown)
{
	str_auto struct str text = {0};

	causal_work_sentence(&text, view);
	paper_add(paper, "\n");
	if (text.len)
		paper_wrap(paper, 0, INK_PLAIN, text.at);
	table_costs(paper, view, shown);
}

void causal_text(struct paper *paper, const struct causal_view *view)
{
	uint32_t shown = view->flat_from < TARGETS_SHOWN ? view->flat_from : TARGETS_SHOWN;
	str_auto struct str text = {0};

	if (!beginning_add(paper, view))
		return;
	if (view->pace != CAUSAL_PACE_OWN) {
		paced_add(paper, view, shown);
		return;
	}
	if (shown) {
		paper_ink(paper, INK_BOLD,
			"\nGain of the program, in %%, for each speed-up of this code\n");
		table_targets(paper, view, 0, shown);
		paper_add(paper, "\n");
		for (uint32_t i = 0; i < shown && i < 3; i++) {
			str_clear(&text);
			causal_sentence(&text, view, &view->targets[i]);
			if (text.len)
				paper_wrap(paper, 2, i ? INK_PLAIN : INK_GOOD, text.at);
		}
	} else {
		paper_add(paper, "\nno code was found that would make the program faster\n");
	}
	flat_add(paper, view);
}

void causal_agent(struct paper *paper, const struct causal_view *view)
{
	uint32_t shown = view->flat_from < AGENT_TARGETS ? view->flat_from : AGENT_TARGETS;
	str_auto struct str text = {0};

	if (!beginning_add(paper, view))
		return;
	if (view->pace != CAUSAL_PACE_OWN) {
		paced_add(paper, view, shown);
		paper_add(paper, "next: %s\n",
			view->pace == CAUSAL_PACE_CLOCK
				? "make it use less CPU time, then assay ab OLD -- NEW"
				: "give the program more to do at once, then assay causal again");
		return;
	}
	for (uint32_t i = 0; i < shown; i++) {
		const struct causal_target_view *target = &view->targets[i];

		str_clear(&text);
		causal_sentence(&text, view, target);
		paper_add(paper, "%u. %s [%s] %s\n", i + 1, target->name,
			causal_class_name(target->curve.class), str_text(&text));
	}
	for (uint32_t i = view->flat_from; i < view->target_count && i < view->flat_from + 4; i++)
		paper_add(paper, "flat: %s (%.0f %% of samples, %s)\n", view->targets[i].name,
			100 * view->targets[i].sample_share,
			causal_class_name(view->targets[i].curve.class));
	if (shown)
		paper_add(paper, "next: change %s, then assay ab OLD -- NEW\n",
			view->targets[0].name);
	else
		paper_add(paper, "next: assay causal --budget 2m -- PROGRAM\n");
}
