/* topdown_pmu.c - `assay topdown` on a PMU: plan the runs, count, show. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "analyze/topdown.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "code/binary.h"
#include "drive/passes.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"
#include "render/cpu_json.h"
#include "render/markdown.h"
#include "render/topdown.h"
#include "source/cpu_identity.h"
#include "source/pmu.h"
#include "source/refusal.h"
#include "topdown_parts.h"

enum { ROUNDS = 3, QUICK_ROUNDS = 5 };
#define REFRESH_NS 1000000000ull /* see count_options.refresh_ns */

struct topdown_job {
	struct cli *cli;
	const struct pmu_report *report;
	struct run *run;
	struct store *store; /* NULL without -o */
	struct metric_book metrics;
	struct advice_book advice;
	struct cpu_book cpus;
	struct arena arena;
	struct topdown_facts facts;
	struct topdown_plan plan;
	struct event_list *lists; /* one per pass */
	const char *path;	  /* the program's file */
	bool user_only;		  /* the kernel's side is not permitted */
};

static void topdown_job_done(struct topdown_job *job)
{
	for (uint32_t i = 0; job->lists && i < job->plan.pass_count; i++)
		event_list_done(&job->lists[i]);
	free(job->lists);
	store_close(job->store);
	run_close(job->run);
	metric_book_done(&job->metrics);
	advice_book_done(&job->advice);
	cpu_book_done(&job->cpus);
	arena_done(&job->arena);
}

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

static void tier_find(struct topdown_job *job)
{
	str_auto struct str lies = {0};

	for (unsigned c = 0; c < job->report->cores; c++)
		for (unsigned i = 0; i < job->report->core[c].events; i++) {
			const struct pmu_event *event = &job->report->core[c].event[i];
			bool zero = event->verdict == PMU_ZERO;

			if (event->verdict == PMU_TRUSTED ||
				(!zero && !event_is_basic(event->name)))
				continue;
			str_addf(&lies, "%s%s%s%s (%s)",
				lies.len ? ", " : "not counted here: ", event->name,
				job->report->cores > 1 ? " on " : "",
				job->report->cores > 1 ? job->report->core[c].name : "",
				pmu_verdict_name(event->verdict));
		}
	job->facts.tier = lies.len ? TOPDOWN_CUT_DOWN : TOPDOWN_FULL;
	job->facts.tier_reason = arena_text(&job->arena, str_text(&lies), lies.len);
}

static const struct cpu_kind *kind_of(const struct cpu_identity *identity, const char *pmu)
{
	for (unsigned i = 0; i < identity->kinds; i++)
		if (str_equal(identity->kind[i].pmu, pmu))
			return &identity->kind[i];
	return identity->kinds == 1 ? &identity->kind[0] : NULL;
}

static struct topdown_core core_make(
	const struct topdown_job *job, const struct pmu_core *pmu, const struct cpu_kind *kind)
{
	struct topdown_core core = {.pmu = pmu->name, .counters = pmu->counters};
	struct cpu_asked asked;

	if (!kind)
		return core;
	asked = (struct cpu_asked){
		.vendor = str_or_null(kind->vendor),
		.family = kind->family,
		.model = kind->model,
		.stepping = kind->stepping,
		.midr = kind->midr,
		.pmu = pmu->name,
	};
	core.width = kind->slots;
	core.table = cpu_book_match(&job->cpus, &asked);
	return core;
}

/* Which table each kind of core has; a CPU that tells nothing has none. */
static int cores_find(struct topdown_job *job, struct err *err)
{
	struct cpu_identity identity = {0};
	struct refusal_facts machine;
	struct err ignored;
	int r = cpu_book_load(&job->cpus, err);

	if (r < 0)
		return r;
	if (cpu_identity_read("", &identity, &ignored) < 0)
		identity.kinds = 0;
	refusal_facts_read(&machine);
	job->facts.is_virtual = machine.virtual_machine;
	job->user_only = machine.paranoid >= 2 && !refusal_facts_can(&machine, CAP_PERFMON) &&
			 !refusal_facts_can(&machine, CAP_SYS_ADMIN);
	job->facts.watchdog = identity.nmi_watchdog == CPU_SWITCH_ON;
	for (unsigned i = 0; i < job->report->cores && i < TOPDOWN_CORES; i++) {
		const struct pmu_core *pmu = &job->report->core[i];

		job->facts.cores[job->facts.core_count++] =
			core_make(job, pmu, kind_of(&identity, pmu->name));
	}
	return 0;
}

static void list_add_group(
	struct topdown_job *job, struct event_list *list, const struct topdown_group *group)
{
	const struct topdown_core *core = &job->facts.cores[group->core];
	const struct pmu_core *pmu = &job->report->core[group->core];

	list->groups++;
	for (uint32_t i = 0; i < group->count; i++) {
		const struct cpu_event *event = &core->table->events[group->events[i]];

		vec_push(&list->specs, (struct event_spec){
					       .name = job->user_only ? arena_format(&list->arena,
										"%s:u", event->name)
								      : event->name,
					       .unit = "",
					       .reason = "",
					       .core = job->facts.core_count > 1 ? core->pmu : NULL,
					       .scale = 1,
					       .group = list->groups,
					       .type = pmu->type,
					       .config = event->config,
					       .config1 = event->config1,
					       .exclude_kernel = job->user_only,
					       .exclude_hypervisor = job->user_only,
				       });
	}
}

/* Generic groups; where the kernel's side is not permitted, all of them say so themselves, so that
 * one that cannot be opened is missing in the same mode as the others. */
static int list_add_generic(
	struct topdown_job *job, struct event_list *list, const char *groups, struct err *err)
{
	str_auto struct str text = {0};

	for (; *groups; groups++) {
		str_add_char(&text, *groups);
		if (*groups == '}' && job->user_only)
			str_add(&text, ":u");
	}
	return text.len ? event_list_parse(list, str_text(&text), err) : 0;
}

static int lists_make(struct topdown_job *job, struct err *err)
{
	job->lists = mem_new(job->plan.pass_count, sizeof(*job->lists));
	for (uint32_t i = 0; i < job->plan.pass_count; i++) {
		const struct topdown_pass *pass = &job->plan.passes[i];
		int r;

		for (uint32_t g = 0; g < pass->group_count; g++)
			list_add_group(job, &job->lists[i], &pass->groups[g]);
		r = list_add_generic(job, &job->lists[i], pass->generic, err);
		if (r < 0)
			return r;
		counters_distrust(&job->lists[i], job->report);
	}
	return 0;
}

static int plan_make(struct topdown_job *job, struct err *err)
{
	const struct cli *cli = job->cli;
	struct topdown_facts *facts = &job->facts;
	uint64_t level = 2;
	int r = cli_number(cli, "level", 1, TOPDOWN_LEVELS, TOPDOWN_LEVELS, &level, err);
	struct topdown_wish wish = {.together = cli_has(cli, "once")};

	if (r < 0)
		return r;
	wish.level = cli_has(cli, "quick") ? 0 : (unsigned)level;
	topdown_plan_make(facts->cores, facts->core_count, &wish, &job->arena, &job->plan);
	facts->level = wish.level;
	facts->passes = job->plan.pass_count;
	facts->once = wish.together;
	return lists_make(job, err);
}

static void before_run(void *context, uint32_t run, uint32_t of)
{
	struct topdown_job *job = context;

	cli_progress(job->cli, "run %u of %u", run, of);
}

static int each_execution(void *context, uint32_t execution, uint64_t at_ns, struct err *err)
{
	struct topdown_job *job = context;

	(void)execution;
	(void)at_ns;
	return job->store ? store_flush(job->store, job->run, err) : 0;
}

static int topdown_count(struct topdown_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct ingest ingest = {.run = job->run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct passes_options options = {
		.count =
			{
				.path = job->path,
				.argv = cli->program,
				.stdout_to_stderr = cli->mode == CLI_JSON,
				.interrupted = cli_interrupted,
				.refresh_ns = job->plan.metrics ? REFRESH_NS : 0,
				.each = each_execution,
				.context = job,
			},
		.lists = job->lists,
		.list_count = job->plan.pass_count,
		.before = before_run,
	};
	uint64_t rounds = cli_has(cli, "quick") ? QUICK_ROUNDS : ROUNDS;
	int r = cli_number(cli, "repeat", 1, 1000, rounds, &rounds, err);

	if (r < 0)
		return r;
	options.rounds = cli_has(cli, "once") ? 1 : (uint32_t)rounds;
	r = passes_count(&options, &sink, err);
	cli_progress(cli, NULL);
	job->run->partial = r != 0;
	return r;
}

/* What would give more or better numbers on this machine. */
static void notes_add(struct topdown_job *job)
{
	if (job->user_only)
		run_add_note(job->run, "user-side-only",
			"only the user side was counted: the kernel's is not permitted",
			"sudo sysctl kernel.perf_event_paranoid=1, or run as root");
	if (job->plan.cut && job->facts.watchdog)
		run_add_note(job->run, "watchdog-holds-a-counter",
			"the NMI watchdog holds a counter, so groups of events were cut and the "
			"program runs more often",
			"sudo sysctl kernel.nmi_watchdog=0");
}

static int report_write(
	const struct topdown_job *job, const struct topdown_view *view, struct err *err)
{
	const char *path = cli_value(job->cli, "report");
	const struct run *run = job->run;
	const struct topdown_fact facts[] = {
		{"CPU", run_get_field(run, "cpu", "model", "")},
		{"kernel", run_get_field(run, "kernel", "release", "")},
		{"frequency governor", run_get_field(run, "freq", "governor", "")},
		{"machine", run_text(run, run->fingerprint)},
		{0},
	};
	str_auto struct str text = {0};

	if (!path)
		return 0;
	topdown_markdown(&text, view, facts);
	return io_replace(path, text.at, text.len, err);
}

/* The program's language, so that the right advice comes first. */
static const char *language_of(struct topdown_job *job)
{
	struct binary_options options = {.without_libraries = true};
	struct binary_facts facts;
	struct err ignored;

	if (binary_inspect(job->cli->program[0], &options, &job->arena, &facts, &ignored) < 0)
		return "";
	return binary_language_name(facts.language);
}

static int topdown_show(struct topdown_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->run, .to_stderr = true};
	struct topdown_books books = {&job->metrics, &job->advice};
	struct verdict_subject subject = {
		.program = run_text(job->run, job->run->target),
		.language = language_of(job),
	};
	struct topdown_view view;
	int r;

	job->facts.cpu = run_get_field(job->run, "cpu", "model", "");
	topdown_view_make(job->run, &job->facts, &books, &subject, &job->arena, &view);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			topdown_json(page.json, &view);
		else if (cli->mode == CLI_AGENT)
			topdown_agent(page.paper, &view);
		else
			topdown_text(page.paper, &view);
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : report_write(job, &view, err);
}

static int topdown_prepare(struct topdown_job *job, struct err *err)
{
	const char *output = cli_value(job->cli, "output");
	int r = metric_book_load(&job->metrics, err);

	if (r >= 0)
		r = advice_book_load(&job->advice, err);
	if (r >= 0)
		r = binary_find(job->cli->program[0], &job->arena, &job->path, err);
	if (r >= 0)
		r = cores_find(job, err);
	tier_find(job);
	if (r >= 0)
		r = plan_make(job, err);
	if (r >= 0 && output)
		r = store_create(output, &job->store, err);
	return r;
}

static int topdown_job_run(struct topdown_job *job, struct err *err)
{
	struct err late = {0};
	int r = topdown_prepare(job, err), counted;

	if (r < 0)
		return r;
	job->run->started_ns = clock_realtime_ns();
	job->run->command = run_intern(job->run, "topdown");
	job->run->target = cli_target_words(job->cli, job->run);
	counted = topdown_count(job, err);
	if (counted < 0 && !job->run->executions.count)
		return counted; /* nothing was measured */
	notes_add(job);
	job_take_fingerprint(job->run, &late);
	if (job->store)
		r = store_finish(job->store, job->run, counted < 0 ? &late : err);
	run_freeze(job->run);
	if (counted < 0)
		r = counted;
	if (r < 0) {
		topdown_show(job, &late);
		return r;
	}
	r = topdown_show(job, err);
	if (r < 0)
		return r;
	return counted > 0 ? EXIT_INTERRUPTED : cli_target_status(job->cli, job->run);
}

int topdown_measured(struct cli *cli, const struct pmu_report *report, struct err *err)
{
	struct topdown_job job = {.cli = cli, .report = report, .run = run_open()};
	int r;

	job.facts.tier_reason = job.facts.cpu = "";
	r = topdown_job_run(&job, err);
	topdown_job_done(&job);
	return r;
}
