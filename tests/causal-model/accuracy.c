/* accuracy.c - how far each rule is from the truth, by shape. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_NS (60 * MS)
#define LONG_NS (2000 * MS)

#define DECIDED                                                                                    \
	.rule = RULE_CLOCK, .weight = WEIGHT_CPU_TIME, .period_ns = 250 * US,                      \
	.slack_periods = CAUSAL_SLACK_PERIODS, .debt_min_ns = CAUSAL_DEBT_MIN_NS,                  \
	.lost_permille = 20, .cpu_edge = true

const struct options decided = {DECIDED, .pause = PAUSE_SPIN, .foreign = FOREIGN_SHARE};
const struct options stopping = {DECIDED, .pause = PAUSE_POLITE, .foreign = FOREIGN_STOP};

void errors_add(struct errors *errors, double points)
{
	if (errors->count == errors->capacity) {
		errors->capacity = errors->capacity ? 2 * errors->capacity : 256;
		errors->values =
			realloc(errors->values, (size_t)errors->capacity * sizeof *errors->values);
		if (!errors->values)
			abort();
	}
	errors->values[errors->count++] = fabs(points);
	errors->sum += fabs(points);
	errors->bias += points;
	if (fabs(points) > errors->worst)
		errors->worst = fabs(points);
}

double errors_mean(const struct errors *errors)
{
	return errors->count ? errors->sum / errors->count : 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double errors_quantile(struct errors *errors, double share)
{
	if (!errors->count)
		return 0;
	qsort(errors->values, (size_t)errors->count, sizeof *errors->values, by_value);
	return errors->values[(int)(share * (errors->count - 1))];
}

/* Each thread in its own virtual time: one that was robbed is not one that was not. */
static double rate_of_threads(const struct sim *sim)
{
	double rate = 0;

	for (int i = 0; i < sim->program->own; i++) {
		const struct thread *thread = &sim->thread[i];
		double ns = thread->last_visit_ns - thread->first_visit_ns;

		if (thread->visits > 1 && ns > 0)
			rate += (double)(thread->visits - 1) / ns;
	}
	return rate;
}

static double behind(const struct thread *thread)
{
	return (double)thread->account.taken_ns + (double)thread->account.stolen_ns;
}

/* Where nobody knows who made the visits: the virtual time of all threads, as rates add up, by the
 * CPU time they used.  A blocked thread is given the clock of the one that wakes it. */
static double virtual_mean(struct sim *sim, double wall)
{
	double weights = 0, rate = 0, furthest = 0;

	for (int i = 0; i < sim->program->own; i++)
		if (sim->thread[i].state != BLOCKED)
			furthest = fmax(furthest, behind(&sim->thread[i]));
	for (int i = 0; i < sim->program->own; i++) {
		struct thread *thread = &sim->thread[i];
		double sum = behind(thread), weight;

		if (thread->state == BLOCKED)
			sum = fmax(sum,
				fmin(furthest, sum + (double)(sim->now -
							      (int64_t)thread->account.since_ns)));
		sim_settle(sim, thread);
		weight = (double)thread->cpu_ns - thread->marked_cpu_ns;
		weights += weight;
		rate += weight / fmax(wall - sum + thread->marked_behind_ns, wall / 50);
	}
	return weights / rate;
}

double measured_per_item(struct sim *sim, enum measure measure)
{
	double wall = (double)(sim->now - sim->marked_ns);

	if (measure == MEASURE_EACH)
		return 1 / rate_of_threads(sim);
	if (measure == MEASURE_CPU)
		return virtual_mean(sim, wall) / (double)sim->counts.items;
	if (measure == MEASURE_VISITS)
		return (sim->last_visit_ns - sim->first_visit_ns) / (double)(sim->visits_from - 1);
	return (wall - (double)(sim->owed_ns - sim->marked_owed_ns)) / (double)sim->counts.items;
}

/* Virtual time per item, over LONG_NS. */
static double per_item(struct sim *sim, enum measure measure)
{
	sim_run(sim, WARM_NS);
	sim_measure(sim);
	sim_run(sim, WARM_NS + LONG_NS);
	return measured_per_item(sim, measure);
}

double truth_per_item(const struct program *program, int line, int speedup_permille)
{
	static struct sim sim;
	struct options options = decided;

	options.period_ns = 1000000 * MS; /* nobody looks */
	sim_init(&sim, program, &options);
	sim.shrunk_line = line;
	sim.shrink = 1 - speedup_permille / 1000.0;
	return per_item(&sim, MEASURE_GROWTH);
}

static int cell_line(int cell)
{
	return cell < 0 ? -1 : cell / 2;
}

static int cell_speedup(int cell)
{
	return cell % 2 ? 1000 : 500;
}

static double predicted_per_item(const struct program *program, const struct options *options,
	enum measure measure, int cell, struct price *price)
{
	static struct sim sim;
	double result;

	sim_init(&sim, program, options);
	sim_experiment(&sim, cell_line(cell), cell_speedup(cell));
	result = per_item(&sim, measure);
	price->paused += (double)sim.counts.pauses_ns / (double)LONG_NS / program->own;
	price->cells++;
	price->last_items = (double)sim.counts.items;
	return result;
}

/* Programs paced by the clock are recognised, not predicted; spinning waits are invisible. */
bool family_is_counted(int family)
{
	const char *name = program_family(family);

	return strcmp(name, "paced") != 0 && !strstr(name, "spin");
}

/* The truth of a cell does not depend on the rule: it is found once.  -1: the baseline. */
static double truth_cached(const struct program *program, int family, int seed, int cell)
{
	enum { SEEDS = 64 };
	static double cache[FAMILIES][SEEDS][2 * MAX_LINES + 1];
	double *entry = &cache[family][seed % SEEDS][cell + 1];

	if (seed >= SEEDS)
		return truth_per_item(program, cell_line(cell), cell_speedup(cell));
	if (*entry <= 0)
		*entry = truth_per_item(program, cell_line(cell), cell_speedup(cell));
	return *entry;
}

/* The baseline beside other programs, and how much longer it takes there. */
static double loaded_base_of(const struct program *program, const struct options *options,
	enum measure measure, double alone, struct price *price)
{
	double base = predicted_per_item(program, options, measure, -1, price);

	price->longer += (double)LONG_NS / price->last_items / alone;
	price->programs++;
	return base;
}

static void program_measure(int family, int seed, const struct options *options,
	enum measure measure, struct errors *errors)
{
	static struct program program, loaded;
	double base, loaded_base;

	program_make(&program, family, (uint64_t)seed);
	base = loaded_base = truth_cached(&program, family, seed, -1);
	loaded = program;
	program_load(&loaded, &options->load);
	if (options->load.per_two_cpus)
		loaded_base = loaded_base_of(&loaded, options, measure, base, &errors->price);
	for (int cell = 0; cell < 2 * program.lines; cell++) {
		double truth = truth_cached(&program, family, seed, cell) / base;
		double got = predicted_per_item(&loaded, options, measure, cell, &errors->price) /
			     loaded_base;

		errors_add(errors, 100 * (truth - got));
	}
}

static void errors_join(struct errors *sum, const struct errors *more)
{
	for (int i = 0; i < more->count; i++)
		errors_add(sum, more->values[i]);
	sum->bias += more->bias - more->sum; /* values have no sign */
	sum->price.paused += more->price.paused;
	sum->price.longer += more->price.longer;
	sum->price.cells += more->price.cells;
	sum->price.programs += more->price.programs;
}

void accuracy_measure(const struct options *options, enum measure measure, struct seeds seeds,
	struct errors *ret_all, struct errors *ret_by)
{
	for (int family = 0; family < FAMILIES; family++) {
		for (int i = 1; i <= seeds.count; i++)
			program_measure(family, seeds.after + i, options, measure, &ret_by[family]);
		if (family_is_counted(family))
			errors_join(ret_all, &ret_by[family]);
	}
}

void accuracy_show(
	const char *name, const struct options *options, enum measure measure, struct seeds seeds)
{
	struct errors all = {0}, by[FAMILIES] = {{0}};
	const struct price *price = &all.price;

	accuracy_measure(options, measure, seeds, &all, by);
	printf("| %s | %.2f | %.1f | %.0f | %+.2f | %.2f | %.2f |", name, errors_mean(&all),
		errors_quantile(&all, 0.9), all.worst, all.bias / all.count,
		price->paused / price->cells,
		price->programs ? price->longer / price->programs : 1);
	for (int i = 0; i < FAMILIES; i++) {
		printf(" %.1f |", errors_mean(&by[i]));
		free(by[i].values);
	}
	printf("\n");
	fflush(stdout);
	free(all.values);
}

static void show_rules(struct seeds seeds, int64_t period_ns)
{
	static const struct {
		const char *name;
		enum rule rule;
		int slack;
		bool cpu_edge;
	} rules[] = {
		{"no credit", RULE_NONE, 0, false},
		{"coz's", RULE_COZ, 0, false},
		{"max", RULE_MAX, 0, false},
		{"D", RULE_UNPAID, 0, false},
		{"clock, slack 0", RULE_CLOCK, 0, false},
		{"clock, slack 1", RULE_CLOCK, 1, false},
		{"clock, slack 3", RULE_CLOCK, 3, false},
		{"clock, slack 3, CPU edges", RULE_CLOCK, 3, true},
		{"clock, slack 6, CPU edges", RULE_CLOCK, 6, true},
	};

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		struct options options = decided;
		char name[64];

		options.rule = rules[i].rule;
		options.slack_periods = rules[i].slack;
		options.cpu_edge = rules[i].cpu_edge;
		options.period_ns = period_ns;
		snprintf(name, sizeof name, "%s, %.2f ms", rules[i].name, (double)period_ns / 1e6);
		accuracy_show(name, &options, MEASURE_GROWTH, seeds);
	}
}

static void show_variants(struct seeds seeds)
{
	struct options options = decided;

	accuracy_show("decided", &options, MEASURE_GROWTH, seeds);
	accuracy_show("virtual time at visits", &options, MEASURE_VISITS, seeds);
	options.pause = PAUSE_SLEEP;
	accuracy_show("sleeping pauses", &options, MEASURE_GROWTH, seeds);
	accuracy_show("sleeping pauses, at visits", &options, MEASURE_VISITS, seeds);
	options = decided;
	options.from_handler = true;
	accuracy_show("pause counted from the handler", &options, MEASURE_GROWTH, seeds);
	options = decided;
	options.weight = WEIGHT_PERIOD;
	accuracy_show("a hit weighs one period", &options, MEASURE_GROWTH, seeds);
	options.lost_permille = 100;
	accuracy_show("the same, 10 % lost", &options, MEASURE_GROWTH, seeds);
	options.weight = WEIGHT_CPU_TIME;
	accuracy_show("decided, 10 % lost", &options, MEASURE_GROWTH, seeds);
	options = decided;
	options.per_thread = true;
	accuracy_show("a sampler per thread", &options, MEASURE_GROWTH, seeds);
	options = decided;
	options.stratified = true;
	accuracy_show("one sample in each period", &options, MEASURE_GROWTH, seeds);
	options = decided;
	options.prompt = true;
	accuracy_show("others signalled at once", &options, MEASURE_GROWTH, seeds);
	options.at_switch = true;
	accuracy_show("the same, and paid at switch-in", &options, MEASURE_GROWTH, seeds);
	options = decided;
	options.whole_pause = true;
	accuracy_show("a pause counts on in the run queue", &options, MEASURE_GROWTH, seeds);
}

void accuracy_heading(void)
{
	printf("| rule | mean | p90 | max | bias | paused | times as long |");
	for (int i = 0; i < FAMILIES; i++)
		printf(" %s |", program_family(i));
	printf("\n|---|---|---|---|---|---|---|");
	for (int i = 0; i < FAMILIES; i++)
		printf("---|");
	printf("\n");
}

void accuracy_table(struct seeds seeds)
{
	static const int64_t periods_us[] = {1000, 500, 250, 200, 100};

	accuracy_heading();
	for (size_t i = 0; i < sizeof periods_us / sizeof *periods_us; i++)
		show_rules(seeds, periods_us[i] * US);
	show_variants(seeds);
}
