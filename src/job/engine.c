/* engine.c - PMU or simulator, a run in the simulator, and what both answer about. */
#include "code/binary.h"
#include "model/run.h"
#include "model/store.h"
#include "parts.h"

int job_choose_engine(enum job_engine wish, const struct err *no_pmu, enum job_engine *ret_engine,
	struct err *err)
{
	struct err no_simulator = {0};

	*ret_engine = wish == ENGINE_AUTO && no_pmu->code ? ENGINE_SIM
		      : wish == ENGINE_AUTO		  ? ENGINE_PMU
							  : wish;
	if (*ret_engine == ENGINE_PMU && no_pmu->code)
		*err = *no_pmu;
	if (*ret_engine == ENGINE_PMU)
		return -no_pmu->code;
	if (simulate_available(&no_simulator) >= 0)
		return 0;
	*err = no_simulator;
	if (wish == ENGINE_AUTO) {
		err_set(err, ERR_UNAVAILABLE, no_pmu->code, "%.220s, and %.220s", no_pmu->text,
			no_simulator.text);
		err_hint(err, "%s", no_simulator.hint);
	}
	return -err->code;
}

struct verdict_subject job_subject(const struct run *run, char *const *program, struct arena *arena)
{
	struct verdict_subject subject = {
		.program = program ? run_text(run, run->target) : "PROGRAM", .language = ""};
	const struct binary_options options = {.without_libraries = true};
	struct binary_facts facts;
	struct err ignored;

	if (program && binary_inspect(program[0], &options, arena, &facts, &ignored) >= 0)
		subject.language = binary_language_name(facts.language);
	return subject;
}

static void tell(void *context, const char *text)
{
	job_tell(((struct job_making *)context)->host, text);
}

static void progress(void *context, uint32_t execution, uint64_t elapsed_ns)
{
	job_progress(((struct job_making *)context)->host, "run %u: simulating for %llu s",
		execution, (unsigned long long)elapsed_ns / 1000000000);
}

static int each(void *context, uint32_t execution, struct err *err)
{
	struct job_making *making = context;

	job_progress(making->host, "run %u done", execution);
	return making->store ? store_flush(making->store, making->run, err) : 0;
}

int job_simulate(struct job_making *making, struct simulate_options options,
	const struct event_list *events, const struct wire_sink *sink, struct err *err)
{
	int r;

	options.stdout_to_stderr = making->host->json_on_stdout;
	options.interrupted = making->host->interrupted;
	options.tell = tell;
	options.progress = progress;
	options.each = each;
	options.context = making;
	r = simulate_target(&options, events, sink, err);
	job_progress(making->host, NULL);
	making->run->partial = r != 0;
	vec_foreach (const struct execution_packed, e, &making->run->executions)
		making->run->partial |= (e->flags & EXECUTION_TIMED_OUT) != 0;
	return r;
}
