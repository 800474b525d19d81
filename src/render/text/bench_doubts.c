/* bench_doubts.c - what makes the numbers of a command doubtful, in words: runs that failed, left
 * processes, were disturbed, are far off, not settled or alike. */
#include "render/bench.h"

#include <string.h>

enum { TIME_SIZE = 32, STDERR_LINES = 8 };
#define AUTOCORRELATION_TOLD 0.3

/* The last lines of what a run said before it failed. */
void bench_stderr(struct paper *paper, const char *text)
{
	const char *at = text ? text + strlen(text) : NULL;

	if (!text || !*text)
		return;
	for (unsigned lines = 0; at > text; at--)
		if (at[-1] == '\n' && *at && ++lines == STDERR_LINES)
			break;
	paper_wrap(paper, 2, INK_DIM, "the end of its stderr:");
	for (; *at; at += *at == '\n') {
		int len = (int)strcspn(at, "\n");

		paper_add(paper, "    %.*s\n", len, at);
		at += len;
	}
}

static void failure_text(struct paper *paper, const char *name, const struct bench_command *command)
{
	const struct bench_run *run = command->failed;
	str_auto struct str line = {0};

	str_addf(&line, "%s%s%srun %u ", name, *name ? ": " : "", run->warmup ? "warm-up " : "",
		run->number);
	if (run->timed_out)
		str_add(&line, "was stopped at the time limit");
	else if (run->signal)
		str_addf(&line, "was killed by signal %d (SIG%s, %s)", run->signal,
			sigabbrev_np(run->signal) ? sigabbrev_np(run->signal) : "?",
			strsignal(run->signal));
	else if (run->exit_status)
		str_addf(&line, "exited with status %d", run->exit_status);
	else
		str_add(&line, "printed the wrong output");
	if (command->failed_count > 1)
		str_addf(&line, ", and %u more failed", command->failed_count - 1);
	if (run->used)
		str_add(&line, "; counted because of --ignore-failure");
	else
		str_addf(&line,
			"; %u good runs are kept; --program-output inherit shows its output",
			command->used_count);
	paper_wrap(paper, 2, INK_BAD, str_text(&line));
}

void bench_troubles(struct paper *paper, const char *name, const struct bench_command *command)
{
	str_auto struct str line = {0};

	if (command->failed)
		failure_text(paper, name, command);
	if (!command->leftover_count)
		return;
	str_addf(&line, "%s%s%u runs left processes running, which disturb later runs", name,
		*name ? ": " : "", command->leftover_count);
	paper_wrap(paper, 2, INK_WARN, str_text(&line));
}

static void outliers_text(struct paper *paper, const struct bench_command *command)
{
	str_auto struct str line = {0};
	const struct summary *wall = &command->wall;
	size_t far = wall->far + wall->extreme;
	char median[TIME_SIZE];

	if (!far)
		return;
	str_addf(&line, "%zu of %zu runs are outliers (%zu extreme):", far, wall->count,
		wall->extreme);
	for (unsigned i = 1; i < BENCH_CAUSES; i++)
		if (command->causes[i])
			str_addf(&line, " %u %s;", command->causes[i], bench_cause_text(i));
	str_addf(&line, " without them the median is %s",
		paper_time(median, sizeof(median), wall->steady_median));
	paper_wrap(paper, 2, INK_WARN, str_text(&line));
}

/* With and without the runs that the machine disturbed. */
static void noise_text(struct paper *paper, const struct bench_command *command)
{
	str_auto struct str line = {0};
	char median[TIME_SIZE];
	const char *before = " (";

	if (!command->dirty_count)
		return;
	str_addf(&line, "%u of %u runs were disturbed", command->dirty_count, command->used_count);
	for (unsigned k = 0; 1U << k < BENCH_NOISE_KINDS; k++)
		if (command->noise[k]) {
			str_addf(&line, "%s%u %s", before, command->noise[k],
				bench_noise_text(1U << k));
			before = ", ";
		}
	str_add(&line, ")");
	if (command->clean_wall.count)
		str_addf(&line, "; without them the median is %s",
			paper_time(median, sizeof(median), command->clean_wall.median));
	paper_wrap(paper, 2, INK_WARN, str_text(&line));
}

/* What the median alone would hide. */
void bench_doubts(struct paper *paper, const struct bench_command *command)
{
	const struct summary *wall = &command->wall;
	str_auto struct str line = {0};

	outliers_text(paper, command);
	noise_text(paper, command);
	if (command->warms_up)
		str_addf(&line, "the first %zu runs are not stable yet: --warmup %zu excludes them",
			wall->warm_after, wall->warm_after);
	else if (wall->warm_after)
		str_addf(&line, "the machine drifted: the first %zu runs differ from the rest",
			wall->warm_after);
	if (line.len)
		paper_wrap(paper, 2, INK_WARN, str_text(&line));
	str_clear(&line);
	if (wall->autocorrelation > AUTOCORRELATION_TOLD)
		str_addf(&line,
			"runs are correlated (%.2f): %zu of them count as much as %.0f independent "
			"ones; the interval is widened for that",
			wall->autocorrelation, wall->count, wall->effective_count);
	if (line.len)
		paper_wrap(paper, 2, INK_WARN, str_text(&line));
	str_clear(&line);
	if (wall->modes.found)
		str_addf(&line, "two clusters: %.0f %% of the runs are below %.4g ms",
			wall->modes.lower_share * 100, wall->modes.at / 1e6);
	if (line.len)
		paper_wrap(paper, 2, INK_WARN, str_text(&line));
}
