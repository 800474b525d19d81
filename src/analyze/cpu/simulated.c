/* simulated.c - see simulated.h: the places of a run, summed by function or by line. */
#include "analyze/simulated.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/run.h"
#include "simulated_parts.h"

/* As drive/simulate.h emits them, and as an imported cachegrind.out has them. */
static const struct {
	const char *name, *column;
} count_names[SIMULATED_COUNTS] = {
	[SIMULATED_INSTRUCTIONS] = {"instructions", "Ir"},
	[SIMULATED_L1I_MISSES] = {"L1-icache-load-misses", "I1mr"},
	[SIMULATED_LLI_MISSES] = {"LLC-code-misses", "ILmr"},
	[SIMULATED_LOADS] = {"L1-dcache-loads", "Dr"},
	[SIMULATED_L1_LOAD_MISSES] = {"L1-dcache-load-misses", "D1mr"},
	[SIMULATED_LL_LOAD_MISSES] = {"LLC-load-misses", "DLmr"},
	[SIMULATED_STORES] = {"L1-dcache-stores", "Dw"},
	[SIMULATED_L1_STORE_MISSES] = {"L1-dcache-store-misses", "D1mw"},
	[SIMULATED_LL_STORE_MISSES] = {"LLC-store-misses", "DLmw"},
	[SIMULATED_CONDITIONALS] = {"conditional-branches", "Bc"},
	[SIMULATED_CONDITIONAL_MISSES] = {"conditional-branch-misses", "Bcm"},
	[SIMULATED_INDIRECTS] = {"indirect-branches", "Bi"},
	[SIMULATED_INDIRECT_MISSES] = {"indirect-branch-misses", "Bim"},
	[SIMULATED_L2_LOAD_MISSES] = {"L2-load-misses", "none"},
};

const char *simulated_count_name(enum simulated_count count)
{
	return count_names[count].name;
}

uint64_t simulated_l1_misses(const struct simulated_row *row)
{
	return row->counts[SIMULATED_L1_LOAD_MISSES] + row->counts[SIMULATED_L1_STORE_MISSES];
}

uint64_t simulated_ll_misses(const struct simulated_row *row)
{
	return row->counts[SIMULATED_LL_LOAD_MISSES] + row->counts[SIMULATED_LL_STORE_MISSES];
}

uint64_t simulated_mispredicts(const struct simulated_row *row)
{
	return row->counts[SIMULATED_CONDITIONAL_MISSES] + row->counts[SIMULATED_INDIRECT_MISSES];
}

double simulated_mpki(uint64_t count, uint64_t instructions)
{
	return instructions ? (double)count * 1000 / (double)instructions : (double)NAN;
}

/* Which count each event of the run is; SIMULATED_COUNTS: none. */
static enum simulated_count count_of(const struct run *run, const struct event_row *event)
{
	const char *name = run_text(run, event->name);
	size_t len = strcspn(name, ":");

	if (!(event->flags & EVENT_SIMULATED) || event->status != EVENT_COUNTED)
		return SIMULATED_COUNTS;
	for (unsigned i = 0; i < SIMULATED_COUNTS; i++)
		if ((strlen(count_names[i].name) == len &&
			    memcmp(name, count_names[i].name, len) == 0) ||
			str_equal(name, count_names[i].column))
			return (enum simulated_count)i;
	return SIMULATED_COUNTS;
}

struct summing {
	const struct run *run;
	enum simulated_count *of_event; /* by id - 1 */
	struct map map;
	vec_of(struct simulated_row) rows;
};

struct place_key {
	text_id function, file;
	uint32_t line;
};

static void summing_done(struct summing *s)
{
	free(s->of_event);
	map_done(&s->map);
	vec_done(&s->rows);
}

void simulated_counts_add(uint64_t *into, const uint64_t *more)
{
	assert(into);
	for (unsigned i = 0; i < SIMULATED_COUNTS; i++)
		if (__builtin_add_overflow(into[i], more[i], &into[i]))
			into[i] = UINT64_MAX;
}

static struct simulated_row *row_at(struct summing *s, const struct place_key *key)
{
	uint32_t index;

	if (map_add(&s->map, key, sizeof(*key), s->rows.count, &index)) {
		vec_push(&s->rows,
			(struct simulated_row){
				.function = key->function ? run_text(s->run, key->function)
							  : "[unknown]",
				.file = run_text(s->run, key->file),
				.line = key->line,
			});
	}
	return &s->rows.at[index];
}

static void places_sum(struct summing *s, bool by_line)
{
	vec_foreach (const struct place_row, place, &s->run->places) {
		enum simulated_count count = s->of_event[place->event - 1];
		struct place_key key = {place->function, place->file, by_line ? place->line : 0};
		uint64_t one[SIMULATED_COUNTS] = {0};

		if (count == SIMULATED_COUNTS)
			continue;
		one[count] = place->value;
		simulated_counts_add(row_at(s, &key)->counts, one);
	}
}

/* Rows of one function in several files become one; its file is the one with the most work. */
static void functions_fold(struct summing *s)
{
	struct map map = {0};
	uint64_t *most = mem_new(s->rows.count + 1, sizeof(*most));
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->rows.count; i++) {
		struct simulated_row row = s->rows.at[i];
		uint64_t work = row.counts[SIMULATED_INSTRUCTIONS];
		uint32_t at;

		if (map_add(&map, row.function, strlen(row.function), kept, &at)) {
			most[kept] = work;
			s->rows.at[kept++] = row;
			continue;
		}
		simulated_counts_add(s->rows.at[at].counts, row.counts);
		if (work > most[at]) {
			most[at] = work;
			s->rows.at[at].file = row.file;
		}
	}
	s->rows.count = kept;
	free(most);
	map_done(&map);
}

static int by_work(const void *a, const void *b)
{
	const struct simulated_row *x = a, *y = b;
	uint64_t left = x->counts[SIMULATED_INSTRUCTIONS],
		 right = y->counts[SIMULATED_INSTRUCTIONS];
	int names;

	if (left != right)
		return left > right ? -1 : 1;
	names = strcmp(x->function, y->function);
	if (!names)
		names = strcmp(x->file, y->file);
	return names ? names : (x->line > y->line) - (x->line < y->line);
}

/* The counts of the first execution, whose places these are. */
static void totals_take(
	const struct run *run, const enum simulated_count *of_event, struct simulated_counts *ret)
{
	vec_foreach (const struct count_row, row, &run->counts) {
		enum simulated_count count = of_event[row->event - 1];

		if (count == SIMULATED_COUNTS || row->at_ns || row->execution > 1)
			continue;
		ret->known[count] = true;
		ret->totals[count] = row->value;
	}
	vec_foreach (const struct execution_packed, e, &run->executions)
		ret->partial |= (e->flags & EXECUTION_OF_A_PART) != 0;
}

int simulated_take(const struct run *run, enum simulated_by by, struct arena *arena,
	struct simulated_counts *ret_counts, struct err *err)
{
	struct summing s = {.run = run};
	struct simulated_counts counts = {0};
	bool any = false;

	s.of_event = mem_new(run->events.count + 1, sizeof(*s.of_event));
	for (uint32_t i = 0; i < run->events.count; i++) {
		s.of_event[i] = count_of(run, &run->events.at[i]);
		any |= s.of_event[i] != SIMULATED_COUNTS;
	}
	if (!any) {
		summing_done(&s);
		err_set(err, ERR_USAGE, ENODATA, "nothing in this run was simulated");
		err_hint(err, "`assay stat --engine sim -o RUN -- PROGRAM` makes a simulated run");
		return -ENODATA;
	}
	totals_take(run, s.of_event, &counts);
	places_sum(&s, by == SIMULATED_BY_LINE);
	if (by == SIMULATED_BY_FUNCTION)
		functions_fold(&s);
	vec_sort(&s.rows, by_work);
	counts.rows = arena_keep(arena, s.rows.at, s.rows.count * sizeof(*s.rows.at));
	counts.row_count = s.rows.count;
	*ret_counts = counts;
	summing_done(&s);
	return 0;
}
