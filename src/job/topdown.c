/* topdown.c - see topdown.h.  Chooses the engine: the PMU where there is one that counts, else the
 * simulator; which one it was is always told.  With the PMU: plan the runs, count, judge. */
#include "job/topdown.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>

#include "base/mem.h"
#include "code/binary.h"
#include "drive/passes.h"
#include "model/run.h"
#include "model/store.h"
#include "parts.h"
#include "source/refusal.h"
#include "topdown_parts.h"

enum { ROUNDS = 3, QUICK_ROUNDS = 5 };
#define REFRESH_NS 1000000000ull /* see count_options.refresh_ns */

/* While it counts. */
struct counting {
	struct topdown_job *job;
	const struct pmu_report *report;
	struct topdown_plan plan;
	struct event_list *lists; /* one per pass */
	bool user_only;		  /* the kernel's side is not permitted */
};

/* The generic events that any PMU worth the name counts; a machine where one of them does not is
 * cut down.  Cycles without progress are missing on many sound ones. */
static bool event_is_basic(const char *name)
{
	static const char *const names[] = {"cycles", "instructions", "branches", "branch-misses",
		"cache-references", "cache-misses", NULL};
	unsigned i = 0;

	while (names[i] && !str_equal(names[i], name))
		i++;
	return names[i];
}

void topdown_tier_find(
	const struct pmu_report *report, struct arena *arena, struct topdown_facts *facts)
{
	str_auto struct str lies = {0};

	for (unsigned c = 0; c < report->cores; c++)
		for (unsigned i = 0; i < report->core[c].events; i++) {
			const struct pmu_event *event = &report->core[c].event[i];
			bool zero = event->verdict == PMU_ZERO;

			if (event->verdict == PMU_TRUSTED ||
				(!zero && !event_is_basic(event->name)))
				continue;
			str_addf(&lies, "%s%s%s%s (%s)",
				lies.len ? ", " : "not counted here: ", event->name,
				report->cores > 1 ? " on " : "",
				report->cores > 1 ? report->core[c].name : "",
				pmu_verdict_name(event->verdict));
		}
	facts->tier = lies.len ? TOPDOWN_CUT_DOWN : TOPDOWN_FULL;
	facts->tier_reason = arena_text(arena, str_text(&lies), lies.len);
}

/* Which table each kind of core has; a CPU that tells nothing has none. */
static int cores_find(struct counting *counting, struct err *err)
{
	struct topdown_facts *facts = &counting->job->facts;
	const struct cpu_tables *cpu = &counting->job->cpu;
	struct refusal_facts machine;
	int r = cpu_tables_load(&counting->job->cpu, err);

	if (r < 0)
		return r;
	refusal_facts_read(&machine);
	facts->is_virtual = machine.virtual_machine;
	counting->user_only = machine.paranoid >= 2 && !refusal_facts_can(&machine, CAP_PERFMON) &&
			      !refusal_facts_can(&machine, CAP_SYS_ADMIN);
	facts->watchdog = cpu->identity.nmi_watchdog == CPU_SWITCH_ON;
	for (unsigned i = 0; i < counting->report->cores && i < TOPDOWN_CORES; i++) {
		const struct pmu_core *pmu = &counting->report->core[i];
		struct topdown_core *core = &facts->cores[facts->core_count++];

		*core = (struct topdown_core){.pmu = pmu->name, .counters = pmu->counters};
		for (unsigned k = 0; k < cpu->identity.kinds; k++)
			if (cpu->identity.kinds == 1 ||
				str_equal(cpu->identity.kind[k].pmu, pmu->name)) {
				core->width = cpu->identity.kind[k].slots;
				core->table = cpu->table[k];
			}
	}
	return 0;
}

static void list_add_group(
	struct counting *counting, struct event_list *list, const struct topdown_group *group)
{
	const struct topdown_facts *facts = &counting->job->facts;
	const struct topdown_core *core = &facts->cores[group->core];
	const struct pmu_core *pmu = &counting->report->core[group->core];
	bool user_only = counting->user_only;

	list->groups++;
	for (uint32_t i = 0; i < group->count; i++) {
		const struct cpu_event *event = &core->table->events[group->events[i]];

		vec_push(&list->specs,
			(struct event_spec){
				.name = user_only ? arena_format(&list->arena, "%s:u", event->name)
						  : event->name,
				.unit = "",
				.reason = "",
				.core = facts->core_count > 1 ? core->pmu : NULL,
				.scale = 1,
				.group = list->groups,
				.type = pmu->type,
				.config = event->config,
				.config1 = event->config1,
				.exclude_kernel = user_only,
				.exclude_hypervisor = user_only,
			});
	}
}

/* Generic groups; where the kernel's side is not permitted, all of them say so themselves, so that
 * one that cannot be opened is missing in the same mode as the others. */
static int list_add_generic(
	bool user_only, struct event_list *list, const char *groups, struct err *err)
{
	str_auto struct str text = {0};

	for (; *groups; groups++) {
		str_add_char(&text, *groups);
		if (*groups == '}' && user_only)
			str_add(&text, ":u");
	}
	return text.len ? event_list_parse(list, str_text(&text), err) : 0;
}

static int lists_make(struct counting *counting, struct err *err)
{
	const struct topdown_plan *plan = &counting->plan;

	counting->lists = mem_new(plan->pass_count, sizeof(*counting->lists));
	for (uint32_t i = 0; i < plan->pass_count; i++) {
		const struct topdown_pass *pass = &plan->passes[i];
		struct event_list *list = &counting->lists[i];
		int r;

		for (uint32_t g = 0; g < pass->group_count; g++)
			list_add_group(counting, list, &pass->groups[g]);
		r = list_add_generic(counting->user_only, list, pass->generic, err);
		if (r < 0)
			return r;
		counters_distrust(list, counting->report);
	}
	return 0;
}

static int plan_make(struct counting *counting, struct err *err)
{
	const struct topdown_options *options = &counting->job->options;
	struct topdown_facts *facts = &counting->job->facts;
	const struct topdown_wish wish = {
		.level = options->quick	  ? 0
			 : options->level ? options->level
					  : TOPDOWN_LEVELS,
		.together = options->once,
	};

	topdown_plan_make(
		facts->cores, facts->core_count, &wish, &counting->job->arena, &counting->plan);
	facts->level = wish.level;
	facts->passes = counting->plan.pass_count;
	facts->once = wish.together;
	return lists_make(counting, err);
}

static void before_run(void *context, uint32_t run, uint32_t of)
{
	job_progress(((struct topdown_job *)context)->host, "run %u of %u", run, of);
}

static int each_execution(void *context, uint32_t execution, uint64_t at_ns, struct err *err)
{
	struct topdown_job *job = context;

	(void)execution;
	(void)at_ns;
	return job->store ? store_flush(job->store, job->run, err) : 0;
}

static int topdown_count(struct counting *counting, struct err *err)
{
	struct topdown_job *job = counting->job;
	const struct topdown_options *asked = &job->options;
	struct wire_sink sink = ingest_sink(&job->ingest);
	struct passes_options options = {
		.count =
			{
				.path = job->path,
				.argv = asked->program,
				.stdout_to_stderr = job->host->json_on_stdout,
				.interrupted = job->host->interrupted,
				.refresh_ns = counting->plan.metrics ? REFRESH_NS : 0,
				.each = each_execution,
				.context = job,
			},
		.lists = counting->lists,
		.list_count = counting->plan.pass_count,
		.rounds = asked->once	  ? 1
			  : asked->rounds ? asked->rounds
			  : asked->quick  ? QUICK_ROUNDS
					  : ROUNDS,
		.before = before_run,
	};
	int r = passes_count(&options, &sink, err);

	job_progress(job->host, NULL);
	job->run->partial = r != 0;
	return r;
}

/* What would give more or better numbers on this machine. */
static void notes_add(const struct counting *counting)
{
	struct run *run = counting->job->run;

	if (counting->user_only)
		run_add_note(run, "user-side-only",
			"only user mode was counted: kernel mode is not permitted",
			"sudo sysctl kernel.perf_event_paranoid=1, or run as root");
	if (counting->plan.cut && counting->job->facts.watchdog)
		run_add_note(run, "watchdog-holds-a-counter",
			"the NMI watchdog uses a counter, so groups of events were split and the "
			"program runs more often",
			"sudo sysctl kernel.nmi_watchdog=0");
}

static void counting_done(struct counting *counting)
{
	for (uint32_t i = 0; counting->lists && i < counting->plan.pass_count; i++)
		event_list_done(&counting->lists[i]);
	free(counting->lists);
}

static int topdown_measure(
	struct topdown_job *job, const struct pmu_report *report, struct err *err)
{
	__attribute__((cleanup(counting_done))) struct counting counting = {
		.job = job, .report = report};
	struct topdown_books books = {&job->metrics, &job->advice};
	struct verdict_subject subject;
	struct err late = {0};
	int r = metric_book_load(&job->metrics, err), counted;

	if (r >= 0)
		r = cores_find(&counting, err);
	topdown_tier_find(report, &job->arena, &job->facts);
	if (r >= 0)
		r = plan_make(&counting, err);
	if (r >= 0 && job->options.output)
		r = store_create(job->options.output, &job->store, err);
	if (r < 0)
		return r;
	job_begin_run(job->host, job->run);
	counted = topdown_count(&counting, err);
	if (counted < 0 && !job->run->executions.count)
		return counted; /* nothing was measured */
	notes_add(&counting);
	job_take_fingerprint(job->run, &late);
	if (job->store)
		r = store_finish(job->store, job->run, counted < 0 ? &late : err);
	run_freeze(job->run);
	subject = job_subject(job->run, job->options.program, &job->arena);
	job->facts.cpu = run_get_field(job->run, "cpu", "model", "");
	topdown_view_make(job->run, &job->facts, &books, &subject, &job->arena, &job->measured);
	job->has_view = true;
	return counted < 0 || r >= 0 ? counted : r;
}

/* ---- the engine ---- */

void topdown_job_done(struct topdown_job *job)
{
	ingest_done(&job->clock_ingest);
	ingest_done(&job->ingest);
	store_close(job->store);
	run_close(job->clock);
	run_close(job->run);
	metric_book_done(&job->metrics);
	advice_book_done(&job->advice);
	cpu_tables_done(&job->cpu);
	arena_done(&job->arena);
}

int topdown_pmu_check(const struct pmu_report *report, struct err *err)
{
	struct refusal_facts facts;
	int r;

	if (!report->present) {
		refusal_facts_read(&facts);
		r = refusal_explain(&facts, REFUSED_HARDWARE, ENOENT, err);
		return r < 0 ? r : -ENOENT;
	}
	for (unsigned c = 0; c < report->cores; c++)
		for (unsigned i = 0; i < report->core[c].events && i < 2; i++)
			if (report->core[c].event[i].verdict == PMU_TRUSTED)
				return 0; /* cycles or instructions */
	err_set(err, ERR_UNAVAILABLE, ENODEV,
		"this PMU counts neither cycles nor instructions correctly");
	return err_hint(err, "`assay doctor` shows the result of its self-test");
}

static int engine_choose(struct topdown_job *job, struct pmu_report *report, struct err *err)
{
	enum job_engine wish = job->options.engine;
	struct err no_pmu = {0};

	if (wish != ENGINE_SIM && pmu_selftest(report, &no_pmu) >= 0)
		(void)topdown_pmu_check(report, &no_pmu);
	if (wish == ENGINE_AUTO && job->options.quick) { /* the simulator is anything but quick */
		wish = ENGINE_PMU;
		err_hint(&no_pmu,
			"--quick needs a PMU; `assay topdown --engine sim` does not, but is 20 to "
			"75 times slower");
	}
	job->page.reason = arena_format(&job->arena, "%s", no_pmu.text);
	return job_choose_engine(wish, &no_pmu, &job->engine, err);
}

int topdown_job_do(struct topdown_job *job, const struct topdown_options *options,
	const struct job_host *host, struct err *err)
{
	int r;

	*job = (struct topdown_job){.host = host,
		.options = *options,
		.run = run_open(),
		.clock = run_open(),
		.facts = {.tier_reason = "", .cpu = ""}};
	job->ingest.run = job->run;
	job->clock_ingest.run = job->clock;
	r = engine_choose(job, &job->pmu, err);
	if (r >= 0)
		r = advice_book_load(&job->advice, err);
	if (r >= 0)
		r = binary_find(options->program[0], &job->arena, &job->path, err);
	if (r < 0)
		return r;
	return job->engine == ENGINE_PMU ? topdown_measure(job, &job->pmu, err)
					 : topdown_simulate(job, err);
}
