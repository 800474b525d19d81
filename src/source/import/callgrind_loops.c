/* callgrind_loops.c - see callgrind_loops.h.
 *
 * The instructions of a function and the ways between them (jumps, and on to the next one) are
 * walked depth first from the first instruction on.  A way to an instruction that the walk is
 * still in closes a loop, whatever the order of the walk is, because what compilers make is
 * reducible: the head of a loop is the only way in.  So it is found also where parts of a loop
 * stand elsewhere in the function, which the addresses alone would take for other loops. The head
 * runs once per trip.  Whoever came to it by another way than back has entered the loop. */
#include "callgrind_loops.h"

#include <stdlib.h>

#include "base/mem.h"

void callgrind_loops_add_cost(
	struct callgrind_loops *loops, const struct callgrind_cost *cost, uint64_t times)
{
	if (cost->addr && times)
		vec_push(&loops->steps, (struct callgrind_step){
						.function = cost->names[CALLGRIND_FUNCTION],
						.object = cost->names[CALLGRIND_OBJECT],
						.file = cost->names[CALLGRIND_FILE],
						.addr = cost->addr,
						.line = cost->line,
						.times = times,
					});
}

void callgrind_loops_add_jump(struct callgrind_loops *loops, const struct callgrind_jump *jump)
{
	const struct callgrind_cost *from = jump->from;

	/* One to itself is a repeated instruction (rep movsb), not a loop of the program. */
	if (from->addr && jump->addr && !jump->leaves && from->addr != jump->addr)
		vec_push(&loops->ways, (struct callgrind_way){
					       .function = from->names[CALLGRIND_FUNCTION],
					       .object = from->names[CALLGRIND_OBJECT],
					       .from = from->addr,
					       .to = jump->addr,
					       .times = jump->count,
					       .reached = jump->reached,
				       });
}

void callgrind_loops_done(struct callgrind_loops *loops)
{
	vec_done(&loops->steps);
	vec_done(&loops->ways);
}

static int by_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_step(const void *a, const void *b)
{
	const struct callgrind_step *x = a, *y = b;
	int order = by_u64((uintptr_t)x->object, (uintptr_t)y->object);

	if (!order)
		order = by_u64((uintptr_t)x->function, (uintptr_t)y->function);
	return order ? order : by_u64(x->addr, y->addr);
}

static int by_way(const void *a, const void *b)
{
	const struct callgrind_way *x = a, *y = b;
	int order = by_u64((uintptr_t)x->object, (uintptr_t)y->object);

	if (!order)
		order = by_u64((uintptr_t)x->function, (uintptr_t)y->function);
	if (!order)
		order = by_u64(x->from, y->from);
	return order ? order : by_u64(x->to, y->to);
}

static uint64_t add_limited(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* One row for what came in several. */
static void rows_fold(struct callgrind_loops *loops)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < loops->steps.count; i++) {
		struct callgrind_step *last = kept ? &loops->steps.at[kept - 1] : NULL;

		if (last && by_step(last, &loops->steps.at[i]) == 0)
			last->times = add_limited(last->times, loops->steps.at[i].times);
		else
			loops->steps.at[kept++] = loops->steps.at[i];
	}
	loops->steps.count = kept;
	kept = 0;
	for (uint32_t i = 0; i < loops->ways.count; i++) {
		const struct callgrind_way *way = &loops->ways.at[i];
		struct callgrind_way *last = kept ? &loops->ways.at[kept - 1] : NULL;

		if (last && by_way(last, way) == 0) {
			last->times = add_limited(last->times, way->times);
			last->reached = add_limited(last->reached, way->reached);
		} else {
			loops->ways.at[kept++] = *way;
		}
	}
	loops->ways.count = kept;
}

/* One function: its instructions and jumps, both by address. */
struct walk {
	const struct callgrind_step *steps;
	uint32_t step_count;
	const struct callgrind_way *ways;
	uint32_t way_count;
	uint32_t *first_way; /* of each instruction; one more for the end */
	uint32_t *next_way; /* that the walk takes from it: past its jumps it goes on to the next */
	uint8_t *state;
	uint64_t *back; /* how often the head was reached by a way that closes a loop */
	uint32_t *path;
};

enum { STEP_NEW, STEP_OPEN, STEP_CLOSED };

/* The instruction at an address, step_count: none that ran. */
static uint32_t step_at(const struct walk *w, uint64_t addr)
{
	uint32_t low = 0, high = w->step_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (w->steps[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->step_count && w->steps[low].addr == addr ? low : w->step_count;
}

/* How often it went on to the instruction behind it. */
static uint64_t went_on(const struct walk *w, uint32_t step)
{
	uint64_t times = w->steps[step].times;

	for (uint32_t i = w->first_way[step]; i < w->first_way[step + 1]; i++) {
		uint64_t gone = w->ways[i].times;

		times -= gone < times ? gone : times;
	}
	return step + 1 < w->step_count ? times : 0;
}

/* The next way from `step`, and how often it was taken; false: there is no more. */
static bool way_next(struct walk *w, uint32_t step, uint32_t *ret_to, uint64_t *ret_times)
{
	uint32_t way = w->next_way[step]++;

	if (way < w->first_way[step + 1]) {
		*ret_to = step_at(w, w->ways[way].to);
		*ret_times = w->ways[way].times;
		return true;
	}
	if (way > w->first_way[step + 1])
		return false;
	*ret_to = step + 1;
	*ret_times = went_on(w, step);
	return true;
}

static void walk_from(struct walk *w, uint32_t start)
{
	uint32_t depth = 0, to;
	uint64_t times;

	if (w->state[start] != STEP_NEW)
		return;
	w->path[depth++] = start;
	w->state[start] = STEP_OPEN;
	while (depth) {
		uint32_t step = w->path[depth - 1];

		if (!way_next(w, step, &to, &times)) {
			w->state[step] = STEP_CLOSED;
			depth--;
		} else if (!times || to >= w->step_count) {
			continue;
		} else if (w->state[to] == STEP_OPEN) {
			w->back[to] = add_limited(w->back[to], times);
		} else if (w->state[to] == STEP_NEW) {
			w->state[to] = STEP_OPEN;
			w->path[depth++] = to;
		}
	}
}

static void walk_open(struct walk *w)
{
	uint32_t way = 0;

	w->first_way = mem_new((size_t)w->step_count + 1, sizeof(*w->first_way));
	w->next_way = mem_new((size_t)w->step_count + 1, sizeof(*w->next_way));
	w->state = mem_new((size_t)w->step_count + 1, sizeof(*w->state));
	w->back = mem_new((size_t)w->step_count + 1, sizeof(*w->back));
	w->path = mem_new((size_t)w->step_count + 1, sizeof(*w->path));
	for (uint32_t i = 0; i < w->step_count; i++) {
		while (way < w->way_count && w->ways[way].from < w->steps[i].addr)
			way++;
		w->first_way[i] = w->next_way[i] = way;
	}
	w->first_way[w->step_count] = w->way_count;
}

static void walk_done(struct walk *w)
{
	free(w->first_way);
	free(w->next_way);
	free(w->state);
	free(w->back);
	free(w->path);
}

static int function_find(
	struct walk *w, int (*take)(void *, const struct callgrind_loop *), void *context)
{
	int r = 0;

	walk_open(w);
	for (uint32_t i = 0; i < w->step_count; i++)
		walk_from(w, i);
	for (uint32_t i = 0; r >= 0 && i < w->step_count; i++) {
		const struct callgrind_step *head = &w->steps[i];
		uint64_t back = w->back[i];

		if (back)
			r = take(context,
				&(struct callgrind_loop){
					.function = head->function,
					.file = head->file,
					.line = head->line,
					.entries = head->times > back ? head->times - back : 0,
					.trips = head->times,
				});
	}
	walk_done(w);
	return r;
}

static bool same_function(const struct callgrind_step *a, const struct callgrind_step *b)
{
	return a->function == b->function && a->object == b->object;
}

int callgrind_loops_find(struct callgrind_loops *loops,
	int (*take)(void *context, const struct callgrind_loop *loop), void *context)
{
	uint32_t way = 0;
	int r = 0;

	vec_sort(&loops->steps, by_step);
	vec_sort(&loops->ways, by_way);
	rows_fold(loops);
	for (uint32_t i = 0; r >= 0 && i < loops->steps.count;) {
		const struct callgrind_step *first = &loops->steps.at[i];
		struct walk w = {.steps = first};
		struct callgrind_way least = {.function = first->function, .object = first->object};

		while (i < loops->steps.count && same_function(first, &loops->steps.at[i]))
			i++;
		w.step_count = (uint32_t)(&loops->steps.at[i] - first);
		while (way < loops->ways.count && by_way(&loops->ways.at[way], &least) < 0)
			way++;
		if (way == loops->ways.count)
			break; /* no jumps from here on */
		w.ways = &loops->ways.at[way];
		while (way + w.way_count < loops->ways.count &&
			w.ways[w.way_count].function == first->function &&
			w.ways[w.way_count].object == first->object)
			w.way_count++;
		if (w.way_count)
			r = function_find(&w, take, context);
	}
	return r;
}
