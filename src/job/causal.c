/* causal.c - see causal.h. */
#include "job/causal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#include "analyze/causal_view.h"
#include "analyze/progress_choice.h"
#include "base/clock.h"
#include "code/binary.h"
#include "drive/causal_chain.h"
#include "model/store.h"

enum { SITES_MOST = 24, RANKS_TOLD = 4, STORE_NS = 1000000000 };
/* A program that is asked has begun; one that is not may still say what its progress is. */
#define SEARCH_AT_ONCE_NS 200000000
#define SEARCH_PATIENCE_NS 2000000000
#define BUDGET_DEFAULT_NS 60000000000

void causal_job_open(struct causal_job *job, const struct causal_job_options *options,
	const struct job_host *host)
{
	*job = (struct causal_job){.options = *options, .host = host, .run = run_open()};
	job->scope.patterns = options->scope;
	job->ingest.run = job->run;
	job->rounds.run = job->run;
	job->rounds.levels_left_out = options->levels ? (uint8_t)~options->levels : 0;
	random_seed(&job->rounds.random, clock_monotonic_ns());
	job_begin_run(host, job->run);
}

void causal_job_done(struct causal_job *job)
{
	causal_sites_close(job->sites);
	vec_done(&job->points);
	vec_done(&job->functions);
	vec_done(&job->entries);
	vec_done(&job->rounds.rows);
	store_close(job->store);
	ingest_done(&job->ingest);
	run_close(job->run);
	arena_done(&job->arena);
}

static bool sites_are_fixed(const struct causal_job *job)
{
	return job->options.fixed || job->options.waits;
}

/* ---- what it is about ---- */

static int targets_choose(struct causal_job *job, struct err *err)
{
	const char *const *lists[] = {job->options.fixed, job->options.waits};
	int r = 0;

	for (unsigned kind = 0; kind < 2; kind++)
		for (const char *const *text = lists[kind]; r >= 0 && text && *text; text++)
			r = causal_sites_add(job->sites, *text, kind == 1, err);
	return r;
}

/* A counter of the program's own has a name; code and system calls become points. */
static int point_choose(struct causal_job *job, struct err *err)
{
	const char *text = job->options.progress;
	struct err unknown = {0};

	if (!text || str_equal(text, "auto") || str_equal(text, CAUSAL_END_NAME))
		return 0;
	job->rounds.judge = text;
	if (str_starts(text, "syscall:")) {
		job->rounds.judge = text + strlen("syscall:");
		vec_push(&job->points,
			(struct causal_point){.kind = CAUSAL_SYSCALL, .name = job->rounds.judge});
		return 0;
	}
	if (causal_sites_points(job->sites, text, &job->points, &unknown) >= 0) {
		job->rounds.judge = job->points.at[0].name;
		return 0;
	}
	if (!strrchr(text, ':') || strchr(text, ' '))
		return 0; /* a counter, which is not known before the program runs */
	*err = unknown;
	return -unknown.code;
}

/* ---- a progress point for a program without ---- */

static void choice_note(struct causal_job *job, const struct progress_candidate *candidates,
	const struct progress_rank *ranks, uint32_t count, const struct causal_counted *counted)
{
	str_auto struct str text = {0};
	bool found = count && ranks[0].verdict == PROGRESS_FIT;

	if (found)
		str_add(&text, "the program has no progress point; using ");
	else
		str_addf(&text,
			"none of %u functions and loops counts the program's work (%u are visited "
			"too often)",
			counted->looked, counted->hot);
	for (uint32_t i = 0; i < count && i < RANKS_TOLD; i++) {
		if (i || !found)
			str_add(&text, i > 1	    ? "; "
				       : i && found ? "; runners-up: "
				       : i	    ? "; "
						    : "; closest: ");
		progress_words(&text, candidates, &ranks[i]);
	}
	run_add_note(job->run, found ? "progress-chosen" : "progress-not-found", text.at,
		"name one with --progress FUNCTION, FILE:LINE or syscall:NAME");
}

/* On a stack, what is nearer to its root has called. */
static void chain_callers(
	const struct causal_function *const *functions, uint32_t count, uint64_t *callers)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < count; k++)
			if (functions[i]->share > 0 && functions[k]->share > 0 &&
				functions[k]->depth < functions[i]->depth)
				callers[i] |= 1ULL << k;
}

/* The points on its stacks join the functions of the program. */
static void stacks_take(void *context, const struct causal_stack *stacks, uint32_t count)
{
	struct causal_job *job = context;

	causal_chain_list(job->sites, stacks, count, &job->arena, &job->functions);
	for (uint32_t i = job->entries.count; i < job->functions.count; i++)
		vec_push(&job->entries, job->functions.at[i].point);
	job->search.functions = job->entries.at;
	job->search.count = job->entries.count;
}

static uint32_t point_find(void *context, const struct causal_counted *counted)
{
	struct causal_job *job = context;
	struct progress_candidate candidates[CAUSAL_PROBED_MAX] = {0};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];
	const struct causal_function *functions[CAUSAL_PROBED_MAX] = {NULL};
	uint64_t callers[CAUSAL_PROBED_MAX];
	uint32_t count = 0, chosen;

	while (count < counted->count && !counted->points[count].output) {
		functions[count] = &job->functions.at[counted->points[count].function];
		count++;
	}
	causal_functions_callers(job->path, functions, count, callers);
	chain_callers(functions, count, callers);
	for (uint32_t i = 0; i < counted->count; i++) {
		const struct causal_counted_point *point = &counted->points[i];

		candidates[i].name = point->output ? point->output : functions[i]->point.name;
		candidates[i].visits = point->visits;
		candidates[i].callers = point->output ? 0 : callers[i];
		candidates[i].stack_share = point->output ? 0 : functions[i]->share;
		if (!point->output) {
			bool is_cheap = functions[i]->point.is_cheap;

			candidates[i].is_loop = functions[i]->is_loop;
			candidates[i].rate_most = counted->rate_most[is_cheap];
			candidates[i].probe_ns = counted->probe_ns[is_cheap];
		}
		candidates[i].is_output = point->output;
		candidates[i].is_hot = point->is_hot;
	}
	count = progress_choose(candidates, counted->count,
		&(struct progress_slices){counted->slices, counted->slice_ns, counted->busy_ns},
		ranks);
	if (counted->is_first && (!count || ranks[0].verdict != PROGRESS_FIT))
		return UINT32_MAX;
	choice_note(job, candidates, ranks, count, counted);
	if (!count || ranks[0].verdict != PROGRESS_FIT)
		return UINT32_MAX;
	chosen = counted->points[ranks[0].candidate].function;
	job->rounds.judge = job->functions.at[chosen].point.name;
	job_progress(job->host, NULL);
	return chosen;
}

/* Asked for, or when the program visits nothing of its own for a while. */
static void search_prepare(struct causal_job *job, struct causal_run_options *options)
{
	const char *progress = job->options.progress;
	bool asked = progress && str_equal(progress, "auto");
	struct err ignored = {0};

	if ((progress && !asked) || causal_functions_list(job->path, &job->scope, &job->arena,
					    &job->functions, &ignored) < 0)
		return;
	vec_foreach (const struct causal_function, function, &job->functions)
		vec_push(&job->entries, function->point);
	job->search = (struct causal_search){.functions = job->entries.at,
		.function_count = job->entries.count,
		.count = job->entries.count,
		.take_stacks = stacks_take,
		.patience_ns = asked ? SEARCH_AT_ONCE_NS : SEARCH_PATIENCE_NS,
		.is_asked = asked,
		.choose = point_find};
	options->search = &job->search;
}

static enum causal_whole whole_runs_of(const struct causal_job_options *options)
{
	const char *progress = options->progress;

	if (!progress)
		return CAUSAL_WHOLE_ALWAYS;
	if (str_equal(progress, CAUSAL_END_NAME))
		return CAUSAL_WHOLE_ONLY;
	return str_equal(progress, "auto") ? CAUSAL_WHOLE_THREADS : CAUSAL_WHOLE_NEVER;
}

/* ---- while it runs ---- */

static int spots_take(
	void *context, const struct causal_spot *spots, uint32_t count, struct err *err)
{
	struct causal_job *job = context;

	(void)err;
	causal_sites_see(job->sites, spots, count, sites_are_fixed(job) ? 0 : SITES_MOST);
	return 0;
}

static enum causal_own code_is_own(void *context, const char *path, const struct place **ret_place)
{
	struct causal_job *job = context;

	return causal_sites_own(job->sites, path, ret_place);
}

static int pair_choose(
	void *context, uint32_t pairs_left, struct causal_choice *ret_choice, struct err *err)
{
	struct causal_job *job = context;
	uint32_t count;
	const struct causal_site *sites = causal_sites_list(job->sites, &count);
	uint64_t outside, all = causal_sites_ns(job->sites, &outside);

	job->rounds.pairs_left = pairs_left;
	return causal_rounds_next(&job->rounds, sites, count, all, ret_choice, err);
}

/* The best answer so far, and the file brought up to date. */
static void pair_done(void *context, const struct causal_pair *pair)
{
	struct causal_job *job = context;
	arena_auto struct arena arena = {0};
	struct causal_view view;
	struct err ignored = {0};
	const struct causal_gain *best;

	if (job->store && clock_monotonic_ns() - job->stored_ns > STORE_NS) {
		job->stored_ns = clock_monotonic_ns();
		(void)store_flush(job->store, job->run, &ignored);
	}
	if (!job->host->show_progress ||
		causal_view_make(job->run, job->rounds.judge, &arena, &view, &ignored) < 0)
		return;
	best = view.flat_from ? causal_curve_best(&view.targets[0].curve) : NULL;
	if (best)
		job_progress(job->host,
			"pair %u, %u targets; %s: %.0f %% faster -> %.1f %% (%.1f to %.1f)",
			pair->number, view.target_count, view.targets[0].name, 100 * best->speedup,
			100 * best->gain, 100 * best->lo, 100 * best->hi);
	else
		job_progress(job->host, "pair %u, %u targets", pair->number, view.target_count);
}

/* ---- the job ---- */

/* A program to start, or a process that runs; the file that its code is in. */
static int target_choose(
	struct causal_job *job, struct causal_run_options *options, struct err *err)
{
	char path[PATH_MAX];
	int r;

	if (options->argv) {
		r = binary_find(options->argv[0], &job->arena, &options->path, err);
		job->path = options->path;
		if (r >= 0 && options->follows)
			r = binary_find(options->follows, &job->arena, &job->path, err);
		if (options->follows)
			options->follows = job->path;
		return r;
	}
	r = causal_check_process(options->id, err);
	if (r >= 0)
		r = causal_process_path(options->id, path, sizeof(path), err);
	if (r >= 0)
		job->path = arena_copy(&job->arena, path);
	return r;
}

static int job_prepare(struct causal_job *job, struct causal_run_options *options, struct err *err)
{
	const struct causal_job_options *asked = &job->options;
	int r = target_choose(job, options, err);

	if (r >= 0)
		r = causal_sites_open(job->path, &job->scope, &job->sites, err);
	if (r >= 0)
		r = targets_choose(job, err);
	if (r >= 0)
		r = point_choose(job, err);
	if (r >= 0)
		search_prepare(job, options);
	if (r >= 0 && asked->output)
		r = store_create(asked->output, &job->store, err);
	options->stop_target = options->budget_ns;
	if (!options->budget_ns)
		options->budget_ns = BUDGET_DEFAULT_NS;
	options->points = job->points.at;
	options->point_count = job->points.count;
	options->waits = asked->waits;
	options->whole_runs = whole_runs_of(asked);
	return r;
}

static bool is_crash(int signal)
{
	return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGILL ||
	       signal == SIGFPE;
}

/* Its experiments are whole, but whether a program that crashes or fails does its work is another
 * question. */
static void endings_note(struct causal_job *job, const struct causal_summary *summary)
{
	static const char hint[] =
		"check whether it does without assay; if not, try the other --engine, or "
		"`assay run --skip causal`, which makes no experiments";
	struct run *run = job->run;
	uint32_t crashes = 0, failures = 0, count = run->executions.count;
	int by = 0, status = 0;

	for (row_id id = 1; id <= count; id++) {
		struct execution_row one = run_execution(run, id);

		if (is_crash(one.signal)) {
			crashes++;
			by = one.signal;
		}
		if (one.exit_status && !(one.flags & (EXECUTION_NO_USAGE | EXECUTION_OF_A_PART))) {
			failures++;
			status = one.exit_status;
		}
	}
	job->target_failed = crashes + failures + (summary->harmed_by != 0);
	if (summary->harmed_by)
		run_add_note(run, "ended-by-assay",
			arena_format(&job->arena,
				"the program was ended by signal %d (%s) in an experiment, very "
				"likely because of it",
				summary->harmed_by, strsignal(summary->harmed_by)),
			"try the other --engine, or `assay run --skip causal`, which makes no "
			"experiments");
	else if (crashes)
		run_add_note(run, "target-crashed",
			arena_format(&job->arena, "the program crashed in %u of %u executions (%s)",
				crashes, count, strsignal(by)),
			hint);
	if (failures)
		run_add_note(run, "target-failed",
			arena_format(&job->arena,
				"the program failed in %u of %u executions (exit status %d)",
				failures, count, status),
			hint);
}

static void notes_add(struct causal_job *job, const struct causal_summary *summary)
{
	uint32_t count;
	uint64_t outside, all = causal_sites_ns(job->sites, &outside);
	const char *missing = causal_sites_missing(job->sites);

	if (summary->preload && summary->why.code)
		run_add_note(job->run, "no-bpf",
			arena_format(&job->arena, "measured without BPF: %s", summary->why.text),
			summary->why.hint);
	endings_note(job, summary);
	causal_sites_list(job->sites, &count);
	if (*missing && (!count || !sites_are_fixed(job)))
		run_add_note(job->run, "no-lines", missing, "compile with -g to try single lines");
	if (all && outside * 10 > all * 3 && !sites_are_fixed(job))
		run_add_note(job->run, "outside-scope",
			arena_format(&job->arena,
				"%.0f %% of the CPU time was in code outside the scope",
				100.0 * (double)outside / (double)all),
			"-s '%' includes every file with lines");
}

int causal_job_measure(struct causal_job *job, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->ingest);
	struct causal_run_options options = job->options.run;
	struct causal_summary summary = {0};
	struct err late = {0};
	int r = job_prepare(job, &options, err), stored = 0;

	if (r < 0)
		return r;
	options.stdout_to_stderr = job->host->json_on_stdout;
	options.interrupted = job->host->interrupted;
	options.take_spots = spots_take;
	options.classify_code = code_is_own;
	options.choose_pair = pair_choose;
	options.take_pair = pair_done;
	options.context = job;
	r = causal_run(&options, &sink, &summary, err);
	job_progress(job->host, NULL);
	job->run->partial = r != 0;
	job->is_interrupted = r > 0;
	if (r < 0 && !job->run->experiments.count)
		return r;
	notes_add(job, &summary);
	job_take_fingerprint(job->run, &late);
	if (job->store)
		stored = store_finish(job->store, job->run, r < 0 ? &late : err);
	run_freeze(job->run);
	return r < 0 ? r : stored < 0 ? stored : 0;
}
