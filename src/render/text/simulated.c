/* simulated.c - see simulated.h.  Every number that the simulator counted stands under the word
 * "simulated"; only time is measured. */
#include "render/simulated.h"

#include <math.h>
#include <stdio.h>

#include "render/verdict.h"

enum { AGENT_ROWS = 5, SHARE_LEAST_PERMILLE = 5 };

char *simulated_number(char *buf, size_t capacity, double value)
{
	if (isnan(value))
		snprintf(buf, capacity, "-");
	else
		snprintf(buf, capacity, "%.*f", value < 10 ? 2 : value < 100 ? 1 : 0, value);
	return buf;
}

/* Time per event says nothing where there are hardly any. */
static double of_many(double ns, double mpki)
{
	return mpki >= 0.1 ? ns : (double)NAN;
}

uint32_t simulated_rows_shown(const struct simulated_view *view, uint32_t most)
{
	uint32_t count = 0;

	while (count < view->function_count && count < most &&
		view->functions[count].time_share * 1000 >= SHARE_LEAST_PERMILLE)
		count++;
	return count;
}

static const char *cause_word(const struct simulated_site *site)
{
	return site->few_samples ? "few samples" : verdict_category_word(site->category);
}

static void function_row(struct table *table, const struct simulated_site *site)
{
	char buf[64];

	table_cell(table, INK_BOLD, "%.1f %%", site->time_share * 100);
	table_cell(table, INK_PLAIN, "%s",
		paper_count(buf, sizeof(buf), (double)site->row.counts[SIMULATED_INSTRUCTIONS]));
	table_cell(table, INK_PLAIN, "%s",
		simulated_number(buf, sizeof(buf), site->ns_per_instruction));
	table_cell(table, INK_PLAIN, "%s", simulated_number(buf, sizeof(buf), site->l1_mpki));
	table_cell(table, INK_PLAIN, "%s", simulated_number(buf, sizeof(buf), site->ll_mpki));
	table_cell(table, INK_PLAIN, "%s",
		simulated_number(buf, sizeof(buf), of_many(site->ns_per_ll_miss, site->ll_mpki)));
	table_cell(
		table, INK_PLAIN, "%s", simulated_number(buf, sizeof(buf), site->mispredict_mpki));
	table_cell(table, INK_PLAIN, "%s",
		simulated_number(
			buf, sizeof(buf), of_many(site->ns_per_mispredict, site->mispredict_mpki)));
	table_cell(table, INK_WARN, "%s", cause_word(site));
	table_cell(table, INK_PLAIN, "%s", site->row.function);
}

static void functions_table(struct paper *paper, const struct simulated_view *view)
{
	table_auto struct table table = {0};
	uint32_t count = simulated_rows_shown(view, SIMULATED_ROWS);

	table_columns(&table, ">time", ">instructions*", ">ns/ins", ">L1 miss*", ">LL miss*",
		">ns/miss", ">mispred*", ">ns/mis", "cause", "function");
	for (uint32_t i = 0; i < count; i++)
		function_row(&table, &view->functions[i]);
	table_print(&table, paper, 2);
	paper_wrap(paper, 2, INK_DIM,
		"* simulated; misses and mispredictions per 1,000 instructions. Time is measured.");
}

void simulated_costs_line(struct str *out, const struct simulated_costs *costs)
{
	str_addf(out,
		"%s: cycle %.2f ns, load from memory %.0f ns, sequential line %.1f ns (word by "
		"word %.1f), load from L2 %.1f ns",
		costs->measured ? "costs measured on this machine" : "costs assumed",
		costs->cycle_ns, costs->memory_ns, costs->line_ns, costs->plain_ns,
		costs->cache_ns);
	if (costs->far_ns > 0)
		str_addf(out, ", from L3 %.1f ns", costs->far_ns);
	str_addf(out, ", misprediction %.1f ns", costs->mispredict_ns);
}

void simulated_loop_line(struct str *out, const struct hot_loop *loop)
{
	if (loop->missing) {
		str_addf(out, "no loop to analyze in %s: %s", loop->function, loop->missing);
		return;
	}
	str_addf(out, "loop of %u instructions in %s (%.0f %% of its samples)", loop->count,
		loop->function, loop->share * 100);
	if (!loop->model) {
		str_addf(out, "; no prediction: %s", loop->no_model);
		return;
	}
	str_addf(out, ": llvm-mca predicts %.1f cycles per iteration on %s%s, limited by %s",
		loop->predicted_cycles, loop->model,
		loop->stand_in ? " (a substitute: LLVM has no model of this CPU)" : "",
		loop->bottleneck);
	if (!isnan(loop->measured_cycles))
		str_addf(out, "; measured: about %.1f", loop->measured_cycles);
	str_addf(out, "; without waiting it would be %.1f", loop->throughput_cycles);
	if (loop->calls)
		str_add(out, "; the prediction excludes functions it calls");
}

void simulated_not_line(struct str *out, const struct simulated_view *view)
{
	str_add(out, "not simulated: ");
	for (uint32_t i = 0; i < view->not_simulated_count; i++)
		str_addf(out, "%s%s", i ? "; " : "", view->not_simulated[i]);
}

void simulated_text(
	struct paper *paper, const struct simulated_view *view, const struct simulated_page *page)
{
	str_auto struct str line = {0};
	char time[32];

	paper_add(paper, "\n");
	paper_target(paper, page->target);
	paper_ink(paper, INK_DIM, "   engine: simulator (cachegrind) and clock samples\n");
	if (*page->reason)
		paper_wrap(paper, 2, INK_DIM, page->reason);
	paper_add(paper, "\n  %s of CPU time in %llu samples",
		paper_time(time, sizeof(time), view->time_ns), (unsigned long long)view->samples);
	if (view->kernel_share >= 0.001)
		paper_add(paper, ", %.1f %% of it in the kernel", view->kernel_share * 100);
	paper_add(paper, "\n\n");
	functions_table(paper, view);
	simulated_costs_line(&line, &view->costs);
	paper_wrap(paper, 2, INK_DIM, str_text(&line));
	if (page->loop) {
		str_clear(&line);
		simulated_loop_line(&line, page->loop);
		paper_add(paper, "\n");
		paper_wrap(paper, 2, INK_PLAIN, str_text(&line));
	}
	paper_add(paper, "\n");
	verdict_text(paper, &view->verdict);
	str_clear(&line);
	simulated_not_line(&line, view);
	paper_add(paper, "\n");
	paper_wrap(paper, 2, INK_DIM, str_text(&line));
}

void simulated_agent(
	struct paper *paper, const struct simulated_view *view, const struct simulated_page *page)
{
	uint32_t count = simulated_rows_shown(view, AGENT_ROWS);
	str_auto struct str line = {0};

	paper_add(paper, "target: %.200s\nengine: sim (simulated counts, measured time)\n",
		page->target);
	if (*page->reason)
		paper_add(paper, "why sim: %.200s\n", page->reason);
	paper_add(paper, "time_ns: %.0f, samples %llu, kernel_share %.3f\n", view->time_ns,
		(unsigned long long)view->samples, view->kernel_share);
	for (uint32_t i = 0; i < count; i++) {
		const struct simulated_site *site = &view->functions[i];

		paper_add(paper, "%.1f%% %.80s: %s; %s\n", site->time_share * 100,
			site->row.function, cause_word(site), site->why);
	}
	simulated_costs_line(&line, &view->costs);
	paper_add(paper, "%s\n", str_text(&line));
	if (page->loop) {
		str_clear(&line);
		simulated_loop_line(&line, page->loop);
		paper_add(paper, "%s\n", str_text(&line));
	}
	paper_add(paper, "not simulated: prefetch, overlap, TLB, SMT, kernel, parallel threads\n");
	verdict_agent(paper, &view->verdict);
}
