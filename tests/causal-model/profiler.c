/* profiler.c - the simulated engine: samples, debts, pauses, wake edges.
 *
 * Delays of the reference machine: 23 to 42 us from a sample to the handler's first instruction, in
 * which the thread does no work; 10 to 25 us until a signal reaches another CPU, in which it does;
 * a sleeping pause ends 20 to 100 us late; leaving the handler costs 2 us that nobody counts. */
#include "sim.h"

#define LEAVE_NS (2 * US)
/* Of a polite pause so much is spun. */
#define LAST_NS ((int64_t)CAUSAL_PAUSE_SPIN_NS)

static int64_t between(struct sim *sim, int64_t low, int64_t high)
{
	return low + (int64_t)(sim_random(&sim->random) * (double)(high - low));
}

void profiler_next_sample(struct sim *sim, struct cpu *cpu)
{
	int64_t period = sim->options.period_ns;

	if (sim->options.stratified) {
		cpu->sample_ns = cpu->stratum_ns + between(sim, 0, period);
		cpu->stratum_ns += period;
	} else if (!cpu->sample_ns) {
		cpu->sample_ns = between(sim, 1, period);
	} else {
		cpu->sample_ns += period * 4 / 5 + between(sim, 0, period * 2 / 5);
	}
}

static bool owes(const struct sim *sim, const struct thread *thread)
{
	return causal_debt(&thread->account, sim->owed_ns) > (__u64)sim->options.debt_min_ns;
}

static void raise_owed(struct sim *sim, const struct thread *cause, __u64 owed_ns)
{
	if (owed_ns <= sim->owed_ns)
		return;
	sim->owed_ns = owed_ns;
	if (!sim->options.prompt)
		return;
	for (int i = 0; i < sim->program->threads; i++) {
		struct thread *thread = &sim->thread[i];

		if (thread == cause || thread->state != RUNNING || thread->pausing ||
			thread->signal_ns || !owes(sim, thread))
			continue;
		thread->signal_ns = sim->now + between(sim, 10 * US, 25 * US);
		sim->counts.signals++;
	}
}

void profiler_sample(struct sim *sim, struct thread *thread)
{
	__u64 weight = (__u64)sim->options.period_ns;

	sim_settle(sim, thread);
	if (!sim_is_own(sim, thread))
		return;
	if (thread->pausing || sim_random(&sim->random) * 1000 < sim->options.lost_permille)
		return;
	sim->counts.samples++;
	if (sim->options.weight == WEIGHT_CPU_TIME)
		weight = causal_weight(
			&thread->account, (__u64)thread->cpu_ns, (__u64)sim->options.period_ns);
	if (thread->mode == MODE_WORK && thread->line == sim->line && sim->speedup_permille) {
		sim->counts.hits++;
		raise_owed(sim, thread,
			causal_hit(&thread->account, sim->owed_ns, weight, sim->speedup_permille));
	}
	if (owes(sim, thread)) {
		sim->counts.signals++;
		profiler_pause(sim, thread, sim->now, sim->now + between(sim, 23 * US, 42 * US));
	}
}

void profiler_pause(struct sim *sim, struct thread *thread, int64_t from_ns, int64_t entry_ns)
{
	int64_t debt, late;

	sim_settle(sim, thread);
	if (sim->options.from_handler)
		from_ns = entry_ns;
	causal_pause_begin(&thread->account, (__u64)from_ns);
	thread->pausing = true;
	thread->spun_ns = 0;
	thread->pause_least_ns = entry_ns;
	thread->look_ns = entry_ns;
	thread->is_last = false;
	if (sim->options.pause != PAUSE_SLEEP)
		return;
	debt = (int64_t)causal_debt(&thread->account, sim->owed_ns) - (entry_ns - from_ns);
	late = between(sim, 20 * US, 100 * US);
	thread->state = PAUSED;
	thread->at_ns = debt > 0 ? entry_ns + debt + late : entry_ns;
	sim_release_cpu(sim, thread);
}

static void pause_done(struct sim *sim, struct thread *thread)
{
	__u64 before = thread->account.taken_ns;

	causal_pause_end(&thread->account, (__u64)sim->now, (__u64)thread->spun_ns);
	sim->counts.pauses_ns += (int64_t)(thread->account.taken_ns - before);
	thread->pausing = false;
	if (thread->mode == MODE_WORK)
		thread->left_ns += LEAVE_NS;
	else
		thread->mode = MODE_NEXT;
}

static int64_t pause_left(const struct sim *sim, const struct thread *thread)
{
	return (int64_t)thread->account.pause_ns +
	       (int64_t)causal_debt(&thread->account, sim->owed_ns) - sim->now;
}

bool profiler_pause_is_over(const struct sim *sim, const struct thread *thread)
{
	return !thread->pausing || !thread->account.pause_ns ||
	       sim->options.foreign != FOREIGN_STOP || pause_left(sim, thread) <= LAST_NS;
}

int64_t profiler_pause_until(const struct sim *sim, const struct thread *thread)
{
	int64_t end = (int64_t)thread->account.pause_ns +
		      (int64_t)causal_debt(&thread->account, sim->owed_ns);

	if (sim->options.pause == PAUSE_POLITE && thread->account.pause_ns)
		return thread->look_ns > sim->now ? thread->look_ns : sim->now;
	if (sim->options.pause == PAUSE_SLEEP || !thread->account.pause_ns)
		return sim->now; /* it slept already, or the experiment is over */
	end = end > thread->pause_least_ns ? end : thread->pause_least_ns;
	return end > sim->now ? end : sim->now;
}

/* While a thread is robbed the debts of the others grow as they pay: they sleep and look again. Who
 * has spun the last of it goes on whatever it owes by then, or two that wait in turn for a CPU
 * would stop each other for good. */
static bool pause_goes_on(struct sim *sim, struct thread *thread)
{
	int64_t left = pause_left(sim, thread);

	if (!thread->account.pause_ns || left <= 0 || thread->is_last)
		return false;
	thread->is_last = sim_has_others(sim) && left <= LAST_NS;
	if (!sim_has_others(sim) || left <= LAST_NS) {
		thread->look_ns = sim->now + left;
		return true;
	}
	thread->state = PAUSED;
	thread->at_ns = sim->now + left - LAST_NS + between(sim, 20 * US, 100 * US);
	sim_release_cpu(sim, thread);
	return true;
}

/* A spinning pause looks at the debt of the moment, which may have grown. */
void profiler_pause_step(struct sim *sim, struct thread *thread)
{
	if (sim->options.pause != PAUSE_POLITE || !pause_goes_on(sim, thread))
		pause_done(sim, thread);
}

static __u64 slack_max(const struct sim *sim)
{
	return (__u64)sim->options.slack_periods * (__u64)sim->options.period_ns;
}

void profiler_block(struct sim *sim, struct thread *thread)
{
	causal_wait(&thread->account, (__u64)sim->now);
	thread->unpaid_ns = (int64_t)causal_debt(&thread->account, sim->owed_ns);
	thread->owed_at_block_ns = (int64_t)sim->owed_ns;
}

void profiler_queue(struct sim *sim, struct thread *thread)
{
	if (sim->options.cpu_edge && !thread->pausing)
		causal_wait(&thread->account, (__u64)sim->now);
}

/* Without CPU edges a pause simply goes on in the run queue.  With them it is booked, and goes on
 * when the thread has a CPU again. */
void profiler_switch_out(struct sim *sim, struct thread *thread)
{
	sim_settle(sim, thread);
	if (!sim->options.cpu_edge || sim->options.whole_pause || !thread->pausing ||
		!thread->account.pause_ns)
		return;
	causal_pause_end(&thread->account, (__u64)sim->now, (__u64)thread->spun_ns);
	thread->spun_ns = 0;
	causal_wait(&thread->account, (__u64)sim->now);
}

/* A pause that has not been booked yet counts. */
static struct causal_clock clock_of(const struct sim *sim, const struct thread *thread)
{
	const struct causal_account *account = &thread->account;
	__u64 now = (__u64)sim->now, pause = thread->state == PAUSED ? account->pause_ns : 0;

	return (struct causal_clock){
		account->taken_ns + (pause && now > pause ? now - pause : 0), account->stolen_ns};
}

/* The part of a wait for a CPU that was other programs'. */
static void robbed(struct sim *sim, struct thread *thread, const struct thread *previous)
{
	struct causal_account *account = &thread->account;
	__u64 before = account->stolen_ns, now = (__u64)sim->now;

	if (sim->options.foreign == FOREIGN_PREVIOUS && previous && !sim_is_own(sim, previous))
		causal_stolen(account, UINT64_MAX, now);
	if (sim->options.foreign >= FOREIGN_SHARE)
		causal_stolen(account, (__u64)(sim->queue_share_ns - thread->queue_share_ns), now);
	if (sim->options.foreign == FOREIGN_STOP)
		causal_order(account, account->stolen_ns - before);
}

void profiler_leave_cpu(struct sim *sim, struct cpu *cpu, const struct thread *thread)
{
	cpu->left = clock_of(sim, thread);
	cpu->left_ns = sim->now;
	cpu->left_share_ns = sim->queue_share_ns;
}

/* The clock of the thread of the program that left the CPU to this one: at once, or to other
 * programs first, whose time is everybody's delay. */
static bool hands_cpu_on(struct sim *sim, const struct thread *thread,
	const struct thread *previous, __u64 since_ns, struct causal_clock *ret_clock)
{
	const struct cpu *cpu = &sim->cpu[thread->cpu];

	if (!sim->options.cpu_edge || !previous || previous == thread || !since_ns)
		return false;
	if (sim_is_own(sim, previous)) {
		*ret_clock = clock_of(sim, previous);
		return true;
	}
	if (sim->options.foreign != FOREIGN_STOP || (__u64)cpu->left_ns <= since_ns)
		return false;
	*ret_clock = cpu->left;
	ret_clock->taken_ns += (__u64)(sim->queue_share_ns - cpu->left_share_ns);
	return true;
}

void profiler_switch_in(struct sim *sim, struct thread *thread, const struct thread *previous)
{
	struct causal_account *account = &thread->account;
	__u64 since = account->since_ns, waited = since ? (__u64)sim->now - since : 0;
	struct causal_clock giver;

	if (!sim_is_own(sim, thread))
		return;
	thread->look_ns = sim->now;
	robbed(sim, thread, previous);
	if (hands_cpu_on(sim, thread, previous, since, &giver) &&
		(sim->options.foreign < FOREIGN_SHARE ||
			causal_wait_is_own(account, waited, (__u64)sim->now)))
		causal_hand_on(account, giver, (__u64)sim->now, slack_max(sim));
	account->since_ns = 0;
	if (thread->pausing && !account->pause_ns && sim->options.cpu_edge)
		causal_pause_begin(account, (__u64)sim->now);
	if (thread->pausing)
		return;
	if (thread->signal_ns || (sim->options.at_switch && owes(sim, thread))) {
		thread->signal_ns = 0;
		profiler_pause(sim, thread, sim->now, sim->now + 3 * US);
	}
}

void profiler_wake(struct sim *sim, const struct thread *waker, struct thread *wakee)
{
	struct causal_account *account = &wakee->account;
	__u64 from = waker ? waker->account.taken_ns : 0;

	if (waker)
		causal_mark_hand_on(&wakee->mark, &waker->mark);
	else if (wakee->timer)
		causal_mark_tick(&wakee->mark, (__u64)sim->now);
	wakee->timer = false;
	if (waker) {
		switch (sim->options.rule) {
		case RULE_COZ:
			account->taken_ns += sim->owed_ns - (__u64)wakee->owed_at_block_ns;
			break;
		case RULE_MAX:
			if (from > account->taken_ns)
				account->taken_ns = from;
			break;
		case RULE_UNPAID:
			from -= (__u64)wakee->unpaid_ns;
			if (from > account->taken_ns)
				account->taken_ns = from;
			break;
		case RULE_CLOCK:
			causal_hand_on(
				account, clock_of(sim, waker), (__u64)sim->now, slack_max(sim));
			break;
		case RULE_NONE:
		case RULES:
			break;
		}
	}
	account->since_ns = 0;
}

/* coz lets a thread pay before anything that may wake another. */
bool profiler_catch_up(struct sim *sim, struct thread *thread)
{
	if (sim->options.rule != RULE_COZ || !owes(sim, thread))
		return false;
	profiler_pause(sim, thread, sim->now, sim->now + 1 * US);
	return true;
}
