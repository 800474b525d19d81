/* programs.c - random programs of known shapes.
 *
 * Stages last 0.1 to 3 ms; every OP_WORK has its own line unless threads share one on purpose.
 * Threads have a CPU each, except in the `crowd` families. */
#include "sim.h"

#include <math.h>
#include <string.h>

struct maker {
	struct program *program;
	uint64_t random;
};

static int pick(struct maker *maker, int low, int high) /* both included */
{
	return low + (int)(sim_random(&maker->random) * (high - low + 1));
}

static int64_t stage(struct maker *maker) /* 0.1 to 3 ms, by ratio */
{
	return (int64_t)(1e5 * exp(sim_random(&maker->random) * log(30)));
}

static void add(struct maker *maker, int thread, enum op_kind kind, int which, int64_t ns)
{
	struct program *program = maker->program;

	program->code[thread][program->ops[thread]++] = (struct op){kind, which, ns};
	if (kind == OP_WORK && which >= program->lines)
		program->lines = which + 1;
}

static void work(struct maker *maker, int thread, int line)
{
	add(maker, thread, OP_WORK, line, stage(maker));
}

static int object(struct maker *maker, enum object_kind kind, int size)
{
	struct program *program = maker->program;

	program->object[program->objects] = (struct object){.kind = kind, .size = size};
	return program->objects++;
}

static void threads(struct maker *maker, int count)
{
	maker->program->threads = count;
	maker->program->cpus = count;
}

static void split(struct maker *maker)
{
	threads(maker, 1);
	for (int i = 0; i < 3; i++)
		work(maker, 0, i);
	add(maker, 0, OP_ITEM, 0, 0);
}

static void pipeline(struct maker *maker)
{
	int count = pick(maker, 2, 5), capacity = 1 << pick(maker, 0, 4);

	threads(maker, count);
	for (int i = 0; i + 1 < count; i++)
		object(maker, QUEUE, capacity);
	for (int i = 0; i < count; i++) {
		if (i)
			add(maker, i, OP_GET, i - 1, 0);
		work(maker, i, i);
		if (i + 1 < count)
			add(maker, i, OP_PUT, i, 0);
		else
			add(maker, i, OP_ITEM, 0, 0);
	}
}

static void barrier_of(struct maker *maker, enum object_kind kind)
{
	int count = pick(maker, 2, 4), serial = pick(maker, 0, 1), all;

	threads(maker, count);
	all = object(maker, kind, count);
	for (int i = 0; i < count; i++) {
		work(maker, i, i);
		add(maker, i, OP_BARRIER, all, 0);
		if (!i && serial)
			work(maker, i, count);
		if (!i)
			add(maker, i, OP_ITEM, 0, 0);
		if (serial)
			add(maker, i, OP_BARRIER, all, 0);
	}
}

static void barrier(struct maker *maker)
{
	barrier_of(maker, BARRIER);
}

static void barrier_spin(struct maker *maker)
{
	barrier_of(maker, BARRIER_SPIN);
}

static void lock_of(struct maker *maker, enum object_kind kind)
{
	int count = pick(maker, 2, 4), lock = object(maker, kind, 0);
	int64_t inside = stage(maker) / 2, outside = stage(maker);

	threads(maker, count);
	for (int i = 0; i < count; i++) {
		add(maker, i, OP_WORK, 0, outside);
		add(maker, i, OP_LOCK, lock, 0);
		add(maker, i, OP_WORK, 1, inside);
		add(maker, i, OP_UNLOCK, lock, 0);
		add(maker, i, OP_ITEM, 0, 0);
	}
}

static void lock_fifo(struct maker *maker)
{
	lock_of(maker, LOCK_FIFO);
}

static void lock_barging(struct maker *maker)
{
	lock_of(maker, LOCK_BARGING);
}

static void lock_spin(struct maker *maker)
{
	lock_of(maker, LOCK_SPIN);
}

static void handoff(struct maker *maker)
{
	int count = pick(maker, 2, 4);

	threads(maker, count);
	for (int i = 0; i < count; i++)
		object(maker, QUEUE, 1);
	maker->program->object[0].count = 1;
	for (int i = 0; i < count; i++) {
		add(maker, i, OP_GET, i, 0);
		work(maker, i, i);
		if (i == count - 1)
			add(maker, i, OP_ITEM, 0, 0);
		add(maker, i, OP_PUT, (i + 1) % count, 0);
	}
}

/* One starts the others and waits for all; the workers share a line or have their own. */
static void fork_join(struct maker *maker)
{
	int workers = pick(maker, 2, 4), shared = pick(maker, 0, 1), done;

	threads(maker, workers + 1);
	done = object(maker, QUEUE, 64);
	work(maker, 0, 0);
	for (int i = 1; i <= workers; i++) {
		int start = object(maker, QUEUE, 1);

		add(maker, 0, OP_PUT, start, 0);
		add(maker, i, OP_GET, start, 0);
		work(maker, i, shared ? 1 : i);
		add(maker, i, OP_PUT, done, 0);
	}
	for (int i = 1; i <= workers; i++)
		add(maker, 0, OP_GET, done, 0);
	add(maker, 0, OP_ITEM, 0, 0);
}

/* All threads in line 0 at once, then one alone in line 1, or each again in line 2. */
static void shared_line(struct maker *maker)
{
	int count = pick(maker, 2, 4), all = object(maker, BARRIER, count);
	int64_t together = stage(maker);

	threads(maker, count);
	for (int i = 0; i < count; i++) {
		add(maker, i, OP_WORK, 0, together);
		work(maker, i, 2);
		add(maker, i, OP_BARRIER, all, 0);
		if (!i) {
			work(maker, i, 1);
			add(maker, i, OP_ITEM, 0, 0);
		}
		add(maker, i, OP_BARRIER, all, 0);
	}
}

/* Two locks in turn, each with its own line. */
static void convoy(struct maker *maker)
{
	int count = pick(maker, 2, 4), first = object(maker, LOCK_FIFO, 0);
	int second = object(maker, pick(maker, 0, 1) ? LOCK_FIFO : LOCK_BARGING, 0);
	int64_t a = stage(maker), b = stage(maker), c = stage(maker);

	threads(maker, count);
	for (int i = 0; i < count; i++) {
		add(maker, i, OP_LOCK, first, 0);
		add(maker, i, OP_WORK, 0, a);
		add(maker, i, OP_UNLOCK, first, 0);
		add(maker, i, OP_WORK, 1, b);
		add(maker, i, OP_LOCK, second, 0);
		add(maker, i, OP_WORK, 2, c);
		add(maker, i, OP_UNLOCK, second, 0);
		add(maker, i, OP_ITEM, 0, 0);
	}
}

/* Several post to one: who of them woke it is chance. */
static void posters(struct maker *maker)
{
	int producers = pick(maker, 2, 4), queue = object(maker, QUEUE, pick(maker, 1, 8));

	threads(maker, producers + 1);
	for (int i = 1; i <= producers; i++) {
		work(maker, i, i);
		add(maker, i, OP_PUT, queue, 0);
	}
	add(maker, 0, OP_GET, queue, 0);
	add(maker, 0, OP_WORK, 0, stage(maker) / producers);
	add(maker, 0, OP_ITEM, 0, 0);
}

/* One produces, a pool is woken by broadcast; all but one go back to sleep. */
static void broadcast(struct maker *maker)
{
	int pool = pick(maker, 2, 4), queue = object(maker, QUEUE_BROADCAST, pick(maker, 1, 8));
	int64_t each = stage(maker);

	threads(maker, pool + 1);
	add(maker, 0, OP_WORK, 0, stage(maker) / pool + 50 * US);
	add(maker, 0, OP_PUT, queue, 0);
	for (int i = 1; i <= pool; i++) {
		add(maker, i, OP_GET, queue, 0);
		add(maker, i, OP_WORK, 1, each);
		add(maker, i, OP_ITEM, 0, 0);
	}
}

/* Workers with a device in the middle, joined by a queue to one that collects. */
static void device(struct maker *maker)
{
	int count = pick(maker, 1, 3), queue = object(maker, QUEUE, pick(maker, 1, 4));
	enum op_kind wait = pick(maker, 0, 1) ? OP_IO : OP_SLEEP;

	threads(maker, count + 1);
	for (int i = 1; i <= count; i++) {
		work(maker, i, 0);
		add(maker, i, wait, 0, stage(maker));
		work(maker, i, 1);
		add(maker, i, OP_PUT, queue, 0);
	}
	add(maker, 0, OP_GET, queue, 0);
	add(maker, 0, OP_WORK, 2, stage(maker) / count);
	add(maker, 0, OP_ITEM, 0, 0);
}

/* A pipeline whose stages also share a lock, take a detour now and then, or wait for a device. */
static void mixed(struct maker *maker)
{
	int count = pick(maker, 2, 4), capacity = 1 << pick(maker, 0, 3), line = 0;
	int lock = object(maker, pick(maker, 0, 1) ? LOCK_FIFO : LOCK_BARGING, 0);

	threads(maker, count);
	for (int i = 0; i + 1 < count; i++)
		object(maker, QUEUE, capacity);
	for (int i = 0; i < count; i++) {
		if (i)
			add(maker, i, OP_GET, i, 0);
		work(maker, i, line++);
		if (pick(maker, 0, 1)) {
			add(maker, i, OP_LOCK, lock, 0);
			add(maker, i, OP_WORK, line++, stage(maker) / 2);
			add(maker, i, OP_UNLOCK, lock, 0);
		}
		if (!pick(maker, 0, 2)) {
			add(maker, i, OP_SKIP, 1, 700);
			add(maker, i, OP_IO, 0, stage(maker));
		}
		if (i + 1 < count)
			add(maker, i, OP_PUT, i + 1, 0);
		else
			add(maker, i, OP_ITEM, 0, 0);
	}
}

/* Nobody waits for anybody; all make progress. */
static void independent(struct maker *maker)
{
	int count = pick(maker, 2, 4);
	int64_t common = stage(maker);

	threads(maker, count);
	for (int i = 0; i < count; i++) {
		add(maker, i, OP_WORK, 0, common);
		work(maker, i, i + 1);
		add(maker, i, OP_ITEM, 0, 0);
	}
}

/* More threads than CPUs: a fork-join or a lock, on half the CPUs. */
static void crowd(struct maker *maker)
{
	if (pick(maker, 0, 1))
		fork_join(maker);
	else
		lock_fifo(maker);
	maker->program->cpus = (maker->program->threads + 1) / 2;
}

static void crowd_pipe(struct maker *maker)
{
	pipeline(maker);
	maker->program->cpus = (maker->program->threads + 1) / 2;
}

/* A frame loop: work of one or two threads until the next tick of the clock. */
static void paced(struct maker *maker)
{
	int64_t a = stage(maker), b = stage(maker);

	threads(maker, 2);
	object(maker, QUEUE, 1);
	add(maker, 0, OP_DEADLINE, 0,
		(int64_t)((double)(a + b) * (1.2 + sim_random(&maker->random))));
	add(maker, 0, OP_WORK, 0, a);
	add(maker, 0, OP_PUT, 0, 0);
	add(maker, 1, OP_GET, 0, 0);
	add(maker, 1, OP_WORK, 1, b);
	add(maker, 1, OP_ITEM, 0, 0);
	maker->program->paced = true;
}

static const struct {
	const char *name;
	void (*make)(struct maker *maker);
} families[FAMILIES] = {
	{"split", split},
	{"pipeline", pipeline},
	{"barrier", barrier},
	{"barrier-spin", barrier_spin},
	{"lock-fifo", lock_fifo},
	{"lock-barging", lock_barging},
	{"lock-spin", lock_spin},
	{"handoff", handoff},
	{"fork-join", fork_join},
	{"shared-line", shared_line},
	{"convoy", convoy},
	{"posters", posters},
	{"broadcast", broadcast},
	{"device", device},
	{"mixed", mixed},
	{"independent", independent},
	{"crowd", crowd},
	{"crowd-pipe", crowd_pipe},
	{"paced", paced},
};

const char *program_family(int family)
{
	return families[family].name;
}

void program_make(struct program *ret_program, int family, uint64_t seed)
{
	struct maker maker = {
		.program = ret_program, .random = seed * 31 + (uint64_t)family * 7919};

	memset(ret_program, 0, sizeof *ret_program);
	ret_program->family = families[family].name;
	ret_program->seed = seed * 64 + (uint64_t)family;
	families[family].make(&maker);
	ret_program->own = ret_program->threads;
}

void program_load(struct program *program, const struct load *load)
{
	int tasks = (load->per_two_cpus * program->cpus + 1) / 2;
	struct maker maker = {.program = program, .random = program->seed / 64 * 1237 + 5};
	int lines = program->lines;

	for (; tasks > 0 && program->threads < MAX_THREADS; tasks--) {
		int task = program->threads++;
		bool bursts = load->kind == LOAD_BURSTS;
		int64_t on = bursts ? pick(&maker, 1, 50) * MS : 400 * US;
		int64_t off = bursts ? pick(&maker, 1, 50) * MS : 1 * MS;
		bool spins = load->kind == LOAD_SPIN || load->kind == LOAD_NICE;

		add(&maker, task, OP_WORK, lines, spins ? 1000 * MS : on);
		if (!spins)
			add(&maker, task, OP_IO, 0, off);
	}
	program->lines = lines;
}
