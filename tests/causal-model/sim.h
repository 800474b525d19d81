/* sim.h - a machine in virtual nanoseconds: threads, CPUs, locks, queues, and a causal profiler.
 *
 * A program is data: a list of operations per thread, done over and over.  The same program runs
 * with the work of one line really shrunk (the truth) or under the simulated profiler (the
 * prediction); work is drawn from a stream per thread, so both see the same random numbers.
 *
 * Owns: a struct sim is a plain value, no memory behind it.  Threads: none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/causal_mark.h"
#include "wire/causal_rule.h"

enum { MAX_THREADS = 32, MAX_CPUS = 16, MAX_OPS = 20, MAX_OBJECTS = 12, MAX_LINES = 16 };

#define US 1000LL
#define MS 1000000LL

enum op_kind {
	OP_WORK,     /* `ns` of CPU time in line `which`, jittered by +-30 % */
	OP_LOCK,     /* object `which` */
	OP_UNLOCK,   /* of object `which` */
	OP_PUT,	     /* into queue `which`, waits for room */
	OP_GET,	     /* from queue `which`, waits for an item */
	OP_BARRIER,  /* object `which` */
	OP_SLEEP,    /* relative, `ns` */
	OP_DEADLINE, /* absolute: until the next multiple of `ns` */
	OP_IO,	     /* a device answers after `ns` */
	OP_SKIP,     /* with probability `ns` / 1000 leave out the next `which` operations */
	OP_ITEM,     /* progress */
};

struct op {
	enum op_kind kind;
	int which;
	int64_t ns;
};

enum object_kind {
	LOCK_FIFO,
	LOCK_BARGING,
	LOCK_SPIN,
	QUEUE,
	QUEUE_BROADCAST,
	BARRIER,
	BARRIER_SPIN
};

struct wait_list {
	int threads[MAX_THREADS];
	int count;
};

struct object {
	enum object_kind kind;
	int size;	      /* of a queue, or of a barrier */
	int held, count;      /* lock: thread + 1, next ticket; queue, barrier: entries */
	int64_t round;	      /* barrier: rounds done; spin lock: ticket served */
	struct wait_list get; /* waits for the lock, an item, the barrier */
	struct wait_list put; /* waits for room */
};

struct program {
	const char *family;
	int threads, cpus, objects, lines;
	int own;    /* of the threads; those behind them are other programs' */
	bool paced; /* by the clock: no rule can see through that */
	int ops[MAX_THREADS];
	struct op code[MAX_THREADS][MAX_OPS];
	struct object object[MAX_OBJECTS];
	uint64_t seed;
};

/* Other programs on the same CPUs. */
enum load_kind { LOAD_SPIN, LOAD_BURSTS, LOAD_SHORT, LOAD_NICE };
struct load {
	int per_two_cpus; /* tasks */
	enum load_kind kind;
};

/* How much of a wait for a CPU was other programs'. */
enum foreign {
	FOREIGN_IGNORED,
	FOREIGN_PREVIOUS, /* all of it when the task that left the CPU was theirs, or none */
	FOREIGN_SHARE,	  /* at each moment, what would not be if their CPUs were free */
	FOREIGN_STOP,	  /* that, and the program's other threads pause meanwhile */
};

enum rule { RULE_NONE, RULE_COZ, RULE_MAX, RULE_UNPAID, RULE_CLOCK, RULES };
enum pause_kind {
	PAUSE_SLEEP,
	PAUSE_SPIN,
	PAUSE_POLITE, /* slept but for the last of it, while other programs have a CPU */
};
enum weight { WEIGHT_PERIOD, WEIGHT_CPU_TIME };

struct options {
	enum rule rule;
	enum pause_kind pause;
	enum weight weight;
	int64_t period_ns;
	int64_t slack_periods; /* RULE_CLOCK */
	int64_t debt_min_ns;   /* smaller debts are not paid */
	int lost_permille;     /* samples that never come */
	bool per_thread;       /* a sampler on the CPU time of each thread, else one per CPU */
	bool stratified;       /* one sample at random in each period, else jittered distances */
	bool prompt;	       /* the others are signalled when the debt grows */
	bool at_switch;	       /* a thread that gets a CPU with a debt pays first */
	bool cpu_edge;	       /* a CPU is handed on like a lock */
	bool whole_pause;      /* a pause counts on while its thread waits for a CPU */
	enum foreign foreign;
	struct load load;
	bool from_handler; /* a pause counts from the handler, not from its sample */
};

enum state { READY_SOON, READY, RUNNING, BLOCKED, ASLEEP, PAUSED };
enum mode { MODE_NEXT, MODE_WORK, MODE_SPIN };

struct thread {
	enum state state;
	enum mode mode; /* what it does on a CPU when it does not pause */
	int cpu, line, pc;
	bool entered; /* the operation at `pc` has taken its ticket or arrived */
	bool timer;   /* it sleeps by the clock, not for a device */
	struct causal_mark mark;
	int64_t ticket;
	int64_t left_ns;  /* of the work */
	int64_t since_ns; /* accounted up to here */
	int64_t stint_ns; /* got its CPU then */
	int64_t at_ns;	  /* ready, or awake */
	int64_t deadline_ns;
	int64_t cpu_ns;
	int64_t sample_at_ns; /* in CPU time, for the sampler per thread */
	int64_t signal_ns;    /* a signal from another CPU arrives; 0: none */
	bool pausing;
	int64_t pause_least_ns; /* the handler is entered then */
	int64_t look_ns;	/* PAUSE_POLITE: it looks at its debt then */
	bool is_last;		/* and what was left has been spun */
	bool waits;		/* for a CPU, and would run if it had one */
	int64_t spun_ns;
	uint64_t random;
	struct causal_account account;
	int64_t queue_share_ns; /* sim->queue_share_ns when it began to wait for a CPU */
	double first_visit_ns, last_visit_ns; /* virtual */
	int64_t visits;
	double marked_cpu_ns, marked_behind_ns; /* when measuring began */
	int64_t unpaid_ns, owed_at_block_ns;	/* for the older rules */
};

struct cpu {
	int thread; /* or -1 */
	int64_t slice_ns, sample_ns, stratum_ns;
	struct causal_clock left; /* of the thread of the program that had it last */
	int64_t left_ns;	  /* when that left; 0: it was idle since */
	int64_t left_share_ns;	  /* sim->queue_share_ns then */
};

/* What the engine can count too, for the guard rails. */
struct counts {
	int64_t items, hits, samples, signals, pauses_ns, busy_ns, queued_ns;
	int64_t clock_items; /* progress visits that a regular timer set off */
};

struct sim {
	const struct program *program;
	struct options options;
	int shrunk_line; /* the truth: */
	double shrink;	 /*   its work is multiplied by this */
	double pace;	 /* of the machine: all work takes so many times as long */
	int line;	 /* the experiment: */
	__u32 speedup_permille;
	int64_t now;
	__u64 owed_ns;
	uint64_t random;
	struct thread thread[MAX_THREADS];
	struct cpu cpu[MAX_CPUS];
	struct object object[MAX_OBJECTS];
	int queue[MAX_THREADS], queued;
	struct counts counts;
	double first_visit_ns, last_visit_ns; /* virtual */
	int64_t visits_from;
	int64_t queue_share_ns; /* what a thread that always waits would have lost to others */
	int64_t marked_ns, marked_share_ns; /* when measuring began */
	__u64 marked_owed_ns;
};

void sim_init(struct sim *sim, const struct program *program, const struct options *options);
void sim_run(struct sim *sim, int64_t until_ns);
/* A new experiment: everybody owes nothing.  speedup 0 is the baseline. */
void sim_experiment(struct sim *sim, int line, int speedup_permille);
/* Virtual times are measured from here. */
void sim_measure(struct sim *sim);

/* The scheduler, for the operations (ops.c) and the profiler (profiler.c). */
double sim_random(uint64_t *state);	    /* [0, 1) */
bool sim_has_others(const struct sim *sim); /* other programs have a CPU */
bool sim_is_own(const struct sim *sim, const struct thread *thread);
void sim_settle(struct sim *sim, struct thread *thread);
void sim_block(struct sim *sim, struct thread *thread, struct wait_list *list);
void sim_sleep(struct sim *sim, struct thread *thread, int64_t ns);
/* `waker` NULL: an interrupt. */
void sim_wake(struct sim *sim, struct thread *waker, struct thread *wakee);
void sim_release_cpu(struct sim *sim, struct thread *thread);

/* The next operations of a thread that runs, until one takes time. */
void ops_run(struct sim *sim, struct thread *thread);
/* Spinning threads look again. */
void ops_poll(struct sim *sim);
void wait_list_remove(struct wait_list *list, int thread);

void profiler_sample(struct sim *sim, struct thread *thread);
void profiler_next_sample(struct sim *sim, struct cpu *cpu);
void profiler_wake(struct sim *sim, const struct thread *waker, struct thread *wakee);
void profiler_block(struct sim *sim, struct thread *thread);
void profiler_queue(struct sim *sim, struct thread *thread);
void profiler_switch_in(struct sim *sim, struct thread *thread, const struct thread *previous);
void profiler_leave_cpu(struct sim *sim, struct cpu *cpu, const struct thread *thread);
void profiler_switch_out(struct sim *sim, struct thread *thread);
void profiler_pause(struct sim *sim, struct thread *thread, int64_t from_ns, int64_t entry_ns);
void profiler_pause_step(struct sim *sim, struct thread *thread);
/* So little of a pause is left that it only waits for its CPU. */
bool profiler_pause_is_over(const struct sim *sim, const struct thread *thread);
int64_t profiler_pause_until(const struct sim *sim, const struct thread *thread);
bool profiler_catch_up(struct sim *sim, struct thread *thread);

/* programs.c: program number `seed` of a family. */
enum { FAMILIES = 19 };
void program_make(struct program *ret_program, int family, uint64_t seed);
void program_load(struct program *program, const struct load *load);
const char *program_family(int family);
