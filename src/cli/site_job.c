/* site_job.c - see site_job.h. */
#include "site_job.h"

#include <errno.h>

#include "base/clock.h"
#include "base/io.h"
#include "code/binary.h"
#include "drive/count.h"
#include "drive/record.h"
#include "drive/simulate.h"
#include "model/run.h"
#include "source/pmu.h"

enum { SITE_ROWS = 20, SITE_LIMIT_MOST = 10000000 };

void site_job_done(struct site_job *job)
{
	ingest_done(&job->ingest);
	store_close(job->store);
	run_close(job->run);
	metric_book_done(&job->metrics);
	cpu_tables_done(&job->cpu);
	advice_book_done(&job->advice);
	arena_done(&job->arena);
}

bool site_job_is_whole(const struct cli *cli)
{
	const char *level = cli_value(cli, "level");

	return level && str_equal(level, "1");
}

/* ---- the engine ---- */

enum engine { ENGINE_PMU, ENGINE_SIM };

/* Why the PMU cannot be used, as a failure; 0 when it can. */
static int pmu_check(struct err *err)
{
	int r = pmu_present(err);

	if (r != 0)
		return r < 0 ? r : 0;
	err_set(err, ERR_UNAVAILABLE, ENOENT, "this machine shows no PMU");
	err_hint(err, "`assay doctor` tells what would bring one; --engine sim needs none");
	return -ENOENT;
}

/* auto: the PMU, else the simulator, else what is missing for both. */
static int engine_choose(struct site_job *job, enum engine *ret_engine, struct err *err)
{
	const char *word = cli_value(job->cli, "engine");
	struct err no_pmu = {0}, no_simulator = {0};
	int r;

	*ret_engine = word && str_equal(word, "sim") ? ENGINE_SIM : ENGINE_PMU;
	if (*ret_engine == ENGINE_SIM)
		return simulate_available(err);
	r = pmu_check(&no_pmu);
	if (r < 0 && word && str_equal(word, "pmu")) {
		*err = no_pmu;
		return r;
	}
	if (r >= 0)
		return 0;
	*ret_engine = ENGINE_SIM;
	if (simulate_available(&no_simulator) < 0) {
		err_set(err, ERR_UNAVAILABLE, no_pmu.code, "%.220s, and %.220s", no_pmu.text,
			no_simulator.text);
		err_hint(err, "%s", no_simulator.hint);
		return -no_pmu.code;
	}
	run_add_note(job->run, "no-pmu", no_pmu.text,
		"the numbers are simulated; `assay doctor` tells what would bring a PMU");
	return 0;
}

/* ---- the PMU: count, then sample ---- */

static int list_count(
	struct site_job *job, struct event_list *events, const char *path, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->ingest);
	const struct count_options options = {
		.path = path,
		.argv = job->cli->program,
		.stdout_to_stderr = job->cli->mode == CLI_JSON,
		.repeat = 1,
		.interrupted = cli_interrupted,
	};
	int r;

	cli_progress(job->cli, "counting");
	r = count_target(&options, events, &sink, err);
	cli_progress(job->cli, NULL);
	return r;
}

static int count_once(
	struct site_job *job, const struct site_plan *plan, const char *path, struct err *err)
{
	const struct event_set *set = event_set_find(&job->metrics, plan->set, err);
	event_list_auto struct event_list events = {0};
	int r = set ? event_list_parse(&events, set->events, err) : -EINVAL;

	return r < 0 ? r : list_count(job, &events, path, err);
}

/* What the CPU's own table counts, in a run of its own: its groups would leave the generic ones too
 * little time on the PMU. */
static int count_own(
	struct site_job *job, const struct site_plan *plan, const char *path, struct err *err)
{
	event_list_auto struct event_list events = {0};
	struct pmu_report report = {0};
	struct err ignored;
	bool known = false;
	int r;

	for (unsigned k = 0; plan->own_sets && k < job->cpu.identity.kinds; k++)
		known |= job->cpu.table[k] != NULL;
	if (!known)
		return 0;
	if (pmu_selftest(&report, &ignored) < 0)
		report.cores = 0; /* then the table says how many counters there are */
	r = cpu_tables_add_fitting(&job->cpu, plan->own_sets, &report, &events, err);
	if (r <= 0)
		return r;
	ingest_next_source(&job->ingest);
	return list_count(job, &events, path, err);
}

/* The ways one after the other, until one opens; none started the program that did not. */
static int sample_once(
	struct site_job *job, const struct site_plan *plan, const char *path, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->ingest);
	struct record_options options = {
		.path = path,
		.argv = job->cli->program,
		.stdout_to_stderr = job->cli->mode == CLI_JSON,
		.interrupted = cli_interrupted,
	};
	int r = -ENOENT;

	cli_progress(job->cli, "sampling");
	for (const struct site_way *way = plan->ways; way->events; way++) {
		event_list_auto struct event_list events = {0};

		*err = (struct err){0};
		options.branches = way->branches;
		options.accesses = way->accesses;
		r = event_list_parse(&events, way->events, err);
		if (r >= 0)
			r = record_target(&options, &events, &sink, err);
		if (r >= 0 || (err->kind != ERR_UNAVAILABLE && err->kind != ERR_USAGE))
			break;
	}
	cli_progress(job->cli, NULL);
	return r;
}

static int pmu_measure(struct site_job *job, const struct site_plan *plan, struct err *err)
{
	struct err refused = {0};
	const char *path;
	int r = binary_find(job->cli->program[0], &job->arena, &path, err);

	if (r >= 0)
		r = count_once(job, plan, path, err);
	if (r == 0)
		r = count_own(job, plan, path, err);
	if (r != 0 || site_job_is_whole(job->cli)) /* failed, stopped by the user, or enough */
		return r;
	ingest_next_source(&job->ingest);
	r = sample_once(job, plan, path, &refused);
	if (r >= 0)
		return r;
	if (refused.kind != ERR_UNAVAILABLE && refused.kind != ERR_USAGE) {
		*err = refused;
		return r;
	}
	run_add_note(job->run, "no-sites", refused.text, refused.hint);
	return 0;
}

/* ---- the simulator ---- */

static void tell_cost(void *context, const char *text)
{
	const struct cli *cli = context;
	str_auto struct str line = {0};

	if (cli->quiet || cli->mode != CLI_TEXT)
		return;
	str_addf(&line, "assay: %s\n", text);
	(void)io_write_all(2, line.at, line.len);
}

static void tell_progress(void *context, uint32_t execution, uint64_t elapsed_ns)
{
	(void)execution;
	cli_progress(context, "simulating: %llu s", (unsigned long long)(elapsed_ns / 1000000000));
}

static int simulator_measure(struct site_job *job, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->ingest);
	struct simulate_options options = {
		.argv = job->cli->program,
		.stdout_to_stderr = job->cli->mode == CLI_JSON,
		.interrupted = cli_interrupted,
		.tell = tell_cost,
		.progress = tell_progress,
		.context = job->cli,
	};
	int r = binary_find(job->cli->program[0], &job->arena, &options.path, err);

	if (r >= 0)
		r = simulate_target(&options, NULL, &sink, err);
	cli_progress(job->cli, NULL);
	return r;
}

/* ---- all ---- */

static int measure(struct site_job *job, const struct site_plan *plan, struct err *err)
{
	const char *output = cli_value(job->cli, "output");
	struct err ignored;
	enum engine engine;
	int r;

	job->run = run_open();
	job->ingest.run = job->run;
	r = engine_choose(job, &engine, err);
	if (r >= 0 && output)
		r = store_create(output, &job->store, err);
	if (r < 0)
		return r;
	job->run->started_ns = clock_realtime_ns();
	job->run->command = run_intern(job->run, job->cli->command->name);
	job->run->target = cli_target_words(job->cli, job->run);
	r = engine == ENGINE_SIM ? simulator_measure(job, err) : pmu_measure(job, plan, err);
	if (r < 0)
		return r;
	job->interrupted = r > 0;
	job->run->partial = r > 0;
	ingest_end(&job->ingest);
	job_take_fingerprint(job->run, &ignored);
	ingest_name(job->run, &(struct ingest_naming){.ingest = &job->ingest});
	if (job->store) /* what cannot be kept is shown all the same */
		(void)store_finish(job->store, job->run, &job->unstored);
	run_freeze(job->run);
	return 0;
}

static int operands_check(const struct cli *cli, struct err *err)
{
	if (!cli->program && !cli->operands.count)
		err_set(err, ERR_USAGE, EINVAL, "assay %s was given neither a run nor a program",
			cli->command->name);
	else if (cli->program && cli->operands.count)
		err_set(err, ERR_USAGE, EINVAL, "assay %s takes a run or a program, not both",
			cli->command->name);
	else
		return 0;
	err_hint(err, "assay %s RUN shows a stored run, assay %s -- PROGRAM measures one",
		cli->command->name, cli->command->name);
	return -EINVAL;
}

int site_job_take(struct site_job *job, const struct site_plan *plan, struct err *err)
{
	int r = operands_check(job->cli, err);

	if (r >= 0)
		r = metric_book_load(&job->metrics, err);
	if (r >= 0)
		r = advice_book_load(&job->advice, err);
	if (r >= 0 && plan->own_sets)
		r = cpu_tables_load(&job->cpu, err);
	if (r >= 0)
		r = job->cli->program ? measure(job, plan, err)
				      : job_load_run(&job->cli->host, job->cli->operands.at[0],
						&job->run, err);
	if (r >= 0 && plan->own_sets)
		r = cpu_book_metrics(&job->cpu.book, job->run, plan->own_sets, &job->metrics, err);
	if (r < 0)
		return r;
	site_summary_make(job->run, &job->metrics, plan->metrics, &job->arena, &job->summary);
	return 0;
}

/* The program's language, so that the right advice comes first. */
static const char *language_of(struct site_job *job)
{
	struct binary_options options = {.without_libraries = true};
	struct binary_facts facts;
	struct err ignored;

	if (!job->cli->program ||
		binary_inspect(job->cli->program[0], &options, &job->arena, &facts, &ignored) < 0)
		return "";
	return binary_language_name(facts.language);
}

static void advise(struct site_job *job)
{
	const struct verdict_subject subject = {
		.program = job->cli->program ? run_text(job->run, job->run->target) : "PROGRAM",
		.language = language_of(job),
	};
	const char *own;

	verdict_advise(&job->advice, &subject, &job->arena, &job->summary.verdict);
	/* Who is here already is not sent here again: the lines are next. */
	own = arena_format(&job->arena, "assay %s ", job->cli->command->name);
	if (str_starts(job->summary.verdict.next, own))
		job->summary.verdict.next = arena_format(
			&job->arena, "assay record -o run.assay -- %s", subject.program);
}

static int status_of(const struct site_job *job, struct err *err)
{
	if (job->unstored.code) {
		*err = job->unstored;
		return -err->code;
	}
	if (job->interrupted)
		return EXIT_INTERRUPTED;
	if (!job->cli->program)
		return EXIT_DONE;
	vec_foreach (const struct execution_packed, e, &job->run->executions)
		if (e->exit_status || e->signal)
			return !job->cli->target_status ? EXIT_TARGET
			       : e->signal		? 128 + e->signal
							: e->exit_status;
	return EXIT_DONE;
}

static int report_write(
	struct site_job *job, uint32_t limit, site_draw *draw, const void *context, struct err *err)
{
	const char *path = cli_value(job->cli, "report");
	str_auto struct str text = {0};
	const struct site_sheet sheet = {.markdown = &text, .limit = limit};

	if (!path)
		return 0;
	draw(context, &sheet);
	return io_replace(path, str_text(&text), text.len, err);
}

int site_job_answer(struct site_job *job, site_draw *draw, const void *context, struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->run, .to_stderr = cli->program != NULL};
	struct site_sheet sheet = {.agent = cli->mode == CLI_AGENT};
	uint64_t limit = 0;
	int r = cli_number(cli, "limit", 0, SITE_LIMIT_MOST, 0, &limit, err);

	advise(job);
	while (r >= 0 && cli_page_next(cli, &page)) {
		sheet.json = page.json;
		sheet.paper = page.paper;
		sheet.limit = page.json || cli_has(cli, "limit") ? (uint32_t)limit : SITE_ROWS;
		draw(context, &sheet);
	}
	if (r >= 0)
		r = cli_page_end(cli, &page, err);
	if (r >= 0)
		r = report_write(job, cli_has(cli, "limit") ? (uint32_t)limit : SITE_ROWS, draw,
			context, err);
	return r < 0 ? r : status_of(job, err);
}
