/* topdown.c - see topdown.h.  Chooses the engine: the PMU where there is one that counts, else the
 * simulator.  Which one it was is always told. */
#include "job/topdown.h"

#include <errno.h>

#include "code/binary.h"
#include "model/run.h"
#include "model/store.h"
#include "parts.h"
#include "source/refusal.h"
#include "topdown_parts.h"

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
			"--quick needs a PMU; `assay topdown --engine sim` does not, but is 20 to 75 times slower");
	}
	job->page.reason = arena_format(&job->arena, "%s", no_pmu.text);
	return job_choose_engine(wish, &no_pmu, &job->engine, err);
}

int topdown_job_do(struct topdown_job *job, const struct topdown_options *options,
	const struct job_host *host, struct err *err)
{
	struct pmu_report report = {0};
	int r;

	*job = (struct topdown_job){.host = host,
		.options = *options,
		.run = run_open(),
		.clock = run_open(),
		.facts = {.tier_reason = "", .cpu = ""}};
	job->ingest.run = job->run;
	job->clock_ingest.run = job->clock;
	r = engine_choose(job, &report, err);
	if (r >= 0)
		r = advice_book_load(&job->advice, err);
	if (r >= 0)
		r = binary_find(options->program[0], &job->arena, &job->path, err);
	if (r < 0)
		return r;
	return job->engine == ENGINE_PMU ? topdown_measure(job, &report, err)
					 : topdown_simulate(job, err);
}
