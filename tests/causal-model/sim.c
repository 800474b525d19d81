/* sim.c - the machine: CPUs, a run queue, time slices, wakes that take a moment.
 *
 * Events are found by looking at every thread and CPU: with at most 16 of each that is faster than
 * a heap, and there is nothing to keep in order.  One run queue for all CPUs, round robin with
 * slices of 3 ms; a woken thread takes the CPU of one that has run for more than 1 ms, as the
 * kernel's deadlines mostly do. */
#include "sim.h"

#include <string.h>

#define SLICE_NS (3 * MS)
#define NICE_SLICE_NS (100 * US)
#define PREEMPT_NS (1 * MS)

double sim_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

bool sim_is_own(const struct sim *sim, const struct thread *thread)
{
	return thread - sim->thread < sim->program->own;
}

static int64_t between(struct sim *sim, int64_t low, int64_t high)
{
	return low + (int64_t)(sim_random(&sim->random) * (double)(high - low));
}

/* Account for the time since the last look. */
void sim_settle(struct sim *sim, struct thread *thread)
{
	int64_t ns = sim->now - thread->since_ns;

	thread->since_ns = sim->now;
	if (thread->state == READY)
		sim->counts.queued_ns += ns;
	if (thread->state != RUNNING)
		return;
	thread->cpu_ns += ns;
	sim->counts.busy_ns += ns;
	if (thread->pausing)
		thread->spun_ns += ns;
	else if (thread->mode == MODE_WORK)
		thread->left_ns -= ns;
}

static void set_state(struct sim *sim, struct thread *thread, enum state state)
{
	sim_settle(sim, thread);
	thread->state = state;
}

static bool is_nice(const struct sim *sim, const struct thread *thread)
{
	return sim->options.load.kind == LOAD_NICE && !sim_is_own(sim, thread);
}

static void dispatch(
	struct sim *sim, int number, struct thread *thread, const struct thread *previous)
{
	struct cpu *cpu = &sim->cpu[number];

	cpu->thread = (int)(thread - sim->thread);
	cpu->slice_ns = sim->now + (is_nice(sim, thread) ? NICE_SLICE_NS : SLICE_NS);
	thread->cpu = number;
	thread->stint_ns = sim->now;
	set_state(sim, thread, RUNNING);
	if (thread->mode == MODE_SPIN)
		thread->mode = MODE_NEXT; /* look at once */
	profiler_switch_in(sim, thread, previous);
}

static void next_from_queue(struct sim *sim, int number, const struct thread *previous)
{
	int next;

	sim->cpu[number].thread = -1;
	if (previous && sim_is_own(sim, previous))
		profiler_leave_cpu(sim, &sim->cpu[number], previous);
	if (!sim->queued) {
		sim->cpu[number].left_ns = 0;
		return;
	}
	next = sim->queue[0];
	sim->queued--;
	memmove(sim->queue, sim->queue + 1, (size_t)sim->queued * sizeof *sim->queue);
	dispatch(sim, number, &sim->thread[next], previous);
}

static void enqueue(struct sim *sim, struct thread *thread)
{
	set_state(sim, thread, READY);
	thread->waits = sim_is_own(sim, thread) && profiler_pause_is_over(sim, thread);
	thread->queue_share_ns = sim->queue_share_ns;
	profiler_queue(sim, thread);
	sim->queue[sim->queued++] = (int)(thread - sim->thread);
}

/* The thread has left state RUNNING already or is about to be queued. */
void sim_release_cpu(struct sim *sim, struct thread *thread)
{
	next_from_queue(sim, thread->cpu, thread);
}

static void preempt(struct sim *sim, int number)
{
	struct thread *thread = &sim->thread[sim->cpu[number].thread];

	profiler_switch_out(sim, thread);
	enqueue(sim, thread);
	sim_release_cpu(sim, thread);
}

static void place(struct sim *sim, struct thread *thread)
{
	int longest = -1;

	if (sim->cpu[thread->cpu].thread < 0) {
		dispatch(sim, thread->cpu, thread, NULL);
		return;
	}
	for (int i = 0; i < sim->program->cpus; i++) {
		if (sim->cpu[i].thread < 0) {
			dispatch(sim, i, thread, NULL);
			return;
		}
		if (longest < 0 || sim->thread[sim->cpu[i].thread].stint_ns <
					   sim->thread[sim->cpu[longest].thread].stint_ns)
			longest = i;
	}
	enqueue(sim, thread);
	if (sim->now - sim->thread[sim->cpu[longest].thread].stint_ns > PREEMPT_NS)
		preempt(sim, longest);
}

void sim_block(struct sim *sim, struct thread *thread, struct wait_list *list)
{
	set_state(sim, thread, BLOCKED);
	profiler_block(sim, thread);
	list->threads[list->count++] = (int)(thread - sim->thread);
	sim_release_cpu(sim, thread);
}

void sim_sleep(struct sim *sim, struct thread *thread, int64_t ns)
{
	set_state(sim, thread, ASLEEP);
	thread->at_ns = sim->now + ns;
	profiler_block(sim, thread);
	sim_release_cpu(sim, thread);
}

void sim_wake(struct sim *sim, struct thread *waker, struct thread *wakee)
{
	if (wakee->state != BLOCKED && wakee->state != ASLEEP)
		return;
	profiler_wake(sim, waker, wakee);
	set_state(sim, wakee, READY_SOON);
	wakee->at_ns = sim->now + between(sim, 2 * US, 15 * US);
}

void wait_list_remove(struct wait_list *list, int thread)
{
	for (int i = 0; i < list->count; i++) {
		if (list->threads[i] != thread)
			continue;
		list->count--;
		memmove(&list->threads[i], &list->threads[i + 1],
			(size_t)(list->count - i) * sizeof *list->threads);
		return;
	}
}

/* A signal from another CPU: a thread that runs enters the handler; one in the run queue does so
 * when it gets a CPU; one that blocked meanwhile leaves its wait and looks again afterwards. */
static void signal_arrives(struct sim *sim, struct thread *thread)
{
	if (thread->state == RUNNING) {
		thread->signal_ns = 0;
		if (!thread->pausing)
			profiler_pause(sim, thread, sim->now, sim->now + 5 * US);
	} else if (thread->state == BLOCKED) {
		for (int i = 0; i < sim->program->objects; i++) {
			wait_list_remove(&sim->object[i].get, (int)(thread - sim->thread));
			wait_list_remove(&sim->object[i].put, (int)(thread - sim->thread));
		}
		thread->mode = MODE_NEXT;
		sim_wake(sim, NULL, thread);
	} else {
		thread->signal_ns = INT64_MAX; /* pending until it gets a CPU */
	}
}

/* The time of the next thing that happens to a thread. */
static int64_t thread_event(const struct sim *sim, const struct thread *thread)
{
	int64_t at = INT64_MAX;

	if (thread->state == READY_SOON || thread->state == ASLEEP || thread->state == PAUSED) {
		at = thread->at_ns;
	} else if (thread->state == RUNNING) {
		if (thread->pausing)
			at = profiler_pause_until(sim, thread);
		else if (thread->mode == MODE_NEXT)
			at = sim->now;
		else if (thread->mode == MODE_WORK)
			at = thread->since_ns + thread->left_ns;
		if (sim->options.per_thread && !thread->pausing) {
			int64_t sample = thread->since_ns + thread->sample_at_ns - thread->cpu_ns;
			at = sample < at ? sample : at;
		}
	}
	if (thread->signal_ns && thread->signal_ns < at)
		at = thread->signal_ns;
	return at;
}

static void thread_step(struct sim *sim, struct thread *thread)
{
	if (thread->signal_ns && thread->signal_ns <= sim->now) {
		signal_arrives(sim, thread);
		return;
	}
	switch (thread->state) {
	case ASLEEP:
		sim_wake(sim, NULL, thread);
		break;
	case READY_SOON:
	case PAUSED:
		place(sim, thread);
		break;
	case RUNNING:
		sim_settle(sim, thread);
		if (thread->pausing) {
			profiler_pause_step(sim, thread);
		} else if (sim->options.per_thread && thread->cpu_ns >= thread->sample_at_ns) {
			thread->sample_at_ns += sim->options.period_ns * 4 / 5 +
						between(sim, 0, sim->options.period_ns * 2 / 5);
			profiler_sample(sim, thread);
		} else {
			thread->mode = MODE_NEXT;
			ops_run(sim, thread);
			ops_poll(sim);
		}
		break;
	case READY:
	case BLOCKED:
		break;
	}
}

static int64_t cpu_event(const struct sim *sim, const struct cpu *cpu)
{
	int64_t at = sim->options.per_thread ? INT64_MAX : cpu->sample_ns;

	if (cpu->thread >= 0 && sim->queued && cpu->slice_ns < at)
		at = cpu->slice_ns;
	return at > sim->now ? at : sim->now;
}

static void cpu_step(struct sim *sim, int number)
{
	struct cpu *cpu = &sim->cpu[number];

	if (!sim->options.per_thread && cpu->sample_ns <= sim->now) {
		profiler_next_sample(sim, cpu);
		if (cpu->thread >= 0)
			profiler_sample(sim, &sim->thread[cpu->thread]);
	} else {
		preempt(sim, number);
	}
}

static int theirs(const struct sim *sim)
{
	int count = 0;

	for (int i = 0; i < sim->program->cpus; i++)
		count += sim->cpu[i].thread >= sim->program->own;
	return count;
}

bool sim_has_others(const struct sim *sim)
{
	return theirs(sim) > 0;
}

/* What other programs take from each thread that waits now. */
static void queue_pass(struct sim *sim, int64_t ns)
{
	bool stop = sim->options.foreign == FOREIGN_STOP;
	int others = theirs(sim), waiting = 0;
	int64_t share;

	for (int i = 0; i < sim->queued; i++)
		waiting += sim->thread[sim->queue[i]].waits;
	if (!waiting)
		return;
	if (stop)
		share = (int64_t)causal_share(
			(__u64)ns, (__u32)others, (__u32)waiting, (__u32)sim->program->cpus);
	else
		share = others < waiting ? ns * others / waiting : ns;
	sim->queue_share_ns += share;
	if (stop)
		sim->owed_ns += (__u64)share;
}

void sim_run(struct sim *sim, int64_t until_ns)
{
	for (;;) {
		int64_t best = until_ns;
		int thread = -1, cpu = -1;

		for (int i = 0; i < sim->program->threads; i++) {
			int64_t at = thread_event(sim, &sim->thread[i]);
			if (at < best) {
				best = at;
				thread = i;
			}
		}
		for (int i = 0; i < sim->program->cpus; i++) {
			int64_t at = cpu_event(sim, &sim->cpu[i]);
			if (at < best) {
				best = at;
				cpu = i;
			}
		}
		if (best > sim->now) {
			queue_pass(sim, best - sim->now);
			sim->now = best;
		}
		if (cpu >= 0)
			cpu_step(sim, cpu);
		else if (thread >= 0)
			thread_step(sim, &sim->thread[thread]);
		else
			return;
	}
}

void sim_init(struct sim *sim, const struct program *program, const struct options *options)
{
	memset(sim, 0, sizeof *sim);
	sim->program = program;
	sim->options = *options;
	sim->random = program->seed * 77 + 5;
	sim->shrunk_line = sim->line = -1;
	sim->pace = 1;
	sim->owed_ns = 1000 * MS; /* accounts are unsigned; virtual clocks may run ahead a little */
	memcpy(sim->object, program->object, sizeof sim->object);
	for (int i = 0; i < program->cpus; i++) {
		sim->cpu[i].thread = -1;
		profiler_next_sample(sim, &sim->cpu[i]);
	}
	for (int i = 0; i < program->threads; i++) {
		struct thread *thread = &sim->thread[i];

		thread->random = program->seed * 1000 + (uint64_t)i;
		thread->state = READY_SOON;
		thread->cpu = i % program->cpus;
		thread->line = -1;
		thread->at_ns = between(sim, 0, 100 * US);
		thread->sample_at_ns = between(sim, 0, options->period_ns);
		causal_begin(&thread->account, sim->owed_ns, 0, 0);
	}
}

void sim_experiment(struct sim *sim, int line, int speedup_permille)
{
	sim->line = line;
	sim->speedup_permille = (__u32)speedup_permille;
	for (int i = 0; i < sim->program->threads; i++) {
		struct thread *thread = &sim->thread[i];

		sim_settle(sim, thread);
		thread->unpaid_ns = 0;
		thread->owed_at_block_ns = (int64_t)sim->owed_ns;
		/* A pause of the last experiment goes on, but nothing of it is booked. */
		causal_begin(
			&thread->account, sim->owed_ns, (__u64)sim->now, thread->state != RUNNING);
		thread->account.cpu_ns = (__u64)thread->cpu_ns;
		thread->queue_share_ns = sim->queue_share_ns;
	}
}

void sim_measure(struct sim *sim)
{
	memset(&sim->counts, 0, sizeof sim->counts);
	sim->visits_from = 0;
	sim->marked_ns = sim->now;
	sim->marked_owed_ns = sim->owed_ns;
	sim->marked_share_ns = sim->queue_share_ns;
	for (int i = 0; i < sim->program->threads; i++) {
		struct thread *thread = &sim->thread[i];

		sim_settle(sim, thread);
		thread->visits = 0;
		thread->marked_cpu_ns = (double)thread->cpu_ns;
		thread->marked_behind_ns =
			(double)thread->account.taken_ns + (double)thread->account.stolen_ns;
	}
}
