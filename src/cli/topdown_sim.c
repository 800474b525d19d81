/* topdown_sim.c - `assay topdown --engine sim -- ./program`: why it is slow, without a PMU.
 *
 * The program runs twice: once as it is, sampled by the clock, and once in the simulator.  What a
 * miss or a mispredict costs here is measured in between, then time and counts are joined
 * (analyze/simulated.h), and the hottest loop that waits for its own results goes to llvm-mca. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/hot_loop.h"
#include "analyze/simulated.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/io.h"
#include "code/binary.h"
#include "code/listing.h"
#include "drive/mca.h"
#include "drive/record.h"
#include "drive/simulate.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"
#include "render/cpu_json.h"
#include "render/markdown.h"
#include "render/simulated.h"
#include "source/pmu_cost.h"
#include "topdown_parts.h"

/* Five samples per ms: the share of a function of 10 % is known to +-8 % of itself after 0.3 s. */
enum { CLOCK_HZ = 4999 };

struct simulated_job {
	struct cli *cli;
	const char *reason, *path;
	struct run *clock, *simulated;
	struct ingest clock_ingest, ingest;
	struct store *store;
	struct advice_book advice;
	struct arena arena;
	struct simulated_costs costs;
	struct hot_loop loop;
	bool interrupted;
};

static void job_done(struct simulated_job *job)
{
	ingest_done(&job->clock_ingest);
	ingest_done(&job->ingest);
	store_close(job->store);
	run_close(job->clock);
	run_close(job->simulated);
	advice_book_done(&job->advice);
	arena_done(&job->arena);
}

static void tell(void *context, const char *text)
{
	const struct simulated_job *job = context;

	cli_tell(job->cli, text);
}

static void progress(void *context, uint32_t execution, uint64_t elapsed_ns)
{
	struct simulated_job *job = context;

	(void)execution;
	cli_progress(
		job->cli, "simulating for %llu s", (unsigned long long)elapsed_ns / 1000000000);
}

/* The program as it is. */
static int clock_record(struct simulated_job *job, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->clock_ingest);
	event_list_auto struct event_list events = {0};
	struct record_options options = {
		.path = job->path,
		.argv = job->cli->program,
		.stdout_to_stderr = job->cli->mode == CLI_JSON,
		.rate_hz = CLOCK_HZ,
		.stack = SAMPLER_STACK_NONE,
		.interrupted = cli_interrupted,
	};
	int r = event_list_parse(&events, "cpu-clock", err);

	if (r >= 0)
		r = record_target(&options, &events, &sink, err);
	ingest_end(&job->clock_ingest);
	if (r >= 0)
		ingest_name(job->clock, &(struct ingest_naming){.ingest = &job->clock_ingest});
	run_freeze(job->clock);
	return r;
}

/* Again, in the simulator.  A file at stdin is read again from its start. */
static int simulate(struct simulated_job *job, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->ingest);
	struct stat input;
	struct simulate_options options = {
		.path = job->path,
		.argv = job->cli->program,
		.stdout_to_stderr = job->cli->mode == CLI_JSON,
		.interrupted = cli_interrupted,
		.tell = tell,
		.progress = progress,
		.context = job,
	};
	int r = cli_duration(job->cli, "time-limit", 0, &options.limit_ns, err);

	/* Threads run one at a time in there, so it is the CPU time that counts. */
	vec_foreach (const struct execution_packed, e, &job->clock->executions)
		options.native_ns = e->user_ns + e->system_ns;

	if (r < 0)
		return r;
	if (fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode))
		options.input_path = "/proc/self/fd/0";
	r = simulate_target(&options, NULL, &sink, err);
	cli_progress(job->cli, NULL);
	ingest_end(&job->ingest);
	return r;
}

static void costs_measure(struct simulated_job *job)
{
	struct simulated_rules rules;
	struct pmu_cost cost;

	simulated_rules_load(&rules);
	job->costs = rules.defaults;
	if (pmu_cost_measure(&cost) < 0 || !(cost.cycle_ns > 0) || !(cost.memory_ns > 0))
		return;
	job->costs = (struct simulated_costs){
		.cycle_ns = cost.cycle_ns,
		.memory_ns = cost.memory_ns,
		.line_ns = cost.line_ns,
		.cache_ns = cost.cache_ns,
		.mispredict_ns = cost.mispredict_ns,
		.measured = true,
	};
}

/* ---- the loop that waits for its own results ---- */

static uint32_t function_row_of(const struct run *run, const char *name)
{
	for (uint32_t i = 0; i < run->functions.count; i++) {
		const struct function_row *f = &run->functions.at[i];

		if (f->addr && f->size_bytes && f->module &&
			str_equal(run_text(run, f->name), name))
			return i + 1;
	}
	return 0;
}

static void loop_predict(struct simulated_job *job, const struct simulated_site *site)
{
	struct mca_options options = {
		.lines = job->loop.lines,
		.count = job->loop.count,
		.intel_cpu = str_equal(
			run_get_field(job->simulated, "cpu", "vendor", ""), "GenuineIntel"),
		.interrupted = cli_interrupted,
	};
	struct mca_result result;
	struct err err = {0};

	if (mca_run(&options, &result, &err) < 0) {
		job->loop.no_model = arena_format(
			&job->arena, "%s%s%s", err.text, *err.hint ? "; " : "", err.hint);
		return;
	}
	job->loop.model = arena_format(&job->arena, "%s", result.cpu);
	job->loop.stand_in = result.stand_in;
	job->loop.predicted_cycles = result.cycles;
	job->loop.throughput_cycles = result.throughput_cycles;
	job->loop.bottleneck = result.waits ? "data dependencies" : "busy units";
	/* Rounds are not counted; they are when the function is hardly more than the loop. */
	if (job->loop.share >= 0.9)
		job->loop.measured_cycles =
			site->ns_per_instruction / job->costs.cycle_ns * job->loop.count;
}

static const struct hot_loop *loop_look(
	struct simulated_job *job, const struct simulated_view *view)
{
	const struct simulated_site *site = view->hottest_core < view->function_count
						    ? &view->functions[view->hottest_core]
						    : NULL;
	uint32_t row = site ? function_row_of(job->clock, site->row.function) : 0;
	const struct function_row *function;
	const struct module_row *module;
	struct listing listing;

	if (!row)
		return NULL;
	function = &job->clock->functions.at[row - 1];
	module = &job->clock->modules.at[function->module - 1];
	listing_make(&(struct listing_options){.path = run_text(job->clock, module->path),
			     .build_id = run_text(job->clock, module->build_id),
			     .addr = function->addr,
			     .size_bytes = function->size_bytes},
		&job->arena, &listing);
	hot_loop_find(job->clock, row, &listing, &job->arena, &job->loop);
	if (!job->loop.missing)
		loop_predict(job, site);
	return &job->loop;
}

/* ---- the page ---- */

static int report_write(struct simulated_job *job, const struct simulated_view *view,
	const struct simulated_page *how, struct err *err)
{
	const char *path = cli_value(job->cli, "report");
	str_auto struct str text = {0};

	if (!path)
		return 0;
	simulated_markdown(&text, view, how);
	return io_replace(path, text.at, text.len, err);
}

static void advise(struct simulated_job *job, struct verdict *verdict)
{
	struct binary_options options = {.without_libraries = true};
	struct binary_facts facts;
	struct verdict_subject subject = {
		.program = run_text(job->simulated, job->simulated->target), .language = ""};
	struct err ignored;

	if (binary_inspect(job->cli->program[0], &options, &job->arena, &facts, &ignored) >= 0)
		subject.language = binary_language_name(facts.language);
	verdict_advise(&job->advice, &subject, &job->arena, verdict);
}

static int show(struct simulated_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->simulated, .to_stderr = true};
	struct simulated_page how = {
		.target = run_text(job->simulated, job->simulated->target),
		.cpu = run_get_field(job->simulated, "cpu", "model", ""),
		.reason = job->reason,
	};
	struct simulated_view view;
	int r = simulated_join(job->simulated, job->clock, &job->costs, &job->arena, &view, err);

	if (r < 0)
		return r;
	how.loop = loop_look(job, &view);
	advise(job, &view.verdict);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			simulated_json(page.json, &view, &how);
		else if (cli->mode == CLI_AGENT)
			simulated_agent(page.paper, &view, &how);
		else
			simulated_text(page.paper, &view, &how);
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : report_write(job, &view, &how, err);
}

/* Stopped in the first run: without simulated counts there is no cause to tell. */
static int show_nothing(struct simulated_job *job, struct err *err)
{
	static const char why[] = "it was stopped before anything was simulated";
	struct cli_page page = {.run = job->simulated, .to_stderr = true};
	int r;

	job->simulated->partial = true;
	while (cli_page_next(job->cli, &page)) {
		if (page.json) {
			jsonw_put_text(page.json, "engine", "sim");
			jsonw_put_missing(page.json, "arch", why);
			jsonw_put_missing(page.json, "metrics", why);
			jsonw_put_missing(page.json, "verdict", why);
		} else {
			paper_add(page.paper, "no cause is told: %s\n", why);
			if (job->cli->mode == CLI_AGENT)
				paper_add(page.paper, "next: assay topdown -- %s\n",
					run_text(job->simulated, job->simulated->target));
		}
	}
	r = cli_page_end(job->cli, &page, err);
	return r < 0 ? r : EXIT_INTERRUPTED;
}

static int status_of(const struct simulated_job *job)
{
	int status = cli_target_status(job->cli, job->clock);

	if (job->interrupted)
		return EXIT_INTERRUPTED;
	return status ? status : cli_target_status(job->cli, job->simulated);
}

static int prepare(struct simulated_job *job, struct err *err)
{
	const char *output = cli_value(job->cli, "output");
	int r = simulate_available(err);

	if (r < 0 && *job->reason) {
		err_set(err, ERR_UNAVAILABLE, ENOENT,
			"%s, and the simulator that could take its place needs valgrind",
			job->reason);
		err_hint(err,
			"sudo apt install valgrind; `assay doctor` tells what would bring a PMU");
	}
	if (r >= 0)
		r = advice_book_load(&job->advice, err);
	if (r >= 0)
		r = binary_find(job->cli->program[0], &job->arena, &job->path, err);
	if (r >= 0 && output)
		r = store_create(output, &job->store, err);
	if (r >= 0) {
		job->simulated->started_ns = clock_realtime_ns();
		job->simulated->command = run_intern(job->simulated, "topdown");
		job->simulated->target = cli_target_words(job->cli, job->simulated);
	}
	return r;
}

/* Options that choose among counters have nothing to choose here. */
static void unused_note(struct simulated_job *job)
{
	static const char *const names[] = {"level", "repeat", "once"};
	str_auto struct str text = {0};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (cli_has(job->cli, names[i]))
			str_addf(&text, "%s--%s", text.len ? ", " : "", names[i]);
	if (!text.len)
		return;
	str_add(&text, " changed nothing: the simulator runs the program once and has no tree");
	run_add_note(job->simulated, "option-unused", text.at, "leave it out, or use --engine pmu");
}

/* What there is to say about the sampled run stands in the one that is shown and stored. */
static void notes_copy(struct simulated_job *job)
{
	unused_note(job);
	vec_foreach (const struct note_row, note, &job->clock->notes)
		run_add_note(job->simulated, run_text(job->clock, note->code),
			run_text(job->clock, note->text), run_text(job->clock, note->hint));
	if (*job->reason)
		run_add_note(job->simulated, "engine-sim", job->reason,
			"so the simulator's counts and the clock's samples are used");
}

static int job_run(struct simulated_job *job, struct err *err)
{
	struct err late = {0};
	int r = prepare(job, err), stored;

	if (r >= 0)
		r = clock_record(job, err);
	if (r > 0)
		return show_nothing(job, err);
	if (r >= 0)
		r = simulate(job, err);
	if (r < 0)
		return r;
	job->interrupted = r > 0;
	costs_measure(job);
	notes_copy(job);
	job->simulated->partial = job->interrupted;
	vec_foreach (const struct execution_packed, e, &job->simulated->executions)
		job->simulated->partial |= (e->flags & EXECUTION_TIMED_OUT) != 0;
	job_take_fingerprint(job->simulated, &late);
	stored = job->store ? store_finish(job->store, job->simulated, err) : 0;
	run_freeze(job->simulated);
	r = show(job, stored < 0 ? &late : err); /* it is shown also when it cannot be kept */
	if (stored < 0)
		return stored;
	return r < 0 ? r : status_of(job);
}

int topdown_simulated(struct cli *cli, const char *reason, struct err *err)
{
	struct simulated_job job = {
		.cli = cli, .reason = reason, .clock = run_open(), .simulated = run_open()};
	int r;

	job.clock_ingest.run = job.clock;
	job.ingest.run = job.simulated;
	r = job_run(&job, err);
	job_done(&job);
	return r;
}
