/* stat_sim.c - `assay stat --engine sim -e instructions -- ./program`: counts of valgrind's model
 * of a CPU.  They are exact and the same in each run, so a gate on them needs no repetitions. */
#include <errno.h>
#include <unistd.h>

#include "base/io.h"
#include "code/binary.h"
#include "drive/simulate.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"
#include "source/cachegrind.h"
#include "stat_parts.h"

static void tell(void *context, const char *text)
{
	struct stat_job *job = context;
	str_auto struct str line = {0};

	if (job->cli->quiet || job->cli->mode != CLI_TEXT)
		return;
	str_addf(&line, "assay: %s\n", text);
	(void)io_write_all(STDERR_FILENO, line.at, line.len);
}

static void progress(void *context, uint32_t execution, uint64_t elapsed_ns)
{
	struct stat_job *job = context;

	cli_progress(job->cli, "run %u: simulating for %llu s", execution,
		(unsigned long long)elapsed_ns / 1000000000);
}

static int each_execution(void *context, uint32_t execution, struct err *err)
{
	struct stat_job *job = context;

	cli_progress(job->cli, "run %u done", execution);
	return job->store ? store_flush(job->store, job->run, err) : 0;
}

/* The simulator starts a program of its own; it cannot look at one that runs. */
static int options_check(const struct cli *cli, struct err *err)
{
	static const char *const foreign[] = {"pid", "tid", "all-cpus", "interval", "proc"};

	for (unsigned i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		if (cli_has(cli, foreign[i])) {
			err_set(err, ERR_USAGE, EINVAL, "--engine sim cannot be used with --%s",
				foreign[i]);
			err_hint(err,
				"it simulates a program from its start to its end: assay stat "
				"--engine sim -- PROGRAM");
			return -EINVAL;
		}
	return 0;
}

static int set_add(struct stat_job *job, const char *name, struct err *err)
{
	const struct event_set *set = event_set_find(&job->book, name, err);

	return set ? cachegrind_events_parse(&job->events, set->events, err) : -EINVAL;
}

static int default_add(struct stat_job *job, struct err *err)
{
	return set_add(job, "simulated", err);
}

int stat_simulate_events(struct stat_job *job, struct err *err)
{
	static const struct stat_choice choice = {cachegrind_events_parse, set_add, default_add};

	return stat_events_choose(job, &choice, err);
}

int stat_simulate(struct stat_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct ingest ingest = {.run = job->run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct simulate_options options = {
		.argv = cli->program,
		.stdout_to_stderr = cli->mode == CLI_JSON,
		.interrupted = cli_interrupted,
		.tell = tell,
		.progress = progress,
		.each = each_execution,
		.context = job,
	};
	const char *output = cli_value(cli, "output");
	uint64_t repeat;
	int r = options_check(cli, err);

	if (r >= 0)
		r = cli_number(cli, "repeat", 1, 1000000, 1, &repeat, err);
	if (r >= 0)
		r = cli_duration(cli, "time-limit", 0, &options.limit_ns, err);
	if (r >= 0)
		r = simulate_available(err);
	if (r >= 0)
		r = binary_find(cli->program[0], &job->arena, &options.path, err);
	if (r >= 0 && output)
		r = store_create(output, &job->store, err);
	if (r < 0)
		return r;
	options.repeat = (uint32_t)repeat;
	r = simulate_target(&options, &job->events, &sink, err);
	cli_progress(cli, NULL);
	job->run->partial = r != 0;
	vec_foreach (const struct execution_packed, e, &job->run->executions)
		job->run->partial |= (e->flags & EXECUTION_TIMED_OUT) != 0;
	return r;
}

void stat_note_simulator(struct stat_job *job)
{
	if (!job->cli->program || job->run->frozen || cli_has(job->cli, "pid") ||
		cli_has(job->cli, "tid") || cli_has(job->cli, "all-cpus"))
		return; /* it only simulates what it starts */
	vec_foreach (const struct event_row, event, &job->run->events)
		if (event->status == EVENT_NOT_SUPPORTED &&
			cachegrind_columns_of(run_text(job->run, event->name))) {
			run_add_note(job->run, "simulator-could-count",
				"hardware events cannot be counted here, but a simulator can count "
				"instructions, cache misses and branches",
				"assay stat --engine sim -- PROGRAM (20 to 75 times slower)");
			return;
		}
}
