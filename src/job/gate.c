/* gate.c - what is judged: baselines, candidate, budgets, history.
 *
 * What is measured now is measured as the baseline was: the same commands, as often, with as many
 * warm-ups. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/words.h"
#include "gate_parts.h"

enum { RUNS_DEFAULT = 20, BUDGETS_LARGEST = 1 << 20 };

void gate_job_open(
	struct gate_job *job, const struct gate_job_options *options, const struct job_host *host)
{
	*job = (struct gate_job){.options = *options, .host = host, .page_run = run_open()};
	job->page_run->command = run_intern(job->page_run, host->command);
}

void gate_job_done(struct gate_job *job)
{
	if (job->bench.run)
		bench_job_done(&job->bench);
	gate_comparability_done(&job->machines);
	vec_foreach (struct run *, run, &job->runs)
		run_close(*run);
	vec_done(&job->runs);
	vec_done(&job->views);
	vec_done(&job->names);
	run_close(job->loaded);
	run_close(job->here);
	run_close(job->page_run);
	budget_book_done(&job->budgets);
	history_done(&job->history);
	arena_done(&job->arena);
}

/* "wall,cpu": which of them are judged. */
static int metrics_choose(struct gate_job *job, struct err *err)
{
	const char *list = job->options.metrics;
	char *rest, *word;

	for (enum gate_metric metric = 0; metric < GATE_METRICS; metric++)
		job->judges[metric] = !list;
	rest = list ? arena_copy(&job->arena, list) : NULL;
	while ((word = strsep(&rest, ","))) {
		enum gate_metric metric = gate_metric_named(word);

		if (metric == GATE_METRICS) {
			err_set(err, ERR_USAGE, EINVAL, "invalid --metrics '%s'", list);
			return err_hint(
				err, "it is a comma-separated list of wall, cpu and max_rss");
		}
		job->judges[metric] = true;
	}
	return 0;
}

static int budgets_read(struct gate_job *job, struct err *err)
{
	const char *path = job->options.budgets;
	str_auto struct str text = {0};
	int r = path ? io_read_stream(path, BUDGETS_LARGEST, &text, err) : 0;

	return r < 0 || !path
		       ? r
		       : budget_book_read(&job->budgets, str_text(&text), text.len, path, err);
}

static void history_read_all(struct gate_job *job)
{
	struct err err = {0};

	if (history_load(&job->history, BENCH_JOB_HISTORY, &err) < 0)
		run_add_note(job->page_run, "history", err.text, err.hint);
	if (job->history.skipped)
		run_add_note(job->page_run, "history",
			arena_format(&job->arena, "skipped %u invalid lines of %s",
				job->history.skipped, BENCH_JOB_HISTORY),
			"remove them if they are not yours");
}

int gate_read_rules(struct gate_job *job, struct err *err)
{
	const char *fail_on = job->options.fail_on;
	int r = gate_preset_find(job->options.preset, &job->arena, &job->preset, err);

	if (r >= 0 && fail_on)
		job->preset.fail_on = gate_severity_named(fail_on);
	if (r >= 0)
		r = metrics_choose(job, err);
	if (r >= 0)
		r = budgets_read(job, err);
	if (r >= 0)
		history_read_all(job);
	return r;
}

/* A plain word is a name of --save; what has a / or ends in .assay is a path. */
static const char *baseline_path(struct gate_job *job, const char *name)
{
	if (strchr(name, '/') || str_ends(name, ".assay"))
		return name;
	return arena_format(&job->arena, BENCH_JOB_FOLDER "/%s.assay", name);
}

static int baseline_missing(
	struct gate_job *job, const char *name, const char *path, struct err *err)
{
	bool is_path = str_equal(name, path);
	const char *text = arena_format(
		&job->arena, "no baseline %s%s%s", name, is_path ? "" : ": ", is_path ? "" : path);
	const char *hint = arena_format(&job->arena, "create one: assay bench %s %s 'COMMAND'",
		is_path ? "-o" : "--save", name);

	if (job->options.missing_ok) {
		run_add_note(job->page_run, "no-baseline", text, hint);
		return 1;
	}
	err_set(err, ERR_USAGE, ENOENT, "%s", text);
	return err_hint(err, "%s; --missing-ok lets the first run pass", hint);
}

/* Whether there is anything in it to be judged. */
static int view_check(struct gate_job *job, const char *name, const struct run *run,
	const struct bench_view *view, struct err *err)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < view->command_count; i++)
		used += view->commands[i].used_count;
	if (!view->command_count) {
		err_set(err, ERR_USAGE, EINVAL, "%s has no benchmark: assay %s made it", name,
			*run_text(run, run->command) ? run_text(run, run->command) : "?");
		return err_hint(
			err, "use a baseline stored by assay bench, ab or gate with --save or -o");
	}
	if (!used) {
		err_set(err, ERR_USAGE, EINVAL, "%s has no usable run", name);
		return err_hint(err, "measure it again: assay bench -n 20 --save NAME 'COMMAND'");
	}
	if (run->partial)
		run_add_note(job->page_run, "partial-run",
			arena_format(&job->arena,
				"%s is partial: it was interrupted after %u good runs", name, used),
			"measure it again for a complete one");
	return 0;
}

static int view_load(struct gate_job *job, const char *name, const char *path, struct run **ret_run,
	struct bench_view *ret_view, struct err *err)
{
	run_auto struct run *run = NULL;
	int r = job_load_run(job->host, path, &run, err);

	if (r >= 0)
		r = bench_view_make(
			run, job->options.bench.runs.ignore_failure, &job->arena, ret_view, err);
	if (r >= 0)
		r = view_check(job, name, run, ret_view, err);
	if (r < 0)
		return r;
	*ret_run = run;
	run = NULL;
	return 0;
}

int gate_add_baseline(struct gate_job *job, const char *name, struct err *err)
{
	const char *path = baseline_path(job, name);
	struct bench_view *view = arena_take(&job->arena, sizeof(*view));
	struct run *run = NULL;
	int r;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return baseline_missing(job, name, path, err);
	r = view_load(job, name, path, &run, view, err);
	if (r < 0)
		return r;
	vec_push(&job->runs, run);
	vec_push(&job->views, view);
	vec_push(&job->names, name);
	return 0;
}

/* A command of the baseline again.  What assay measured is stored as words; what another tool
 * measured is a text that --shell may have to read. */
static int command_repeat(
	struct gate_job *job, struct bench_job *bench, const char *line, struct err *err)
{
	const struct run *run = job->runs.at[0];
	const char *only = job->options.only;
	char **words;
	int r;

	if (only && !strstr(line, only))
		return 0;
	if (str_equal(run_text(run, run->command), "import"))
		return bench_job_add(bench, line, err);
	r = words_split(line, &bench->arena, &words, NULL, err);
	return r < 0 ? r : bench_job_add_words(bench, words, err);
}

static int commands_add(struct gate_job *job, struct bench_job *bench, struct err *err)
{
	int r = bench_job_add_given(bench, err);
	bool given = bench->commands.count;

	for (uint32_t i = 0; r >= 0 && !given && i < job->views.at[0]->command_count; i++)
		r = command_repeat(job, bench, job->views.at[0]->commands[i].name, err);
	if (r >= 0 && !bench->commands.count) {
		err_set(err, ERR_USAGE, EINVAL, "no command of the baseline contains '%s'",
			job->options.only);
		r = err_hint(err, "--only matches a part of the command line");
	}
	return r;
}

/* As often as the baseline. */
static void counts_choose(const struct gate_job *job, struct bench_job *bench)
{
	uint32_t most = 0, exact = job->options.bench.counts.exact;

	for (uint32_t i = 0; job->views.count && i < job->views.at[0]->command_count; i++) {
		const struct bench_command *one = &job->views.at[0]->commands[i];

		most = one->used_count > most ? one->used_count : most;
		if (one->warmup_count > bench->runs.warmups && !bench->options.has_warmups)
			bench->runs.warmups = one->warmup_count;
	}
	bench->runs.rounds_max = exact ? exact : most ? most : RUNS_DEFAULT;
	bench->runs.rounds_min = bench->runs.rounds_max;
	bench->runs.budget_ns = UINT64_MAX;
}

/* Nothing measured at all is the failure. */
static int measure(struct gate_job *job, struct bench_job *bench, bool is_extra,
	struct bench_view *ret_view, struct err *err)
{
	struct stat folder;
	int r, end;

	bench_job_open(bench, &job->options.bench, job->host);
	bench->options.takes_fingerprint = true;
	bench->is_extra = is_extra;
	bench->is_remembered = stat(BENCH_JOB_FOLDER, &folder) == 0 && S_ISDIR(folder.st_mode);
	r = commands_add(job, bench, err);
	if (r < 0)
		return r;
	counts_choose(job, bench);
	end = bench_job_run(bench, err);
	if (end < 0)
		return end;
	r = bench_view_make(bench->run, bench->runs.ignore_failure, &job->arena, ret_view, err);
	return r < 0 ? r : end;
}

static void fingerprint_copy(struct gate_job *job, const struct run *run)
{
	job->page_run->fingerprint = run_intern(job->page_run, run_text(run, run->fingerprint));
}

int gate_take_candidate(struct gate_job *job, struct err *err)
{
	const char *name = job->options.candidate;
	const struct run *run;
	int r;

	if (name) {
		r = view_load(
			job, name, baseline_path(job, name), &job->loaded, &job->candidate, err);
		if (r >= 0)
			fingerprint_copy(job, job->loaded);
		return r;
	}
	r = measure(job, &job->bench, false, &job->candidate, err);
	run = job->bench.run;
	if (r < 0)
		return r;
	vec_foreach (const struct note_row, note, &run->notes)
		run_add_note(job->page_run, run_text(run, note->code), run_text(run, note->text),
			run_text(run, note->hint));
	fingerprint_copy(job, run);
	job->page_run->partial |= run->partial;
	return r;
}

int gate_look_at_machines(struct gate_job *job, struct err *err)
{
	const struct run *candidate = job->loaded ? job->loaded : job->bench.run;
	int r = 0;

	gate_comparability_done(&job->machines);
	if (!candidate) {
		job->here = run_open();
		r = job_take_fingerprint(job->here, err);
		candidate = job->here;
		fingerprint_copy(job, job->here);
	}
	if (r >= 0)
		gate_compare_machines(&job->machines, (const struct run *const *)job->runs.at,
			job->runs.count, candidate);
	return r;
}

int gate_judge(struct gate_job *job, const struct bench_view *view, struct gate_view *ret_view,
	struct err *err)
{
	struct gate_input input = {
		.baselines = job->views.at,
		.baseline_count = job->views.count,
		.candidate = view,
		.budgets = job->options.budgets ? &job->budgets : NULL,
		.history = &job->history,
		.fingerprint = run_text(job->page_run, job->page_run->fingerprint),
		.only = job->options.only,
		.preset = job->preset,
		.min_effect = job->options.min_effect,
		.noise = job->machines.noise,
		.advisory = job->machines.class == NOT_COMPARABLE,
	};

	memcpy(input.judges, job->judges, sizeof(input.judges));
	return gate_make(&input, &job->arena, ret_view, err);
}

int gate_measure_again(struct gate_job *job, struct gate_view *ret_view, struct err *err)
{
	struct bench_job bench;
	struct bench_view view;
	int end = measure(job, &bench, true, &view, err);
	int r = end < 0 ? end : gate_judge(job, &view, ret_view, err);

	bench_job_done(&bench);
	return r < 0 ? r : end;
}
