/* bench.c - see bench.h.
 *
 * Runs are stored while they happen: what kill -9 leaves is a readable file that lacks the run
 * under way, and of runs below some milliseconds a few more. */
#include "job/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/bench.h"
#include "analyze/gate_history.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/stats.h"
#include "base/words.h"
#include "code/binary.h"
#include "ingest/ingest.h"
#include "model/history.h"
#include "model/store.h"
#include "render/paper.h"

enum { REFRESH_NS = 100000000, STORE_SHARE = 20, RUNS_MIN_DEFAULT = 10 };
#define BUDGET_DEFAULT_NS 3000000000

void bench_job_open(
	struct bench_job *job, const struct bench_job_options *options, const struct job_host *host)
{
	*job = (struct bench_job){
		.options = *options, .host = host, .run = run_open(), .runs = options->runs};
	job->run->command = run_intern(job->run, host->command);
	job->run->started_ns = clock_realtime_ns();
}

void bench_job_done(struct bench_job *job)
{
	store_close(job->store);
	run_close(job->run);
	vec_done(&job->commands);
	vec_done(&job->combinations);
	arena_done(&job->arena);
}

/* The file of the first word; 0, or a sentence that names the command. */
static int command_find_file(struct bench_job *job, char *const *words,
	struct spawner_command *ret_command, struct err *err)
{
	const char *name = words[0];

	if (job->folder && *name != '/' && strchr(name, '/'))
		name = arena_format(&job->arena, "%s/%s", job->folder, name);
	*ret_command = (struct spawner_command){.argv = words, .folder = job->folder};
	return binary_find(name, &job->arena, &ret_command->path, err);
}

static void field_add(struct bench_job *job, const char *group, const char *name, const char *value)
{
	run_add_field(job->run, &(struct field_row){
					.group = run_intern(job->run, group),
					.name = run_intern(job->run, name),
					.value = run_intern(job->run, value),
				});
}

/* What the parameters are for this command, as fields "parameter.COMMAND.NAME". */
static void note_parameters(struct bench_job *job)
{
	const struct parameters *parameters = &job->options.parameters;

	for (uint32_t i = 0; i < parameters->count; i++) {
		str_auto struct str name = {0};

		str_addf(&name, "%u.%s", job->commands.count, parameters->at[i].name);
		field_add(job, "parameter", str_text(&name),
			parameters_value(parameters, job->combination, i));
	}
}

/* The words with the parameters in their places. */
static char *const *words_apply(struct bench_job *job, char *const *words)
{
	uint32_t count = 0;
	char **replaced;

	if (!job->options.parameters.count)
		return words;
	while (words[count])
		count++;
	replaced = arena_take(&job->arena, (count + 1) * sizeof(*replaced));
	for (uint32_t i = 0; i < count; i++)
		replaced[i] = parameters_apply(
			&job->options.parameters, job->combination, words[i], &job->arena);
	return replaced;
}

int bench_job_add_words(struct bench_job *job, char *const *words, struct err *err)
{
	str_auto struct str quoted = {0}, target = {0};
	struct spawner_command command = {0};
	int r;

	words = words_apply(job, words);
	r = command_find_file(job, words, &command, err);
	if (r < 0)
		return r;
	words_quote(words, &quoted);
	vec_push(&job->commands, command);
	vec_push(&job->combinations, job->combination);
	note_parameters(job);
	run_add_command(
		job->run, &(struct command_row){.argv = run_intern(job->run, str_text(&quoted))});
	if (job->run->target)
		str_addf(&target, "%s; ", run_text(job->run, job->run->target));
	str_add(&target, str_text(&quoted));
	job->run->target = run_intern(job->run, str_text(&target));
	return 0;
}

int bench_job_split(struct bench_job *job, const char *text, char ***ret_words, struct err *err)
{
	char **words;

	if (!job->options.shell)
		return words_split(text, &job->arena, ret_words, NULL, err);
	words = arena_take(&job->arena, 4 * sizeof(*words));
	words[0] = arena_text(&job->arena, "/bin/sh", 7);
	words[1] = arena_text(&job->arena, "-c", 2);
	words[2] = arena_copy(&job->arena, text);
	*ret_words = words;
	return 0;
}

void bench_job_note_shell(struct bench_job *job, const char *text)
{
	char special = job->options.shell ? 0 : words_need_shell(text);
	str_auto struct str line = {0};

	if (!special)
		return;
	str_addf(&line, "no shell reads '%s': the %c in it is passed on literally", text, special);
	run_add_note(job->run, "no-shell", str_text(&line), "--shell runs it with sh -c");
}

int bench_job_add(struct bench_job *job, const char *text, struct err *err)
{
	char **words;
	int r = bench_job_split(job, text, &words, err);

	if (r < 0)
		return r;
	bench_job_note_shell(job, text);
	return bench_job_add_words(job, words, err);
}

/* One command with each combination of the parameters. */
static int combinations_add(
	struct bench_job *job, const char *text, char *const *words, struct err *err)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && (!i || i < job->options.parameters.combinations); i++) {
		job->combination = i;
		r = words ? bench_job_add_words(job, words, err) : bench_job_add(job, text, err);
	}
	return r;
}

int bench_job_add_given(struct bench_job *job, struct err *err)
{
	char *const *program = job->options.program;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < job->options.text_count; i++)
		r = combinations_add(job, job->options.texts[i], NULL, err);
	if (r >= 0 && program)
		r = combinations_add(job, program[0], program[1] ? program : NULL, err);
	return r;
}

bool bench_job_shares_stdout(const struct bench_job *job)
{
	return job->options.program_output && str_equal(job->options.program_output, "inherit");
}

static int input_check(const char *path, struct err *err)
{
	struct stat what;
	int code = stat(path, &what) < 0 || access(path, R_OK) < 0 ? errno : 0;

	if (code == 0 && !S_ISFIFO(what.st_mode)) /* every run would wait for another writer */
		return 0;
	if (code)
		err_set(err, ERR_USAGE, code, "cannot read %s: %s", path, err_words(code));
	else
		err_set(err, ERR_USAGE, EINVAL, "%s is a pipe, so it cannot be read again", path);
	return err_hint(err, "--input names the file that the commands read");
}

static int inputs_choose(struct bench_job *job, struct err *err)
{
	const char *input = job->options.input;
	int r = 0;

	job->runs.input_path = input && !job->fill ? input : "/dev/null";
	if (!input || !job->fill)
		return input_check(job->runs.input_path, err);
	for (uint32_t i = 0; r >= 0 && i < job->commands.count; i++) {
		job->commands.at[i].input_path = job->fill(job, i, input);
		r = input_check(job->commands.at[i].input_path, err);
	}
	return r;
}

/* Streams are tried once here, so that a wrong name is told before the first run. */
static int streams_choose(struct bench_job *job, struct err *err)
{
	const char *where = job->options.program_output;
	io_place_auto struct io_place place = {.folder = -1};
	io_auto int out = -1;
	struct stat what;
	int r = inputs_choose(job, err);

	if (r < 0)
		return r;
	if (bench_job_shares_stdout(job)) {
		job->runs.stdout_to_stderr = job->host->json_on_stdout;
		return 0;
	}
	if (!where || str_equal(where, "null"))
		where = "/dev/null";
	job->runs.output_path = where;
	job->runs.keep_errors = str_equal(where, "/dev/null");
	if (stat(where, &what) == 0 && !S_ISREG(what.st_mode)) /* a device, a terminal */
		out = open(where, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	else if (io_place_open(&place, where, err) == 0)
		out = io_place_open_file(&place, O_WRONLY | O_CREAT, IO_SHARED, err);
	if (out >= 0)
		return 0;
	if (!err->code)
		err_set(err, ERR_OUTPUT, errno, "cannot write %s: %s", where, err_words(errno));
	return err_hint(err, "--program-output must be null, inherit or a writable file");
}

/* A set-up, preparation or clean-up with the parameters of each command; `once`: the same text is
 * taken once.  Where they begin among all commands, and how many they are. */
static int asides_add(struct bench_job *job, const char *given, bool once, uint32_t *ret_at,
	uint32_t *ret_count, struct err *err)
{
	vec_of(const char *) seen = {0};
	int r = 0;

	*ret_at = given ? job->commands.count : 0;
	for (uint32_t i = 0; r >= 0 && given && i < job->combinations.count; i++) {
		const char *text = job->fill ? job->fill(job, i, given)
					     : parameters_apply(&job->options.parameters,
						       job->combinations.at[i], given, &job->arena);
		struct spawner_command command = {0};
		char **words;
		bool known = false;

		vec_foreach (const char *, other, &seen)
			known |= str_equal(*other, text);
		if (known && once)
			continue;
		r = bench_job_split(job, text, &words, err);
		if (r >= 0)
			r = command_find_file(job, words, &command, err);
		if (r < 0)
			break;
		vec_push(&seen, text);
		vec_push(&job->commands, command);
	}
	*ret_count = seen.count;
	vec_done(&seen);
	if (r >= 0 && given)
		bench_job_note_shell(job, given);
	return r;
}

/* "cold", "cold files: a b" or, when that was asked for, "warm": part of what makes two runs
 * comparable. */
static void note_cache(struct bench_job *job)
{
	const char *state = job->options.cache, *const *file = job->runs.cold_files;
	str_auto struct str text = {0};

	str_add(&text, state ? state : file ? "cold files:" : "");
	for (; file && *file && !state; file++)
		str_addf(&text, " %s", *file);
	if (text.len)
		field_add(job, "env", "cache_state", str_text(&text));
}

/* Two options of which each says the opposite of the other. */
static int contradictions_check(const struct bench_job *job, struct err *err)
{
	const struct bench_job_options *options = &job->options;
	const char *name = options->save;

	if (options->cache && str_equal(options->cache, "warm") && job->runs.cold_files)
		return err_refuse(err, "--cache warm and --cold-file exclude each other",
			"remove one of them");
	if (job->runs.golden_path && job->runs.golden_save_path)
		return err_refuse(err, "--golden and --golden-save exclude each other",
			"--golden-save writes the file; --golden FILE then compares with it");
	if ((job->runs.golden_path || job->runs.golden_save_path) && !job->runs.keep_errors)
		return err_refuse(err, "output that is compared cannot go elsewhere",
			"remove --program-output");
	if (options->output && name)
		return err_refuse(err, "-o and --save exclude each other", "use one of them");
	if (!name || (*name && *name != '.' && !strchr(name, '/')))
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "invalid --save '%s'", name);
	return err_hint(err, "it is a plain name; -o takes a path");
}

static int commands_complete(struct bench_job *job, struct err *err)
{
	const struct bench_job_options *options = &job->options;
	struct bench_options *runs = &job->runs;
	uint32_t prepares;
	int r;

	runs->command_count = job->commands.count;
	r = asides_add(job, options->setup, true, &runs->setup_at, &runs->setup_count, err);
	if (r >= 0)
		r = asides_add(job, options->prepare, false, &runs->prepare_at, &prepares, err);
	if (r >= 0)
		r = asides_add(
			job, options->cleanup, true, &runs->cleanup_at, &runs->cleanup_count, err);
	runs->commands = job->commands.at;
	return r;
}

static int runs_choose(struct bench_job *job, struct err *err)
{
	struct bench_options *runs = &job->runs;
	int r = streams_choose(job, err);

	if (r >= 0)
		r = contradictions_check(job, err);
	if (r >= 0)
		r = commands_complete(job, err);
	note_cache(job);
	runs->drop_caches = job->options.cache && str_equal(job->options.cache, "cold");
	runs->can_be_enough = job->look != NULL;
	runs->seed = clock_monotonic_ns();
	runs->interrupted = job->host->interrupted;
	return r;
}

static int store_choose(struct bench_job *job, struct err *err)
{
	const char *name = job->options.save;

	int r = name ? io_place_make_folder(BENCH_JOB_FOLDER, 0777, err) : 0;

	if (r < 0)
		return r;
	job->path = name ? arena_format(&job->arena, BENCH_JOB_FOLDER "/%s.assay", name)
			 : job->options.output;
	return job->path ? store_create(job->path, &job->store, err) : 0;
}

enum { LATELY = 256, LATELY_COMMANDS = 4 };

/* The medians of the last runs: whatever came before, showing them costs the same. */
static void lately_text(const struct run *run, struct str *out)
{
	double values[LATELY];
	uint32_t first = run->executions.count > LATELY ? run->executions.count - LATELY : 0;
	char median[32];

	for (uint32_t c = 1; c <= run->commands.count && c <= LATELY_COMMANDS; c++) {
		size_t count = 0;

		for (uint32_t i = first; i < run->executions.count; i++)
			if (run->executions.at[i].command == c)
				values[count++] = (double)run->executions.at[i].wall_ns;
		stats_sort(values, count);
		if (count)
			str_addf(out, "%s%s", out->len ? ", " : "  lately ",
				paper_time(median, sizeof(median),
					stats_median_sorted(values, count)));
	}
}

static void progress_show(struct bench_job *job, const struct bench_progress *progress)
{
	str_auto struct str line = {0};

	lately_text(job->run, &line);
	if (progress->rounds_due)
		job_progress(job->host, "round %u of about %u%s", progress->rounds,
			progress->rounds_due, str_text(&line));
	else
		job_progress(job->host, "warming up, run %u", progress->runs);
}

bool store_pace_is_due(const struct store_pace *pace, uint64_t now_ns)
{
	return now_ns - pace->stored_ns >= STORE_SHARE * pace->cost_ns;
}

void store_pace_take(struct store_pace *pace, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t cost_ns = pace->stored_ns ? end_ns - begin_ns : 0;

	if (!pace->cost_ns || cost_ns < pace->cost_ns)
		pace->cost_ns = cost_ns;
	pace->stored_ns = begin_ns;
}

static int store_keep_up(struct bench_job *job, struct err *err)
{
	uint64_t begin_ns = clock_monotonic_ns();
	int r;

	if (!store_pace_is_due(&job->pace, begin_ns))
		return 0;
	r = store_flush(job->store, job->run, err);
	store_pace_take(&job->pace, begin_ns, clock_monotonic_ns());
	return r;
}

static int each_run(void *context, const struct bench_progress *progress, struct err *err)
{
	struct bench_job *job = context;
	uint64_t now = clock_monotonic_ns();
	int r = 0;

	if (now - job->refreshed_ns >= REFRESH_NS) {
		job->refreshed_ns = now;
		progress_show(job, progress);
	}
	if (job->store)
		r = store_keep_up(job, err);
	if (r >= 0 && progress->round_ended && job->look)
		r = job->look(job, progress, err);
	return r;
}

/* How the runs were made, as fields: numbers made in another way are compared with a warning. */
static void settings_note(struct bench_job *job)
{
	const struct bench_job_options *options = &job->options;

	if (options->prepare && *options->prepare)
		field_add(job, "job", "prepare", options->prepare);
	if (options->input && *options->input)
		field_add(job, "job", "input", options->input);
}

/* Append what was measured to the history; a failure is a note of the run. */
static void history_add(struct bench_job *job)
{
	arena_auto struct arena arena = {0};
	struct bench_view view;
	struct history_row *rows;
	size_t count = 0;
	struct err err = {0};
	int r = bench_view_make(job->run, job->runs.ignore_failure, &arena, &view, &err);

	if (r >= 0) {
		rows = arena_take(&arena, view.command_count * sizeof(*rows));
		for (uint32_t i = 0; i < view.command_count; i++)
			if (view.commands[i].used_count)
				rows[count++] = gate_history_row(job->run, &view.commands[i]);
		r = history_append(BENCH_JOB_HISTORY, rows, count, &err);
	}
	if (r < 0) /* the measurement itself is good */
		run_add_note(job->run, "history", err.text, err.hint);
}

/* The spawner is forked before the file is opened: SQLite's memory would be the least that any
 * target's peak can read. */
static int job_measure(struct bench_job *job, struct err *err)
{
	struct ingest ingest = {.run = job->run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct bench *bench = NULL;
	int r = bench_open(&job->runs, &bench, err);

	if (r >= 0 && !job->is_extra)
		r = store_choose(job, err);
	if (r >= 0)
		r = bench_run(bench, &sink, err);
	bench_close(bench);
	return r;
}

int bench_job_run(struct bench_job *job, struct err *err)
{
	struct err late = {0};
	int r = runs_choose(job, err), stored = 0;

	if (r >= 0 && job->ready)
		r = job->ready(job, err);
	if (r < 0)
		return r;
	job->runs.each = each_run;
	job->runs.context = job;
	r = job_measure(job, err);
	job_progress(job->host, NULL);
	job->run->partial = r != BENCH_DONE;
	if (r < 0 && !job->run->executions.count)
		return r;
	if (job->store || job->options.takes_fingerprint) {
		settings_note(job);
		job_take_fingerprint(job->run, &late);
	}
	if (job->store)
		stored = store_finish(job->store, job->run, r < 0 ? &late : err);
	if ((job->is_remembered || job->options.save) && !job->is_extra &&
		!job->options.no_history && r == BENCH_DONE && stored >= 0)
		history_add(job);
	run_freeze(job->run);
	return r < 0 ? r : stored < 0 ? stored : r;
}

static int counts_choose(struct bench_job *job, struct err *err)
{
	const struct bench_counts *counts = &job->options.counts;
	struct bench_options *runs = &job->runs;

	if (counts->exact && (counts->least || counts->most))
		return err_refuse(err, "-n excludes --min-runs and --max-runs",
			"-n N means exactly N runs; remove one of them");
	if (counts->most && counts->most < counts->least)
		return err_refuse(
			err, "--max-runs is below --min-runs", "-n N means exactly N runs");
	runs->rounds_max = counts->exact ? counts->exact : counts->most;
	if (!runs->rounds_max)
		runs->rounds_max = BENCH_RUNS_MAX;
	runs->rounds_min = counts->exact ? counts->exact : counts->least;
	if (!runs->rounds_min)
		runs->rounds_min =
			runs->rounds_max < RUNS_MIN_DEFAULT ? runs->rounds_max : RUNS_MIN_DEFAULT;
	runs->budget_ns =
		(counts->budget_ns ? counts->budget_ns : BUDGET_DEFAULT_NS) * job->commands.count;
	return 0;
}

int bench_job_measure(struct bench_job *job, struct err *err)
{
	int r = bench_job_add_given(job, err);

	if (r >= 0)
		r = counts_choose(job, err);
	if (job->options.ops_per_run)
		run_set_quality(job->run, "ops_per_run", job->options.ops_per_run);
	if (job->options.bytes_per_run)
		run_set_quality(job->run, "bytes_per_run", job->options.bytes_per_run);
	return r < 0 ? r : bench_job_run(job, err);
}
