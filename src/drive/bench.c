/* bench.c - see bench.h.
 *
 * One spawner starts everything, so that no run pays for the tool's size.  While a run goes the
 * tool sleeps in ppoll(); it wakes for the end, a signal or the time limit.  The environment's size
 * moves the stack of the target, which alone can change its speed by per cents: a random one turns
 * that bias into noise that the interval shows. */
#include "drive/bench.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/random.h"
#include "wire/record.h"

enum { NS_PER_S = 1000000000 };

struct bench {
	const struct bench_options *options;
	const struct wire_sink *sink;
	struct spawner *spawner;
	struct random random;
	struct bench_progress progress;
	uint64_t begin_ns; /* of the measured rounds */
	unsigned signals_seen;
	bool stopped;	/* by the user */
	bool timed_out; /* the run that goes now */
};

/* The target is not in our group: the terminal's Ctrl-C does not reach it unless we pass it on. */
static void pass_on_signals(struct bench *b)
{
	struct interrupt now = b->options->interrupted();

	if (now.count == b->signals_seen)
		return;
	b->stopped = true;
	b->signals_seen = now.count;
	spawner_signal(b->spawner, now.count > 1 ? SIGKILL : now.signal);
}

/* Sleep until the run has ended.  `limit_ns` 0: however long it takes. */
static void wait_for_end(struct bench *b, uint64_t limit_ns)
{
	struct pollfd ready = {.fd = spawner_descriptor(b->spawner), .events = POLLIN};
	uint64_t end_ns = clock_monotonic_ns() + limit_ns;
	sigset_t all, before;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (;;) {
		uint64_t now = clock_monotonic_ns(), left = end_ns > now ? end_ns - now : 0;
		struct timespec timeout = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};
		int got = ppoll(&ready, 1, limit_ns ? &timeout : NULL, &before);

		if (got > 0)
			break;
		pass_on_signals(b);
		if (got == 0) {
			spawner_signal(b->spawner, b->timed_out ? SIGKILL : SIGTERM);
			b->timed_out = true;
			end_ns = clock_monotonic_ns() + NS_PER_S;
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	pass_on_signals(b);
}

/* Run one of the commands to its end. */
static int run_once(struct bench *b, const struct spawner_request *request, uint64_t limit_ns,
	struct spawner_result *ret_result, struct err *err)
{
	int r = spawner_start(b->spawner, request, err);

	b->timed_out = false;
	if (r < 0)
		return r;
	wait_for_end(b, limit_ns);
	r = spawner_result(b->spawner, ret_result, err);
	if (r >= 0 && ret_result->spawn_errno)
		r = spawner_failed(
			b->options->commands[request->command].path, ret_result->spawn_errno, err);
	return r;
}

static int prepare(struct bench *b, uint32_t command, struct err *err)
{
	const struct bench_options *o = b->options;
	uint32_t first = o->command_count + (o->prepare_each ? command : 0);
	struct spawner_result result;
	int r;

	if (!o->has_prepare)
		return 0;
	r = run_once(b, &(struct spawner_request){.command = first}, 0, &result, err);
	if (r < 0 || b->stopped || (!result.exit_status && !result.signal))
		return r;
	err_set(err, ERR_TARGET, ECHILD, "the command of --prepare (%s) %s %d",
		o->commands[first].path,
		result.signal ? "was killed by signal" : "exited with status",
		result.signal ? result.signal : result.exit_status);
	err_hint(err, "see what it says with --program-output inherit");
	return -ECHILD;
}

static int result_emit(
	struct bench *b, uint32_t command, const struct spawner_result *result, bool warmup)
{
	struct wire_execution e = {
		.head = {WIRE_EXECUTION, sizeof(e)},
		.execution = ++b->progress.runs,
		.command = command + 1,
		.exit_status = result->exit_status,
		.signal = result->signal,
		.start_ns = result->start_ns,
		.wall_ns = result->wall_ns,
		.user_ns = result->user_ns,
		.system_ns = result->system_ns,
		.max_rss_bytes = result->max_rss_bytes,
		.rss_floor_bytes = result->rss_floor_bytes,
		.minor_faults = result->minor_faults,
		.major_faults = result->major_faults,
		.voluntary_switches = result->voluntary_switches,
		.involuntary_switches = result->involuntary_switches,
		.steal_ns = result->steal_ns,
		.pressure_ns = result->pressure_ns,
	};

	e.flags = (result->leftovers ? WIRE_EXECUTION_LEFTOVERS : 0) |
		  (result->has_steal ? WIRE_EXECUTION_STEAL : 0) |
		  (result->has_pressure ? WIRE_EXECUTION_PRESSURE : 0) |
		  (b->timed_out ? WIRE_EXECUTION_TIMED_OUT : 0) |
		  (b->stopped ? WIRE_EXECUTION_INTERRUPTED : 0) |
		  (warmup ? WIRE_EXECUTION_WARMUP : 0);
	return b->sink->take(b->sink->context, &e.head);
}

/* One measured run; an enum bench_end or a negative errno. */
static int measure(struct bench *b, uint32_t command, bool warmup, struct err *err)
{
	const struct bench_options *o = b->options;
	struct spawner_request request = {
		.command = command,
		.pad_bytes = 1 + (uint32_t)random_below(&b->random, SPAWNER_PAD_MAX),
	};
	struct spawner_result result;
	int r = prepare(b, command, err);

	if (r < 0)
		return r;
	if (b->stopped)
		return BENCH_INTERRUPTED;
	r = run_once(b, &request, o->limit_ns, &result, err);
	if (r >= 0)
		r = result_emit(b, command, &result, warmup);
	if (r < 0)
		return r;
	if (b->stopped)
		return BENCH_INTERRUPTED;
	return (result.exit_status || result.signal || b->timed_out) && !o->ignore_failure
		       ? BENCH_FAILED
		       : BENCH_DONE;
}

/* About how many rounds the budget allows. */
static uint32_t rounds_due(const struct bench *b, uint64_t elapsed_ns)
{
	const struct bench_options *o = b->options;
	double due = (double)o->budget_ns * b->progress.rounds / ((double)elapsed_ns + 1);

	if (due < o->rounds_min)
		return o->rounds_min;
	return due > o->rounds_max ? o->rounds_max : (uint32_t)due;
}

/* Each command once.  *ret_enough: the caller said so. */
static int round_run(struct bench *b, bool warmup, bool *ret_enough, struct err *err)
{
	const struct bench_options *o = b->options;
	bool backwards = b->progress.rounds % 2;
	int r = BENCH_DONE;

	for (uint32_t i = 0; i < o->command_count && r == BENCH_DONE; i++) {
		int said;

		r = measure(b, backwards ? o->command_count - 1 - i : i, warmup, err);
		if (r < 0)
			return r;
		b->progress.round_ended = i + 1 == o->command_count && !warmup && r == BENCH_DONE;
		if (b->progress.round_ended) {
			b->progress.rounds++;
			b->progress.rounds_due = rounds_due(b, clock_monotonic_ns() - b->begin_ns);
		}
		said = o->each(o->context, &b->progress, err);
		if (said < 0)
			return said;
		*ret_enough = said > 0;
	}
	return r;
}

static int bench_run(struct bench *b, struct err *err)
{
	const struct bench_options *o = b->options;
	bool enough = false;
	int r = BENCH_DONE;

	for (uint32_t i = 0; i < o->warmups && r == BENCH_DONE; i++)
		r = round_run(b, true, &enough, err);
	b->begin_ns = clock_monotonic_ns();
	while (r == BENCH_DONE && !enough && b->progress.rounds < o->rounds_max &&
		(b->progress.rounds < o->rounds_min ||
			clock_monotonic_ns() - b->begin_ns < o->budget_ns))
		r = round_run(b, false, &enough, err);
	return r;
}

int bench_commands(
	const struct bench_options *options, const struct wire_sink *sink, struct err *err)
{
	struct bench b = {.options = options, .sink = sink};
	const struct spawner_options spawn = {
		.commands = options->commands,
		.command_count = options->command_count,
		.stdout_to_stderr = options->stdout_to_stderr,
		.input_path = options->input_path,
		.output_path = options->output_path,
		.own_group = true,
		.watch_machine = true,
	};
	int r = spawner_open(&spawn, &b.spawner, err);

	random_seed(&b.random, options->seed);
	if (r >= 0)
		r = bench_run(&b, err);
	spawner_close(b.spawner);
	return r;
}
