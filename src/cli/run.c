/* run.c - `assay run -- ./program input`, or just `assay -- ./program input`: the main job.
 *
 * Looks at machine and program, runs it once, plans, runs the phases one after the other, joins
 * what they left and answers what to change first.  Each phase is a command of assay that is
 * started as a child, so that it can be typed by the user as it stands, fails alone and is stopped
 * alone. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/words.h"
#include "code/binary.h"
#include "render/markdown.h"
#include "run_job.h"

#define BUDGET_DEFAULT_NS 60000000000ULL
#define BUDGET_LEAST_NS 5000000000ULL

void run_job_open(struct run_job *job, struct cli *cli)
{
	*job = (struct run_job){
		.cli = cli,
		.front = run_open(),
		.input_words = "",
		.start_ns = clock_monotonic_ns(),
	};
	manifest_init(&job->manifest);
	manifest_init(&job->before);
}

void run_job_done(struct run_job *job)
{
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		run_close(job->runs[i]);
	run_close(job->before_run);
	run_close(job->front);
	manifest_done(&job->manifest);
	manifest_done(&job->before);
	directory_done(&job->directory);
	arena_done(&job->arena);
}

uint64_t run_job_spent_ns(const struct run_job *job)
{
	return clock_monotonic_ns() - job->start_ns;
}

int run_job_keep(struct run_job *job, struct err *err)
{
	job->manifest.seconds = (double)run_job_spent_ns(job) / 1e9;
	return directory_keep(&job->directory, &job->manifest, err);
}

int run_job_write(struct run_job *job, const char *name, const struct str *text, struct err *err)
{
	return io_replace(directory_path(&job->directory, name), str_text(text), text->len, err);
}

/* What can be wrong is told before anything is made. */
static int options_check(struct run_job *job, struct err *err)
{
	const char *path;
	int r = cli_duration(job->cli, "budget", BUDGET_DEFAULT_NS, &job->budget_ns, err);

	if (r >= 0 && job->budget_ns < BUDGET_LEAST_NS) {
		err_set(err, ERR_USAGE, EINVAL, "--budget %s is too short to measure anything",
			cli_value(job->cli, "budget"));
		err_hint(err, "give it at least 5s");
		return -EINVAL;
	}
	if (r >= 0)
		r = run_phases_check(job, err);
	if (r >= 0)
		r = run_input_check(job, err);
	if (r >= 0)
		r = run_against_open(job, err);
	return r < 0 ? r : binary_find(job->cli->program[0], &job->arena, &path, err);
}

static const char *target_quoted(struct run_job *job)
{
	str_auto struct str text = {0};

	for (char **word = job->cli->program; *word; word++) {
		str_add(&text, word == job->cli->program ? "" : " ");
		word_quote(*word, &text);
	}
	return arena_text(&job->arena, str_text(&text), text.len);
}

static int define_write(struct run_job *job, struct err *err)
{
	char *folder = getcwd(NULL, 0);
	str_auto struct str text = {0};
	struct define_page page = {
		.target = job->manifest.target,
		.folder = folder,
		.run_id = job->manifest.run_id,
		.input = job->input_words,
		.golden = cli_value(job->cli, "golden"),
		.against = job->against_path,
		.budget_s = (double)job->budget_ns / 1e9,
	};

	define_markdown(&text, &page);
	free(folder);
	return run_job_write(job, "DEFINE.md", &text, err);
}

/* The directory says from its first moment what it is and that it is not done. */
static int directory_begin(struct run_job *job, struct err *err)
{
	static const char *const folders[] = {"golden", "log"};
	struct err ignored = {0};
	uint64_t now = clock_realtime_ns();
	int r = directory_create(&job->directory, cli_value(job->cli, "output"), now, err);

	if (r < 0)
		return r;
	(void)job_take_fingerprint(job->front, &ignored);
	job->front->command = run_intern(job->front, "run");
	job->front->started_ns = now;
	job->manifest.run_id = job->directory.id;
	job->manifest.version = ASSAY_VERSION;
	job->manifest.target = target_quoted(job);
	job->manifest.fingerprint = run_text(job->front, job->front->fingerprint);
	job->manifest.time_ns = now;
	job->manifest.budget_ns = job->budget_ns;
	job->manifest.pid = getpid();
	r = run_job_keep(job, err);
	for (unsigned i = 0; r >= 0 && i < sizeof(folders) / sizeof(*folders); i++)
		r = directory_add_folder(&job->directory, folders[i], err);
	return r;
}

/* A program that does not work: the directory keeps what is known. */
static void directory_give_up(struct run_job *job)
{
	struct err ignored = {0};

	job->manifest.state = MANIFEST_PARTIAL;
	if (directory_hash(&job->directory, &job->manifest, &ignored) >= 0)
		(void)run_job_keep(job, &ignored);
}

static int run_measure(struct run_job *job, struct err *err)
{
	int r = run_input_take(job, err);

	if (r >= 0)
		r = define_write(job, err);
	if (r >= 0 && !job->stopped)
		r = run_preflight(job, err);
	if (r >= 0 && !job->stopped)
		r = run_trial(job, err);
	if (r >= 0)
		r = run_job_keep(job, err);
	if (r < 0)
		return r;
	if (!job->stopped)
		run_phases_plan(job);
	return run_phases_do(job, err);
}

static int run_whole(struct run_job *job, struct err *err)
{
	int r = options_check(job, err);

	if (r >= 0)
		r = directory_begin(job, err);
	if (r < 0)
		return r;
	r = run_measure(job, err);
	if (r < 0) {
		directory_give_up(job);
		return r;
	}
	return run_answer(job, err);
}

static int run_command_run(struct cli *cli, struct err *err)
{
	struct run_job job;
	int r;

	if (cli_has(cli, "check"))
		return run_check(cli, err);
	run_job_open(&job, cli);
	r = run_whole(&job, err);
	run_job_done(&job);
	return r > 0 && r != EXIT_INTERRUPTED && cli->target_status ? EXIT_DONE : r;
}

static const struct option_spec options[] = {
	{"output", 'o', "DIR", false, NULL,
		"the evidence directory (default: a new one below " DIRECTORY_ROOT ")"},
	{"budget", 0, "TIME", false, NULL, "what all of it may take (default 60s)"},
	{"against", 0, "DIR", false, NULL,
		"what moved since this run (latest: the last one), and did the promised gain "
		"arrive"},
	{"phase", 0, "LIST", false, NULL,
		"only these: baseline, observed, profile, counters, causal, events"},
	{"skip", 0, "LIST", false, NULL, "not these"},
	{"input", 0, "FILE", false, NULL,
		"stdin of each run (default: what comes on stdin, kept and replayed)"},
	{"golden", 0, "FILE", false, NULL, "the program must print the bytes of this file"},
	{"check", 0, "DIR", false, NULL, "run nothing: is this directory complete and unchanged?"},
	{"target-status", 0, NULL, false, NULL,
		"exit with the program's own status: how its first run ended"},
	{0},
};

const struct command run_command = {
	.name = "run",
	.summary = "what to change first to make a program faster, with the evidence",
	.usage = "[-o DIR] [--budget TIME] [--against DIR] -- PROGRAM ARGS... | --check DIR",
	.examples = (const char *const[]){"assay run -- ./program input",
		"the whole chain, and the answer on one screen", "assay -- ./program input",
		"the same", "assay run --budget 2m --against latest -- ./program input",
		"after a change: did it help, and what is first now",
		"assay run --check assay-out/latest", "is the evidence complete and unchanged?",
		NULL},
	.details =
		"Runs the program once, says what it plans and how long that takes, then measures "
		"in phases, one after the other: repeated runs, what the system tells, samples, "
		"simulated counters, experiments. Each leaves a file in the evidence directory, or "
		"its reason. What the program prints is kept there and must be the same each time; "
		"what it reads from stdin is kept and replayed.\n"
		"A program that does not end is watched for a while in each phase and stopped.\n"
		"Exit status: 0 answered; 1 slower than the run before (--against), or changed "
		"(--check); 3 nothing could be measured, or partial (--check); 4 the run before is "
		"from another machine; 5 the program failed; 7 the evidence could not be written; "
		"130 Ctrl-C, with the report of what is there.",
	.options = options,
	.program = PROGRAM_REQUIRED,
	.run = run_command_run,
};
