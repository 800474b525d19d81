/* inside.c - causal experiments without a kernel side: each thread samples itself, pays in the
 * handler of its samples and keeps its own account.
 *
 * The arithmetic is wire/causal_rule.h, as in the kernel side.  Waits and wakes come from the
 * interposed functions (interpose.c): who had to wait goes on where the clock of the thread stood
 * that gave the object free (wire/causal_release.h), and where that is not known coz's rule holds.
 * An account is written by its own thread only; `busy` keeps the handler out while the thread
 * itself is at it, and `since_ns` while it waits.
 *
 * A debt is paid at samples and, because samples may be 4 ms apart, at the edges too: before a
 * thread waits and before it gives something free.
 *
 * When the tool is gone the experiment runs out (expires_ns), and the next sample of each thread
 * but a few finds no such process and ends the sampling. */
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "inside_parts.h"
#include "runtime_parts.h"
#include "wire/causal_release.h"

enum { LOOK_TICKS = 32, CARRY_PERIODS = 32, ROBBED_MOST_NS = 200000000 };
enum { END_MOST_NS = 100000000, OUT_NS = 200000 };

static struct wire_causal_board *board;
static struct wire_causal_seat *seats;
static struct wire_causal_inside *inside; /* NULL: no tool */
static struct causal_release releases[CAUSAL_RELEASES];
static int tick_signal;
static uint32_t awake, cpus; /* threads that do not wait, and what they may run on */
static uint32_t over;	     /* the program goes on without us */
static uint32_t at_work;     /* threads that look at any of this now */
static struct inside_sampler samplers[WIRE_CAUSAL_SEATS]; /* of the thread of each seat */

struct inside_thread {
	struct wire_causal_seat *seat; /* NULL: not seen yet, or none was free */
	uint64_t since_ns, owed_ns;    /* waits since, and what was owed then; 0: it does not */
	uint64_t mark_ns, mark_cpu_ns; /* it ran from here on, unless it blocked unseen... */
	long mark_blocks;	       /* ...which the kernel counts */
	uint32_t armed_epoch, ticks;
	uint32_t seen; /* has been here before */
	uint32_t busy;
};

static __thread struct inside_thread me __attribute__((tls_model("initial-exec")));

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint32_t load32(const uint32_t *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static uint64_t load64(const __u64 *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void count(__u64 *what, uint64_t by)
{
	__atomic_fetch_add(what, by, __ATOMIC_RELAXED);
}

bool inside_is_on(void)
{
	return __atomic_load_n(&inside, __ATOMIC_RELAXED) != NULL &&
	       !__atomic_load_n(&over, __ATOMIC_RELAXED);
}

int inside_signal(void)
{
	return tick_signal;
}

/* The handler of this very thread must see it. */
static void leave(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	me.busy = 0;
	__atomic_fetch_sub(&at_work, 1, __ATOMIC_SEQ_CST);
}

/* Begin to look at accounts and samplers, if that is still allowed: who ends it all says so first
 * and then waits for those who are at it. */
static bool enter(void)
{
	if (!inside_is_on() || me.busy)
		return false;
	me.busy = 1;
	__atomic_fetch_add(&at_work, 1, __ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (inside_is_on() && !load32(&board->sealed))
		return true;
	leave();
	return false;
}

static bool window_is_on(uint64_t now)
{
	return load32(&board->active) && now < load64(&inside->expires_ns);
}

/* ---- a CPU that others took ---- */

static long blocks_count(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void mark_set(void)
{
	me.mark_ns = clock_ns(CLOCK_MONOTONIC);
	me.mark_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	me.mark_blocks = blocks_count();
}

/* Time since the mark in which the thread neither ran nor blocked: another process had its CPU.  As
 * in the kernel side that is a slower CPU, and counts as used.  With more threads than CPUs it may
 * have been a thread of the program, and nothing can be said. */
static uint64_t robbed_ns(uint64_t now)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - me.mark_cpu_ns;
	uint64_t wall = now > me.mark_ns ? now - me.mark_ns : 0;

	if (me.mark_ns < inside->control.settings.start_ns || wall <= cpu ||
		wall > ROBBED_MOST_NS || __atomic_load_n(&awake, __ATOMIC_RELAXED) > cpus ||
		blocks_count() != me.mark_blocks)
		return 0;
	return wall - cpu;
}

/* ---- threads ---- */

static struct inside_sampler *my_sampler(void)
{
	return &samplers[me.seat - seats];
}

static uint32_t slack_ns(void)
{
	int slack = prctl(PR_GET_TIMERSLACK);

	return slack > 0 ? (uint32_t)slack : 0;
}

static struct wire_causal_seat *seat_take(void)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	for (uint32_t probe = 0; probe < WIRE_CAUSAL_PROBES; probe++) {
		struct wire_causal_seat *seat = &seats[wire_causal_place(tid, probe)];
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(
			    &seat->tid, &none, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			seat->epoch = 0;
			seat->account.pause_ns = 0;
			seat->slack_ns = slack_ns();
			return seat;
		}
	}
	count(&inside->control.counts.no_seat, 1);
	return NULL;
}

/* Another rhythm in each experiment, a quarter shorter or longer: a fixed one that agrees with the
 * program's own would see the same place of it again and again. */
static void sampler_arm(void)
{
	uint64_t period = inside->control.settings.period_ns;
	uint64_t dice = clock_ns(CLOCK_MONOTONIC) * 0x9e3779b97f4a7c15ULL >> 40;
	enum wire_causal_sampler kind;

	me.armed_epoch = load32(&board->epoch);
	period += dice % (period / 2 + 1) - period / 4;
	inside_sampler_close(my_sampler());
	kind = inside_sampler_open(my_sampler(), tick_signal, period);
	if (kind > load32(&inside->sampler))
		__atomic_store_n(&inside->sampler, (uint32_t)kind, __ATOMIC_RELEASE);
}

static void thread_see(void)
{
	int saved = errno;

	if (me.seen)
		return;
	me.seen = 1;
	me.seat = inside_stack_open() ? seat_take() : NULL;
	if (me.seat) {
		sampler_arm();
		__atomic_fetch_add(&awake, 1, __ATOMIC_RELAXED);
	}
	errno = saved;
}

/* The account in the running experiment, begun anew with each. */
static struct causal_account *account_now(void)
{
	const struct assay_causal_settings *settings = &inside->control.settings;
	struct wire_causal_seat *seat = me.seat;
	uint32_t epoch = load32(&board->epoch);

	if (seat->epoch != epoch) {
		causal_begin(&seat->account, settings->owed_start_ns, settings->start_ns, 0);
		seat->account.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		seat->asked_ns = 0;
		seat->blocked_ns = 0;
		__atomic_store_n(&seat->epoch, epoch, __ATOMIC_RELEASE);
	}
	return &seat->account;
}

static void debt_pay(struct causal_account *account, uint64_t from)
{
	int saved = errno;

	if (causal_debt(account, load64(&board->owed_ns)) < CAUSAL_DEBT_MIN_NS)
		return;
	me.seat->asked_ns = from;
	count(&inside->control.counts.signals, 1);
	runtime_causal_pay(me.seat);
	mark_set();
	errno = saved;
}

struct inside_birth inside_birth_now(void)
{
	struct inside_birth birth = {0};

	if (!enter())
		return birth;
	thread_see();
	if (me.seat && window_is_on(clock_ns(CLOCK_MONOTONIC))) {
		birth.taken_ns = account_now()->taken_ns;
		birth.epoch = me.seat->epoch;
	}
	leave();
	return birth;
}

void inside_thread_begin(const struct inside_birth *birth)
{
	if (!enter())
		return;
	thread_see();
	if (me.seat && birth->epoch && birth->epoch == load32(&board->epoch))
		account_now()->taken_ns = birth->taken_ns;
	leave();
}

void inside_thread_end(void)
{
	if (!inside_is_on() || !me.seen)
		return;
	inside_release((const void *)pthread_self());
	if (!enter())
		return;
	if (me.seat) {
		inside_sampler_close(my_sampler());
		__atomic_store_n(&me.seat->tid, 0, __ATOMIC_RELEASE);
		if (!me.since_ns) /* else it was cancelled in a wait */
			__atomic_fetch_sub(&awake, 1, __ATOMIC_RELAXED);
	}
	me.seat = NULL;
	inside_stack_close();
	leave();
}

/* ---- waits ---- */

void inside_wait_begin(void)
{
	uint64_t now;

	if (!enter())
		return;
	thread_see();
	now = clock_ns(CLOCK_MONOTONIC);
	if (me.seat && window_is_on(now)) {
		struct causal_account *account = account_now();

		debt_pay(account, now);
		now = clock_ns(CLOCK_MONOTONIC);
		causal_wait(account, now);
		__atomic_store_n(&me.seat->blocked_ns, now, __ATOMIC_RELEASE);
	}
	if (me.seat)
		__atomic_fetch_sub(&awake, 1, __ATOMIC_RELAXED);
	me.owed_ns = load64(&board->owed_ns);
	me.since_ns = now;
	leave();
}

/* What gave the wait an end, in the accounts. */
static void wait_settle(
	struct causal_account *account, const volatile void *object, uint64_t since, uint64_t now)
{
	struct assay_causal *control = &inside->control;
	struct causal_clock giver = {0};

	account->since_ns = since;
	if (!object) {
		count(&control->counts.timer, 1);
		account->since_ns = 0;
	} else if (causal_release_find(releases, (uintptr_t)object, since, &giver.taken_ns)) {
		count(&control->counts.handed, 1);
		causal_hand_on(
			account, giver, now, CAUSAL_SLACK_PERIODS * control->settings.period_ns);
	} else {
		count(&control->counts.outside, 1);
		causal_forgive(account, me.owed_ns, load64(&board->owed_ns));
	}
}

void inside_wait_end(const volatile void *object)
{
	uint64_t now, since = me.since_ns;

	if (!since || !enter())
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	if (me.seat && window_is_on(now)) {
		struct causal_account *account = account_now();
		uint64_t start = inside->control.settings.start_ns;

		if (since < start) { /* waits since before the experiment */
			since = start;
			me.owed_ns = inside->control.settings.owed_start_ns;
		}
		wait_settle(account, object, since, now);
		mark_set();
	}
	if (me.seat) {
		__atomic_store_n(&me.seat->blocked_ns, 0, __ATOMIC_RELEASE);
		__atomic_fetch_add(&awake, 1, __ATOMIC_RELAXED);
	}
	me.since_ns = 0;
	leave();
}

void inside_release(const volatile void *object)
{
	uint64_t now;

	if (!inside_is_on() || !load32(&board->active) || !enter())
		return;
	thread_see();
	now = clock_ns(CLOCK_MONOTONIC);
	if (me.seat && window_is_on(now)) {
		struct causal_account *account = account_now();

		debt_pay(account, now);
		causal_release_note(
			releases, (uintptr_t)object, account->taken_ns, clock_ns(CLOCK_MONOTONIC));
	}
	leave();
}

/* ---- samples ---- */

/* Only without a speed-up: pauses shift who is seen where. */
static void spot_count(uint64_t addr, uint64_t weight)
{
	uint64_t at = addr * 0x9e3779b97f4a7c15ULL >> 40;

	for (uint32_t probe = 0; probe < WIRE_CAUSAL_SPOT_PROBES; probe++) {
		struct wire_causal_spot *spot =
			&inside->spots[(at + probe) & (WIRE_CAUSAL_SPOTS - 1)];
		__u64 there = load64(&spot->addr);

		if (!there)
			__atomic_compare_exchange_n(&spot->addr, &there, addr, false,
				__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (load64(&spot->addr) == addr) {
			count(&spot->ns, weight);
			return;
		}
	}
	count(&inside->control.counts.no_spot, 1);
}

/* As the kernel side weighs (causal.bpf.c): what one sample may not stand for is left to the
 * next. */
static uint64_t weight_now(struct causal_account *account)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), before = account->cpu_ns;
	uint64_t period = inside->control.settings.period_ns;
	uint64_t weight = causal_weight(account, cpu, period);

	if (cpu > before + weight) {
		uint64_t most = CARRY_PERIODS * period;

		account->cpu_ns = cpu - before - weight < most ? before + weight : cpu - most;
	}
	return weight;
}

static void owed_raise(uint64_t to)
{
	__u64 owed = load64(&board->owed_ns);

	while (owed < to && !__atomic_compare_exchange_n(&board->owed_ns, &owed, to, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

static void sample_take(const ucontext_t *context, uint64_t now)
{
	struct assay_causal *control = &inside->control;
	uint64_t from = inside_sampler_time(my_sampler(), now), weight;
	struct causal_account *account = account_now();
	struct inside_place place;

	count(&control->counts.samples, 1);
	if (me.since_ns || account->pause_ns)
		return;
	weight = weight_now(account) + robbed_ns(from);
	mark_set();
	place = inside_place_find(inside, context);
	if (!control->settings.speedup_permille)
		spot_count(place.addr, weight);
	if (place.hit) {
		count(&control->counts.hits, 1);
		count(&control->counts.hit_ns, weight);
		owed_raise(causal_hit(account, load64(&board->owed_ns), weight,
			control->settings.speedup_permille));
	}
	debt_pay(account, from);
}

/* The tool ended, or was killed: this thread is sampled no longer, and no lock is looked at. */
static void tool_look(void)
{
	pid_t tool = (pid_t)load32(&inside->tool);

	if (tool && (syscall(SYS_kill, tool, 0) == 0 || errno == EPERM))
		return;
	inside_sampler_close(my_sampler());
	me.seat = NULL;
	__atomic_store_n(&board->active, 0, __ATOMIC_RELEASE);
}

/* @asyncsignalsafe */
static void on_tick(int signal, siginfo_t *info, void *context)
{
	int saved = errno;
	uint64_t now;

	(void)signal;
	(void)info;
	if (!me.seat || !enter())
		return;
	__atomic_fetch_add(&board->inside, 1, __ATOMIC_RELAXED);
	now = clock_ns(CLOCK_MONOTONIC);
	if (window_is_on(now)) {
		if (me.armed_epoch != load32(&board->epoch))
			sampler_arm();
		sample_take(context, now);
	} else if (++me.ticks % LOOK_TICKS == 0)
		tool_look();
	__atomic_fetch_sub(&board->inside, 1, __ATOMIC_RELAXED);
	leave();
	errno = saved;
}

/* ---- the end ---- */

static bool is_quiet(void)
{
	return __atomic_load_n(&at_work, __ATOMIC_SEQ_CST) <= me.busy;
}

/* The CPU time of another thread of the program; 0: it is gone. */
static uint64_t thread_cpu_ns(uint32_t tid)
{
	struct timespec time;

	if (!tid || clock_gettime((clockid_t)(~tid << 3 | 6), &time) < 0)
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* A thread may be in the first or the last instructions of the handler, where nobody counts it, and
 * its return from there is a call that a filter can kill for.  No signal comes any more: whoever
 * ran for a while since is out of it.  One that sleeps is waited for in vain, once. */
static void threads_let_out(uint64_t until)
{
	static uint64_t before[WIRE_CAUSAL_SEATS];

	for (uint32_t i = 0; i < WIRE_CAUSAL_SEATS; i++)
		before[i] = thread_cpu_ns(load32(&seats[i].tid));
	for (uint32_t i = 0; i < WIRE_CAUSAL_SEATS; i++)
		while (before[i] && &seats[i] != me.seat &&
			thread_cpu_ns(load32(&seats[i].tid)) < before[i] + OUT_NS &&
			clock_ns(CLOCK_MONOTONIC) < until)
			sched_yield();
}

void inside_end(enum wire_causal_seal why)
{
	uint64_t until;
	int saved = errno;
	bool first;

	if (!__atomic_load_n(&inside, __ATOMIC_RELAXED))
		return;
	first = !__atomic_exchange_n(&over, 1, __ATOMIC_SEQ_CST);
	if (first)
		__atomic_store_n(&board->sealed, (uint32_t)why, __ATOMIC_SEQ_CST);
	until = clock_ns(CLOCK_MONOTONIC) + END_MOST_NS;
	while (!is_quiet() && clock_ns(CLOCK_MONOTONIC) < until)
		sched_yield();
	if (first)
		inside_signal_drop(tick_signal);
	if (first && why == WIRE_SEAL_SANDBOX)
		threads_let_out(until);
	if (first && is_quiet())
		for (uint32_t i = 0; i < WIRE_CAUSAL_SEATS; i++)
			inside_sampler_close(&samplers[i]);
	errno = saved;
}

/* ---- the start ---- */

runtime_handler *runtime_inside_open(
	struct wire_causal_board *with_board, struct wire_causal_seat *with_seats, int fd)
{
	void *at = mmap(NULL, sizeof(*inside), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (at == MAP_FAILED)
		return NULL;
	board = with_board;
	seats = with_seats;
	__atomic_store_n(&inside, at, __ATOMIC_RELEASE);
	return on_tick;
}

void runtime_inside_begin(int signal)
{
	cpu_set_t allowed;

	tick_signal = signal;
	cpus = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? (uint32_t)CPU_COUNT(&allowed)
								    : 0;
	if (enter()) {
		thread_see();
		leave();
	}
}

void runtime_inside_leave(void)
{
	me = (struct inside_thread){0};
	at_work = 0;
	__atomic_store_n(&inside, NULL, __ATOMIC_RELEASE);
}
