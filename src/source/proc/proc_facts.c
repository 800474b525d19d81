/* proc_facts.c - the sums of a /proc watch as facts, each with its witness or the reason.
 *
 * The names and units are in docs/format.md; rules are written over them (data/signals.txt), so a
 * number that is not known is a fact too. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "proc_parts.h"
#include "source/emit.h"
#include "source/proc_watch.h"

/* With less of its CPU time seen, its processes end faster than they can be read. */
#define SEEN_LEAST 0.5

struct facts {
	const struct wire_sink *sink;
	uint32_t execution;
	int r; /* the sink's first errno */
};

static void fact_put(
	struct facts *facts, const char *name, const char *unit, const char *witness, double value)
{
	const struct emit_fact fact = {name, unit, witness, NULL, facts->execution, value};

	if (facts->r >= 0)
		facts->r = emit_fact(facts->sink, &fact);
}

static void fact_miss(struct facts *facts, const char *name, const char *unit, const char *witness,
	const char *reason)
{
	const struct emit_fact fact = {name, unit, witness, reason, facts->execution, 0};

	if (facts->r >= 0)
		facts->r = emit_fact(facts->sink, &fact);
}

/* The number, or why there is none: `reason` is "" when it is known. */
static void fact_either(struct facts *facts, const char *name, const char *unit,
	const char *witness, double value, const char *reason)
{
	if (*reason)
		fact_miss(facts, name, unit, witness, reason);
	else
		fact_put(facts, name, unit, witness, value);
}

static void reason_write(char *out, size_t capacity, const char *file, int code)
{
	*out = '\0';
	if (code == ENOENT)
		snprintf(out, capacity, "this kernel or container has no %s", file);
	else if (code)
		snprintf(out, capacity, "%s: %s", file, err_words(code));
}

/* ---- threads ---- */

struct thread_sums {
	struct proc_schedstat all;
	uint64_t voluntary, involuntary;
	const struct proc_thread *worker; /* with the most CPU time; NULL: none was read */
};

static struct thread_sums threads_sum(const struct proc_watch *watch)
{
	struct thread_sums sums = {0};
	uint64_t most = 0;

	vec_foreach (const struct proc_thread, thread, &watch->threads) {
		uint64_t on_cpu = thread->at.on_cpu_ns - thread->from.on_cpu_ns;

		sums.all.on_cpu_ns += on_cpu;
		sums.all.runq_ns += thread->at.runq_ns - thread->from.runq_ns;
		sums.voluntary += thread->voluntary - thread->from_voluntary;
		sums.involuntary += thread->involuntary - thread->from_involuntary;
		if (thread->is_read && (!sums.worker || on_cpu > most)) {
			sums.worker = thread;
			most = on_cpu;
		}
	}
	return sums;
}

/* Why nothing about threads is known, or "". */
static void threads_reason(const struct proc_watch *watch, const struct thread_sums *sums,
	const struct proc_watch_end *end, char *out, size_t capacity)
{
	double seen = end->cpu_ns ? (double)sums->all.on_cpu_ns / (double)end->cpu_ns : 1;

	*out = '\0';
	if (watch->schedstat_errno)
		reason_write(out, capacity, "/proc/PID/task/TID/schedstat", watch->schedstat_errno);
	else if (!sums->worker)
		snprintf(out, capacity, "the program ended before it could be read");
	else if (seen < SEEN_LEAST)
		snprintf(out, capacity,
			"saw only %.0f %% of its CPU time: its processes end faster than they can "
			"be read",
			100 * seen);
}

static void threads_emit(
	const struct proc_watch *watch, const struct proc_watch_end *end, struct facts *facts)
{
	static const char schedstat[] = "proc.schedstat", status[] = "proc.status";
	const struct thread_sums sums = threads_sum(watch);
	const struct proc_thread *w = sums.worker;
	char reason[200];

	threads_reason(watch, &sums, end, reason, sizeof(reason));
	fact_either(facts, "on_cpu_ns", "ns", schedstat, (double)sums.all.on_cpu_ns, reason);
	fact_either(facts, "runq_ns", "ns", schedstat, (double)sums.all.runq_ns, reason);
	fact_either(facts, "worker_on_cpu_ns", "ns", schedstat,
		w ? (double)(w->at.on_cpu_ns - w->from.on_cpu_ns) : 0, reason);
	fact_either(facts, "worker_runq_ns", "ns", schedstat,
		w ? (double)(w->at.runq_ns - w->from.runq_ns) : 0, reason);
	if (!*reason && watch->status_errno)
		reason_write(
			reason, sizeof(reason), "/proc/PID/task/TID/status", watch->status_errno);
	fact_either(facts, "voluntary_switches", "", status, (double)sums.voluntary, reason);
	fact_either(facts, "involuntary_switches", "", status, (double)sums.involuntary, reason);
	fact_either(facts, "worker_voluntary_switches", "", status,
		w ? (double)(w->voluntary - w->from_voluntary) : 0, reason);
	fact_either(facts, "worker_involuntary_switches", "", status,
		w ? (double)(w->involuntary - w->from_involuntary) : 0, reason);
	fact_either(facts, "threads_seen", "", status, watch->threads.count, reason);
	fact_either(facts, "threads_most", "", status, (double)watch->threads_most, reason);
	fact_either(facts, "processes_seen", "", status, watch->processes.count, reason);
	fact_either(facts, "running_threads", "", status,
		(double)watch->running_sum / (watch->readings ? watch->readings : 1), reason);
	fact_either(facts, "blocked_threads", "", status,
		(double)watch->blocked_sum / (watch->readings ? watch->readings : 1), reason);
	fact_either(facts, "cpus_allowed", "", status, (double)watch->cpus,
		*reason || watch->cpus ? reason : "/proc/PID/status does not say");
}

/* What threads were found waiting in, as threads on average. */
static void waits_emit(const struct proc_watch *watch, struct facts *facts)
{
	enum { READINGS_LEAST = 10 };
	static const char *const names[PROC_WAITS] = {
		[PROC_WAIT_LOCK] = "lock_waiters",
		[PROC_WAIT_FUTEX] = "futex_waiters",
		[PROC_WAIT_SYNC] = "sync_waiters",
		[PROC_WAIT_NETWORK] = "network_waiters",
		[PROC_WAIT_TRANSFER] = "transfer_waiters",
		[PROC_WAIT_SLEEP] = "sleep_waiters",
	};
	double readings = watch->readings ? watch->readings : 1, top = 0;
	char reason[200];

	reason_write(reason, sizeof(reason), "/proc/PID/task/TID/syscall", watch->wait_errno);
	if (!*reason && watch->readings < READINGS_LEAST)
		snprintf(reason, sizeof(reason), "read %u times; this needs %d", watch->readings,
			READINGS_LEAST);
	for (unsigned i = 0; i < PROC_WAITS; i++)
		if (names[i])
			fact_either(facts, names[i], "threads", "proc.syscall",
				(double)watch->waits[i] / readings, reason);
	vec_foreach (const struct proc_lock, lock, &watch->locks)
		top = fmax(top, lock->waits);
	fact_either(
		facts, "lock_waiters_at_one", "threads", "proc.syscall", top / readings, reason);
}

/* ---- the process ---- */

/* Bytes per second over the last two thirds, where a program that only fills its tables at the
 * start is flat; and how many standard errors that is. */
static void slope_make(const struct proc_watch *watch, double *ret_slope, double *ret_t)
{
	uint32_t first = watch->memory.count / 3, count = watch->memory.count - first;
	const struct proc_memory *rows = watch->memory.at + first;
	double x = 0, y = 0, xx = 0, xy = 0, rest = 0, error;

	for (uint32_t i = 0; i < count; i++) {
		x += rows[i].at_s / count;
		y += rows[i].rss_bytes / count;
	}
	for (uint32_t i = 0; i < count; i++) {
		xx += (rows[i].at_s - x) * (rows[i].at_s - x);
		xy += (rows[i].at_s - x) * (rows[i].rss_bytes - y);
	}
	*ret_slope = xx > 0 ? xy / xx : 0;
	for (uint32_t i = 0; i < count; i++) {
		double off = rows[i].rss_bytes - y - *ret_slope * (rows[i].at_s - x);

		rest += off * off;
	}
	/* A straight line leaves nothing over; a page is what the kernel rounds to. */
	error = sqrt(fmax(rest, 4096.0 * 4096.0) / (count - 2) / fmax(xx, 1e-9));
	*ret_t = *ret_slope / error;
}

static void memory_emit(const struct proc_watch *watch, struct facts *facts)
{
	enum { POINTS_LEAST = 12 };
	bool known = watch->memory.count >= POINTS_LEAST;
	double slope = 0, t = 0;
	char reason[200];

	fact_either(facts, "rss_peak_bytes", "bytes", "proc.status", (double)watch->most.rss_bytes,
		watch->memory.count ? "" : "the program ended before it could be read");
	reason_write(reason, sizeof(reason), "/proc/PID/smaps_rollup", watch->rollup_errno);
	if (!*reason && !watch->memory_readings)
		snprintf(reason, sizeof(reason), "the program ended before it could be read");
	fact_either(facts, "pss_peak_bytes", "bytes", "proc.smaps_rollup", (double)watch->pss_most,
		reason);
	if (known)
		slope_make(watch, &slope, &t);
	snprintf(reason, sizeof(reason), "read %u times; a slope needs %d", watch->memory.count,
		POINTS_LEAST);
	fact_either(
		facts, "rss_slope", "bytes per second", "proc.status", slope, known ? "" : reason);
	fact_either(facts, "rss_slope_errors", "", "proc.status", t, known ? "" : reason);
}

static void process_emit(const struct proc_watch *watch, struct facts *facts)
{
	static const char io[] = "proc.io", stat[] = "proc.stat";
	const struct proc_sums *most = &watch->most, *from = &watch->from;
	char reason[200];

	reason_write(reason, sizeof(reason), "/proc/PID/io", watch->io_errno);
	if (!*reason && !watch->readings)
		snprintf(reason, sizeof(reason), "the program ended before it could be read");
	fact_either(facts, "read_calls", "", io,
		(double)(most->io.read_calls - from->io.read_calls), reason);
	fact_either(facts, "write_calls", "", io,
		(double)(most->io.write_calls - from->io.write_calls), reason);
	fact_either(facts, "read_chars", "bytes", io,
		(double)(most->io.read_chars - from->io.read_chars), reason);
	fact_either(facts, "write_chars", "bytes", io,
		(double)(most->io.write_chars - from->io.write_chars), reason);
	fact_either(facts, "read_bytes", "bytes", io,
		(double)(most->io.read_bytes - from->io.read_bytes), reason);
	fact_either(facts, "write_bytes", "bytes", io,
		(double)(most->io.write_bytes - from->io.write_bytes), reason);
	reason_write(reason, sizeof(reason), "/proc/PID/stat", watch->stat_errno);
	if (!*reason && !watch->readings)
		snprintf(reason, sizeof(reason), "the program ended before it could be read");
	fact_either(facts, "minor_faults", "", stat,
		(double)(most->minor_faults - from->minor_faults), reason);
	fact_either(facts, "major_faults", "", stat,
		(double)(most->major_faults - from->major_faults), reason);
}

/* ---- the machine ---- */

/* A counter that went back tells nothing. */
struct delta {
	const char *name, *witness;
	uint64_t before, after;
	double scale; /* to ns */
};

static void delta_emit(struct facts *facts, const struct delta *d, const char *reason)
{
	if (!*reason && (d->before == UINT64_MAX || d->after == UINT64_MAX || d->after < d->before))
		reason = "the kernel does not say";
	fact_either(facts, d->name, "ns", d->witness, d->scale * (double)(d->after - d->before),
		reason);
}

static void pressure_emit(
	const struct proc_machine *a, const struct proc_machine *b, struct facts *facts)
{
	static const char cpu[] = "proc.pressure.cpu", io[] = "proc.pressure.io",
			  memory[] = "proc.pressure.memory";
	char reason[200];

	reason_write(reason, sizeof(reason), "/proc/pressure/cpu",
		a->cpu_errno ? a->cpu_errno : b->cpu_errno);
	delta_emit(facts,
		&(struct delta){"pressure_cpu_ns", cpu, a->cpu.some_us, b->cpu.some_us, 1000},
		reason);
	reason_write(reason, sizeof(reason), "/proc/pressure/io",
		a->io_errno ? a->io_errno : b->io_errno);
	delta_emit(facts, &(struct delta){"pressure_io_ns", io, a->io.some_us, b->io.some_us, 1000},
		reason);
	delta_emit(facts,
		&(struct delta){"pressure_io_full_ns", io, a->io.full_us, b->io.full_us, 1000},
		reason);
	reason_write(reason, sizeof(reason), "/proc/pressure/memory",
		a->memory_errno ? a->memory_errno : b->memory_errno);
	delta_emit(facts,
		&(struct delta){
			"pressure_memory_ns", memory, a->memory.some_us, b->memory.some_us, 1000},
		reason);
}

/* The disk that was busy longest. */
static void disks_emit(const struct proc_machine *a, const struct proc_machine *b, double wall_ns,
	struct facts *facts)
{
	double busy = 0, waited = 0;
	char reason[200];

	for (uint32_t i = 0; i < b->disks.count; i++)
		for (uint32_t j = 0; j < a->disks.count; j++) {
			const struct proc_disk *now = &b->disks.at[i], *then = &a->disks.at[j];
			double ms = (double)now->busy_ms - (double)then->busy_ms;

			if (strcmp(now->name, then->name) != 0 || ms <= busy)
				continue;
			busy = ms;
			waited = fmax((double)now->waited_ms - (double)then->waited_ms, 0);
		}
	reason_write(reason, sizeof(reason), "/proc/diskstats",
		a->disk_errno ? a->disk_errno : b->disk_errno);
	fact_either(
		facts, "disk_busy_ns", "ns", "proc.diskstats", fmin(busy * 1e6, wall_ns), reason);
	fact_either(facts, "disk_queue", "", "proc.diskstats",
		wall_ns > 0 ? waited * 1e6 / wall_ns : 0, reason);
}

static void machine_emit(struct proc_watch *watch, double wall_ns, struct facts *facts)
{
	const struct proc_machine *a = &watch->machine;
	struct proc_machine b = {0};
	double tick_ns = 1e9 / (double)(sysconf(_SC_CLK_TCK) > 0 ? sysconf(_SC_CLK_TCK) : 100);
	char reason[200];

	proc_machine_read(watch, &b);
	pressure_emit(a, &b, facts);
	reason_write(
		reason, sizeof(reason), "/proc/stat", a->stat_errno ? a->stat_errno : b.stat_errno);
	delta_emit(facts,
		&(struct delta){"steal_ns", "proc.stat", a->stat.steal, b.stat.steal, tick_ns},
		reason);
	delta_emit(facts,
		&(struct delta){"busy_ns", "proc.stat", a->stat.busy, b.stat.busy, tick_ns},
		reason);
	delta_emit(facts,
		&(struct delta){"iowait_ns", "proc.stat", a->stat.iowait, b.stat.iowait, tick_ns},
		reason);
	reason_write(reason, sizeof(reason), "cpu.stat of the cgroup with a quota",
		a->throttle_errno ? a->throttle_errno : b.throttle_errno);
	delta_emit(facts,
		&(struct delta){"throttled_ns", "cgroup.cpu.stat", a->throttle.throttled_ns,
			b.throttle.throttled_ns, 1},
		reason);
	disks_emit(a, &b, wall_ns, facts);
	vec_done(&b.disks);
}

int proc_watch_emit(
	struct proc_watch *watch, const struct proc_watch_end *end, const struct wire_sink *sink)
{
	struct facts facts = {.sink = sink, .execution = end->execution};
	uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	double wall_ns = (double)(end->now_ns - watch->start_ns);

	fact_put(&facts, "watched_ns", "ns", "proc", wall_ns);
	fact_put(&facts, "readings", "", "proc", watch->readings);
	threads_emit(watch, end, &facts);
	waits_emit(watch, &facts);
	process_emit(watch, &facts);
	memory_emit(watch, &facts);
	machine_emit(watch, wall_ns, &facts);
	watch->cost_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	if (facts.r >= 0)
		facts.r = emit_quality(sink, "observer_cpu_ns", watch->cost_ns);
	return facts.r;
}
