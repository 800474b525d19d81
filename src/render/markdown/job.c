/* job.c - the small Markdown files of the evidence directory: DEFINE.md and BASELINE.md. */
#include "render/markdown.h"

#include <math.h>

#include "analyze/bench.h"
#include "analyze/job.h"
#include "analyze/plan.h"
#include "render/paper.h"

void define_markdown(struct str *out, const struct define_page *page)
{
	markdown_add(out, "# Definition of run %s\n\n| what | is |\n|---|---|\n", page->run_id);
	markdown_row(out, "scenario", page->target, "-");
	markdown_row(out, "folder", page->folder, "-");
	markdown_row(out, "input", page->input, "nothing on stdin");
	markdown_row(out, "golden output", page->golden, "that of the first run: golden/stdout");
	markdown_row(out, "against", page->against, "nothing: this is the first round");
	str_addf(out,
		"| metric | wall time of one run: median of the baseline |\n| time budget | %.0f s "
		"|\n| one change per round | change one thing, then `assay run --against latest` "
		"|\n| behaviour | the output of each whole run is compared with the golden output "
		"|\n",
		page->budget_s);
}

static void time_row(struct str *out, const char *name, double ns)
{
	char text[32];

	str_addf(out, "| %s | %s |\n", name,
		isfinite(ns) ? paper_time(text, sizeof(text), ns) : "not measured");
}

static void percentile_rows(struct str *out, const struct summary *wall)
{
	for (unsigned i = 0; i < SUMMARY_PERCENTILES; i++) {
		const struct summary_percentile *p = &wall->percentiles[i];
		char text[32], worst[32];
		str_auto struct str label = {0};

		str_addf(&label, "p%g", 100 * p->share);
		if (p->worst_of_all)
			str_addf(out,
				"| %s | at least %s, the worst of %zu (an upper bound needs %llu "
				"runs) |\n",
				label.at, paper_time(worst, sizeof(worst), wall->max), wall->count,
				(unsigned long long)p->needed);
		else
			str_addf(out, "| %s | %s |\n", label.at,
				paper_time(text, sizeof(text), p->value));
	}
}

static void command_table(struct str *out, const struct bench_command *command)
{
	char text[32];

	str_addf(out, "| what | value |\n|---|---|\n| runs | %u |\n", command->used_count);
	time_row(out, "median wall time", command->wall.median);
	time_row(out, "median, from", command->wall.median_interval.lo);
	time_row(out, "median, to", command->wall.median_interval.hi);
	time_row(out, "mean wall time", command->wall.mean);
	time_row(out, "standard deviation", command->wall.deviation);
	percentile_rows(out, &command->wall);
	time_row(out, "max wall time", command->wall.max);
	time_row(out, "median CPU time", command->cpu.median);
	time_row(out, "median user time", command->user_ns);
	time_row(out, "median system time", command->system_ns);
	if (isfinite(command->rss.max))
		str_addf(out, "| peak memory (RSS) | %s |\n",
			paper_bytes(text, sizeof(text), command->rss.max));
	str_addf(out, "| runs disturbed by the machine | %u |\n", command->dirty_count);
	str_addf(out, "| outliers | %zu |\n", command->wall.far + command->wall.extreme);
}

void baseline_markdown(struct str *out, const struct baseline_page *page)
{
	str_add(out, "# Baseline\n\n");
	if (*page->command) {
		str_add(out, "Measured with ");
		markdown_code(out, page->command, false);
		str_add(out, ".\n");
	}
	markdown_add(out, "Fingerprint of the machine: %s.\n",
		*page->fingerprint ? page->fingerprint : "not taken");
	if (*page->output_sha256)
		markdown_add(out, "SHA-256 of the output: %s.\n", page->output_sha256);
	str_add(out, "\n");
	if (!page->view || !page->view->command_count) {
		markdown_add(out, "Not measured: %s.\n", page->reason);
		if (*page->fix)
			markdown_add(out, "To get it: %s.\n", page->fix);
		return;
	}
	command_table(out, &page->view->commands[0]);
	if (page->view->commands[0].used_count < 20)
		str_add(out, "\nFewer than 20 runs: the tails are unknown. A longer --budget gives "
			     "more.\n");
}
