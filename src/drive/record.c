/* record.c - see record.h.
 *
 * One loop: sleep until the target ends, a ring is a quarter full, a signal comes or 100 ms are
 * over; make a pass.  Signals are only taken inside ppoll(), so that none slips in between check
 * and sleep.  The end of the target is told by the spawner at once, so the recording ends with it;
 * no time is spent waiting for a ring that stays empty. */
#include "drive/record.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "drive/execution.h"
#include "drive/urgency.h"
#include "source/emit.h"
#include "wire/record.h"

/* Often, so that one flush is short: while rows are written the rings fill (clang: 50,000 new rows
 * a second took 40 ms at once, and a ring holds 50 ms). */
static const uint64_t each_ns = 100000000;

/* Below that, samples and CPU time differ by chance or by the kernel's own rounding. */
enum { COVERAGE_PCT = 80, COVERAGE_LEAST_NS = 50000000 };

struct recording {
	const struct record_options *options;
	const struct wire_sink *sink;
	struct sampler *sampler;
	struct execution execution;
	uint64_t switch_ns; /* when sampling is switched on or off next, UINT64_MAX: never */
	bool sampling;
	bool held;    /* the target's pid is known and told to the sampler */
	bool expired; /* duration_ns is over */
	uint64_t each_at_ns;
	uint64_t own_cpu_ns; /* our own at the start */
	struct err unstored; /* why no more is stored, while the program runs on; code 0: it is */
};

static uint64_t own_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int sink_failed(int r, struct err *err)
{
	return r < 0 && !err->code
		       ? err_set(err, ERR_OUTPUT, -r, "cannot store the samples: %s", err_words(-r))
		       : r;
}

/* ---- on and off ---- */

static void clock_start(struct recording *c)
{
	const struct record_options *o = c->options;

	c->sampling = !o->delay_ns;
	c->switch_ns = UINT64_MAX;
	if (o->delay_ns)
		c->switch_ns = c->execution.start_ns + o->delay_ns;
	else if (o->duration_ns)
		c->switch_ns = c->execution.start_ns + o->duration_ns;
	c->each_at_ns = c->execution.start_ns + each_ns;
}

static int clock_check(struct recording *c, struct err *err)
{
	const struct record_options *o = c->options;

	/* What is switched off before the exec is switched on by it. */
	if (!c->held || clock_monotonic_ns() < c->switch_ns)
		return 0;
	c->switch_ns = UINT64_MAX;
	c->expired = c->sampling;
	c->sampling = !c->sampling;
	if (c->sampling && o->duration_ns)
		c->switch_ns = clock_monotonic_ns() + o->duration_ns;
	return sampler_switch(c->sampler, c->sampling, err);
}

/* ---- the loop ---- */

/* Its pid is known when its exec is over; until then we look every millisecond. */
static void target_hold(struct recording *c)
{
	pid_t target = c->execution.spawner ? spawner_target(c->execution.spawner) : 0;

	if (c->held || c->options->mode != COUNTERS_CHILDREN)
		c->held = true;
	else if (target > 0) {
		sampler_hold(c->sampler, target);
		c->held = true;
	}
}

static struct timespec time_to_sleep(const struct recording *c)
{
	uint64_t patience_ms = c->held ? sampler_patience_ms(c->sampler) : 1;
	uint64_t now = clock_monotonic_ns(), left = UINT64_C(1000000) * patience_ms;

	if (c->switch_ns < now + left)
		left = c->switch_ns > now ? c->switch_ns - now : 0;
	return (struct timespec){(time_t)(left / 1000000000), (long)(left % 1000000000)};
}

static int each_time(struct recording *c, struct err *err)
{
	struct sampler_facts facts = sampler_facts(c->sampler);

	if (!c->options->each || clock_monotonic_ns() < c->each_at_ns)
		return 0;
	c->each_at_ns = clock_monotonic_ns() + each_ns;
	return c->options->each(c->options->context, &facts, err);
}

/* A full disk is no reason to leave a program alone that we have started: it runs to its end, whose
 * status we then know.  Nothing more is sampled. */
static int storing_failed(struct recording *c, int r, struct err *err)
{
	if (r >= 0 || err->kind != ERR_OUTPUT || !c->execution.spawner)
		return r;
	c->unstored = *err;
	*err = (struct err){0};
	c->switch_ns = UINT64_MAX;
	c->sampling = false;
	return sampler_switch(c->sampler, false, err);
}

static int store_some(struct recording *c, struct err *err)
{
	int r = sink_failed(sampler_pass(c->sampler), err);

	if (r >= 0)
		r = each_time(c, err);
	return storing_failed(c, r, err);
}

static int loop(struct recording *c, const sigset_t *signals, struct err *err)
{
	struct execution *x = &c->execution;
	struct pollfd ready[2] = {
		{.fd = sampler_descriptor(c->sampler), .events = POLLIN},
		{.fd = execution_descriptor(x), .events = POLLIN},
	};
	int r = 0;

	while (r >= 0) {
		struct timespec timeout = time_to_sleep(c);

		if (ppoll(ready, 2, &timeout, signals) > 0 && ready[1].revents)
			break;
		execution_pass_on_signals(x);
		target_hold(c);
		r = clock_check(c, err);
		if (!x->spawner && (x->stopped || c->expired))
			break;
		if (r >= 0 && !c->unstored.code)
			r = store_some(c, err);
	}
	return r;
}

static int wait_for_end(struct recording *c, struct err *err)
{
	sigset_t before;
	int r;

	urgency_block_signals(&before);
	r = loop(c, &before, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	/* A signal that came together with the target's end is delivered only now. */
	execution_pass_on_signals(&c->execution);
	return r;
}

/* ---- what there is to say ---- */

static int note_small_rings(const struct recording *c, const struct sampler_facts *facts)
{
	char text[256];

	if (facts->ring_bytes >= facts->ring_wanted_bytes || !facts->dump_bytes)
		return 0;
	snprintf(text, sizeof(text),
		"locked memory limits the rings to %llu KiB per CPU, so each sample has %u KiB of "
		"the stack and deeper stacks are truncated",
		(unsigned long long)facts->ring_bytes / 1024, facts->dump_bytes / 1024);
	return emit_note(c->sink, "small-rings", text,
		"sudo sysctl kernel.perf_event_mlock_kb=20480, or ulimit -l unlimited");
}

/* Sampling ends silently when an unprivileged user's program gains rights by its exec. */
static int note_privileged_target(const struct recording *c)
{
	struct stat file;

	if (c->options->mode != COUNTERS_CHILDREN || geteuid() == 0 ||
		stat(c->options->path, &file) < 0 || !(file.st_mode & (S_ISUID | S_ISGID)))
		return 0;
	return emit_note(c->sink, "setuid-target",
		"the program is setuid or setgid; the kernel only lets root sample it",
		"run assay as root");
}

static int note_start(const struct recording *c)
{
	struct sampler_facts facts = sampler_facts(c->sampler);
	int r = note_small_rings(c, &facts);

	if (r >= 0 && facts.narrowed)
		r = emit_note(c->sink, "kernel-not-sampled",
			"sampling the kernel is not permitted here, so time spent in it has no "
			"samples",
			"sudo sysctl kernel.perf_event_paranoid=1");
	return r < 0 ? r : note_privileged_target(c);
}

static int note_losses(const struct recording *c, const struct sampler_facts *facts)
{
	char text[256];
	int r = 0;

	if (facts->lost_samples) {
		snprintf(text, sizeof(text), "lost %llu samples: the rings were full",
			(unsigned long long)facts->lost_samples);
		r = emit_note(c->sink, "samples-lost", text,
			"sample less often with -c or -F, or use larger rings: sudo sysctl "
			"kernel.perf_event_mlock_kb=20480");
	}
	if (r >= 0 && facts->lost_records) {
		snprintf(text, sizeof(text),
			"lost %llu records of new mappings and tasks, so some samples may have no "
			"name or a wrong one",
			(unsigned long long)facts->lost_records);
		r = emit_note(c->sink, "records-lost", text, "record again on a quieter machine");
	}
	if (r >= 0 && facts->throttled) {
		snprintf(text, sizeof(text), "the kernel paused sampling %llu times",
			(unsigned long long)facts->throttled);
		r = emit_note(c->sink, "throttled", text,
			"sample less often with -F, or raise kernel.perf_event_max_sample_rate");
	}
	return r;
}

/* Each task has its own period, so one that ends before the first is over is never sampled. */
static int note_coverage(const struct recording *c, const struct sampler_facts *facts)
{
	const struct record_options *o = c->options;
	const struct spawner_result *result = &c->execution.result;
	uint64_t cpu_ns = result->user_ns + result->system_ns;
	char text[256];

	if (o->mode != COUNTERS_CHILDREN || o->delay_ns || o->duration_ns || !facts->kernel ||
		!facts->clock || facts->lost_samples || cpu_ns < COVERAGE_LEAST_NS ||
		facts->clock_ns >= cpu_ns / 100 * COVERAGE_PCT)
		return 0;
	snprintf(text, sizeof(text),
		"the samples cover %llu %% of the CPU time: processes and threads shorter than the "
		"sampling interval have none",
		(unsigned long long)(facts->clock_ns * 100 / cpu_ns));
	return emit_note(c->sink, "short-lived-tasks", text,
		"sample the whole machine with -a, or more often with -F");
}

static int emit_qualities(const struct recording *c, const struct sampler_facts *facts)
{
	const struct spawner_result *result = &c->execution.result;
	bool own = c->options->mode == COUNTERS_CHILDREN;
	const struct {
		const char *name;
		uint64_t value;
		bool known;
	} rows[] = {
		{"recorder_cpu_ns", own_cpu_ns() - c->own_cpu_ns, true},
		{"target_cpu_ns", result->user_ns + result->system_ns, own},
		{"sampled_cpu_ns", facts->clock_ns, facts->clock},
		{"rate_hz", facts->rate_hz, facts->rate_hz != 0},
		{"sample_period", facts->period, facts->period != 0},
		{"sampling_delay_ns", c->options->delay_ns, c->options->delay_ns != 0},
		{"sampling_duration_ns", c->options->duration_ns, c->options->duration_ns != 0},
		{"ring_bytes", facts->ring_bytes, true},
		{"stack_dump_bytes", facts->dump_bytes, facts->dump_bytes != 0},
		{"lost_samples", facts->lost_samples, true},
		{"lost_records", facts->lost_records, true},
		{"throttled", facts->throttled, true},
		{"malformed_samples", facts->malformed, facts->malformed != 0},
		{"branch_filter", c->options->branches, c->options->branches != 0},
	};
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].known)
			r = emit_quality(c->sink, rows[i].name, rows[i].value);
	return r;
}

static int emit_end(struct recording *c, struct err *err)
{
	struct sampler_facts facts;
	int r = sampler_end(c->sampler);

	facts = sampler_facts(c->sampler);
	if (r >= 0)
		r = execution_emit(&c->execution, c->sink);
	if (r >= 0)
		r = note_losses(c, &facts);
	if (r >= 0)
		r = note_coverage(c, &facts);
	if (r >= 0)
		r = emit_qualities(c, &facts);
	return sink_failed(r, err);
}

static int recording_run(struct recording *c, struct err *err)
{
	int r = sampler_start(c->sampler, err);

	if (r >= 0)
		r = sink_failed(note_start(c), err);
	if (r >= 0)
		r = execution_start(&c->execution, err);
	if (r < 0)
		return r;
	clock_start(c);
	r = wait_for_end(c, err);
	if (r >= 0)
		r = execution_finish(&c->execution, err);
	if (r >= 0)
		r = emit_end(c, err);
	if (r >= 0 && c->unstored.code) {
		*err = c->unstored;
		return -err->code;
	}
	return r < 0 ? r : c->execution.stopped;
}

int record_target(const struct record_options *options, struct event_list *events,
	const struct wire_sink *sink, struct err *err)
{
	struct recording c = {.options = options, .sink = sink, .own_cpu_ns = own_cpu_ns()};
	struct execution_options how = {
		.path = options->path,
		.argv = options->argv,
		.stdout_to_stderr = options->stdout_to_stderr,
		.mode = options->mode,
		.id = options->id,
		.interrupted = options->interrupted,
	};
	struct sampler_options sampling = {
		.mode = options->mode,
		.rate_hz = options->rate_hz,
		.period = options->period,
		.stack = options->stack,
		.branches = options->branches,
		.accesses = options->accesses,
		.delayed = options->delay_ns != 0,
	};
	int r = execution_open(&how, &c.execution, err);
	struct urgency urgency;

	urgency_begin(&urgency);
	if (r >= 0) {
		sampling.id = options->mode == COUNTERS_MACHINE ? -1 : execution_id(&c.execution);
		r = sampler_open(&sampling, events, sink, &c.sampler, err);
	}
	if (r >= 0)
		r = recording_run(&c, err);
	sampler_close(c.sampler);
	execution_close(&c.execution);
	urgency_end(&urgency);
	return r;
}
