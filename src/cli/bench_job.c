/* bench_job.c - see bench_job.h.
 *
 * Runs are stored while they happen: what kill -9 leaves is a readable file that lacks the run
 * under way, and of runs below some milliseconds a few more. */
#include "bench_job.h"

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

enum { REFRESH_NS = 100000000, STORE_SHARE = 20 };

void bench_job_open(struct bench_job *job, struct cli *cli)
{
	*job = (struct bench_job){.cli = cli, .run = run_open()};
	job->run->command = run_intern(job->run, cli->command->name);
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

static void quote_words(char *const *words, struct str *out)
{
	for (char *const *word = words; *word; word++) {
		str_add(out, word == words ? "" : " ");
		word_quote(*word, out);
	}
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

/* What the parameters are for this command, as fields "parameter.COMMAND.NAME". */
static void note_parameters(struct bench_job *job)
{
	for (uint32_t i = 0; i < job->parameters.count; i++) {
		str_auto struct str name = {0};

		str_addf(&name, "%u.%s", job->commands.count, job->parameters.at[i].name);
		run_add_field(job->run,
			&(struct field_row){
				.group = run_intern(job->run, "parameter"),
				.name = run_intern(job->run, str_text(&name)),
				.value = run_intern(job->run,
					parameters_value(&job->parameters, job->combination, i)),
			});
	}
}

/* The words with the parameters in their places. */
static char *const *words_apply(struct bench_job *job, char *const *words)
{
	uint32_t count = 0;
	char **replaced;

	if (!job->parameters.count)
		return words;
	while (words[count])
		count++;
	replaced = arena_take(&job->arena, (count + 1) * sizeof(*replaced));
	for (uint32_t i = 0; i < count; i++)
		replaced[i] =
			parameters_apply(&job->parameters, job->combination, words[i], &job->arena);
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
	quote_words(words, &quoted);
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

	if (!cli_has(job->cli, "shell"))
		return words_split(text, &job->arena, ret_words, NULL, err);
	words = arena_take(&job->arena, 4 * sizeof(*words));
	words[0] = arena_text(&job->arena, "/bin/sh", 7);
	words[1] = arena_text(&job->arena, "-c", 2);
	words[2] = arena_text(&job->arena, text, strlen(text));
	*ret_words = words;
	return 0;
}

void bench_job_note_shell(struct bench_job *job, const char *text)
{
	char special = cli_has(job->cli, "shell") ? 0 : words_need_shell(text);
	str_auto struct str line = {0};

	if (!special)
		return;
	str_addf(&line, "no shell reads '%s': the %c in it is passed on as it stands", text,
		special);
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

bool bench_job_shares_stdout(const struct bench_job *job)
{
	const char *where = cli_value(job->cli, "program-output");

	return where && str_equal(where, "inherit");
}

static int input_check(const char *path, struct err *err)
{
	io_auto int in = open(path, O_RDONLY | O_CLOEXEC);
	int code = errno;

	if (in >= 0)
		return 0;
	err_set(err, ERR_USAGE, code, "cannot read %s: %s", path, err_words(code));
	err_hint(err, "--input names the file that the commands read");
	return -code;
}

static int inputs_choose(struct bench_job *job, struct bench_options *options, struct err *err)
{
	const char *input = cli_value(job->cli, "input");
	int r = 0;

	options->input_path = input && !job->fill ? input : "/dev/null";
	if (!input || !job->fill)
		return input_check(options->input_path, err);
	for (uint32_t i = 0; r >= 0 && i < job->commands.count; i++) {
		job->commands.at[i].input_path = job->fill(job, i, input);
		r = input_check(job->commands.at[i].input_path, err);
	}
	return r;
}

/* Streams are tried once here, so that a wrong name is told before the first run. */
static int streams_choose(struct bench_job *job, struct bench_options *options, struct err *err)
{
	const char *where = cli_value(job->cli, "program-output");
	io_auto int out = -1;
	int r = inputs_choose(job, options, err);

	if (r < 0)
		return r;
	options->output_path = !where || str_equal(where, "null") ? "/dev/null"
			       : str_equal(where, "inherit")	  ? NULL
								  : where;
	options->stdout_to_stderr = !options->output_path && job->cli->mode == CLI_JSON;
	if (!options->output_path)
		return 0;
	out = open(options->output_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (out < 0) {
		int code = errno;

		err_set(err, ERR_OUTPUT, code, "cannot write %s: %s", options->output_path,
			err_words(code));
		err_hint(err, "--program-output is null, inherit or a file that can be written");
		return -code;
	}
	return 0;
}

/* The command of --setup, --prepare or --cleanup with the parameters of each command; `once`: the
 * same text is taken once.  Where they begin among all commands, and how many they are. */
static int asides_add(struct bench_job *job, const char *option, bool once, uint32_t *ret_at,
	uint32_t *ret_count, struct err *err)
{
	const char *given = cli_value(job->cli, option);
	vec_of(const char *) seen = {0};
	int r = 0;

	*ret_at = given ? job->commands.count : 0;
	for (uint32_t i = 0; r >= 0 && given && i < job->combinations.count; i++) {
		const char *text = job->fill ? job->fill(job, i, given)
					     : parameters_apply(&job->parameters,
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
	const char *state = cli_value(job->cli, "cache");
	str_auto struct str text = {0};

	str_add(&text, state ? state : job->cold_files ? "cold files:" : "");
	for (const char **file = job->cold_files; file && *file && !state; file++)
		str_addf(&text, " %s", *file);
	if (text.len)
		run_add_field(job->run, &(struct field_row){
						.group = run_intern(job->run, "env"),
						.name = run_intern(job->run, "cache_state"),
						.value = run_intern(job->run, str_text(&text)),
					});
}

static int cache_choose(struct bench_job *job, struct bench_options *options, struct err *err)
{
	const char *state = cli_value(job->cli, "cache");
	unsigned count = 0;

	while (cli_value_at(job->cli, "cold-file", count))
		count++;
	options->drop_caches = state && str_equal(state, "cold");
	if (state && !options->drop_caches && count) {
		err_set(err, ERR_USAGE, EINVAL, "--cache warm and --cold-file contradict");
		err_hint(err, "leave one of them out");
		return -EINVAL;
	}
	if (count) {
		job->cold_files = arena_take(&job->arena, (count + 1) * sizeof(*job->cold_files));
		for (unsigned i = 0; i < count; i++)
			job->cold_files[i] = cli_value_at(job->cli, "cold-file", i);
	}
	options->cold_files = job->cold_files;
	note_cache(job);
	return 0;
}

static int golden_choose(struct bench_job *job, struct bench_options *options, struct err *err)
{
	options->golden_path = cli_value(job->cli, "golden");
	options->golden_save_path = cli_value(job->cli, "golden-save");
	if (options->golden_path && options->golden_save_path) {
		err_set(err, ERR_USAGE, EINVAL, "--golden and --golden-save contradict");
		err_hint(err, "--golden-save writes the file, --golden FILE then checks with it");
		return -EINVAL;
	}
	if ((options->golden_path || options->golden_save_path) &&
		(!options->output_path || !str_equal(options->output_path, "/dev/null"))) {
		err_set(err, ERR_USAGE, EINVAL,
			"the output cannot be compared and go elsewhere too");
		err_hint(err, "leave out --program-output");
		return -EINVAL;
	}
	return 0;
}

static int commands_complete(struct bench_job *job, struct bench_options *options, struct err *err)
{
	uint32_t prepares;
	int r;

	options->command_count = job->commands.count;
	r = asides_add(job, "setup", true, &options->setup_at, &options->setup_count, err);
	if (r >= 0)
		r = asides_add(job, "prepare", false, &options->prepare_at, &prepares, err);
	if (r >= 0)
		r = asides_add(
			job, "cleanup", true, &options->cleanup_at, &options->cleanup_count, err);
	options->commands = job->commands.at;
	return r;
}

static int options_choose(struct bench_job *job, struct bench_options *options, struct err *err)
{
	uint64_t warmups = 0;
	int r = cli_number(job->cli, "warmup", 0, 1000000, job->warmups, &warmups, err);

	if (r >= 0)
		r = cli_duration(job->cli, "time-limit", 0, &options->limit_ns, err);
	if (r >= 0)
		r = streams_choose(job, options, err);
	if (r >= 0)
		r = commands_complete(job, options, err);
	if (r >= 0)
		r = cache_choose(job, options, err);
	if (r >= 0)
		r = golden_choose(job, options, err);
	options->warmups = (uint32_t)warmups;
	options->can_be_enough = job->look != NULL;
	options->keep_errors = options->output_path && str_equal(options->output_path, "/dev/null");
	options->ignore_failure = cli_has(job->cli, "ignore-failure");
	options->seed = clock_monotonic_ns();
	options->interrupted = cli_interrupted;
	return r;
}

static int store_choose(struct bench_job *job, struct err *err)
{
	const char *path = cli_value(job->cli, "output"), *name = cli_value(job->cli, "save");

	if (path && name) {
		err_set(err, ERR_USAGE, EINVAL, "-o and --save both say where the runs go");
		err_hint(err, "give one of them");
		return -EINVAL;
	}
	if (name && (!*name || *name == '.' || strchr(name, '/'))) {
		err_set(err, ERR_USAGE, EINVAL, "--save cannot be '%s'", name);
		err_hint(err, "it is a plain name; -o takes a path");
		return -EINVAL;
	}
	if (name && mkdir(BENCH_JOB_FOLDER, 0777) < 0 && errno != EEXIST) {
		int code = errno;

		err_set(err, ERR_OUTPUT, code, "cannot make the folder %s: %s", BENCH_JOB_FOLDER,
			err_words(code));
		err_hint(err, "-o RUN stores elsewhere");
		return -code;
	}
	if (name)
		path = arena_format(&job->arena, BENCH_JOB_FOLDER "/%s.assay", name);
	return path ? store_create(path, &job->store, err) : 0;
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

	if (job->cli->quiet || job->cli->mode != CLI_TEXT || !isatty(STDERR_FILENO))
		return;
	lately_text(job->run, &line);
	if (progress->rounds_due)
		cli_progress(job->cli, "round %u of about %u%s", progress->rounds,
			progress->rounds_due, str_text(&line));
	else
		cli_progress(job->cli, "warming up, run %u", progress->runs);
}

/* Each run is in the file before the next one starts, as long as that takes a twentieth of the
 * time: what kill -9 can take is the run under way, of runs below some ms a few more.  The first
 * time makes the tables and says nothing about the others, so the cheapest counts. */
static int store_keep_up(struct bench_job *job, struct err *err)
{
	uint64_t begin_ns = clock_monotonic_ns(), cost_ns;
	int r;

	if (begin_ns - job->stored_ns < STORE_SHARE * job->store_cost_ns)
		return 0;
	r = store_flush(job->store, job->run, err);
	cost_ns = clock_monotonic_ns() - begin_ns;
	if (!job->stored_ns)
		cost_ns = 0;
	else if (job->store_cost_ns && job->store_cost_ns < cost_ns)
		cost_ns = job->store_cost_ns;
	job->stored_ns = begin_ns;
	job->store_cost_ns = cost_ns;
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
	if (r >= 0 && job->store)
		r = store_keep_up(job, err);
	if (r >= 0 && progress->round_ended && job->look)
		r = job->look(job, progress, err);
	return r;
}

/* How the runs were made, as fields: numbers made in another way are compared with a warning. */
static void settings_note(struct bench_job *job)
{
	static const char *const names[] = {"prepare", "input"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = cli_value(job->cli, names[i]);

		if (value && *value)
			run_add_field(job->run, &(struct field_row){
							.group = run_intern(job->run, "job"),
							.name = run_intern(job->run, names[i]),
							.value = run_intern(job->run, value),
						});
	}
}

/* Append what was measured to the history; a failure is a note of the run. */
static void history_add(struct bench_job *job)
{
	arena_auto struct arena arena = {0};
	struct bench_view view;
	struct history_row *rows;
	size_t count = 0;
	struct err err = {0};
	int r = bench_view_make(job->run, cli_has(job->cli, "ignore-failure"), &arena, &view, &err);

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
static int job_measure(struct bench_job *job, struct bench_options *options, struct err *err)
{
	struct ingest ingest = {.run = job->run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct bench *bench = NULL;
	int r = bench_open(options, &bench, err);

	if (r >= 0 && !job->is_extra)
		r = store_choose(job, err);
	if (r >= 0)
		r = bench_run(bench, &sink, err);
	bench_close(bench);
	return r;
}

int bench_job_run(struct bench_job *job, struct bench_options *options, struct err *err)
{
	struct err late = {0};
	int r = options_choose(job, options, err), stored = 0;

	if (r < 0)
		return r;
	if (job->ready)
		r = job->ready(job, options, err);
	if (r < 0)
		return r;
	options->each = each_run;
	options->context = job;
	r = job_measure(job, options, err);
	cli_progress(job->cli, NULL);
	job->run->partial = r != BENCH_DONE;
	if (r < 0 && !job->run->executions.count)
		return r;
	if (job->store || job->takes_fingerprint || cli_has(job->cli, "json")) {
		settings_note(job);
		job_take_fingerprint(job->run, &late);
	}
	if (job->store)
		stored = store_finish(job->store, job->run, r < 0 ? &late : err);
	if ((job->is_remembered || cli_has(job->cli, "save")) && !job->is_extra &&
		!cli_has(job->cli, "no-history") && r == BENCH_DONE && stored >= 0)
		history_add(job);
	run_freeze(job->run);
	return r < 0 ? r : stored < 0 ? stored : r;
}
