/* site.c - see site.h. */
#include "job/site.h"

#include <errno.h>

#include "code/binary.h"
#include "code/block.h"
#include "drive/count.h"
#include "drive/record.h"
#include "model/run.h"
#include "model/store.h"
#include "parts.h"
#include "source/branch_filter.h"

enum { BLOCKS_MOST = 20000 }; /* decoded; beyond that nobody waits for a table */

/* One way to sample. */
struct site_way {
	const char *events; /* as -e takes them; NULL: the end of the list */
	uint64_t branches;  /* see source/sampler.h, and the next one */
	bool accesses;
};

struct site_plan {
	const char *set; /* counted in the first run */
	/* Sets of the CPU's own table (data/cpus), by whose names events are known; ends with NULL.
	 */
	const char *const *own_sets;
	/* Metrics that only the table has are wanted: its sets are counted in a second run, and
	 * the first one is needed whole. */
	bool own_metrics;
	const struct site_way *ways;
	const char *const *metrics;
};

static void site_job_done(struct site_job *job)
{
	ingest_done(&job->ingest);
	store_close(job->store);
	run_close(job->run);
	metric_book_done(&job->metrics);
	cpu_tables_done(&job->cpu);
	advice_book_done(&job->advice);
	arena_done(&job->arena);
}

/* Why the PMU cannot be used, as a failure; 0 when it can. */
static int pmu_check(struct err *err)
{
	int r = pmu_present(err);

	if (r != 0)
		return r < 0 ? r : 0;
	err_set(err, ERR_UNAVAILABLE, ENOENT, "this machine has no PMU");
	return err_hint(err, "`assay doctor` shows how to get one; --engine sim needs none");
}

static int engine_choose(struct site_job *job, enum job_engine *ret_engine, struct err *err)
{
	enum job_engine wish = job->options.engine;
	struct err no_pmu = {0};
	int r;

	if (wish != ENGINE_SIM)
		(void)pmu_check(&no_pmu);
	r = job_choose_engine(wish, &no_pmu, ret_engine, err);
	if (r >= 0 && no_pmu.code)
		run_add_note(job->run, "no-pmu", no_pmu.text,
			"the numbers are simulated; `assay doctor` shows how to get a PMU");
	return r;
}

/* ---- the PMU: count, then sample ---- */

static int list_count(
	struct site_job *job, struct event_list *events, const char *path, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->ingest);
	const struct count_options options = {
		.path = path,
		.argv = job->options.program,
		.stdout_to_stderr = job->host->json_on_stdout,
		.repeat = 1,
		.interrupted = job->host->interrupted,
	};
	int r;

	job_progress(job->host, "counting");
	r = count_target(&options, events, &sink, err);
	job_progress(job->host, NULL);
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

	for (unsigned k = 0; plan->own_metrics && k < job->cpu.identity.kinds; k++)
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
		.argv = job->options.program,
		.stdout_to_stderr = job->host->json_on_stdout,
		.interrupted = job->host->interrupted,
	};
	int r = -ENOENT;

	job_progress(job->host, "sampling");
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
	job_progress(job->host, NULL);
	return r;
}

static int pmu_measure(struct site_job *job, const struct site_plan *plan, struct err *err)
{
	struct err refused = {0};
	const char *path;
	int r = binary_find(job->options.program[0], &job->arena, &path, err);

	if (r >= 0)
		r = count_once(job, plan, path, err);
	if (r == 0)
		r = count_own(job, plan, path, err);
	if (r != 0 || job->options.whole) /* failed, stopped by the user, or enough */
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

static int simulator_measure(struct site_job *job, struct err *err)
{
	struct wire_sink sink = ingest_sink(&job->ingest);
	struct simulate_options options = {.argv = job->options.program};
	int r = binary_find(job->options.program[0], &job->arena, &options.path, err);

	return r < 0 ? r
		     : job_simulate(&(struct job_making){job->host, job->run, NULL}, options, NULL,
			       &sink, err);
}

/* ---- all ---- */

static int measure(struct site_job *job, const struct site_plan *plan, struct err *err)
{
	const char *output = job->options.output;
	struct err ignored;
	enum job_engine engine;
	int r;

	job->run = run_open();
	job->ingest.run = job->run;
	r = engine_choose(job, &engine, err);
	if (r >= 0 && output)
		r = store_create(output, &job->store, err);
	if (r < 0)
		return r;
	job_begin_run(job->host, job->run);
	r = engine == ENGINE_SIM ? simulator_measure(job, err) : pmu_measure(job, plan, err);
	if (r < 0)
		return r;
	job->interrupted = r > 0;
	job->run->partial |= r > 0;
	ingest_end(&job->ingest);
	job_take_fingerprint(job->run, &ignored);
	job_name_run(job->host, job->run, (struct ingest_naming){.ingest = &job->ingest});
	if (job->store) /* what cannot be kept is shown all the same */
		(void)store_finish(job->store, job->run, &job->unstored);
	run_freeze(job->run);
	return 0;
}

/* Load the run that was named, or measure the program.  The run is frozen and the summary made. */
static int site_job_take(struct site_job *job, const struct site_options *options,
	const struct job_host *host, const struct site_plan *plan, struct err *err)
{
	int r;

	*job = (struct site_job){.host = host, .options = *options};
	r = metric_book_load(&job->metrics, err);
	if (r >= 0)
		r = advice_book_load(&job->advice, err);
	if (r >= 0)
		r = cpu_tables_load(&job->cpu, err);
	if (r >= 0)
		r = options->program ? measure(job, plan, err)
				     : job_load_run(host, options->run_path, &job->run, err);
	if (r >= 0)
		r = cpu_book_metrics(&job->cpu.book, job->run, plan->own_sets, plan->own_metrics,
			&job->metrics, err);
	if (r < 0)
		return r;
	site_summary_make(job->run, &job->metrics, plan->metrics, &job->arena, &job->summary);
	return 0;
}

void site_job_advise(struct site_job *job)
{
	const struct verdict_subject subject =
		job_subject(job->run, job->options.program, &job->arena);
	const char *own = arena_format(&job->arena, "assay %s ", job->host->command);

	verdict_advise(&job->advice, &subject, &job->arena, &job->summary.verdict);
	/* Who is here already is not sent here again: the lines are next. */
	if (str_starts(job->summary.verdict.next, own))
		job->summary.verdict.next = arena_format(
			&job->arena, "assay record -o run.assay -- %s", subject.program);
}

/* ---- caches ---- */

int cache_job_do(struct cache_job *job, const struct site_options *options, bool by_function,
	const struct job_host *host, struct err *err)
{
	static const struct site_way ways[] = {
		{.events = "cpu/mem-loads,ldlat=30/pp", .accesses = true},
		{.events = "LLC-load-misses:pp", .accesses = true},
		{.events = "cache-misses:pp"},
		{.events = "cache-misses"},
		{0},
	};
	const struct site_plan plan = {.set = "hierarchy",
		.own_sets = cache_sets,
		.own_metrics = true,
		.ways = ways,
		.metrics = cache_metrics};
	const struct cache_options how = {.by_function = by_function, .whole = options->whole};
	int r = site_job_take(&job->site, options, host, &plan, err);

	if (r < 0)
		return r;
	cache_make(job->site.run, &job->site.summary, &how, &job->view);
	cache_judge(&job->view, &job->site.arena, &job->site.summary);
	site_job_advise(&job->site);
	return 0;
}

void cache_job_done(struct cache_job *job)
{
	cache_done(&job->view);
	site_job_done(&job->site);
}

/* ---- branches ---- */

/* Where times and code are known, the instructions of each block. */
static void blocks_read(struct branches_view *view)
{
	block_reader_auto struct block_reader reader = {0};
	uint32_t count = 0;

	vec_foreach (struct branch_block, block, &view->blocks) {
		if (count++ == BLOCKS_MOST)
			break;
		block->instructions = block_instructions(
			&reader, block->path, block->build_id, block->start, block->end);
	}
	branches_add_instructions(view);
}

int branches_job_do(struct branches_job *job, const struct site_options *options,
	const char *filter, const struct job_host *host, struct err *err)
{
	struct site_way ways[] = {{.events = "cycles"}, {.events = "branch-misses:pp"},
		{.events = "branch-misses"}, {0}};
	const struct site_plan plan = {.set = "branches",
		.own_sets = branches_sets,
		.ways = ways,
		.metrics = branches_metrics};
	struct branches_options how = {.whole = options->whole};
	uint64_t hardware = 0;
	int r = filter ? branch_types_parse(filter, &how.types, err) : 0;

	if (r >= 0)
		r = branch_filter_parse(filter, &ways[0].branches, err);
	if (r >= 0)
		r = site_job_take(&job->site, options, host, &plan, err);
	if (r < 0)
		return r;
	how.unfiltered = run_get_quality(job->site.run, "branch_filter", &hardware) && hardware;
	r = branches_make(job->site.run, &how, &job->view, err);
	if (r < 0)
		return r;
	blocks_read(&job->view);
	branches_judge(&job->view, &job->site.arena, &job->site.summary);
	site_job_advise(&job->site);
	return 0;
}

void branches_job_done(struct branches_job *job)
{
	branches_done(&job->view);
	site_job_done(&job->site);
}
