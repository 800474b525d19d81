/* run_steps.c - one command of assay as a child, and its row in the manifest.
 *
 * What child and program say is kept in log/NAME.txt; why it gave nothing the child tells in a way
 * of its own (drive/phase.h).  What the program prints goes into a file that is compared with the
 * golden output and then removed. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/words.h"
#include "job/status.h"
#include "run_job.h"

enum { LOG_MOST = 1 << 20 };

void run_words_put(struct run_words *words, const char *const *more)
{
	for (; *more; more++)
		vec_push(&words->at, *more);
}

const char *run_words_ms(struct run_job *job, uint64_t ns)
{
	return arena_format(&job->arena, "%llums", (unsigned long long)(ns / 1000000));
}

void run_words_add_program(struct run_job *job, struct run_words *words, bool splits_one)
{
	char *const *program = job->options.program;

	if (splits_one && !program[1])
		run_words_add(words, "--", job->manifest.target);
	else
		run_words_add(words, "--", program[0]);
	run_words_put(words, (const char *const *)program + 1);
}

/* NULL: none. */
static const char *step_input(const struct run_job *job, const struct run_step *step)
{
	if (!step->takes_input)
		return NULL;
	return step->input_path ? step->input_path : job->input_path;
}

/* The whole line as it can be typed. */
static const char *command_words(
	struct run_job *job, const struct run_step *step, const char *setting)
{
	str_auto struct str line = {0};

	if (setting) {
		word_quote(setting, &line);
		str_add_char(&line, ' ');
	}
	word_quote(job->host->argv[0], &line);
	vec_foreach (const char *, word, &step->words.at) {
		str_add_char(&line, ' ');
		word_quote(*word, &line);
	}
	if (step_input(job, step)) {
		str_add(&line, " < ");
		word_quote(step_input(job, step), &line);
	}
	return arena_text(&job->arena, str_text(&line), line.len);
}

/* A simulation ends at its time limit as if it were done. */
static bool step_was_cut(struct run_job *job, const struct run_step *step)
{
	struct err ignored = {0};
	const struct run *run = step->may_be_cut ? run_phase_file(job, step->kind, &ignored) : NULL;

	return run && run->partial;
}

/* A whole run must print what the first one did.  That is told at the end, when it is known whether
 * it prints the same at all. */
static void output_check(
	struct run_job *job, const struct run_step *step, const char *path, bool whole)
{
	char digest[SHA256_TEXT];

	if (!step->checks_output || !whole || !*job->golden_sha256 || job->output_varies ||
		sha256_file(path, digest) < 0 || str_equal(digest, job->golden_sha256) ||
		step_was_cut(job, step)) {
		unlink(path);
		return;
	}
	job->differs = arena_format(&job->arena, "%s%s%s", job->differs ? job->differs : "",
		job->differs ? ", " : "", step->name);
}

void run_step_note_outputs(struct run_job *job)
{
	if (job->output_varies)
		run_add_note(job->front, "output-varies",
			"the output differs from run to run, so it cannot be checked",
			"make the output reproducible (no times, addresses or random numbers)");
	else if (job->differs)
		run_add_note(job->front, "output-differs",
			arena_format(&job->arena, "output differs from the first run: in %s",
				job->differs),
			"compare golden/stdout with log/PHASE.stdout in the directory");
}

static struct manifest_phase *row_last(struct run_job *job)
{
	return &job->manifest.phases.at[job->manifest.phases.count - 1];
}

/* How a command that failed ended, and, where stdout is not the program's, what it said there: its
 * log is where people look, and bench tells a failure of the program on its page. */
static void log_complete(
	struct run_job *job, const struct run_step *step, const char *log, const char *output)
{
	const struct manifest_phase *row = row_last(job);
	str_auto struct str text = {0};
	struct err ignored = {0};

	str_addf(&text, "$ %s\n", row->command);
	if (!step->takes_input)
		(void)io_read_at(AT_FDCWD, output, LOG_MOST, &text);
	if (text.at[text.len - 1] != '\n')
		str_add_char(&text, '\n');
	str_addf(&text, "exit status %d\n", row->status);
	(void)io_append(log, IO_PRIVATE, text.at, text.len, &ignored);
}

static void progress_show(void *context, uint64_t elapsed_ns)
{
	struct run_job *job = context;
	const struct manifest_phase *row = row_last(job);

	if (isfinite(row->planned_s))
		job_progress(job->host, "phase %u of %u, %s: %.0f s of %.0f s", job->step,
			job->step_count, row->name, (double)elapsed_ns / 1e9, row->planned_s);
	else
		job_progress(job->host, "%s: %.0f s", row->name, (double)elapsed_ns / 1e9);
}

bool run_step_was_cut(struct run_job *job, enum evidence_kind kind)
{
	struct err ignored = {0};
	const struct run *run = run_phase_file(job, kind, &ignored);
	uint32_t count = run ? run->executions.count : 0;

	return !count ||
	       run_execution(run, count).flags & (EXECUTION_TIMED_OUT | EXECUTION_INTERRUPTED);
}

static enum phase_outcome outcome_of(
	struct run_job *job, const struct run_step *step, const struct phase_result *result)
{
	bool has_file = false;
	struct stat there;

	if (*step->file) {
		str_auto struct str path = {0};

		str_addf(&path, "%s/%s", job->directory.path, step->file);
		has_file = stat(path.at, &there) == 0 && there.st_size > 0;
	}
	if (result->interrupted)
		return PHASE_INTERRUPTED;
	if (result->limited && has_file && !result->killed)
		return PHASE_WATCHED;
	if (result->status == EXIT_DONE && (has_file || !*step->file))
		return step->watches && run_step_was_cut(job, step->kind) ? PHASE_WATCHED
									  : PHASE_DONE;
	return PHASE_FAILED;
}

/* "the program exited with status 3 in run 2: cannot open x", when its run file says so. */
static bool reason_of_program(
	struct run_job *job, const struct run_step *step, struct manifest_phase *row)
{
	run_auto struct run *run = NULL;
	struct err ignored = {0};

	if (!*step->file || row->status != EXIT_TARGET ||
		job_load_run(
			job->host, directory_path(&job->directory, step->file), &run, &ignored) < 0)
		return false;
	for (row_id id = 1; id <= run->executions.count; id++) {
		struct execution_row one = run_execution(run, id);

		if (!one.exit_status && !one.signal)
			continue;
		row->reason = arena_format(&job->arena, "%s; see log/%s.txt",
			run_failure_words(job, run, &one, id), row->name);
		return true;
	}
	return false;
}

static void reason_take(struct run_job *job, const struct err *err, struct manifest_phase *row)
{
	row->reason = arena_format(&job->arena, "%s", err->text);
	row->fix = arena_format(&job->arena, "%s", err->hint);
}

static void reason_find(struct run_job *job, const struct run_step *step,
	const struct phase_result *result, struct manifest_phase *row)
{
	if (row->outcome == PHASE_INTERRUPTED) {
		row->reason = "stopped by the user";
	} else if (result->killed) {
		row->reason = "it did not stop when asked and was killed";
	} else if (result->failure.code) {
		reason_take(job, &result->failure, row);
	} else if (result->limited) {
		row->reason = "it ran out of time before it had a result";
		row->fix = "use a longer --budget";
	} else if (!reason_of_program(job, step, row)) {
		row->reason = arena_format(&job->arena,
			"the command exited with status %d; see log/%s.txt", result->status,
			row->name);
	}
}

void run_step_finish(
	struct run_job *job, const struct run_step *step, const struct phase_result *result)
{
	struct manifest_phase *row = row_last(job);

	row->seconds = (double)result->wall_ns / 1e9;
	row->status = result->status;
	row->outcome = outcome_of(job, step, result);
	if (row->outcome != PHASE_DONE && row->outcome != PHASE_WATCHED)
		reason_find(job, step, result, row);
	if (row->outcome == PHASE_WATCHED && result->limited)
		row->reason = "the program was stopped when this phase's time was used";
	if (result->status == EXIT_NOT_WRITTEN && !job->unwritten.code) {
		err_set(&job->unwritten, ERR_OUTPUT, EIO, "cannot write the phase %s: %s",
			row->name, row->reason);
		err_hint(&job->unwritten, "%s",
			*row->fix ? row->fix
				  : "free some space, or choose another directory with -o");
	}
	if (result->interrupted)
		job->stopped = true;
}

/* Its log cannot be made: then no result of another phase can be written either. */
static int step_unwritten(struct run_job *job, const struct err *err)
{
	reason_take(job, err, row_last(job));
	if (!job->unwritten.code)
		job->unwritten = *err;
	return PHASE_FAILED;
}

static struct manifest_phase *row_add(struct run_job *job, const char *name)
{
	vec_push(&job->manifest.phases, (struct manifest_phase){.name = name,
						.command = "",
						.file = "",
						.reason = "",
						.fix = "",
						.status = -1,
						.planned_s = (double)NAN,
						.seconds = (double)NAN});
	return row_last(job);
}

void run_step_begin(struct run_job *job, const struct run_step *step, const char *setting)
{
	struct manifest_phase *row = row_add(job, step->name);

	row->command = command_words(job, step, setting);
	row->file = step->file;
	row->planned_s = step->planned_s > 0 ? step->planned_s : (double)NAN;
	row->outcome = PHASE_FAILED;
}

int run_step_do(struct run_job *job, struct run_step *step, struct err *err)
{
	const char *folder = job->directory.path;
	/* Whole, because the program may go elsewhere before it opens it. */
	mem_auto char *whole = step->tells_events ? realpath(folder, NULL) : NULL;
	const char *events =
		whole ? arena_format(&job->arena, "ASSAY_EVENTS=%s/" RUN_EVENTS, whole) : NULL;
	const char *log = arena_format(&job->arena, "%s/log/%s.txt", folder, step->name);
	const char *output = arena_format(&job->arena, "%s/log/%s.stdout", folder, step->name);
	const struct manifest_phase *row;
	vec_of(const char *) argv = {0};
	struct phase_result result;
	int r;

	vec_push(&argv, job->host->argv[0]);
	vec_foreach (const char *, word, &step->words.at)
		vec_push(&argv, *word);
	vec_push(&argv, NULL);
	run_step_begin(job, step, events);
	r = phase_run(
		&(struct phase_options){
			.path = "/proc/self/exe",
			.argv = argv.at,
			.setting = events,
			.input_path = step_input(job, step),
			.output_path = output,
			.error_path = log,
			.limit_ns = step->limit_ns,
			.interrupted = job->host->interrupted,
			.progress = job->host->show_progress ? progress_show : NULL,
			.watch = step->watches_files ? run_written_look : NULL,
			.context = job,
		},
		&result, err);
	job_progress(job->host, NULL);
	vec_done(&argv);
	vec_done(&step->words.at);
	if (r < 0 && err->kind == ERR_OUTPUT)
		return step_unwritten(job, err);
	if (r < 0)
		return r;
	run_step_finish(job, step, &result);
	row = row_last(job);
	if (row->outcome == PHASE_FAILED)
		log_complete(job, step, log, output);
	output_check(job, step, output, row->outcome == PHASE_DONE);
	return (int)row->outcome;
}

void run_step_skip(struct run_job *job, const char *name, const char *reason, const char *fix)
{
	struct manifest_phase *row = row_add(job, name);

	row->reason = reason;
	row->fix = fix;
}

struct manifest_phase *run_step_find(struct run_job *job, const char *name)
{
	struct manifest_phase *found = NULL;

	vec_foreach (struct manifest_phase, phase, &job->manifest.phases)
		if (str_equal(phase->name, name))
			found = phase;
	return found;
}
