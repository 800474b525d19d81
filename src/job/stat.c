/* stat.c - see stat.h. */
#include "job/stat.h"

#include <errno.h>
#include <stdio.h>

#include "code/binary.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"
#include "parts.h"
#include "source/cachegrind.h"

void stat_job_done(struct stat_job *job)
{
	store_close(job->store);
	run_close(job->run);
	metric_book_done(&job->book);
	cpu_tables_done(&job->cpu);
	event_list_done(&job->events);
	arena_done(&job->arena);
}

/* What the CPU of this machine adds: names of events, sets, metrics made from them. */
static int cpu_load(struct stat_job *job, struct err *err)
{
	int r = cpu_tables_load(&job->cpu, err);

	for (unsigned k = 0; r >= 0 && k < job->cpu.identity.kinds; k++) {
		const struct cpu_table *table = job->cpu.table[k];

		if (table)
			r = metric_book_add_core(&job->book, cpu_tables_core(&job->cpu, k),
				table->name, table->metrics, err);
	}
	cpu_tables_lend(&job->cpu, &job->events);
	return r;
}

/* The CPU's own set where it has one, else the generic one, which is said. */
static int set_choose(struct stat_job *job, const char *name, struct err *err)
{
	int r = cpu_tables_add_set(&job->cpu, name, &job->events, err);
	bool known = cpu_tables_know_set(&job->cpu, name);
	const struct event_set *set;
	char cpu[128], text[256];

	if (r)
		return r;
	cpu_tables_name(&job->cpu, cpu, sizeof(cpu));
	set = event_set_find(&job->book, name, err);
	if (!set && known) {
		err_set(err, ERR_UNAVAILABLE, ENOENT, "%s: unknown event set '%s'", cpu, name);
		err_hint(err, "use --set stalls or --set memory, or -e with your own events");
	}
	if (!set)
		return -ENOENT;
	if (known) {
		snprintf(text, sizeof(text),
			"%s: unknown event set '%s', so generic events were counted", cpu, name);
		run_add_note(job->run, "generic_set", text,
			"docs/metrics.md explains how to add a CPU; -e rHEX counts any event");
	}
	return event_list_parse(&job->events, set->events, err);
}

static int simulated_set_choose(struct stat_job *job, const char *name, struct err *err)
{
	const struct event_set *set = event_set_find(&job->book, name, err);

	return set ? cachegrind_events_parse(&job->events, set->events, err) : -EINVAL;
}

/* Events that were chosen before are counted once: every metric takes the same count of a name, so
 * a second one would only be printed, and take a counter.  A group keeps its other members. */
static void events_keep_new(struct event_list *list, uint32_t first)
{
	uint32_t kept = first;

	for (uint32_t i = first; i < list->specs.count; i++) {
		const struct event_spec *spec = &list->specs.at[i];
		bool known = false;

		for (uint32_t k = 0; k < first && !known; k++)
			known = str_equal(list->specs.at[k].name, spec->name) &&
				str_same(list->specs.at[k].core, spec->core);
		if (!known)
			list->specs.at[kept++] = *spec;
	}
	list->specs.count = kept;
}

int stat_job_choose(struct stat_job *job, struct err *err)
{
	const struct stat_options *o = &job->options;
	int (*parse)(struct event_list *, const char *, struct err *) =
		o->simulated ? cachegrind_events_parse : event_list_parse;
	int (*add_set)(struct stat_job *, const char *, struct err *) =
		o->simulated ? simulated_set_choose : set_choose;
	int r = 0;

	for (unsigned i = 0; r >= 0 && o->events && o->events[i]; i++)
		r = parse(&job->events, o->events[i], err);
	for (unsigned i = 0; r >= 0 && o->sets && o->sets[i]; i++)
		r = add_set(job, o->sets[i], err);
	for (unsigned i = 0; r >= 0 && o->metrics && o->metrics[i]; i++) {
		const struct metric *metric = metric_find(&job->book, o->metrics[i], err);
		uint32_t before = job->events.specs.count;
		str_auto struct str events = {0};

		if (!metric)
			return -EINVAL;
		metric_events(metric, &events);
		r = events.len ? parse(&job->events, events.at, err) : 0;
		events_keep_new(&job->events, before);
	}
	if (r >= 0 && !job->events.specs.count && !o->metrics)
		r = add_set(job, o->simulated ? "simulated" : "default", err);
	return r;
}

/* Where the machine has no counter for what the simulator could count: say so. */
static void simulator_note(struct stat_job *job)
{
	if (!job->options.count.argv || job->options.count.mode != COUNTERS_CHILDREN)
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

static int each_execution(void *context, uint32_t execution, uint64_t at_ns, struct err *err)
{
	struct stat_job *job = context;

	if (job->options.each)
		job->options.each(job->options.context, job);
	if (!at_ns)
		job_progress(job->host, "run %u done", execution);
	return job->store ? store_flush(job->store, job->run, err) : 0;
}

static int stat_count(struct stat_job *job, struct err *err)
{
	struct count_options *options = &job->options.count;
	struct ingest ingest = {.run = job->run};
	struct wire_sink sink = ingest_sink(&ingest);
	int r = options->argv ? binary_find(options->argv[0], &job->arena, &options->path, err) : 0;

	if (r >= 0 && job->options.output)
		r = store_create(job->options.output, &job->store, err);
	if (r < 0)
		return r;
	/* Counts of a model are exact and the same in each run, so a gate on them needs no
	 * repetitions. */
	if (job->options.simulated)
		return job_simulate(&(struct job_making){job->host, job->run, job->store},
			(struct simulate_options){.path = options->path,
				.argv = options->argv,
				.repeat = options->repeat,
				.limit_ns = job->options.limit_ns,
				.delay_ns = job->options.delay_ns},
			&job->events, &sink, err);
	options->stdout_to_stderr = job->host->json_on_stdout;
	options->interrupted = job->host->interrupted;
	options->each = each_execution;
	options->context = job;
	r = count_target(options, &job->events, &sink, err);
	job_progress(job->host, NULL);
	/* Who watches without an end ends it with Ctrl-C: then nothing is missing. */
	job->run->partial = r < 0 || (r > 0 && options->argv);
	simulator_note(job);
	return r;
}

int stat_job_do(struct stat_job *job, const struct stat_options *options,
	const struct job_host *host, struct err *err)
{
	struct err late = {0};
	int r, counted;

	*job = (struct stat_job){.host = host, .options = *options, .run = run_open()};
	r = metric_book_load(&job->book, err);
	if (r >= 0)
		r = options->simulated ? simulate_available(err) : cpu_load(job, err);
	if (r >= 0)
		r = stat_job_choose(job, err);
	if (r < 0)
		return r;
	job_begin_run(host, job->run);
	counted = stat_count(job, err);
	if (counted < 0 && !job->run->executions.count)
		return counted; /* nothing was measured */
	if (job->store || options->fingerprint)
		job_take_fingerprint(job->run, &late);
	if (job->store)
		r = store_finish(job->store, job->run, counted < 0 ? &late : err);
	run_freeze(job->run);
	return counted < 0 || r >= 0 ? counted : r;
}

bool stat_run_misses_event(const struct run *run)
{
	vec_foreach (const struct event_row, event, &run->events)
		if (event->status != EVENT_COUNTED)
			return true;
	return false;
}

bool stat_run_is_empty(const struct run *run)
{
	if (run->facts.count) /* --proc */
		return false;
	vec_foreach (const struct event_row, event, &run->events)
		if (event->status == EVENT_COUNTED)
			return false;
	vec_foreach (const struct execution_packed, e, &run->executions)
		if (!(e->flags & EXECUTION_NO_USAGE))
			return false;
	return true;
}
