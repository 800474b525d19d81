/* causal.c - `assay causal -- ./program` or `-p PID`: what would it gain if this line
 * were faster?
 *
 * Watches the program for a second to see which lines are hot, then makes pairs of experiments
 * until the answer is good enough: time goes where the bounds are wide and the gain may be large.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#include "analyze/causal_view.h"
#include "analyze/progress_choice.h"
#include "base/clock.h"
#include "causal_show.h"
#include "cli.h"
#include "code/binary.h"
#include "drive/causal.h"
#include "drive/causal_functions.h"
#include "drive/causal_sites.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"

enum { SITES_MOST = 24, RANKS_TOLD = 4 };
/* A program that is asked has begun; one that is not may still say what its progress is. */
#define SEARCH_AT_ONCE_NS 200000000
#define SEARCH_PATIENCE_NS 2000000000
#define BUDGET_DEFAULT_NS 60000000000
/* Good enough: bounds within three points to both sides. */
#define HALF_WIDTH 0.03

struct causal_job {
	struct cli *cli;
	struct run *run;
	struct store *store; /* NULL without -o */
	struct ingest ingest;
	struct arena arena;
	struct random random;
	struct scope scope;
	struct causal_sites *sites;
	causal_point_vec points;
	causal_function_vec functions; /* that may count the program's work */
	causal_point_vec entries;      /* of them */
	struct causal_search search;
	const char *path;
	const char *judge;    /* name of the progress point, NULL: the one there is */
	vec_of(uint32_t) row; /* of each site: its number as a target, 0: not tried yet */
	uint32_t tried;
	uint64_t stored_ns;
	bool sites_are_fixed;
	uint8_t levels_left_out; /* bits: --speedup named others */
};

static void causal_job_done(struct causal_job *job)
{
	causal_sites_close(job->sites);
	vec_done(&job->points);
	vec_done(&job->functions);
	vec_done(&job->entries);
	vec_done(&job->row);
	store_close(job->store);
	ingest_done(&job->ingest);
	run_close(job->run);
	arena_done(&job->arena);
}

/* ---- options ---- */

static void scope_choose(struct causal_job *job)
{
	const char **patterns;
	unsigned count = 0;

	while (cli_value_at(job->cli, "scope", count))
		count++;
	patterns = arena_take(&job->arena, (count + 1) * sizeof(*patterns));
	for (unsigned i = 0; i < count; i++)
		patterns[i] = cli_value_at(job->cli, "scope", i);
	patterns[count] = NULL;
	job->scope.patterns = patterns;
}

/* What was named with -f or --waits. */
static int targets_choose(struct causal_job *job, struct err *err)
{
	static const char *const names[] = {"fixed", "waits"};
	int r = 0;

	for (unsigned kind = 0; kind < 2; kind++)
		for (unsigned i = 0; r >= 0; i++) {
			const char *text = cli_value_at(job->cli, names[kind], i);

			if (!text)
				break;
			r = causal_sites_add(job->sites, text, kind == 1, err);
			job->sites_are_fixed = true;
		}
	return r;
}

/* A counter of the program's own has a name; code and system calls become points. */
static int point_choose(struct causal_job *job, struct err *err)
{
	const char *text = cli_value(job->cli, "progress");
	struct err unknown = {0};

	if (!text || str_equal(text, "auto"))
		return 0;
	job->judge = text;
	if (str_starts(text, "syscall:")) {
		job->judge = text + strlen("syscall:");
		vec_push(&job->points,
			(struct causal_point){.kind = CAUSAL_SYSCALL, .name = job->judge});
		return 0;
	}
	if (causal_sites_points(job->sites, text, &job->points, &unknown) >= 0) {
		job->judge = job->points.at[0].name;
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
		str_add(&text, "nothing in the program says what progress is; taken for it is ");
	else
		str_addf(&text,
			"none of %u functions counts the work of the program (%u are called too "
			"often)",
			counted->looked, counted->hot);
	for (uint32_t i = 0; i < count && i < RANKS_TOLD; i++) {
		if (i || !found)
			str_add(&text, i > 1	    ? "; "
				       : i && found ? "; runners-up: "
				       : i	    ? "; "
						    : "; nearest to it: ");
		progress_words(&text, candidates, &ranks[i]);
	}
	run_add_note(job->run, found ? "progress-chosen" : "progress-not-found", text.at,
		"say it with --progress FUNCTION, FILE:LINE or syscall:NAME");
}

static uint32_t choose(void *context, const struct causal_counted *counted)
{
	struct causal_job *job = context;
	struct progress_candidate candidates[CAUSAL_PROBED_MAX] = {0};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];
	const struct causal_function *functions[CAUSAL_PROBED_MAX];
	uint64_t callers[CAUSAL_PROBED_MAX];
	uint32_t count = 0, chosen;

	while (count < counted->count && !counted->points[count].output) {
		functions[count] = &job->functions.at[counted->points[count].function];
		count++;
	}
	causal_functions_callers(job->path, functions, count, callers);
	for (uint32_t i = 0; i < counted->count; i++) {
		const struct causal_counted_point *point = &counted->points[i];

		candidates[i].name = point->output ? point->output : functions[i]->point.name;
		candidates[i].visits = point->visits;
		candidates[i].callers = point->output ? 0 : callers[i];
		candidates[i].is_output = point->output;
		candidates[i].is_hot = point->is_hot;
	}
	count = progress_choose(candidates, counted->count,
		&(struct progress_slices){counted->slices, counted->slice_ns, counted->busy_ns},
		ranks);
	choice_note(job, candidates, ranks, count, counted);
	if (!count || ranks[0].verdict != PROGRESS_FIT)
		return UINT32_MAX;
	chosen = counted->points[ranks[0].candidate].function;
	job->judge = job->functions.at[chosen].point.name;
	cli_progress(job->cli, NULL);
	return chosen;
}

/* Asked for, or when the program visits nothing of its own for a while. */
static void search_prepare(
	struct causal_job *job, const char *file, struct causal_run_options *options)
{
	const char *progress = cli_value(job->cli, "progress");
	bool asked = progress && str_equal(progress, "auto");
	struct err ignored = {0};

	if ((progress && !asked) || causal_functions_list(file, &job->scope, &job->arena,
					    &job->functions, &ignored) < 0)
		return;
	vec_foreach (const struct causal_function, function, &job->functions)
		vec_push(&job->entries, function->point);
	job->path = file;
	job->search = (struct causal_search){.functions = job->entries.at,
		.count = job->entries.count,
		.patience_ns = asked ? SEARCH_AT_ONCE_NS : SEARCH_PATIENCE_NS,
		.is_asked = asked,
		.choose = choose};
	options->search = &job->search;
}

/* ---- while it runs ---- */

static int seen(void *context, const struct causal_spot *spots, uint32_t count, struct err *err)
{
	struct causal_job *job = context;

	(void)err;
	causal_sites_see(job->sites, spots, count, job->sites_are_fixed ? 0 : SITES_MOST);
	return 0;
}

static enum causal_own own(void *context, const char *path, const struct place **ret_place)
{
	struct causal_job *job = context;

	return causal_sites_own(job->sites, path, ret_place);
}

static uint32_t site_of_row(const struct causal_job *job, uint32_t row)
{
	for (uint32_t i = 0; i < job->row.count; i++)
		if (job->row.at[i] == row)
			return i;
	return UINT32_MAX;
}

/* The cell that would teach most. */
static int cell_choose(struct causal_job *job, struct causal_cell *ret_cell, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct causal_candidate *candidates;
	struct causal_trial *trials;
	uint32_t trial_count, count;
	const struct causal_site *sites = causal_sites_list(job->sites, &count);
	uint64_t outside, all = causal_sites_ns(job->sites, &outside);
	int r = causal_trials_of_run(job->run, job->judge, &arena, &trials, &trial_count, err);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < trial_count; i++)
		trials[i].target = site_of_row(job, trials[i].target + 1);
	candidates = arena_take(&arena, (count + 1) * sizeof(*candidates));
	for (uint32_t i = 0; i < count; i++)
		candidates[i] = (struct causal_candidate){
			.sample_share = all ? (double)sites[i].ns / (double)all : 0,
			.given_up = !sites[i].what.count,
			.left_out = job->levels_left_out};
	*ret_cell =
		causal_next_cell(trials, trial_count, candidates, count, HALF_WIDTH, &job->random);
	return 0;
}

static int next(void *context, struct causal_choice *ret_choice, struct err *err)
{
	struct causal_job *job = context;
	struct causal_cell cell;
	uint32_t count;
	const struct causal_site *site = causal_sites_list(job->sites, &count);
	int r;

	while (job->row.count < count)
		vec_push(&job->row, 0);
	r = cell_choose(job, &cell, err);
	if (r < 0 || cell.done)
		return r;
	site += cell.target;
	if (!job->row.at[cell.target])
		job->row.at[cell.target] = ++job->tried;
	*ret_choice = (struct causal_choice){
		.target = job->row.at[cell.target],
		.speedup_permille = (uint32_t)(1000 * causal_levels[cell.level]),
		.what = site->what,
		.name = site->name,
		.file = site->file,
		.function = site->function,
		.line = site->line,
	};
	return 1;
}

/* The best answer so far, and the file brought up to date. */
static void pair_done(void *context, const struct causal_pair *pair)
{
	struct causal_job *job = context;
	arena_auto struct arena arena = {0};
	struct causal_view view;
	struct err ignored = {0};
	const struct causal_target_view *best;

	if (job->store && clock_monotonic_ns() - job->stored_ns > 1000000000) {
		job->stored_ns = clock_monotonic_ns();
		(void)store_flush(job->store, job->run, &ignored);
	}
	if (causal_view_make(job->run, job->judge, &arena, &view, &ignored) < 0)
		return;
	best = view.flat_from ? &view.targets[0] : NULL;
	if (best && best->curve.best)
		cli_progress(job->cli,
			"pair %u, %u targets; %s: %.0f %% faster -> %.1f %% (%.1f to %.1f)",
			pair->number, view.target_count, best->name,
			100 * best->curve.best->speedup, 100 * best->curve.best->gain,
			100 * best->curve.best->lo, 100 * best->curve.best->hi);
	else
		cli_progress(job->cli, "pair %u, %u targets", pair->number, view.target_count);
}

/* ---- the job ---- */

static enum causal_engine_choice engine_of(const char *word)
{
	if (!word || strcmp(word, "auto") == 0)
		return CAUSAL_AUTO;
	return strcmp(word, "bpf") == 0 ? CAUSAL_ONLY_BPF : CAUSAL_ONLY_PRELOAD;
}

/* A program to start, or a process that runs; the file that its code is in. */
static int target_choose(struct causal_job *job, struct causal_run_options *options,
	const char **ret_file, struct err *err)
{
	struct cli *cli = job->cli;
	char path[PATH_MAX];
	uint64_t id;
	int r;

	if (!cli_has(cli, "pid")) {
		r = binary_find(cli->program[0], &job->arena, &options->path, err);
		options->argv = cli->program;
		*ret_file = options->path;
		return r;
	}
	if (cli->program) {
		err_set(err, ERR_USAGE, EINVAL, "-p and a program exclude each other");
		err_hint(err, "attach to the process, or start the program under assay");
		return -EINVAL;
	}
	r = cli_number(cli, "pid", 1, INT32_MAX, 0, &id, err);
	options->id = (pid_t)id;
	if (r >= 0)
		r = causal_check_process(options->id, err);
	if (r >= 0)
		r = causal_process_path(options->id, path, sizeof(path), err);
	if (r >= 0)
		*ret_file = arena_text(&job->arena, path, strlen(path));
	return r;
}

/* --speedup: of the four levels, only those that are named. */
static int levels_choose(struct causal_job *job, struct err *err)
{
	const char *text;
	uint8_t named = 0;

	for (unsigned i = 0; (text = cli_value_at(job->cli, "speedup", i)); i++) {
		uint64_t percent;
		unsigned level = 0;

		if (str_to_u64(text, &percent) < 0)
			percent = 0;
		while (level < CAUSAL_LEVELS && causal_levels[level] * 100 != (double)percent)
			level++;
		if (level == CAUSAL_LEVELS) {
			err_set(err, ERR_USAGE, EINVAL, "--speedup cannot be '%s'", text);
			err_hint(err, "the levels are 25, 50, 75 and 100 percent");
			return -EINVAL;
		}
		named |= (uint8_t)(1u << level);
	}
	job->levels_left_out = named ? (uint8_t)~named : 0;
	return 0;
}

static int job_options(struct causal_job *job, struct causal_run_options *options, struct err *err)
{
	struct cli *cli = job->cli;
	const char *output = cli_value(cli, "output");
	uint64_t period_us = 0;
	const char *file = NULL;
	int r = target_choose(job, options, &file, err);

	if (r >= 0)
		r = cli_duration(cli, "budget", BUDGET_DEFAULT_NS, &options->budget_ns, err);
	if (r >= 0)
		r = cli_number(cli, "period", 50, 100000, 0, &period_us, err);
	if (r >= 0)
		r = levels_choose(job, err);
	options->period_ns = period_us * 1000;
	options->stop_target = cli_has(cli, "budget");
	options->engine = engine_of(cli_value(cli, "engine"));
	scope_choose(job);
	if (r >= 0)
		r = causal_sites_open(file, &job->scope, &job->sites, err);
	if (r >= 0)
		r = targets_choose(job, err);
	if (r >= 0)
		r = point_choose(job, err);
	if (r >= 0)
		search_prepare(job, file, options);
	if (r >= 0 && output)
		r = store_create(output, &job->store, err);
	options->points = job->points.at;
	options->point_count = job->points.count;
	options->waits = cli_has(cli, "waits");
	return r;
}

static uint32_t crashes_count(const struct run *run, int *ret_signal)
{
	uint32_t count = 0;

	for (row_id id = 1; id <= run->executions.count; id++) {
		int signal = run_execution(run, id).signal;

		if (signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS ||
			signal == SIGILL || signal == SIGFPE) {
			count++;
			*ret_signal = signal;
		}
	}
	return count;
}

/* Its experiments are whole, but whether a program that crashes does its work is another question.
 */
static void crashes_note(struct run *run)
{
	str_auto struct str line = {0};
	int by = 0;
	uint32_t crashes = crashes_count(run, &by);

	if (!crashes)
		return;
	str_addf(&line, "the program crashed in %u of %u executions (%s)", crashes,
		run->executions.count, strsignal(by));
	run_add_note(run, "target-crashed", line.at, "see whether it does so without assay");
}

/* How many executions ended by themselves with a status that says failure; the last of these. */
static uint32_t failures_count(
	const struct run *run, const struct causal_summary *summary, int *ret_status)
{
	row_id end = run->executions.count - (summary->was_stopped && run->executions.count);
	uint32_t count = 0;

	for (row_id id = 1; id <= end; id++) {
		struct execution_row execution = run_execution(run, id);

		if (!execution.exit_status ||
			execution.flags & (EXECUTION_NO_USAGE | EXECUTION_INTERRUPTED))
			continue;
		count++;
		*ret_status = execution.exit_status;
	}
	return count;
}

static void failures_note(struct run *run, const struct causal_summary *summary)
{
	str_auto struct str line = {0};
	int status = 0;
	uint32_t failures = failures_count(run, summary, &status);

	if (!failures)
		return;
	str_addf(&line, "the program failed in %u of %u executions (exit status %d)", failures,
		run->executions.count, status);
	run_add_note(run, "target-failed", line.at, "see whether it does so without assay");
}

static void no_bpf_note(struct run *run, const struct err *why)
{
	str_auto struct str line = {0};

	str_addf(&line, "measured without BPF: %s", why->text);
	run_add_note(run, "no-bpf", line.at, why->hint);
}

static void notes_add(struct causal_job *job, const struct causal_summary *summary)
{
	uint32_t count;
	uint64_t outside, all = causal_sites_ns(job->sites, &outside);
	const char *missing = causal_sites_missing(job->sites);
	str_auto struct str line = {0};

	if (summary->preload && summary->why.code)
		no_bpf_note(job->run, &summary->why);
	crashes_note(job->run);
	failures_note(job->run, summary);
	causal_sites_list(job->sites, &count);
	if (*missing && (!count || !job->sites_are_fixed))
		run_add_note(job->run, "no-lines", missing, "compile with -g to try single lines");
	if (all && outside * 10 > all * 3 && !job->sites_are_fixed) {
		str_addf(&line, "%.0f %% of the CPU time was in code outside the scope",
			100.0 * (double)outside / (double)all);
		run_add_note(job->run, "outside-scope", line.at,
			"-s '%' takes every file that has lines");
	}
}

/* A program that failed before there was anything to experiment with is the program's failure. */
static int target_status(
	const struct causal_job *job, const struct causal_summary *summary, int status)
{
	const struct run *run = job->run;
	struct execution_row last;
	int ignored;

	if (!job->cli->target_status && status == EXIT_INCONCLUSIVE &&
		failures_count(run, summary, &ignored) + crashes_count(run, &ignored))
		return EXIT_TARGET;
	if (!job->cli->target_status || !run->executions.count)
		return status;
	last = run_execution(run, run->executions.count);
	return last.signal ? 128 + last.signal : last.exit_status;
}

static int causal_run_job(struct causal_job *job, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->ingest);
	struct causal_run_options options = {
		.stdout_to_stderr = job->cli->mode == CLI_JSON,
		.interrupted = cli_interrupted,
		.seen = seen,
		.own = own,
		.next = next,
		.done = pair_done,
		.context = job,
	};
	struct causal_summary summary = {0};
	struct err late = {0};
	int r = job_options(job, &options, err), stored = 0, shown;

	if (r < 0)
		return r;
	r = causal_run(&options, &sink, &summary, err);
	cli_progress(job->cli, NULL);
	job->run->partial = r != 0;
	if (r < 0 && !job->run->experiments.count)
		return r;
	notes_add(job, &summary);
	job_take_fingerprint(job->run, &late);
	if (job->store)
		stored = store_finish(job->store, job->run, r < 0 ? &late : err);
	run_freeze(job->run);
	shown = causal_show(
		job->cli, job->run, job->judge, true, r < 0 || stored < 0 ? &late : err);
	if (r < 0 || stored < 0)
		return r < 0 ? r : stored;
	return shown < 0 ? shown : r > 0 ? EXIT_INTERRUPTED : target_status(job, &summary, shown);
}

static int causal_command_run(struct cli *cli, struct err *err)
{
	struct causal_job job = {.cli = cli};
	int r;

	if (cli_has(cli, "show"))
		return causal_show_stored(cli, err);
	job.run = run_open();
	job.ingest.run = job.run;
	job.run->started_ns = clock_realtime_ns();
	job.run->command = run_intern(job.run, "causal");
	job.run->target = cli_target_words(cli, job.run);
	random_seed(&job.random, clock_monotonic_ns());
	r = causal_run_job(&job, err);
	causal_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"pid", 'p', "PID", false, NULL,
		"attach to a process that runs; it is left running, as it was (needs --progress)"},
	{"progress", 0, "POINT", false, NULL,
		"what is progress: a counter's name, FILE:LINE, FUNCTION, syscall:NAME, "
		"usdt:PROVIDER:NAME, or auto"},
	{"scope", 's', "SCOPE", false, NULL,
		"try lines of these files only, % is any text (default: the program's own)"},
	{"fixed", 'f', "TARGET", false, NULL,
		"try this only: FILE:LINE, FUNCTION or FUNCTION@CALLER; may be repeated"},
	{"waits", 0, "TARGET", false, NULL,
		"what if the waits in calls made here were shorter; may be repeated"},
	{"budget", 0, "TIME", false, NULL,
		"stop after that time, the program too (default 60s of experiments; it runs on)"},
	{"engine", 0, "ENGINE", false, "auto|bpf|preload",
		"who sees the waits: the kernel, or (no rights needed) interposed functions"},
	{"speedup", 0, "PERCENT", false, NULL,
		"try only this level: 25, 50, 75 or 100; may be repeated (default: all four, where "
		"they teach most)"},
	{"period", 0, "US", false, NULL, "microseconds between samples (default 1000)"},
	{"output", 'o', "FILE", false, NULL, "store the experiments in this file (*.assay)"},
	{"show", 0, "RUN", false, NULL,
		"show stored experiments again, of several runs together, and run nothing"},
	{"coz", 0, "FILE", false, NULL, "write a profile.coz for coz's viewer"},
	{"markdown", 0, "FILE", false, NULL, "write a report"},
	{"svg", 0, "FILE", false, NULL, "draw the curves"},
	{"target-status", 0, NULL, false, NULL, "exit with the program's own status"},
	{0},
};

const struct command causal_command = {
	.name = "causal",
	.summary = "what the program would gain if a line were faster",
	.usage = "[--progress POINT] [-s SCOPE] [-f TARGET] [--budget TIME] (-p PID | -- PROGRAM "
		 "ARGS...)",
	.examples = (const char *const[]){"assay causal -- ./server --requests 100000",
		"which line is worth making faster, and how much it would bring",
		"assay causal --progress handle_request -f parse.c:142 -- ./server",
		"one line, judged by how often a function is called",
		"assay causal --budget 30s --svg gain.svg -o gain.assay -- ./program",
		"half a minute, with the curves",
		"assay causal -p 1234 --progress handle_request --budget 30s",
		"a process that runs already, for half a minute",
		"assay causal --show gain.assay --markdown gain.md",
		"the answer once more, without running anything", NULL},
	.details =
		"Slows everything but one line down for a moment, in proportion, and watches how "
		"the progress of the program answers: what is left is what a faster line would "
		"bring. Progress is counted by ASSAY_PROGRESS (assay.h), by coz's macros, or at a "
		"function, line or system call that --progress names.\n"
		"A program that ends early is started again while there is budget. Exit status 3 "
		"when no experiment could be made, 5 when that is because the program failed, 6 "
		"when this machine or user cannot.\n"
		"Without the rights for BPF the program samples itself and waits are seen through "
		"interposed pthread functions; the output names this engine and what it does not "
		"see.",
	.options = options,
	.program = PROGRAM_REQUIRED,
	.run = causal_command_run,
};
