/* ops.c - what threads do: work, locks, queues, barriers, sleep, progress.
 *
 * Every wait is a loop that looks again after a wake, as correct programs do; so a signal may take
 * a thread out of its wait at any time. */
#include "sim.h"

static void wake_first(struct sim *sim, struct thread *waker, struct wait_list *list)
{
	if (list->count) {
		struct thread *wakee = &sim->thread[list->threads[0]];

		wait_list_remove(list, list->threads[0]);
		sim_wake(sim, waker, wakee);
	}
}

static void wake_all(struct sim *sim, struct thread *waker, struct wait_list *list)
{
	while (list->count)
		wake_first(sim, waker, list);
}

/* Each returns true when the operation is done. */
static bool lock(struct sim *sim, struct thread *thread, struct object *object)
{
	int self = (int)(thread - sim->thread) + 1;

	if (object->kind == LOCK_SPIN) {
		if (!thread->entered)
			thread->ticket = object->count++;
		thread->entered = true;
		if (object->round == thread->ticket)
			return true;
		thread->mode = MODE_SPIN;
		return false;
	}
	if (!object->held || object->held == self) {
		object->held = self;
		return true;
	}
	sim_block(sim, thread, &object->get);
	return false;
}

static void unlock(struct sim *sim, struct thread *thread, struct object *object)
{
	if (object->kind == LOCK_SPIN) {
		object->round++;
		return;
	}
	object->held = 0;
	if (object->kind == LOCK_FIFO && object->get.count)
		object->held = object->get.threads[0] + 1;
	wake_first(sim, thread, &object->get);
}

static bool put(struct sim *sim, struct thread *thread, struct object *object)
{
	if (object->count >= object->size) {
		sim_block(sim, thread, &object->put);
		return false;
	}
	object->count++;
	if (object->kind == QUEUE_BROADCAST)
		wake_all(sim, thread, &object->get);
	else
		wake_first(sim, thread, &object->get);
	return true;
}

static bool get(struct sim *sim, struct thread *thread, struct object *object)
{
	if (!object->count) {
		sim_block(sim, thread, &object->get);
		return false;
	}
	object->count--;
	wake_first(sim, thread, &object->put);
	return true;
}

static bool barrier(struct sim *sim, struct thread *thread, struct object *object)
{
	if (!thread->entered) {
		thread->entered = true;
		thread->ticket = object->round;
		if (++object->count == object->size) {
			object->count = 0;
			object->round++;
			wake_all(sim, thread, &object->get);
		}
	}
	if (object->round != thread->ticket)
		return true;
	if (object->kind == BARRIER_SPIN)
		thread->mode = MODE_SPIN;
	else
		sim_block(sim, thread, &object->get);
	return false;
}

static int64_t jittered(struct thread *thread, int64_t ns)
{
	return (int64_t)((double)ns * (0.7 + 0.6 * sim_random(&thread->random)));
}

static bool work(struct sim *sim, struct thread *thread, const struct op *op)
{
	int64_t ns = (int64_t)((double)jittered(thread, op->ns) * sim->pace);

	if (op->which == sim->shrunk_line)
		ns = (int64_t)((double)ns * sim->shrink);
	thread->line = op->which;
	thread->left_ns = ns;
	thread->mode = MODE_WORK;
	return true;
}

/* Both sleeps: true when there is nothing to wait for. */
static bool doze(struct sim *sim, struct thread *thread, const struct op *op)
{
	int64_t ns;

	if (thread->entered)
		return true;
	thread->entered = true;
	if (op->kind == OP_DEADLINE) {
		thread->deadline_ns += op->ns;
		ns = thread->deadline_ns - sim->now;
		if (ns <= 0) {
			if (ns < -3 * op->ns)
				thread->deadline_ns = sim->now;
			return true;
		}
	} else {
		ns = op->kind == OP_SLEEP ? op->ns : jittered(thread, op->ns);
	}
	thread->timer = op->kind != OP_IO;
	if (thread->timer && thread->mark.flags & CAUSAL_MARK_STEADY)
		causal_mark_sleep(&thread->mark, op->kind == OP_SLEEP ? (__u16)(ns | 1) : 0);
	sim_sleep(sim, thread, ns);
	return false;
}

static void item(struct sim *sim, struct thread *thread)
{
	double v = (double)sim->now - (double)thread->account.taken_ns -
		   (double)thread->account.stolen_ns;

	sim->counts.items++;
	sim->counts.clock_items += causal_mark_visit(&thread->mark) == CAUSAL_MARK_CLOCK;
	if (!sim->visits_from++)
		sim->first_visit_ns = v;
	sim->last_visit_ns = v;
	if (!thread->visits++)
		thread->first_visit_ns = v;
	thread->last_visit_ns = v;
}

static bool may_wake(enum op_kind kind)
{
	return kind == OP_UNLOCK || kind == OP_PUT || kind == OP_GET || kind == OP_BARRIER;
}

static bool perform(struct sim *sim, struct thread *thread, const struct op *op)
{
	struct object *object = &sim->object[op->which < MAX_OBJECTS ? op->which : 0];

	switch (op->kind) {
	case OP_WORK:
		return work(sim, thread, op);
	case OP_LOCK:
		return lock(sim, thread, object);
	case OP_UNLOCK:
		unlock(sim, thread, object);
		return true;
	case OP_PUT:
		return put(sim, thread, object);
	case OP_GET:
		return get(sim, thread, object);
	case OP_BARRIER:
		return barrier(sim, thread, object);
	case OP_SLEEP:
	case OP_DEADLINE:
	case OP_IO:
		return doze(sim, thread, op);
	case OP_SKIP:
		if (sim_random(&thread->random) * 1000 < (double)op->ns)
			thread->pc += op->which;
		return true;
	case OP_ITEM:
		item(sim, thread);
		return true;
	}
	return true;
}

void ops_run(struct sim *sim, struct thread *thread)
{
	int self = (int)(thread - sim->thread);

	while (thread->state == RUNNING && thread->mode == MODE_NEXT && !thread->pausing) {
		const struct op *op = &sim->program->code[self][thread->pc];

		thread->line = -1;
		if (may_wake(op->kind) && !thread->entered && profiler_catch_up(sim, thread))
			return;
		if (!perform(sim, thread, op))
			return;
		thread->entered = false;
		thread->pc = (thread->pc + 1) % sim->program->ops[self];
	}
}

void ops_poll(struct sim *sim)
{
	for (bool again = true; again;) {
		again = false;
		for (int i = 0; i < sim->program->threads; i++) {
			struct thread *thread = &sim->thread[i];

			if (thread->state != RUNNING || thread->mode != MODE_SPIN ||
				thread->pausing)
				continue;
			sim_settle(sim, thread);
			thread->mode = MODE_NEXT;
			ops_run(sim, thread);
			again = again || thread->mode != MODE_SPIN;
		}
	}
}
