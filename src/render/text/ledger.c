/* ledger.c - see ledger.h.  What is supported stands first, with its reason; what was rejected and
 * what was not tested are names only, because there are many of them. */
#include "render/ledger.h"

#include <math.h>
#include <time.h>

#include "render/shorten.h"

enum { TARGET_COLUMNS = 70, AGENT_LINES = 30 };

static const char *const verdict_order[] = {
	"supports", "conflict", "inconclusive", "untested", "rejects", NULL};

static enum ink verdict_ink(const char *verdict)
{
	return str_equal(verdict, "supports")	? INK_BAD
	       : str_equal(verdict, "conflict") ? INK_WARN
	       : str_equal(verdict, "rejects")	? INK_GOOD
						: INK_DIM;
}

static char *time_text(char *out, size_t capacity, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm parts = {0};

	*out = '\0';
	if (gmtime_r(&seconds, &parts))
		strftime(out, capacity, "%Y-%m-%d %H:%M:%S UTC", &parts);
	return out;
}

/* A text of the file, as one line without control characters. */
static void line_add(struct str *out, const char *text)
{
	size_t from = out->len;

	str_add(out, text);
	if (out->at)
		str_flatten(out->at + from);
}

static void head_text(struct paper *paper, const struct ledger_run *run)
{
	str_auto struct str target = {0}, id = {0};
	char time[64];

	line_add(&id, run->run_id);
	name_shorten(run->target, TARGET_COLUMNS, &target);
	str_flatten(target.at);
	paper_add(paper, "\n");
	paper_ink(paper, INK_BOLD, "%s", str_text(&target));
	paper_ink(paper, INK_DIM, "   %s, %s\n", str_text(&id),
		time_text(time, sizeof(time), run->time_ns));
	if (!run->before)
		paper_ink(paper, INK_DIM, "  the first run of this program\n");
	else
		paper_ink(paper, INK_DIM, "  %u changed since %s%s\n", run->changed_count,
			run->before, run->same_machine ? "" : ", on another machine or build");
}

/* One row with its reason. */
static void step_text(struct paper *paper, const struct ledger_step *step)
{
	str_auto struct str line = {0};

	paper_ink(paper, verdict_ink(step->verdict), "  %-12s", step->verdict);
	line_add(&line, step->hypothesis);
	paper_ink(paper, INK_BOLD, "  %s", str_text(&line));
	if (isfinite(step->share) && str_equal(step->verdict, "supports"))
		paper_add(paper, "  %.0f %%", 100 * step->share);
	if (*step->changed)
		paper_ink(paper, INK_WARN, "  %s", step->changed);
	if (step->noisy)
		paper_ink(paper, INK_DIM, "  noisy");
	paper_add(paper, "\n");
	str_clear(&line);
	line_add(&line, step->why);
	paper_wrap(paper, 16, INK_DIM, str_text(&line));
}

/* "rejects: a, b (was supports), c" */
static void names_text(struct paper *paper, const struct ledger_run *run, const char *verdict)
{
	str_auto struct str line = {0};

	for (uint32_t i = 0; i < run->step_count; i++) {
		const struct ledger_step *step = &run->steps[i];

		if (!str_equal(step->verdict, verdict))
			continue;
		str_addf(&line, "%s", line.len ? ", " : "");
		line_add(&line, step->hypothesis);
		if (*step->changed)
			str_addf(&line, " (%s)", step->changed);
	}
	if (!line.len)
		return;
	paper_ink(paper, verdict_ink(verdict), "  %-12s", verdict);
	paper_add(paper, "  ");
	paper_hang(paper, 16, str_text(&line));
}

static void run_text_show(struct paper *paper, const struct ledger_run *run)
{
	head_text(paper, run);
	for (unsigned v = 0; verdict_order[v]; v++) {
		if (v >= 2) { /* inconclusive and below: names */
			names_text(paper, run, verdict_order[v]);
			continue;
		}
		for (uint32_t i = 0; i < run->step_count; i++)
			if (str_equal(run->steps[i].verdict, verdict_order[v]))
				step_text(paper, &run->steps[i]);
	}
}

void ledger_text(struct paper *paper, const struct ledger_history *history)
{
	for (uint32_t i = 0; i < history->count; i++)
		run_text_show(paper, &history->runs[i]);
	if (history->skipped)
		paper_ink(paper, INK_WARN, "\n  %u lines of the ledger could not be read\n",
			history->skipped);
	paper_add(paper, "\n");
}

void ledger_agent(struct paper *paper, const struct ledger_history *history)
{
	unsigned left = AGENT_LINES;

	for (uint32_t i = 0; i < history->count && left > 2; i++) {
		const struct ledger_run *run = &history->runs[i];

		paper_add(paper, "run %.80s: %.200s, %u changed\n", run->run_id, run->target,
			run->changed_count);
		left--;
		for (unsigned v = 0; verdict_order[v]; v++)
			for (uint32_t j = 0; j < run->step_count && left > 1; j++) {
				const struct ledger_step *step = &run->steps[j];

				if (!str_equal(step->verdict, verdict_order[v]) ||
					(v > 1 && !*step->changed))
					continue;
				paper_add(paper, "%s %s%s%s%s: %.300s\n", step->verdict,
					step->hypothesis, *step->changed ? " (" : "", step->changed,
					*step->changed ? ")" : "", step->why);
				left--;
			}
	}
	if (history->skipped)
		paper_add(paper, "unreadable lines: %u\n", history->skipped);
	paper_add(paper, "next: assay ledger --json\n");
}
