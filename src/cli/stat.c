/* stat.c - `assay stat -e task-clock,page-faults -r 5 -- ./program`: count what a program does.
 *
 * Reads the words, finds the program, counts, shows.  Each execution and interval is stored as soon
 * as it has ended, so nothing that was measured is lost when something breaks later. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/stat.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli.h"
#include "code/binary.h"
#include "drive/count.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"
#include "render/cpu_json.h"
#include "render/stat.h"
#include "stat_parts.h"

static void stat_job_done(struct stat_job *job)
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
		err_set(err, ERR_UNAVAILABLE, ENOENT, "%s has no event set '%s' in assay", cpu,
			name);
		err_hint(err, "use --set stalls or --set memory, or -e with events of your own");
	}
	if (!set)
		return -ENOENT;
	if (known) {
		snprintf(text, sizeof(text),
			"%s has no event set '%s' of its own in assay: generic events were counted",
			cpu, name);
		run_add_note(job->run, "generic_set", text,
			"docs/metrics.md says how to add a CPU; -e rHEX counts any event");
	}
	return event_list_parse(&job->events, set->events, err);
}

int stat_events_choose(struct stat_job *job, const struct stat_choice *choice, struct err *err)
{
	const struct cli *cli = job->cli;
	const char *text;
	int r = 0;

	for (unsigned i = 0; r >= 0 && (text = cli_value_at(cli, "event", i)); i++)
		r = choice->parse(&job->events, text, err);
	for (unsigned i = 0; r >= 0 && (text = cli_value_at(cli, "set", i)); i++)
		r = choice->add_set(job, text, err);
	for (unsigned i = 0; r >= 0 && (text = cli_value_at(cli, "metric", i)); i++) {
		const struct metric *metric = metric_find(&job->book, text, err);
		str_auto struct str events = {0};

		if (!metric)
			return -EINVAL;
		metric_events(metric, &events);
		r = events.len ? choice->parse(&job->events, events.at, err) : 0;
	}
	if (r >= 0 && !job->events.specs.count && !cli_has(cli, "metric"))
		r = choice->add_default(job, err);
	return r;
}

static int default_add(struct stat_job *job, struct err *err)
{
	const struct event_set *set = event_set_find(&job->book, "default", err);

	return set ? event_list_parse(&job->events, set->events, err) : -EINVAL;
}

static const struct stat_choice choice_here = {event_list_parse, set_choose, default_add};

static int watch_choose(const struct cli *cli, struct count_options *options, struct err *err)
{
	unsigned chosen = cli_has(cli, "pid") + cli_has(cli, "tid") + cli_has(cli, "all-cpus");
	const char *which = cli_has(cli, "pid") ? "pid" : "tid";
	uint64_t id;
	int r;

	if (cli_has(cli, "time-limit")) {
		err_set(err, ERR_USAGE, EINVAL, "--time-limit is of the simulator only");
		err_hint(err, "add --engine sim, or leave it out");
		return -EINVAL;
	}
	if (chosen > 1) {
		err_set(err, ERR_USAGE, EINVAL, "-p, -t and -a exclude each other");
		err_hint(err, "count one process, one thread or the whole machine");
		return -EINVAL;
	}
	if (cli_has(cli, "proc") && (cli_has(cli, "all-cpus") || cli_has(cli, "tid"))) {
		err_set(err, ERR_USAGE, EINVAL, "--proc follows a program or one process");
		err_hint(err, "leave out -a and -t, or name a process with -p PID");
		return -EINVAL;
	}
	if (cli_has(cli, "all-cpus")) {
		options->mode = COUNTERS_MACHINE;
		return 0;
	}
	if (!chosen)
		return 0;
	r = cli_number(cli, which, 1, INT32_MAX, 0, &id, err);
	options->mode = str_equal(which, "pid") ? COUNTERS_PROCESS : COUNTERS_THREAD;
	options->id = (pid_t)id;
	return r;
}

/* -I 100 is milliseconds, as in perf; -I 2s is a duration like any other. */
static int interval_choose(const struct cli *cli, uint64_t *ret_ns, struct err *err)
{
	const char *text = cli_value(cli, "interval");
	uint64_t number;

	*ret_ns = 0;
	if (!text)
		return 0;
	if (str_to_u64(text, &number) == 0 && number <= 86400000)
		*ret_ns = number * 1000000;
	else if (str_to_duration(text, ret_ns) < 0)
		*ret_ns = 0;
	if (*ret_ns >= 1000000)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "-I cannot be '%s'", text);
	err_hint(err, "write at least 1 ms: -I 100 or -I 2s");
	return -EINVAL;
}

static void interval_show(struct stat_job *job)
{
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};
	arena_auto struct arena arena = {0};
	struct stat_view view;

	if (job->cli->mode != CLI_TEXT || job->cli->quiet || !cli_has(job->cli, "interval"))
		return;
	stat_view_make(job->run, &job->book, &arena, &view);
	for (; job->shown < view.interval_count; job->shown++)
		stat_interval_text(&paper, &view, &view.intervals[job->shown]);
	(void)io_write_all(STDERR_FILENO, str_text(&text), text.len);
}

static int each_execution(void *context, uint32_t execution, uint64_t at_ns, struct err *err)
{
	struct stat_job *job = context;

	interval_show(job);
	if (!at_ns)
		cli_progress(job->cli, "run %u done", execution);
	return job->store ? store_flush(job->store, job->run, err) : 0;
}

static int stat_count(struct stat_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct ingest ingest = {.run = job->run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct count_options options = {
		.argv = cli->program,
		.stdout_to_stderr = cli->mode == CLI_JSON,
		.interrupted = cli_interrupted,
		.each = each_execution,
		.context = job,
	};
	const char *output = cli_value(cli, "output");
	uint64_t repeat;
	int r = watch_choose(cli, &options, err);

	if (r >= 0)
		r = interval_choose(cli, &options.interval_ns, err);
	if (r >= 0)
		r = cli_number(cli, "repeat", 1, 1000000, 1, &repeat, err);
	if (r >= 0 && cli->program)
		r = binary_find(cli->program[0], &job->arena, &options.path, err);
	if (r >= 0 && output)
		r = store_create(output, &job->store, err);
	if (r < 0)
		return r;
	options.repeat = (uint32_t)repeat;
	options.watch_proc = cli_has(cli, "proc");
	r = count_target(&options, &job->events, &sink, err);
	cli_progress(cli, NULL);
	/* Who watches without an end ends it with Ctrl-C: then nothing is missing. */
	job->run->partial = r < 0 || (r > 0 && cli->program);
	return r;
}

static int stat_show(struct stat_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->run, .to_stderr = true};
	struct stat_view view;

	stat_view_make(job->run, &job->book, &job->arena, &view);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			stat_json(page.json, &view);
		else if (cli->mode == CLI_AGENT)
			stat_agent(page.paper, &view);
		else
			stat_text(page.paper, &view);
	}
	return cli_page_end(cli, &page, err);
}

static bool event_is_missing(const struct run *run)
{
	vec_foreach (const struct event_row, event, &run->events)
		if (event->status != EVENT_COUNTED)
			return true;
	return false;
}

/* Of what others run only events can tell: without one there is no result. */
static bool nothing_is_told(const struct run *run)
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

static int stat_status(const struct stat_job *job, bool interrupted)
{
	int status = cli_target_status(job->cli, job->run);

	if (interrupted && job->cli->program)
		return EXIT_INTERRUPTED;
	if (status || job->cli->target_status)
		return status;
	if ((cli_has(job->cli, "strict") && event_is_missing(job->run)) ||
		(!job->simulated && nothing_is_told(job->run)))
		return EXIT_UNAVAILABLE;
	return EXIT_DONE;
}

static int stat_run_job(struct stat_job *job, struct err *err)
{
	struct err late = {0};
	int r = metric_book_load(&job->book, err), counted;

	if (r >= 0 && job->simulated)
		r = stat_simulate_events(job, err);
	else if (r >= 0)
		r = cpu_load(job, err);
	if (r >= 0 && !job->simulated)
		r = stat_events_choose(job, &choice_here, err);
	if (r < 0)
		return r;
	job->run->started_ns = clock_realtime_ns();
	job->run->command = run_intern(job->run, "stat");
	job->run->target = cli_target_words(job->cli, job->run);
	counted = job->simulated ? stat_simulate(job, err) : stat_count(job, err);
	if (!job->simulated)
		stat_note_simulator(job);
	if (counted < 0 && !job->run->executions.count)
		return counted; /* nothing was measured */
	if (job->store || cli_has(job->cli, "json"))
		job_take_fingerprint(job->run, &late);
	if (job->store)
		r = store_finish(job->store, job->run, counted < 0 ? &late : err);
	if (counted < 0)
		r = counted;
	run_freeze(job->run);
	if (r < 0) {
		stat_show(job, &late);
		return r;
	}
	r = stat_show(job, err);
	return r < 0 ? r : stat_status(job, counted > 0);
}

static int stat_run(struct cli *cli, struct err *err)
{
	const char *engine = cli_value(cli, "engine");
	struct stat_job job = {
		.cli = cli, .run = run_open(), .simulated = engine && str_equal(engine, "sim")};
	int r = stat_run_job(&job, err);

	stat_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"event", 'e', "EVENTS", false, NULL,
		"what to count: names (also those of this CPU's vendor), {groups}, :u :k :p modifiers, "
		"SYSTEM:TRACEPOINT, rHEX, PMU/FIELD=VALUE/; more than one -e adds up"},
	{"set", 0, "NAME", false, NULL,
		"a named set of events: default, memory, branches, l1, l2_tlb..."},
	{"metric", 'M', "NAME", false, NULL, "count what this metric needs"},
	{"repeat", 'r', "N", false, NULL, "run the program N times; medians are shown"},
	{"interval", 'I', "MS", false, NULL, "also count every MS milliseconds"},
	{"pid", 'p', "PID", false, NULL,
		"count a running process, until it ends, Ctrl-C or PROGRAM ends"},
	{"tid", 't', "TID", false, NULL, "count one thread"},
	{"all-cpus", 'a', NULL, false, NULL, "count the whole machine"},
	{"proc", 0, NULL, false, NULL,
		"also read /proc ten times a second: queueing for a CPU, switches, reads and "
		"writes, memory, pressure"},
	{"strict", 0, NULL, false, NULL, "exit 6 when an event could not be counted"},
	{"engine", 0, "ENGINE", false, "auto|pmu|sim",
		"where the counts come from; sim: valgrind's model of a CPU, exact and repeatable, "
		"20 to 75 times slower"},
	{"time-limit", 0, "TIME", false, NULL,
		"with --engine sim: stop a run after TIME and keep what was simulated"},
	{"output", 'o', "RUN", false, NULL, "store the run in this file (*.assay)"},
	{"target-status", 0, NULL, false, NULL, "exit with the program's own status"},
	{0},
};

const struct command stat_command = {
	.name = "stat",
	.summary = "count events over a program, a process or the machine",
	.usage = "[-e EVENTS] [--set NAME] [-r N] [-p PID|-a] [-I MS] [--strict] [--engine sim] -- "
		 "PROGRAM ARGS...",
	.examples = (const char *const[]){"assay stat -- ./program input",
		"the usual counts, wall and CPU time, peak memory",
		"assay stat -r 10 -e task-clock,page-faults,{cycles,instructions}:u -- ./program",
		"ten runs, medians; two events in one group, user side only",
		"assay stat -p 1234 -I 1000", "what process 1234 does, each second",
		"assay stat --engine sim -e instructions -- ./program",
		"instructions without a PMU: the same number in every run", NULL},
	.details =
		"What could not be counted is shown as that, with the reason, never as 0. Exit "
		"status 5 when the program failed (see --target-status), 6 with --strict when an "
		"event is missing, 130 after Ctrl-C; what was measured is shown and stored in each "
		"case.",
	.options = options,
	.program = PROGRAM_REQUIRED,
	.run = stat_run,
};
