/* stat_sim.c - `assay stat --engine sim -e instructions -- ./program`: counts of valgrind's model
 * of a CPU.  They are exact and the same in each run, so a gate on them needs no repetitions. */
#include <errno.h>

#include "code/binary.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"
#include "parts.h"
#include "source/cachegrind.h"
#include "stat_parts.h"

static int set_add(struct stat_job *job, const char *name, struct err *err)
{
	const struct event_set *set = event_set_find(&job->book, name, err);

	return set ? cachegrind_events_parse(&job->events, set->events, err) : -EINVAL;
}

const struct stat_choice stat_choice_simulated = {cachegrind_events_parse, set_add, "simulated"};

int stat_simulate(struct stat_job *job, struct err *err)
{
	struct ingest ingest = {.run = job->run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct simulate_options options = {
		.argv = job->options.program,
		.repeat = job->options.repeat,
		.limit_ns = job->options.limit_ns,
	};
	int r = simulate_available(err);

	if (r >= 0)
		r = binary_find(job->options.program[0], &job->arena, &options.path, err);
	if (r >= 0 && job->options.output)
		r = store_create(job->options.output, &job->store, err);
	if (r < 0)
		return r;
	return job_simulate(&(struct job_making){job->host, job->run, job->store}, options,
		&job->events, &sink, err);
}

void stat_note_simulator(struct stat_job *job)
{
	if (!job->options.program || job->options.mode != COUNTERS_CHILDREN)
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
