/* topdown_sim.c - why a program is slow, without a PMU.
 *
 * Time and counts of two runs are joined (analyze/simulated.h), and the hottest loop that waits for
 * its own results goes to llvm-mca. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/listing.h"
#include "drive/mca.h"
#include "drive/record.h"
#include "model/run.h"
#include "model/store.h"
#include "parts.h"
#include "source/cache_sizes.h"
#include "source/pmu_cost.h"
#include "topdown_parts.h"

/* Five samples per ms: the share of a function of 10 % is known to +-8 % of itself after 0.3 s. */
enum { CLOCK_HZ = 4999 };

/* The program as it is. */
static int clock_record(struct topdown_job *job, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->clock_ingest);
	event_list_auto struct event_list events = {0};
	struct record_options options = {
		.path = job->path,
		.argv = job->options.program,
		.stdout_to_stderr = job->host->json_on_stdout,
		.rate_hz = CLOCK_HZ,
		.stack = SAMPLER_STACK_AUTO, /* who called: simulated_targets.c */
		.interrupted = job->host->interrupted,
	};
	int r = event_list_parse(&events, "cpu-clock", err);

	if (r >= 0)
		r = record_target(&options, &events, &sink, err);
	ingest_end(&job->clock_ingest);
	if (r >= 0)
		job_name_run(job->host, job->clock,
			(struct ingest_naming){.ingest = &job->clock_ingest});
	run_freeze(job->clock);
	return r;
}

/* Again, in the simulator.  A file at stdin is read again from its start. */
static int simulate(
	struct topdown_job *job, struct run *into, struct ingest *ingest, struct err *err)
{
	struct wire_sink sink = ingest_sink(ingest);
	struct simulate_options options = {
		.path = job->path,
		.argv = job->options.program,
		.limit_ns = job->options.limit_ns,
		.l2_is_last = into != job->run,
	};
	struct stat input;
	int r;

	/* Threads run one at a time in there, so it is the CPU time that counts. */
	vec_foreach (const struct execution_packed, e, &job->clock->executions)
		options.native_ns = e->user_ns + e->system_ns;
	if (fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode))
		options.input_path = "/proc/self/fd/0";
	r = job_simulate(&(struct job_making){job->host, into, NULL}, options, NULL, &sink, err);
	ingest_end(ingest);
	return r;
}

/* What misses the L2 of `near`, where that was the last level, as one more event of `run`. */
static void second_level_add(struct run *run, const struct run *near)
{
	row_id event = run_add_event(run, &(struct event_row){
						  .name = run_intern(run, "L2-load-misses"),
						  .unit = run_intern(run, ""),
						  .flags = EVENT_SIMULATED,
						  .scale = 1,
					  });
	uint64_t sum = 0;

	vec_foreach (const struct place_row, place, &near->places) {
		if (!str_equal(run_text(near, near->events.at[place->event - 1].name),
			    "LLC-load-misses"))
			continue;
		run_add_place(
			run, &(struct place_row){
				     .event = event,
				     .function = run_intern(run, run_text(near, place->function)),
				     .file = run_intern(run, run_text(near, place->file)),
				     .line = place->line,
				     .value = place->value,
			     });
		sum += place->value;
	}
	run_add_count(run, &(struct count_row){.event = event, .execution = 1, .value = sum});
}

/* cachegrind has two levels, and the first simulation left L2 out: where it matters which loads hit
 * it, the program is simulated once more with it.  What the first one found does not depend on it.
 */
static int second_level_look(struct topdown_job *job)
{
	struct simulated_view view;
	struct run *near;
	struct ingest ingest = {0};
	struct err err = {0};
	int r;

	if (simulated_join(job->run, job->clock, &job->costs, &job->arena, &view, &err) < 0 ||
		!simulated_asks_for_l2(&view))
		return 0;
	job_tell(job->host,
		"the program may wait for L2 or L3, so it is simulated once more, with L2");
	near = ingest.run = run_open();
	r = simulate(job, near, &ingest, &err);
	if (r < 0)
		run_add_note(job->run, "simulation-l2",
			arena_format(&job->arena, "the simulation with L2 failed: %s", err.text),
			err.hint);
	else if (r == 0 && !near->partial)
		second_level_add(job->run, near);
	ingest_done(&ingest);
	run_close(near);
	return r < 0 ? 0 : r;
}

/* Called right before and right after the run that is compared with it: how fast the memory is
 * depends on who else uses it, and that changes within seconds. */
static void costs_measure(struct topdown_job *job)
{
	struct cache_sizes sizes;
	struct pmu_cost cost;

	cache_sizes_read(CACHE_FOLDER, &sizes);
	if (pmu_cost_measure(&sizes, &cost) < 0 || !(cost.cycle_ns > 0) || !(cost.memory_ns > 0))
		return;
	simulated_costs_join(&job->costs, &(struct simulated_costs){
						  .cycle_ns = cost.cycle_ns,
						  .memory_ns = cost.memory_ns,
						  .line_ns = cost.line_ns,
						  .plain_ns = cost.plain_ns,
						  .cache_ns = cost.cache_ns,
						  .far_ns = cost.far_ns,
						  .mispredict_ns = cost.mispredict_ns,
						  .measured = true,
					  });
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

static void loop_predict(struct topdown_job *job, const struct simulated_site *site)
{
	struct mca_options options = {
		.lines = job->loop.lines,
		.count = job->loop.count,
		.intel_cpu =
			str_equal(run_get_field(job->run, "cpu", "vendor", ""), "GenuineIntel"),
		.interrupted = job->host->interrupted,
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

static const struct hot_loop *loop_look(struct topdown_job *job, const struct simulated_view *view)
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

/* ---- all ---- */

void topdown_unused(const struct topdown_options *options, struct str *out)
{
	const char *const names[] = {options->level ? "level" : NULL,
		options->rounds ? "repeat" : NULL, options->once ? "once" : NULL};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i])
			str_addf(out, "%s--%s", out->len ? ", " : "", names[i]);
}

/* What there is to say about the sampled run stands in the one that is shown and stored. */
static void notes_add(struct topdown_job *job)
{
	str_auto struct str unused = {0};

	topdown_unused(&job->options, &unused);
	if (unused.len) {
		str_add(&unused,
			" has no effect: the simulator runs the program once and has no tree");
		run_add_note(
			job->run, "option-unused", unused.at, "remove it, or use --engine pmu");
	}
	vec_foreach (const struct note_row, note, &job->clock->notes)
		run_add_note(job->run, run_text(job->clock, note->code),
			run_text(job->clock, note->text), run_text(job->clock, note->hint));
	if (*job->page.reason)
		run_add_note(job->run, "engine-sim", job->page.reason,
			"so simulated counts and clock samples are used");
}

static int view_make(struct topdown_job *job, struct err *err)
{
	struct verdict_subject subject = job_subject(job->run, job->options.program, &job->arena);
	int r = simulated_join(
		job->run, job->clock, &job->costs, &job->arena, &job->simulated, err);

	if (r < 0)
		return r;
	job->has_view = true;
	job->page.target = run_text(job->run, job->run->target);
	job->page.cpu = run_get_field(job->run, "cpu", "model", "");
	job->page.loop = loop_look(job, &job->simulated);
	simulated_doubt_core(&job->simulated, job->loop.measured_cycles, job->loop.predicted_cycles,
		&job->arena);
	verdict_advise(&job->advice, &subject, &job->arena, &job->simulated.verdict);
	/* The share is one of user mode; the program also spends its time in the kernel. */
	if (!isnan(job->simulated.verdict.speedup_bound))
		job->simulated.verdict.speedup_bound =
			1 / (1 - job->simulated.verdict.share * (1 - job->simulated.kernel_share));
	return 0;
}

int topdown_simulate(struct topdown_job *job, struct err *err)
{
	struct simulated_rules rules;
	struct err late = {0};
	int r = job->options.output ? store_create(job->options.output, &job->store, err) : 0;
	int simulated, stored;

	if (r < 0)
		return r;
	job_begin_run(job->host, job->run);
	simulated_rules_load(&rules);
	job->costs = rules.defaults;
	costs_measure(job);
	r = clock_record(job, err);
	job->run->partial = r > 0;
	if (r) /* stopped in the first run: without simulated counts there is no cause to tell */
		return r;
	costs_measure(job);
	simulated = simulate(job, job->run, &job->ingest, err);
	if (simulated == 0)
		simulated = second_level_look(job);
	if (simulated < 0)
		return simulated;
	notes_add(job);
	job_take_fingerprint(job->run, &late);
	stored = job->store ? store_finish(job->store, job->run, err) : 0;
	run_freeze(job->run);
	r = view_make(job, stored < 0 ? &late : err); /* it is shown also when it cannot be kept */
	return stored < 0 ? stored : r < 0 ? r : simulated;
}
