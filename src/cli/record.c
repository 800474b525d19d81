/* record.c - `assay record -- ./program input`: samples of a program, a process or the machine.
 *
 * Reads the words, finds the program, records, names what was seen, shows.  What was sampled is
 * stored ten times a second, so nothing of it is lost when something breaks later. */
#include "drive/record.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "cli.h"
#include "code/binary.h"
#include "ingest/ingest.h"
#include "job/cpu_tables.h"
#include "model/run.h"
#include "model/store.h"
#include "render/profile_json.h"
#include "render/record.h"
#include "source/branch_filter.h"

#define RECORD_FILE "assay.run.assay"

enum { RATE_MOST_HZ = 1000000 };

struct record_job {
	struct cli *cli;
	struct run *run;
	struct store *store;
	struct ingest ingest;
	struct event_list events;
	struct arena arena;
	const char *path; /* of the run file */
};

static void record_job_done(struct record_job *job)
{
	ingest_done(&job->ingest);
	store_close(job->store);
	run_close(job->run);
	event_list_done(&job->events);
	arena_done(&job->arena);
}

static int events_choose(struct record_job *job, struct err *err)
{
	struct cpu_tables cpu = {0};
	const char *text;
	int r = cli_has(job->cli, "event") ? cpu_tables_load(&cpu, err) : 0;

	cpu_tables_lend(&cpu, &job->events);
	for (unsigned i = 0; r >= 0 && (text = cli_value_at(job->cli, "event", i)); i++)
		r = event_list_parse(&job->events, text, err);
	/* Only the PMU knows branches, so its own event: the reason is then the PMU. */
	if (r >= 0 && !job->events.specs.count && cli_has(job->cli, "branches"))
		r = event_list_parse(&job->events, "cycles", err);
	if (r >= 0 && !job->events.specs.count)
		r = sampler_default_event(&job->events, err);
	job->events.aliases = NULL; /* they go with the tables */
	job->events.aliases_count = 0;
	cpu_tables_done(&cpu);
	return r;
}

static int watch_choose(const struct cli *cli, struct record_options *options, struct err *err)
{
	uint64_t id;
	int r;

	if (cli_has(cli, "pid") && cli_has(cli, "all-cpus")) {
		err_set(err, ERR_USAGE, EINVAL, "-p and -a exclude each other");
		return err_hint(err, "sample one process or the whole machine");
	}
	if (cli_has(cli, "all-cpus"))
		options->mode = COUNTERS_MACHINE;
	if (!cli_has(cli, "pid"))
		return 0;
	r = cli_number(cli, "pid", 1, INT32_MAX, 0, &id, err);
	options->mode = COUNTERS_PROCESS;
	options->id = (pid_t)id;
	return r;
}

static enum sampler_stack stack_of(const char *word)
{
	static const char *const words[] = {"auto", "fp", "dwarf", "lbr", "none"};

	for (unsigned i = 0; word && i < sizeof(words) / sizeof(*words); i++)
		if (str_equal(word, words[i]))
			return (enum sampler_stack)i;
	return SAMPLER_STACK_AUTO;
}

static int rate_choose(const struct cli *cli, struct record_options *options, struct err *err)
{
	int r;

	if (cli_has(cli, "frequency") && cli_has(cli, "count")) {
		err_set(err, ERR_USAGE, EINVAL, "-F and -c exclude each other");
		return err_hint(err, "-F is a rate, -c a period: use one");
	}
	r = cli_number(cli, "frequency", 1, RATE_MOST_HZ, 0, &options->rate_hz, err);
	if (r >= 0)
		r = cli_number(cli, "count", 1, INT64_MAX, 0, &options->period, err);
	if (r >= 0)
		r = cli_duration(cli, "delay", 0, &options->delay_ns, err);
	if (r >= 0)
		r = cli_duration(cli, "duration", 0, &options->duration_ns, err);
	return r;
}

/* -b: the last branches before each sample, by type where FILTER says so. */
static int branches_choose(const struct cli *cli, struct record_options *options, struct err *err)
{
	if (!cli_has(cli, "branches"))
		return 0;
	if (options->stack == SAMPLER_STACK_BRANCHES) {
		err_set(err, ERR_USAGE, EINVAL, "-b and --stack lbr exclude each other");
		err_hint(err, "the PMU records branches or calls, not both; remove --stack");
		return -EINVAL;
	}
	return branch_filter_parse(cli_value(cli, "branches"), &options->branches, err);
}

static int store_samples(void *context, const struct sampler_facts *facts, struct err *err)
{
	struct record_job *job = context;

	job_progress(&job->cli->host, "%llu samples", (unsigned long long)facts->samples);
	return store_flush(job->store, job->run, err);
}

static int record_samples(struct record_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct wire_sink sink = ingest_sink(&job->ingest);
	struct record_options options = {
		.argv = cli->program,
		.stdout_to_stderr = cli->mode == CLI_JSON,
		.stack = stack_of(cli_value(cli, "stack")),
		.interrupted = cli_interrupted,
		.each = store_samples,
		.context = job,
	};
	int r = watch_choose(cli, &options, err);

	if (r >= 0)
		r = rate_choose(cli, &options, err);
	if (r >= 0)
		r = branches_choose(cli, &options, err);
	if (r >= 0)
		r = events_choose(job, err);
	if (r >= 0 && cli->program)
		r = binary_find(cli->program[0], &job->arena, &options.path, err);
	if (r >= 0)
		r = store_create(job->path, &job->store, err);
	if (r >= 0)
		r = record_target(&options, &job->events, &sink, err);
	job_progress(&cli->host, NULL);
	/* Who watches without an end ends it with Ctrl-C: then nothing is missing. */
	job->run->partial = r < 0 || (r > 0 && cli->program);
	return r;
}

/* Whatever came is ordered, named and stored. */
static int record_keep(struct record_job *job, struct err *err)
{
	struct err ignored;

	ingest_end(&job->ingest);
	job_take_fingerprint(job->run, &ignored);
	job_name_run(&job->cli->host, job->run, (struct ingest_naming){.ingest = &job->ingest});
	if (!job->run->samples.count)
		run_add_note(job->run, "no-samples", "no sample was taken",
			"the program used less CPU time than one sampling period, or never ran; "
			"use -F for more samples");
	return store_finish(job->store, job->run, err);
}

static int record_show(struct record_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->run, .to_stderr = true};
	struct record_view view;
	struct stat file = {0};

	(void)stat(job->path, &file);
	record_view_make(job->run, job->path, (uint64_t)file.st_size, &job->arena, &view);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			record_json(page.json, &view);
		else if (cli->mode == CLI_AGENT)
			record_agent(page.paper, &view);
		else
			record_text(page.paper, &view);
	}
	return cli_page_end(cli, &page, err);
}

static int record_status(const struct record_job *job, bool interrupted)
{
	return interrupted && job->cli->program ? EXIT_INTERRUPTED
						: cli_target_status(job->cli, job->run);
}

static int record_run_job(struct record_job *job, struct err *err)
{
	struct err late = {0};
	int recorded, r;

	job_begin_run(&job->cli->host, job->run);
	recorded = record_samples(job, err);
	if (recorded < 0 && (!job->store || !job->ingest.profile || err->kind != ERR_OUTPUT))
		return recorded; /* nothing was measured */
	r = record_keep(job, recorded < 0 ? &late : err);
	run_freeze(job->run);
	if (recorded < 0 || r < 0) {
		record_show(job, &late);
		cli_target_tell(job->cli, job->run);
		return recorded < 0 ? recorded : r;
	}
	r = record_show(job, err);
	return r < 0 ? r : record_status(job, recorded > 0);
}

static int record_run(struct cli *cli, struct err *err)
{
	const char *output = cli_value(cli, "output");
	struct record_job job = {
		.cli = cli, .run = run_open(), .path = output ? output : RECORD_FILE};
	int r;

	job.ingest.run = job.run;
	r = record_run_job(&job, err);
	record_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"frequency", 'F', "HZ", false, NULL, "samples per second of CPU time (default 997)"},
	{"count", 'c', "PERIOD", false, NULL, "one sample every PERIOD events; for clocks in ns"},
	{"event", 'e', "EVENT", false, NULL,
		"event to sample (default: cycles if the PMU works, otherwise cpu-clock)"},
	{"stack", 0, "HOW", false, "auto|fp|dwarf|lbr|none",
		"how to get call stacks (default auto: copied and unwound immediately)"},
	{"branches", 'b', "FILTER", true, NULL,
		"record the last branches before each sample; --branches=cond,ind_call: only these "
		"types"},
	{"pid", 'p', "PID", false, NULL,
		"sample a running process until it ends, until Ctrl-C, or until PROGRAM ends"},
	{"all-cpus", 'a', NULL, false, NULL, "sample the whole machine"},
	{"delay", 0, "TIME", false, NULL, "start sampling after TIME: 500ms, 25s"},
	{"duration", 0, "TIME", false, NULL, "stop sampling after TIME; the program continues"},
	{"output", 'o', "FILE", false, NULL, "the run file (default " RECORD_FILE ")"},
	{"target-status", 0, NULL, false, NULL, "exit with the program's own status"},
	{0},
};

const struct command record_command = {
	.name = "record",
	.summary = "sample where a program, process or machine spends its time",
	.usage = "[-F HZ|-c PERIOD] [-e EVENT] [--stack HOW] [-p PID|-a] [-o FILE] -- PROGRAM "
		 "ARGS...",
	.examples = (const char *const[]){"assay record -- ./program input",
		"samples with call stacks, stored in assay.run.assay",
		"assay record -F 4999 -o fast.assay -- ./program", "five times as many samples",
		"assay record -p 1234 --duration 10s", "a running process, for ten seconds", NULL},
	.details =
		"Stacks are unwound while the program runs, from a copy of each sample's stack "
		"that never reaches the disk: the file needs tens to hundreds of bytes per "
		"sample. Faults, switches and tracepoints give one sample each unless -c or -F "
		"says otherwise. Lost samples and truncated stacks are counted and "
		"shown.\nExit status 5 when the program failed (see --target-status), 6 when the "
		"event cannot be sampled here, 130 after Ctrl-C; the samples are kept in each "
		"case.",
	.options = options,
	.program = PROGRAM_REQUIRED,
	.run = record_run,
};
