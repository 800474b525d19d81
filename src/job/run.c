/* run.c - see run.h: from the options to the answer. */
#include "job/run.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/words.h"
#include "code/binary.h"
#include "render/markdown.h"
#include "run_job.h"

#define BUDGET_DEFAULT_NS 60000000000ULL
#define BUDGET_LEAST_NS 5000000000ULL

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
	return io_replace(
		directory_path(&job->directory, name), IO_PRIVATE, str_text(text), text->len, err);
}

/* What can be wrong is told before anything is made. */
static int options_check(struct run_job *job, struct err *err)
{
	const char *path;
	int r;

	job->budget_ns = job->options.budget_ns ? job->options.budget_ns : BUDGET_DEFAULT_NS;
	if (job->budget_ns < BUDGET_LEAST_NS) {
		err_set(err, ERR_USAGE, EINVAL, "--budget %.3gs is too short to measure anything",
			(double)job->budget_ns / 1e9);
		return err_hint(err, "use at least 5s");
	}
	r = run_smaller_check(job, err);
	if (r >= 0)
		r = run_phases_check(job, err);
	if (r >= 0)
		r = run_input_check(job, err);
	if (r >= 0)
		r = run_against_open(job, err);
	return r < 0 ? r : binary_find(job->options.program[0], &job->arena, &path, err);
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
		.golden = job->options.golden,
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
	int r = directory_create(&job->directory, job->options.output, now, err);

	if (r < 0)
		return r;
	(void)job_take_fingerprint(job->front, &ignored);
	job_begin_run(job->host, job->front);
	job->manifest.run_id = job->directory.id;
	job->manifest.version = ASSAY_VERSION;
	job->manifest.target = job->host->target;
	if (job->options.sizes) { /* it has {n} */
		str_auto struct str target = {0};

		words_quote(job->options.program, &target);
		job->manifest.target = arena_str(&job->arena, &target);
	}
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
	if (!job->stopped) {
		run_smaller_make(job);
		run_phases_plan(job);
	}
	return run_phases_do(job, err);
}

int run_job_do(const struct run_options *options, const struct job_host *host,
	struct run_result *ret_result, struct err *err)
{
	struct run_job *job = mem_new(1, sizeof(*job));
	int r;

	*job = (struct run_job){
		.host = host,
		.options = *options,
		.result = ret_result,
		.front = run_open(),
		.input_words = "",
		.start_ns = clock_monotonic_ns(),
	};
	manifest_init(&job->manifest);
	manifest_init(&job->before);
	*ret_result = (struct run_result){.job = job, .front = job->front};
	r = options_check(job, err);
	if (r >= 0)
		r = directory_begin(job, err);
	if (r < 0)
		return r;
	r = run_measure(job, err);
	if (r < 0)
		directory_give_up(job);
	else
		r = run_answer(job, err);
	ret_result->stopped = job->stopped;
	return r;
}

void run_result_done(struct run_result *result)
{
	struct run_job *job = result->job;

	if (!job)
		return;
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		run_close(job->runs[i]);
	run_close(job->before_run);
	run_close(job->front);
	signals_done(&job->signals);
	hypothesis_book_close(job->book);
	vec_done(&job->written.files);
	fingerprint_comparison_done(&job->comparison);
	manifest_done(&job->manifest);
	manifest_done(&job->before);
	directory_done(&job->directory);
	arena_done(&job->arena);
	free(job);
}
