/* causal_rule.h - the account arithmetic of causal profiling: who owes how much delay.
 *
 * Included by the kernel-side program, by the handler in the target and by the simulator that
 * settled the rule (tests/causal-model, docs/decisions/012-causal-rule.md), so that what was
 * simulated is what runs.  No loops, no libc, no memory of its own; 64-bit integers only.
 *
 * The idea: each thread has a virtual clock, v = now - taken - stolen.  It runs with real time, at
 * (1 - s) in the selected line, and stands still in a pause, and while another program has the CPU
 * that it could run on.  `owed` (one number for all) is how much delay the line has bought so far,
 * and others have stolen; a thread with taken < owed pauses for the difference, so that all clocks
 * agree.  A thread that had to wait goes on at the later of two virtual times: when it began to
 * wait, and when what it waited for was done.
 * What others stole counts as a pause that the robbed thread has taken, and all owe it
 * (causal_order): the program stands still while one of its threads is robbed, or that one would
 * find what the others did meanwhile, without a wait, before it is there in virtual time.  An older
 * form, which the simulator compares, pays no debt with it and asks nobody to pause.
 * taken > owed is delay taken too much (oversleep, a late signal): a credit that the next debts use
 * up, never pushed onto others.
 *
 * Threads: an account is written by its own thread (sample, pause) or by who wakes it while it
 * waits; `owed` is raised by a compare-and-swap of the caller. */
#pragma once

#ifndef __bpf__ /* there kernel_types.h has them */
#include <linux/types.h>
#endif

struct causal_account {
	__u64 taken_ns;	 /* delay taken in pauses, bought in the line, or handed on by a wake */
	__u64 stolen_ns; /* delay that nobody ordered: other programs had its CPU, or its giver's */
	__u64 slack_ns;	 /* room for the lumps of sampling, see causal_hand_on */
	__u64 since_ns;	 /* waits since: blocked, or in the run queue; 0: it runs */
	__u64 pause_ns;	 /* pauses since; 0: it does not */
	__u64 cpu_ns;	 /* its CPU time at its last sample, pauses that spun not counted */
};

/* How far the clock of a thread that hands something on is behind. */
struct causal_clock {
	__u64 taken_ns, stolen_ns;
};

/* Below this a debt is not worth a signal: delivery alone takes 20 to 40 us. */
#define CAUSAL_DEBT_MIN_NS 20000ULL
/* So much of a pause is spun, or the sleep before it would end too late. */
#define CAUSAL_PAUSE_SPIN_NS 60000ULL
/* A sample stands for at most so many periods of the CPU time of its thread. */
#define CAUSAL_WEIGHT_MAX 4ULL
/* A wait for a CPU of which less than this part is left was other programs' alone. */
#define CAUSAL_OWN_PART 8ULL
/* Slack, in periods. */
#define CAUSAL_SLACK_PERIODS 3ULL

/* A thread seen for the first time in this experiment: it owes nothing.  One that waits is taken
 * to wait since the start. */
static inline void causal_begin(struct causal_account *a, __u64 owed_ns, __u64 start_ns, int waits)
{
	a->taken_ns = owed_ns;
	a->stolen_ns = 0;
	a->slack_ns = 0;
	a->since_ns = waits ? start_ns : 0;
	a->pause_ns = 0;
}

static inline __u64 causal_debt(const struct causal_account *a, __u64 owed_ns)
{
	return owed_ns > a->taken_ns ? owed_ns - a->taken_ns : 0;
}

/* The CPU time that a sample stands for: what its thread used since its last one. */
static inline __u64 causal_weight(struct causal_account *a, __u64 cpu_ns, __u64 period_ns)
{
	__u64 used = cpu_ns > a->cpu_ns ? cpu_ns - a->cpu_ns : 0;

	a->cpu_ns = cpu_ns;
	return used < CAUSAL_WEIGHT_MAX * period_ns ? used : CAUSAL_WEIGHT_MAX * period_ns;
}

/* A sample in the selected line, standing for `weight_ns`.  Returns what `owed` must be raised to
 * (atomic maximum, by the caller).  Credit of an earlier pause stays a credit. */
static inline __u64 causal_hit(
	struct causal_account *a, __u64 owed_ns, __u64 weight_ns, __u32 speedup_permille)
{
	__u64 credit = a->taken_ns > owed_ns ? a->taken_ns - owed_ns : 0;

	a->taken_ns += weight_ns * speedup_permille / 1000;
	return a->taken_ns - credit;
}

/* It waits from now on: a blocking switch-out, a preemption, or a wake that puts it in the queue.
 */
static inline void causal_wait(struct causal_account *a, __u64 now_ns)
{
	a->since_ns = now_ns;
}

/* Of the wait that ends now, `stolen_ns` were other programs' (at most all of it).  What is left
 * was a wait for the program's own threads, which is how the program is. */
static inline void causal_stolen(struct causal_account *a, __u64 stolen_ns, __u64 now_ns)
{
	__u64 waited = a->since_ns && now_ns > a->since_ns ? now_ns - a->since_ns : 0;

	if (stolen_ns > waited)
		stolen_ns = waited;
	a->stolen_ns += stolen_ns;
	a->since_ns += stolen_ns;
}

/* What `ns` of a wait for a CPU take from a thread while `theirs` of the `cpus` CPUs that the
 * program may use run other programs and `waiting` of its threads stand in the queue.  With those
 * CPUs free `theirs` of the threads would not wait; the rest would wait for a program that runs on
 * all its CPUs, not on what is left of them. */
static inline __u64 causal_share(__u64 ns, __u32 theirs, __u32 waiting, __u32 cpus)
{
	if (!theirs || !waiting)
		return 0;
	if (theirs >= waiting || theirs >= cpus)
		return ns;
	return ns - ns * (waiting - theirs) / waiting * (cpus - theirs) / cpus;
}

/* Everybody owes what was stolen just now, because `owed` has grown by it meanwhile: it counts as
 * a pause that the robbed thread has taken. */
static inline void causal_order(struct causal_account *a, __u64 stolen_ns)
{
	a->stolen_ns -= stolen_ns;
	a->taken_ns += stolen_ns;
}

/* Whether after that a wait for a CPU of `waited_ns` is left that the program's own threads made:
 * only then does who left the CPU hand it on.  Without other programs all of it is. */
static inline int causal_wait_is_own(const struct causal_account *a, __u64 waited_ns, __u64 now_ns)
{
	return CAUSAL_OWN_PART * (now_ns - a->since_ns) > waited_ns;
}

/* What `a` waited for was handed on by a thread of the program whose clock is `from` behind: it
 * woke `a`, or it left the CPU that `a` stood in the run queue for (a CPU is handed on like a
 * lock).  v = max(v when it began to wait, v of the giver); in accounts, the smaller of the giver's
 * sum and our own + waited.  Samples come in lumps, so over one short wait the giver's account can
 * outgrow the time waited by chance; what earlier waits had to spare (at most slack_max_ns) evens
 * that out.  Of a part, delay taken comes before what was stolen.  Without a wait (woken before it
 * was off its CPU) waited is 0. */
static inline void causal_hand_on(
	struct causal_account *a, struct causal_clock from, __u64 now_ns, __u64 slack_max_ns)
{
	__u64 waited = a->since_ns && now_ns > a->since_ns ? now_ns - a->since_ns : 0;
	__u64 cap = a->taken_ns + a->stolen_ns + waited, sum = from.taken_ns + from.stolen_ns;

	if (sum <= cap) {
		__u64 slack = a->slack_ns + (cap - sum);

		a->slack_ns = slack < slack_max_ns ? slack : slack_max_ns;
		a->taken_ns = from.taken_ns;
		a->stolen_ns = from.stolen_ns;
	} else {
		__u64 use = sum - cap < a->slack_ns ? sum - cap : a->slack_ns, part = waited + use;
		__u64 more = from.taken_ns > a->taken_ns ? from.taken_ns - a->taken_ns : 0;

		if (more > part)
			more = part;
		a->slack_ns -= use;
		a->taken_ns += more;
		a->stolen_ns += part - more;
	}
	a->since_ns = 0;
}

/* A pause runs from the sample that asked for it (not from the handler's first instruction) to the
 * moment the handler leaves; all of it is delay taken. */
static inline void causal_pause_begin(struct causal_account *a, __u64 sample_ns)
{
	a->pause_ns = sample_ns;
}

/* `spun_ns`: CPU time of its own that the pause burned; it is not work. */
static inline void causal_pause_end(struct causal_account *a, __u64 now_ns, __u64 spun_ns)
{
	if (a->pause_ns && now_ns > a->pause_ns)
		a->taken_ns += now_ns - a->pause_ns;
	a->cpu_ns += spun_ns;
	a->pause_ns = 0;
}
