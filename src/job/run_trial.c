/* run_trial.c - before the plan: what the machine and the program allow, and one first run.
 *
 * The first run tells how long a run takes, whether the program works at all, and what it prints.
 * It also warms the caches, so it is no part of the baseline. */
#include <errno.h>
#include <string.h>

#include "model/store.h"
#include "run_job.h"

#define TRIAL_FILE "trial.assay"

int run_preflight(struct run_job *job, struct err *err)
{
	struct run_step doctor = {.name = "preflight", .file = "preflight.json"};
	struct run_step env = {.name = "fingerprint", .file = "fingerprint.json"};
	int r;

	run_words_add(&doctor.words, "doctor",
		arena_format(&job->arena, "--json=%s/preflight.json", job->directory.path),
		job->options.program[0]);
	run_words_add(&env.words, "env", "-o", directory_path(&job->directory, "fingerprint.json"),
		"--", job->options.program[0]);
	r = run_step_do(job, &doctor, err);
	if (r >= 0 && !job->stopped)
		r = run_step_do(job, &env, err);
	return r;
}

/* The last line of what it wrote to stderr: usually the one that says why. */
static const char *last_line(struct run_job *job, const char *text)
{
	char *copy = arena_copy(&job->arena, text), *line;

	copy = str_trim(copy);
	line = strrchr(copy, '\n');
	line = line ? line + 1 : copy;
	str_flatten(line);
	return line;
}

const char *run_failure_words(struct run_job *job, const struct run *run,
	const struct execution_row *execution, uint32_t number)
{
	const char *words = last_line(job, run_get_field(run, "failure", "stderr", ""));
	const char *when = number ? arena_format(&job->arena, " in run %u", number) : "";

	if (execution->signal)
		return arena_format(&job->arena, "the program was killed by signal %d (%s)%s%s%s",
			execution->signal, strsignal(execution->signal), when, *words ? ": " : "",
			words);
	return arena_format(&job->arena, "the program exited with status %d%s%s%s",
		execution->exit_status, when, *words ? ": " : "", words);
}

static int trial_failed(struct run_job *job, const struct run *run,
	const struct execution_row *execution, struct err *err)
{
	struct manifest_phase *row = run_step_find(job, "trial");

	err_set(err, ERR_TARGET, ECANCELED, "%s", run_failure_words(job, run, execution, 0));
	err_hint(err, "make it exit with status 0 first; see %s/log", job->directory.path);
	job->result->target_exit =
		execution->signal ? 128 + execution->signal : execution->exit_status;
	if (row) {
		row->outcome = PHASE_FAILED;
		row->reason = arena_copy(&job->arena, err->text);
		row->fix = "make the program exit with status 0 first";
	}
	return -ECANCELED;
}

/* --golden: what it must print. */
static int golden_compare(const struct run_job *job, struct err *err)
{
	if (!*job->expected_sha256 || job->endless ||
		str_equal(job->expected_sha256, job->golden_sha256))
		return 0;
	err_set(err, ERR_TARGET, EILSEQ, "the output differs from %s", job->options.golden);
	return err_hint(err, "compare it with %s/" RUN_GOLDEN, job->directory.path);
}

/* What the run file of the trial says. */
static int trial_read(struct run_job *job, struct err *err)
{
	run_auto struct run *run = NULL;
	struct execution_row execution;
	const char *digest;
	int r = store_load(directory_path(&job->directory, TRIAL_FILE), &run, err);

	if (r < 0)
		return r;
	if (!run->executions.count)
		return err_set(err, ERR_TARGET, ECANCELED, "the program was not started");
	execution = run_execution(run, 1);
	job->run_ns = execution.wall_ns;
	if (!(execution.flags & EXECUTION_NO_USAGE) && execution.wall_ns)
		job->cpus = (double)(execution.user_ns + execution.system_ns) /
			    (double)execution.wall_ns;
	job->endless = execution.flags & EXECUTION_TIMED_OUT;
	if (!job->endless && (execution.exit_status || execution.signal))
		return trial_failed(job, run, &execution, err);
	digest = run_get_field(run, "output", "sha256", "");
	if (!job->endless && strlen(digest) == SHA256_TEXT - 1) {
		memcpy(job->golden_sha256, digest, SHA256_TEXT);
		job->manifest.output_sha256 = job->golden_sha256;
	}
	return golden_compare(job, err);
}

/* bench says "took too long" with exit status 5: for us that is an answer. */
static void trial_note_endless(struct run_job *job)
{
	struct manifest_phase *row = run_step_find(job, "trial");

	row->outcome = PHASE_WATCHED;
	row->reason = "the program did not end by itself and was stopped";
	row->fix = "";
	run_add_note(job->front, "endless",
		"the program did not end by itself: each phase observes it for a while and stops "
		"it",
		"a longer --budget waits longer for the first run (a quarter of it)");
}

int run_trial(struct run_job *job, struct err *err)
{
	uint64_t limit_ns = plan_trial_limit_ns(job->budget_ns);
	struct run_step step = {.name = "trial", .file = TRIAL_FILE, .watches_files = true};
	struct err why = {0};
	int r, outcome;

	run_words_add(&step.words, "bench", "-n", "1", "--time-limit", run_words_ms(job, limit_ns),
		"--golden-save", directory_path(&job->directory, RUN_GOLDEN));
	if (job->input_path)
		run_words_add(&step.words, "--input", job->input_path);
	run_words_add(&step.words, "-o", directory_path(&job->directory, TRIAL_FILE));
	run_words_add_program(job, &step.words, true);
	outcome = run_step_do(job, &step, err);
	if (outcome < 0 || job->stopped)
		return outcome < 0 ? outcome : 0;
	r = trial_read(job, &why);
	if (r < 0 && why.kind == ERR_USAGE) { /* no file: the child has said why */
		const struct manifest_phase *row = run_step_find(job, "trial");

		err_set(err, job->unwritten.code ? ERR_OUTPUT : ERR_TARGET, -r,
			"the first run of the program failed: %s", row->reason);
		err_hint(err, "%s", row->fix);
		return r;
	}
	if (r < 0)
		*err = why;
	else if (job->endless)
		trial_note_endless(job);
	run_written_after(job, r >= 0 && !job->endless);
	return r;
}
