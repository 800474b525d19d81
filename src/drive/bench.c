/* bench.c - see bench.h.
 *
 * One spawner starts everything, so that no run pays for the tool's size.  While runs go the tool
 * sleeps in ppoll(); it wakes for their end, a signal or the time limit.  Runs of less than a
 * millisecond cost more to ask for and to tell than to time, so as many as fit in a fiftieth of a
 * second are asked for at once, unless something has to be done between them.  The environment's
 * size moves the stack of the target, which alone can change its speed by per cents: a random one
 * turns that bias into noise that the interval shows. */
#include "drive/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/str.h"
#include "cgroup_quota.h"
#include "golden.h"
#include "page_cache.h"
#include "source/emit.h"
#include "wire/record.h"

enum {
	NS_PER_S = 1000000000,
	TRIM_NS = 100000000,
	BATCH_NS = 5000000, /* what kill -9 can cost, and how late Ctrl-C is seen at worst */
	SUSPENDED_NS = 1000000,
};

/* One thing to run. */
struct item {
	uint32_t command; /* index */
	bool aside;	  /* a preparation */
	bool warmup, ends_round;
};

/* The sequence of all items, as far as it was asked for. */
struct plan {
	uint32_t round, at; /* the next: of the round, among its commands */
	bool warmup, prepared;
};

struct clocks {
	uint64_t monotonic_ns, raw_ns, boot_ns;
};

struct bench {
	const struct bench_options *options;
	const struct wire_sink *sink;
	struct spawner *spawner;
	struct random random;
	struct golden golden;
	struct plan plan;
	struct bench_progress progress;
	uint64_t begin_ns; /* of the measured rounds */
	uint64_t taken_ns; /* by the runs so far, preparations and waiting included */
	uint32_t taken;
	unsigned signals_seen;
	bool one_by_one; /* something has to be done between runs */
	bool enough;
	bool stopped;	   /* by the user */
	bool timed_out;	   /* the run that goes now */
	bool wrong_output; /* the run that just ended */
	bool cold_noted;
};

/* The target is not in our group: the terminal's Ctrl-C does not reach it unless we pass it on. */
static void pass_on_signals(struct bench *b)
{
	struct interrupt now = interrupt_now(b->options->interrupted);

	if (now.count == b->signals_seen)
		return;
	b->stopped = true;
	b->signals_seen = now.count;
	spawner_signal(b->spawner, now.count > 1 ? SIGKILL : now.signal);
}

/* How long to sleep at most; false: until something happens. */
static bool nap_choose(const struct bench *b, uint64_t end_ns, uint64_t *ret_ns)
{
	uint64_t now = clock_monotonic_ns(), left = end_ns > now ? end_ns - now : 0;
	bool kept = b->options->keep_errors || spawner_output(b->spawner) >= 0;

	*ret_ns = kept && left > TRIM_NS ? TRIM_NS : left;
	return kept || end_ns != UINT64_MAX;
}

/* As much of stdout as comparing it can take: one byte more than is expected tells. */
static void outputs_trim(const struct bench *b)
{
	spawner_trim(b->spawner, b->golden.fd < 0 ? INT64_MAX : b->golden.bytes + 1);
}

/* Sleep until what was asked for has ended.  `limit_ns` 0: however long it takes. */
static void wait_for_end(struct bench *b, uint64_t limit_ns)
{
	struct pollfd ready = {.fd = spawner_descriptor(b->spawner), .events = POLLIN};
	uint64_t end_ns = limit_ns ? clock_monotonic_ns() + limit_ns : UINT64_MAX, left;
	sigset_t all, before;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (;;) {
		bool timed = nap_choose(b, end_ns, &left);
		struct timespec timeout = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};

		pass_on_signals(b);
		if (ppoll(&ready, 1, timed ? &timeout : NULL, &before) > 0)
			break;
		outputs_trim(b);
		if (clock_monotonic_ns() >= end_ns) {
			spawner_signal(b->spawner, b->timed_out ? SIGKILL : SIGTERM);
			b->timed_out = true;
			end_ns = clock_monotonic_ns() + NS_PER_S;
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	pass_on_signals(b);
}

/* ---- what is not measured ---- */

static bool result_failed(const struct spawner_result *result)
{
	return result->exit_status || result->signal;
}

/* The last line of what it said, for a hint. */
static void last_line(const char *text, struct str *out)
{
	size_t len = strlen(text), begin;

	while (len && text[len - 1] == '\n')
		len--;
	for (begin = len; begin && text[begin - 1] != '\n';)
		begin--;
	str_add_bytes(out, text + begin, len - begin);
}

static int aside_failed(const struct bench *b, uint32_t command, const char *option,
	const struct spawner_result *result, struct err *err)
{
	str_auto struct str said = {0};

	err_set(err, ERR_TARGET, ECHILD, "the command of %s (%s) %s %d%s%s%s", option,
		b->options->commands[command].argv[0],
		result->signal ? "was killed by signal" : "exited with status",
		result->signal ? result->signal : result->exit_status, result->signal ? " (" : "",
		result->signal ? strsignal(result->signal) : "", result->signal ? ")" : "");
	last_line(spawner_errors(b->spawner), &said);
	if (said.len)
		err_hint(err, "it said: %s", str_text(&said));
	else
		err_hint(err, "see its output with --program-output inherit");
	return -ECHILD;
}

static int aside_run(struct bench *b, uint32_t command, const char *option, struct err *err)
{
	const struct spawner_request request = {.command = command, .aside = true};
	unsigned signals_before = b->signals_seen;
	struct spawner_result result;
	int r = spawner_start(b->spawner, &request, err);

	if (r < 0)
		return r;
	wait_for_end(b, 0);
	r = spawner_result(b->spawner, &result, err);
	if (r < 0 || b->signals_seen != signals_before)
		return r;
	if (result.spawn_errno)
		return spawner_failed(b->options->commands[command].path, result.spawn_errno, err);
	return result_failed(&result) ? aside_failed(b, command, option, &result, err) : 0;
}

static int setups_run(struct bench *b, struct err *err)
{
	const struct bench_options *o = b->options;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && !b->stopped && i < o->setup_count; i++)
		r = aside_run(b, o->setup_at + i, "--setup", err);
	return r;
}

/* All of them, whatever becomes of one; the first failure is told. */
static int cleanups_run(struct bench *b, struct err *err)
{
	const struct bench_options *o = b->options;
	int first = 0;

	for (uint32_t i = 0; i < o->cleanup_count; i++) {
		struct err other = {0};
		int r = aside_run(b, o->cleanup_at + i, "--cleanup", first < 0 ? &other : err);

		if (r < 0 && first == 0)
			first = r;
	}
	return first;
}

static int cold_make(struct bench *b, struct err *err)
{
	const struct bench_options *o = b->options;
	int r = o->drop_caches ? page_cache_drop(err) : 0;

	for (const char *const *file = o->cold_files; r >= 0 && file && *file; file++) {
		uint64_t left;

		r = page_cache_drop_file(*file, &left, err);
		if (r >= 0 && left && left != UINT64_MAX && !b->cold_noted) {
			str_auto struct str text = {0};

			b->cold_noted = true;
			str_addf(&text,
				"%" PRIu64 " pages of %s stay in memory, so the run was not cold",
				left, *file);
			r = emit_note(b->sink, "not-cold", str_text(&text),
				"another program has mapped the file, or its file system is in "
				"memory");
		}
	}
	return r;
}

/* ---- one run ---- */

static int result_emit(
	struct bench *b, const struct item *item, const struct spawner_result *result, bool last)
{
	struct wire_execution e = {
		.head = {WIRE_EXECUTION, sizeof(e)},
		.execution = ++b->progress.runs,
		.command = item->command + 1,
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
		.queue_ns = result->has_queue ? result->queue_ns : 0,
	};

	e.flags = (result->leftovers ? WIRE_EXECUTION_LEFTOVERS : 0) |
		  (result->has_steal ? WIRE_EXECUTION_STEAL : 0) |
		  (result->has_pressure ? WIRE_EXECUTION_PRESSURE : 0) |
		  (result->has_queue ? WIRE_EXECUTION_QUEUE : 0) |
		  (result->parallel ? WIRE_EXECUTION_PARALLEL : 0) |
		  (result->throttled ? WIRE_EXECUTION_THROTTLED : 0) |
		  (b->timed_out ? WIRE_EXECUTION_TIMED_OUT : 0) |
		  (b->wrong_output ? WIRE_EXECUTION_WRONG_OUTPUT : 0) |
		  (b->stopped && last ? WIRE_EXECUTION_INTERRUPTED : 0) |
		  (item->warmup ? WIRE_EXECUTION_WARMUP : 0);
	return b->sink->take(b->sink->context, &e.head);
}

/* Is its output right?  The first run's may be what all others are held against. */
static int output_check(struct bench *b, const struct spawner_result *result, struct err *err)
{
	const struct bench_options *o = b->options;
	struct golden_difference where;
	str_auto struct str text = {0};
	int r;

	b->wrong_output = false;
	if (b->stopped || b->timed_out || result_failed(result) ||
		(!o->golden_path && !o->golden_save_path))
		return 0;
	if (b->golden.fd < 0)
		return golden_save(
			&b->golden, o->golden_save_path, spawner_output(b->spawner), err);
	r = golden_compare(&b->golden, spawner_output(b->spawner), &where, err);
	b->wrong_output = r > 0;
	if (r <= 0)
		return r;
	str_addf(&text,
		"the output of run %u differs from %s: line %" PRIu64
		" is '%s' where '%s' was expected",
		b->progress.runs + 1, b->golden.path, where.line, where.found, where.expected);
	return emit_note(b->sink, "wrong-output", str_text(&text),
		"if the new output is right, save it with --golden-save");
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

static int run_take(struct bench *b, const struct item *item, const struct spawner_result *result,
	bool last, struct err *err)
{
	const struct bench_options *o = b->options;
	int r = output_check(b, result, err), end = BENCH_DONE;

	if (r >= 0)
		r = result_emit(b, item, result, last);
	if (r < 0)
		return r;
	if (b->stopped && last)
		end = BENCH_INTERRUPTED;
	else if ((result_failed(result) || b->timed_out) && !o->ignore_failure)
		end = BENCH_FAILED;
	else if (b->wrong_output)
		end = BENCH_FAILED;
	b->progress.round_ended = item->ends_round && !item->warmup && end == BENCH_DONE;
	if (b->progress.round_ended) {
		b->progress.rounds++;
		b->progress.elapsed_ns = clock_monotonic_ns() - b->begin_ns;
		b->progress.rounds_due = rounds_due(b, b->progress.elapsed_ns);
	}
	r = o->each(o->context, &b->progress, err);
	b->enough = b->enough || r > 0;
	return r < 0 ? r : end;
}

static int item_take(struct bench *b, const struct item *item, const struct spawner_result *result,
	bool last, struct err *err)
{
	if (result->spawn_errno)
		return spawner_failed(
			b->options->commands[item->command].path, result->spawn_errno, err);
	if (!item->aside)
		return run_take(b, item, result, last, err);
	if (b->stopped && last)
		return BENCH_INTERRUPTED;
	return result_failed(result) ? aside_failed(b, item->command, "--prepare", result, err)
				     : BENCH_DONE;
}

/* ---- the sequence ---- */

static double run_mean_ns(const struct bench *b)
{
	return b->taken ? (double)b->taken_ns / b->taken : 0;
}

/* Shall another round begin, when `queued` items are asked for and have not been run yet? */
static bool round_is_due(const struct bench *b, uint32_t queued)
{
	const struct bench_options *o = b->options;
	double elapsed_ns;

	if (b->plan.warmup)
		return b->plan.round < o->warmups;
	if (b->enough || b->plan.round >= o->rounds_max)
		return false;
	elapsed_ns = (double)(clock_monotonic_ns() - b->begin_ns) + queued * run_mean_ns(b);
	return b->plan.round < o->rounds_min || elapsed_ns < (double)o->budget_ns;
}

static bool plan_next(struct bench *b, uint32_t queued, struct item *ret_item)
{
	const struct bench_options *o = b->options;
	struct plan *plan = &b->plan;
	bool backwards = !plan->warmup && plan->round % 2;
	uint32_t command = backwards ? o->command_count - 1 - plan->at : plan->at;

	if (!plan->at && !plan->prepared && !round_is_due(b, queued))
		return false;
	*ret_item = (struct item){.command = command, .warmup = plan->warmup};
	if (o->prepare_at && !plan->prepared) {
		ret_item->command = o->prepare_at + command;
		ret_item->aside = plan->prepared = true;
		return true;
	}
	plan->prepared = false;
	ret_item->ends_round = ++plan->at == o->command_count;
	if (ret_item->ends_round) {
		plan->at = 0;
		plan->round++;
	}
	return true;
}

static uint32_t batch_plan(struct bench *b, struct item items[SPAWNER_BATCH])
{
	double fit = b->one_by_one || !b->taken ? 1 : BATCH_NS / (run_mean_ns(b) + 1);
	uint32_t most = fit < 1 ? 1 : fit > SPAWNER_BATCH ? SPAWNER_BATCH : (uint32_t)fit;
	uint32_t count = 0;

	while (count < most && plan_next(b, count, &items[count]))
		count++;
	return count;
}

/* Run these; an enum bench_end or a negative errno. */
static int batch_run(struct bench *b, const struct item *items, uint32_t count, struct err *err)
{
	struct spawner_request requests[SPAWNER_BATCH];
	struct spawner_result results[SPAWNER_BATCH];
	uint64_t begin_ns;
	int r = items[0].aside ? 0 : cold_make(b, err), done;

	for (uint32_t i = 0; i < count; i++)
		requests[i] = (struct spawner_request){
			.command = items[i].command,
			.aside = items[i].aside,
			.or_stop = items[i].aside || !b->options->ignore_failure,
			.pad_bytes = items[i].aside ? 0
						    : 1 + (uint32_t)random_below(
								  &b->random, SPAWNER_PAD_MAX),
		};
	begin_ns = clock_monotonic_ns();
	b->timed_out = false;
	if (r >= 0)
		r = spawner_start_all(b->spawner, requests, count, err);
	if (r < 0)
		return r;
	wait_for_end(b, items[0].aside ? 0 : b->options->limit_ns);
	done = spawner_results(b->spawner, results, err);
	if (done < 0)
		return done;
	b->taken_ns += clock_monotonic_ns() - begin_ns;
	b->taken += (uint32_t)done;
	for (int i = 0; i < done && r == BENCH_DONE; i++)
		r = item_take(b, &items[i], &results[i], i + 1 == done, err);
	return r;
}

static int rounds_run(struct bench *b, bool warmup, struct err *err)
{
	struct item items[SPAWNER_BATCH];
	int r = BENCH_DONE;
	uint32_t count;

	b->plan = (struct plan){.warmup = warmup};
	b->begin_ns = clock_monotonic_ns();
	while (r == BENCH_DONE && (count = batch_plan(b, items)) > 0)
		r = batch_run(b, items, count, err);
	return r;
}

/* ---- all of it ---- */

static struct clocks clocks_read(void)
{
	return (struct clocks){
		.monotonic_ns = clock_read_ns(CLOCK_MONOTONIC),
		.raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW),
		.boot_ns = clock_read_ns(CLOCK_BOOTTIME),
	};
}

/* Runs are timed by CLOCK_MONOTONIC, which nobody can set.  It stands still while the machine is
 * suspended, and runs at the pace that NTP gives it: both are told. */
static int clocks_tell(const struct bench *b, const struct clocks *from)
{
	const struct clocks now = clocks_read();
	uint64_t taken = now.monotonic_ns - from->monotonic_ns, raw = now.raw_ns - from->raw_ns,
		 boot = now.boot_ns - from->boot_ns;
	uint64_t suspended = boot > taken ? boot - taken : 0;
	int r = emit_quality(b->sink, "suspended_ns", suspended > SUSPENDED_NS ? suspended : 0);

	if (r >= 0)
		r = emit_quality(b->sink, "clock_slew_ns", raw > taken ? raw - taken : taken - raw);
	if (r >= 0 && suspended > SUSPENDED_NS)
		r = emit_note(b->sink, "suspended",
			"the machine was suspended during the runs; the times exclude that",
			"measure again: caches and clock rates may have changed");
	return r;
}

static int facts_tell(const struct bench *b, int end)
{
	int r = 0;

	if (end == BENCH_FAILED && *spawner_errors(b->spawner))
		r = emit_field(
			b->sink, "failure", "stderr", WIRE_FIELD_VALUE, spawner_errors(b->spawner));
	if (r >= 0 && b->golden.fd >= 0 && !b->wrong_output)
		r = emit_field(b->sink, "output", "sha256", WIRE_FIELD_VALUE, b->golden.digest);
	return r;
}

int bench_run(struct bench *b, const struct wire_sink *sink, struct err *err)
{
	const struct clocks from = clocks_read();
	struct err late = {0};
	int r, told, cleaned;

	b->sink = sink;
	r = setups_run(b, err);
	if (r >= 0 && b->stopped)
		r = BENCH_INTERRUPTED;
	if (r == BENCH_DONE && b->options->warmups)
		r = rounds_run(b, true, err);
	if (r == BENCH_DONE)
		r = rounds_run(b, false, err);
	told = facts_tell(b, r);
	if (told >= 0)
		told = clocks_tell(b, &from);
	cleaned = cleanups_run(b, r < 0 ? &late : err);
	return r < 0 ? r : cleaned < 0 ? cleaned : told < 0 ? told : r;
}

int bench_open(const struct bench_options *o, struct bench **ret_bench, struct err *err)
{
	str_auto struct str quota = {0};
	struct spawner_options spawn = {
		.commands = o->commands,
		.command_count = o->command_count,
		.stdout_to_stderr = o->stdout_to_stderr,
		.input_path = o->input_path,
		.output_path = o->output_path,
		.own_group = true,
		.watch_machine = true,
		.keep_errors = o->keep_errors,
		.keep_output = o->golden_path || o->golden_save_path,
	};
	struct bench *b = mem_new(1, sizeof(*b));
	int r;

	*b = (struct bench){.options = o, .golden = {.fd = -1}};
	b->one_by_one = o->limit_ns || o->drop_caches || o->cold_files || spawn.keep_output ||
			o->can_be_enough;
	random_seed(&b->random, o->seed);
	cgroup_quota_find(&quota);
	spawn.throttle_path = quota.len ? str_text(&quota) : NULL;
	r = spawner_open(&spawn, &b->spawner, err);
	if (r >= 0 && o->drop_caches)
		r = page_cache_check(err);
	for (const char *const *file = o->cold_files; r >= 0 && file && *file; file++) {
		uint64_t left;

		r = page_cache_drop_file(*file, &left, err);
	}
	if (r >= 0 && o->golden_path)
		r = golden_open(&b->golden, o->golden_path, err);
	if (r < 0) {
		bench_close(b);
		return r;
	}
	*ret_bench = b;
	return 0;
}

void bench_close(struct bench *b)
{
	if (!b)
		return;
	golden_done(&b->golden);
	spawner_close(b->spawner);
	free(b);
}
