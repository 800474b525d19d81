/* run_simulated.c - the two phases that valgrind makes where no PMU counts: misses and branches,
 * and calls and loops.
 *
 * Either reaches a fiftieth to a hundredth of the program in its time.  Calls are therefore those
 * of a smaller input, where there is one, else they are counted from a later time of the run on. */
#include "code/binary.h"
#include "run_job.h"

static const char *valgrind_refused(struct run_job *job, const char *reason, const char **ret_fix)
{
	struct err why = {0};
	const char *path;

	if (binary_find("valgrind", &job->arena, &path, &why) >= 0)
		return NULL;
	*ret_fix = "install valgrind: sudo apt install valgrind";
	return reason;
}

const char *run_counters_refused(struct run_job *job, const char **ret_fix)
{
	if (job->has_pmu)
		return NULL;
	return valgrind_refused(
		job, "valgrind, which simulates the counters, is not installed", ret_fix);
}

void run_counters_words(struct run_job *job, const struct plan_step *step, struct run_words *words)
{
	if (job->has_pmu)
		run_words_add(words, "stat", "--set", "memory", "--set", "branches");
	else
		run_words_add(words, "stat", "--engine", "sim", "--time-limit",
			run_words_ms(job, step->share_ns));
}

const char *run_calls_refused(struct run_job *job, const char **ret_fix)
{
	return valgrind_refused(
		job, "valgrind, which counts calls and loops, is not installed", ret_fix);
}

/* The shortest of the runs so far: the first one may have found its files not in memory. */
static uint64_t shortest_ns(struct run_job *job)
{
	static const enum evidence_kind kinds[] = {EVIDENCE_OBSERVED, EVIDENCE_PROFILE};
	uint64_t shortest = job->run_ns;

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct err ignored = {0};
		const struct run *run = run_phase_file(job, kinds[i], &ignored);
		struct execution_row row = {0};

		if (run && run->executions.count)
			row = run_execution(run, 1);
		if (row.wall_ns && !(row.flags & EXECUTION_OF_A_PART) && row.wall_ns < shortest)
			shortest = row.wall_ns;
	}
	return shortest;
}

/* What does not come to its end there is counted from a later time on: its start is not what takes
 * the time.  Simulated without counting, a program that computes takes two to ten times as long,
 * but one that waits, or whose time is in the kernel, hardly longer than alone: after three
 * quarters of the time of a run it is somewhere between a tenth and three quarters of it, and not
 * over. */
static uint64_t delay_ns(struct run_job *job, const struct plan_step *step)
{
	uint64_t late = shortest_ns(job) * 3 / 4, half = step->share_ns / 2;

	return late < half ? late : half;
}

void run_calls_words(struct run_job *job, const struct plan_step *step, struct run_words *words)
{
	struct err ignored = {0};
	const char *vgdb;

	run_words_add(words, "stat", "--engine", "sim", "-e",
		"instructions,calls,loop-entries,loop-trips", "--time-limit",
		run_words_ms(job, step->share_ns));
	if (!run_calls_variant(job) && RUN_CALLS_SLOWER * job->run_ns > step->share_ns &&
		binary_find("vgdb", &job->arena, &vgdb, &ignored) >= 0)
		run_words_add(words, "--delay", run_words_ms(job, delay_ns(job, step)));
}

const struct run_variant *run_calls_variant(struct run_job *job)
{
	return run_smaller_simulated(job, RUN_CALLS_SLOWER);
}
