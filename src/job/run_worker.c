/* run_worker.c - the program that the time is in, where the one that was started only starts it.
 *
 *     assay run -- sh -c './program input | sort'
 *
 * A shell, a script or a driver waits while another program works.  The samples say which one:
 * the file that is on most of their stacks and is a program, not a library.  Experiments then
 * follow that one (`assay causal --follow`); where they cannot, the reason and the way out are
 * told. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/label.h"
#include "analyze/module_time.h"
#include "code/binary.h"
#include "run_job.h"

#define WORKER_SHARE 0.5

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* libc and the loader can be started, and are on every stack, and are no program for all that. */
static bool is_library(const char *path)
{
	return strstr(label_base(path), ".so");
}

/* The ELF file behind a name: of a script its interpreter. */
static bool program_inspect(struct run_job *job, const char *name, struct binary_facts *ret_facts)
{
	const struct binary_options how = {.without_libraries = true};
	struct err ignored = {0};

	return binary_inspect(name, &how, &job->arena, ret_facts, &ignored) >= 0 &&
	       ret_facts->kind != BINARY_LIBRARY;
}

static void worker_judge(
	struct run_job *job, const struct binary_facts *facts, const struct module_time *time)
{
	struct run_worker *worker = &job->worker;
	bool is_static = facts->kind == BINARY_STATIC || facts->kind == BINARY_STATIC_PIE;

	worker->path = time->path;
	if (time->share < WORKER_SHARE)
		worker->refused = arena_format(&job->arena,
			"%s starts several programs, and none of them has half of the time (%s "
			"has %.0f %%)",
			job->options.program[0], facts->name, 100 * time->share);
	else if (is_static || facts->setuid || facts->setgid)
		worker->refused = arena_format(&job->arena,
			"%.0f %% of the time is in %s, which %s starts and which is %s, so "
			"experiments cannot follow it",
			100 * time->share, facts->name, job->options.program[0],
			is_static ? "static" : "set-uid");
	if (worker->refused)
		worker->fix = arena_format(&job->arena, "start %s itself: assay run -- %s ARGS",
			facts->name, time->path);
}

void run_worker_find(struct run_job *job)
{
	struct err ignored = {0};
	const struct run *profile = run_phase_file(job, EVIDENCE_PROFILE, &ignored);
	struct binary_facts started, facts;
	struct module_time *times;
	uint32_t count = 0;
	const char *path;

	if (job->worker.known || !profile)
		return;
	job->worker.known = true;
	if (binary_find(job->options.program[0], &job->arena, &path, &ignored) < 0 ||
		module_times_make(profile, &job->arena, &times, &count, &ignored) < 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		if (is_library(times[i].path))
			continue;
		if (is_same_file(times[i].path, path))
			break;
		if (!program_inspect(job, times[i].path, &facts))
			continue;
		if (program_inspect(job, path, &started) && !is_same_file(facts.path, started.path))
			worker_judge(job, &facts, &times[i]);
		break;
	}
	if (job->worker.path && !job->worker.refused)
		run_add_note(job->front, "follows",
			arena_format(&job->arena,
				"the time is in %s, which %s starts: experiments are made on it",
				job->worker.path, job->options.program[0]),
			"");
}
