/* plan.c - see plan.h.
 *
 * Order of claims: one undisturbed look and one profile are worth most and cost one run each; then
 * a few whole runs, without which no change can be told from noise; then experiments and simulation
 * share what is left, three to one (five to three for two simulations); and what they do not want
 * gives more whole runs.
 * The constants are what the phases took beside the program itself on 2 vCPUs
 * (docs/commands/run.md): start, fingerprint and file 0.15 s; naming what was sampled 0.3 s; start
 * and end of experiments 1.5 s. */
#include "analyze/plan.h"

#define MS 1000000ULL
#define S 1000000000ULL
#define START_NS (150 * MS)
#define NAMING_NS (300 * MS)
#define RESERVE_NS (1200 * MS) /* for joining, writing and hashing at the end */
#define SIMULATED_LEAST_NS (3 * S)
#define SIMULATED_MOST_NS (20 * S)
#define SIMULATED_START_NS (1 * S)
#define EXPERIMENT_LEAST_NS (7 * S)
#define EXPERIMENT_END_NS (1500 * MS) /* start, and the end of the program */
#define EXPERIMENT_MOST_NS (40 * S)
#define EXPERIMENT_RUN_NS (1200 * MS) /* it is watched for 1 s before the first pair */
#define EXPERIMENT_WHOLE_NS (80 * MS) /* a shorter run is no experiment either */
#define ONE_CPU 1.1		      /* used: above it threads run side by side */
#define WATCH_LEAST_NS (600 * MS)
#define PART_LEAST_NS (20 * MS)	    /* of the whole run: below it there are too few samples */
#define REPEATED_ENOUGH_NS (10 * S) /* more than 20 runs only while they are short */

enum {
	RUNS_LEAST = 3,
	RUNS_GOOD = 20,
	RUNS_MOST = 100,
	SLOWER = 50, /* a simulated run */
	SAMPLES_GOOD = 2000,
	RATE_LEAST = 997,
	RATE_MOST = 9973,
};

struct planning {
	const struct plan_input *input;
	const struct plan_wish *wishes;
	struct plan_step *steps;
	uint32_t count;
	uint64_t left_ns; /* not promised to any step yet */
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void claim(struct planning *p, struct plan_step *step, uint64_t ns)
{
	step->expected_ns = ns;
	p->left_ns -= least(ns, p->left_ns);
}

static void refuse(struct plan_step *step, const char *reason, const char *fix)
{
	*step = (struct plan_step){
		.phase = step->phase, .skipped = true, .reason = reason, .fix = fix};
}

static bool is_open(const struct planning *p, uint32_t i, enum plan_kind kind)
{
	return p->wishes[i].kind == kind && !p->steps[i].skipped && !p->wishes[i].done;
}

static uint32_t count_open(const struct planning *p, enum plan_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < p->count; i++)
		count += is_open(p, i, kind);
	return count;
}

static uint32_t count_done(const struct planning *p, enum plan_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < p->count; i++)
		count += p->wishes[i].kind == kind && p->wishes[i].done && !p->wishes[i].refused;
	return count;
}

static uint32_t rate_for(uint64_t run_ns)
{
	uint64_t rate = SAMPLES_GOOD * S / (run_ns ? run_ns : 1);

	return rate < RATE_LEAST ? RATE_LEAST : rate > RATE_MOST ? RATE_MOST : (uint32_t)rate;
}

/* One run each, or, where that is too long, a look at it. */
static void plan_whole(struct planning *p)
{
	uint32_t wholes = count_open(p, PLAN_WHOLE), done = count_done(p, PLAN_WHOLE);
	/* With too little left for experiments there is nobody to share with. */
	uint64_t fifths = p->left_ns * 3 / 5 < EXPERIMENT_LEAST_NS ? 4 : 2;
	/* Those that are done had the same share each of what there was then. */
	uint64_t parts = 5 * (wholes + done) - fifths * done;
	uint64_t run_ns = p->input->run_ns, share = wholes ? p->left_ns * fifths / parts : 0;
	/* A little more than its share for the whole of a run; else the others get nothing. */
	bool fits = !p->input->endless && run_ns + START_NS <= share + share / 5;

	for (uint32_t i = 0; i < p->count; i++) {
		struct plan_step *step = &p->steps[i];

		if (!is_open(p, i, PLAN_WHOLE))
			continue;
		if (!fits && share < WATCH_LEAST_NS) {
			refuse(step, "no time left", "use a longer --budget");
			continue;
		}
		step->rate_hz = rate_for(fits ? run_ns : share);
		step->watches = !fits;
		step->runs = 1;
		step->limit_ns = fits ? 3 * run_ns + 5 * S : share - START_NS;
		claim(p, step, (fits ? run_ns + run_ns / 20 : share) + START_NS + NAMING_NS);
	}
}

/* One run each with less to do: a part of the time of a whole one, and it tells how that grows. */
static void plan_part(struct planning *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct plan_step *step = &p->steps[i];
		uint64_t run_ns = p->wishes[i].run_ns;

		if (!is_open(p, i, PLAN_PART))
			continue;
		if (p->input->endless || p->input->run_ns < PART_LEAST_NS)
			refuse(step,
				p->input->endless ? "the program did not end by itself"
						  : "a run is too short to tell how it grows",
				"");
		else if (run_ns + START_NS > p->left_ns / 4)
			refuse(step, "no time left", "use a longer --budget");
		else {
			step->rate_hz = rate_for(run_ns);
			step->runs = 1;
			step->limit_ns = 2 * p->input->run_ns + 5 * S;
			claim(p, step, run_ns + START_NS + NAMING_NS);
		}
	}
}

/* What simulation and experiments need to tell anything at all. */
static uint64_t shared_least(const struct planning *p)
{
	bool tries = count_open(p, PLAN_EXPERIMENT) && p->input->run_ns >= EXPERIMENT_RUN_NS;
	uint64_t simulated = count_open(p, PLAN_SIMULATED) ? SIMULATED_LEAST_NS : 0;

	return simulated + (tries ? EXPERIMENT_LEAST_NS : 0);
}

/* Why a program is slow is worth more than how much its runs differ: where both cannot be had, one
 * whole run is left of the three. */
static uint32_t runs_beside(const struct planning *p, uint32_t runs)
{
	uint64_t run_ns = p->input->run_ns, needed = shared_least(p);

	if (p->input->runs_least || runs > RUNS_LEAST) /* asked for, or there is time enough */
		return runs;
	if (run_ns * 11 / 10 + START_NS + needed > p->left_ns) /* not even then */
		return runs;
	while (runs > 1 && runs * run_ns * 11 / 10 + START_NS + needed > p->left_ns)
		runs--;
	return runs;
}

/* Beside other programs whole runs mostly show what those do, however many they are, while
 * experiments take their time out of the clocks: so these get the time first, unless the runs are
 * what was asked for. */
static bool is_busy(const struct planning *p)
{
	return p->input->others_share >= PLAN_BUSY_SHARE && !p->input->runs_least &&
	       count_open(p, PLAN_EXPERIMENT);
}

/* A third of what is left, or three fifths once the experiments are done: else the simulation would
 * take what they had left to the whole runs.  No fewer than tell anything; the rest goes to others.
 */
static void plan_repeated(struct planning *p)
{
	uint64_t run_ns = p->input->run_ns, left = p->left_ns;
	uint64_t part = count_done(p, PLAN_EXPERIMENT) ? left * 3 / 5 : is_busy(p) ? 0 : left / 3;
	uint32_t runs = p->input->runs_least ? p->input->runs_least : RUNS_LEAST;
	uint64_t share = part / (run_ns ? run_ns : 1);

	if (runs < share)
		runs = (uint32_t)least(share, RUNS_GOOD);
	for (uint32_t i = 0; i < p->count; i++) {
		struct plan_step *step = &p->steps[i];

		if (!is_open(p, i, PLAN_REPEATED))
			continue;
		while (runs > RUNS_LEAST && runs * run_ns > p->left_ns * 3 / 5)
			runs--;
		runs = runs_beside(p, runs);
		if (p->input->endless)
			refuse(step,
				"the program did not end by itself, so there are no whole runs",
				"use a --budget of more than four times its run, or make it end");
		else if (run_ns + START_NS > p->left_ns)
			refuse(step, "no time left for a whole run", "use a longer --budget");
		else {
			/* Fewer than were wanted still tell more than none. */
			uint64_t time_left_ns = (p->left_ns - START_NS) * 10 / 11;

			step->runs = (uint32_t)least(runs, run_ns ? time_left_ns / run_ns : runs);
			step->runs += !step->runs;
			claim(p, step, step->runs * run_ns * 11 / 10 + START_NS); /* runs differ */
		}
	}
}

/* Whole runs can be compared, with and without a speed-up.  Not worth it for one thread, whose gain
 * follows from its samples. */
static bool whole_runs_tell(const struct plan_input *input)
{
	return input->run_ns >= EXPERIMENT_WHOLE_NS && input->cpus > ONE_CPU;
}

static void plan_experiment(struct planning *p, struct plan_step *step, uint64_t share)
{
	uint64_t ns = least(share, EXPERIMENT_MOST_NS);

	if (!p->input->endless && p->input->run_ns < EXPERIMENT_RUN_NS &&
		!whole_runs_tell(p->input))
		refuse(step, "one run of the program is shorter than an experiment",
			"give it more work, so that a run takes some seconds");
	else if (ns < EXPERIMENT_LEAST_NS)
		refuse(step, "less than 7 s left for experiments", "use a longer --budget");
	else {
		step->share_ns = ns - EXPERIMENT_END_NS;
		step->limit_ns = ns + 10 * S;
		step->watches = true;
		claim(p, step, ns);
	}
}

static void plan_simulated(struct planning *p, uint32_t i, uint64_t share)
{
	struct plan_step *step = &p->steps[i];
	uint64_t slower = p->wishes[i].slower ? p->wishes[i].slower : SLOWER;
	uint64_t run_ns = p->wishes[i].run_ns ? p->wishes[i].run_ns : p->input->run_ns;
	uint64_t whole = slower * run_ns + SIMULATED_START_NS;
	uint64_t ns = least(share, SIMULATED_MOST_NS);

	step->watches = p->input->endless || whole > ns;
	ns = step->watches ? ns : whole;
	if (step->watches && ns < SIMULATED_LEAST_NS) {
		refuse(step, "less than 3 s left for simulation", "use a longer --budget");
		return;
	}
	step->share_ns = step->watches ? ns - SIMULATED_START_NS : least(2 * ns + 2 * S, share);
	step->limit_ns = step->share_ns + 5 * S; /* it stops by itself, and then writes */
	step->runs = 1;
	claim(p, step, ns);
}

/* What `count` simulations may take together beside experiments. */
static uint64_t simulated_pool(uint64_t all, uint32_t count)
{
	uint64_t pool = count > 1 ? all * 3 / 8 : all / 4, needed = count * SIMULATED_LEAST_NS;

	return pool < needed && all >= needed + EXPERIMENT_LEAST_NS ? needed : pool;
}

/* Whoever comes last may have what the others did not want.  Where there is too little for two
 * simulations beside experiments, the first has it alone. */
static void plan_shared(struct planning *p)
{
	uint64_t all = p->left_ns, pool = all;
	uint32_t open = count_open(p, PLAN_SIMULATED);

	if (count_open(p, PLAN_EXPERIMENT)) {
		while (open > 1 && all < open * SIMULATED_LEAST_NS + EXPERIMENT_LEAST_NS)
			open--;
		pool = simulated_pool(all, open);
	}
	for (uint32_t i = 0; i < p->count; i++) {
		if (!is_open(p, i, PLAN_SIMULATED))
			continue;
		plan_simulated(p, i, open > 1 ? pool / open : pool);
		pool -= least(pool, p->steps[i].expected_ns);
		open -= open > 1;
	}
	for (uint32_t i = 0; i < p->count; i++)
		if (is_open(p, i, PLAN_EXPERIMENT))
			plan_experiment(p, &p->steps[i], p->left_ns);
}

static void plan_more_runs(struct planning *p)
{
	uint64_t run_ns = p->input->run_ns ? p->input->run_ns : 1;

	for (uint32_t i = 0; i < p->count; i++) {
		struct plan_step *step = &p->steps[i];
		uint64_t more;

		if (!is_open(p, i, PLAN_REPEATED))
			continue;
		more = p->left_ns * 9 / 10 / run_ns; /* runs differ */
		if (step->runs + more > RUNS_GOOD &&
			(step->runs + more) * run_ns > REPEATED_ENOUGH_NS)
			more = REPEATED_ENOUGH_NS / run_ns > RUNS_GOOD
				       ? REPEATED_ENOUGH_NS / run_ns - step->runs
			       : step->runs < RUNS_GOOD ? RUNS_GOOD - step->runs
							: 0;
		more = least(more, RUNS_MOST - step->runs);
		step->runs += (uint32_t)more;
		step->expected_ns += more * run_ns;
		step->limit_ns = 3 * run_ns + 5 * S; /* of each run */
		p->left_ns -= least(more * run_ns, p->left_ns);
	}
}

void plan_make(const struct plan_input *input, const struct plan_wish *wishes, uint32_t count,
	struct plan_step *ret_steps)
{
	uint64_t gone = input->spent_ns + RESERVE_NS;
	struct planning p = {
		.input = input,
		.wishes = wishes,
		.steps = ret_steps,
		.count = count < PLAN_STEPS_MAX ? count : PLAN_STEPS_MAX,
		.left_ns = input->budget_ns > gone ? input->budget_ns - gone : 0,
	};

	for (uint32_t i = 0; i < p.count; i++) {
		struct plan_step *step = &ret_steps[i];

		*step = (struct plan_step){.phase = wishes[i].phase, .reason = "", .fix = ""};
		if (wishes[i].refused)
			refuse(step, wishes[i].refused, wishes[i].fix ? wishes[i].fix : "");
		else if (wishes[i].kind == PLAN_QUICK && !wishes[i].done)
			claim(&p, step, START_NS);
	}
	plan_whole(&p);
	plan_part(&p);
	plan_repeated(&p);
	plan_shared(&p);
	plan_more_runs(&p);
}

uint64_t plan_expected_ns(const struct plan_step *steps, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += steps[i].skipped ? 0 : steps[i].expected_ns;
	return sum;
}

uint64_t plan_trial_limit_ns(uint64_t budget_ns)
{
	return budget_ns / 4;
}
