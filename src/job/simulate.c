/* simulate.c - a program in the simulator, for any job. */
#include "model/run.h"
#include "model/store.h"
#include "parts.h"

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
