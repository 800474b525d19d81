/* loops.c - see loops.h.
 *
 * A loop is a strongly connected part of the flow graph, not the stretch of code between a jump
 * back and its target: compilers put unlikely blocks behind the function, and a jump from there
 * into a loop would make one of everything between.  Inner loops are found by taking away the jumps
 * back to the head and looking again (Steensgaard's nesting).  A node is an instruction: functions
 * have thousands, and Tarjan's search is linear. */
#include "code/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

enum { NODE_NONE = -1, NODE_END = -2, LOOPS_MOST = 10000 };

struct graph {
	const struct instruction *rows;
	int32_t count;
	int32_t *target;	 /* of the direct jump within the function, or NODE_NONE */
	uint8_t *falls, *table;	 /* goes on to the next; jumps through a table */
	vec_of(int32_t) orphans; /* blocks that nothing leads to: targets of tables */
	uint32_t *region;	 /* by node: 1 + index of its loop so far */
	int32_t *index, *low, *edge, *stack, *path;
	uint8_t *stacked;
	int32_t next_index, stack_count;
};

static int32_t node_at(const struct graph *g, uint64_t addr)
{
	int32_t lo = 0, hi = g->count - 1;

	while (lo <= hi) {
		int32_t middle = lo + (hi - lo) / 2;

		if (g->rows[middle].addr == addr)
			return middle;
		if (g->rows[middle].addr < addr)
			lo = middle + 1;
		else
			hi = middle - 1;
	}
	return NODE_NONE;
}

/* "jmp", "b", "br": what stands behind it is not reached from here. */
static bool jump_is_always(const char *text)
{
	return str_starts(text, "jmp") || str_starts(text, "ljmp") || str_starts(text, "b ") ||
	       str_starts(text, "br ");
}

static void graph_fill(struct graph *g)
{
	mem_auto uint8_t *entered = mem_new((size_t)g->count + 1, 1);

	for (int32_t i = 0; i < g->count; i++) {
		const struct instruction *row = &g->rows[i];
		bool jump = row->kind == INSTRUCTION_JUMP;
		bool always = jump && jump_is_always(row->text);

		g->target[i] = jump && row->has_target ? node_at(g, row->target) : NODE_NONE;
		g->table[i] = always && !row->has_target;
		g->falls[i] = !always && row->kind != INSTRUCTION_RETURN && i + 1 < g->count;
		if (g->target[i] >= 0)
			entered[g->target[i]] = 1;
		if (g->falls[i])
			entered[i + 1] = 1;
	}
	for (int32_t i = 1; i < g->count; i++)
		if (!entered[i])
			vec_push(&g->orphans, i);
}

/* The k-th node that `node` leads to: NODE_NONE for no edge, NODE_END behind the last. */
static int32_t edge_at(const struct graph *g, int32_t node, int32_t k)
{
	if (k == 0)
		return g->target[node];
	if (k == 1)
		return g->falls[node] ? node + 1 : NODE_NONE;
	if (g->table[node] && k - 2 < (int32_t)g->orphans.count)
		return g->orphans.at[k - 2];
	return NODE_END;
}

/* Within one region, and not back to the head of its loop. */
struct search {
	uint32_t region;
	int32_t head; /* NODE_NONE: the whole function */
};

static bool edge_counts(const struct graph *g, const struct search *s, int32_t to)
{
	return to >= 0 && g->region[to] == s->region && to != s->head;
}

static void node_open(struct graph *g, int32_t node)
{
	g->index[node] = g->low[node] = ++g->next_index;
	g->edge[node] = 0;
	g->stack[g->stack_count++] = node;
	g->stacked[node] = 1;
}

/* The head: entered from outside of the part, the lowest address when several are. */
static int32_t part_head(const struct graph *g, const int32_t *nodes, int32_t count, uint32_t loop)
{
	int32_t head = NODE_NONE, lowest = nodes[0];

	for (int32_t i = 0; i < count; i++)
		lowest = nodes[i] < lowest ? nodes[i] : lowest;
	/* What comes in is seen from the sources: all of them, so once per loop over the function.
	 */
	for (int32_t from = 0; from < g->count; from++) {
		int32_t to;

		if (g->region[from] == loop)
			continue;
		for (int32_t k = 0; (to = edge_at(g, from, k)) != NODE_END; k++)
			if (to >= 0 && g->region[to] == loop && (head < 0 || to < head))
				head = to;
	}
	return head < 0 ? lowest : head;
}

static int32_t part_latch(const struct graph *g, const int32_t *nodes, int32_t count, int32_t head)
{
	int32_t latch = head;

	for (int32_t i = 0; i < count; i++) {
		int32_t to;

		for (int32_t k = 0; (to = edge_at(g, nodes[i], k)) != NODE_END; k++)
			if (to == head && (latch == head || nodes[i] > latch))
				latch = nodes[i];
	}
	return latch;
}

typedef vec_of(struct loop) loop_vec;

static bool leads_to_itself(const struct graph *g, const struct search *s, int32_t node)
{
	int32_t to;

	for (int32_t k = 0; (to = edge_at(g, node, k)) != NODE_END; k++)
		if (to == node && edge_counts(g, s, to))
			return true;
	return false;
}

/* The search has left the root of a part: what is above it on the stack belongs to it. */
static void part_close(struct graph *g, const struct search *s, int32_t root, loop_vec *loops)
{
	int32_t first = g->stack_count, count, head;

	do {
		first--;
		g->stacked[g->stack[first]] = 0;
	} while (g->stack[first] != root);
	count = g->stack_count - first;
	g->stack_count = first;
	if ((count == 1 && !leads_to_itself(g, s, root)) || loops->count == LOOPS_MOST)
		return;
	for (int32_t i = 0; i < count; i++)
		g->region[g->stack[first + i]] = loops->count + 1;
	head = part_head(g, g->stack + first, count, loops->count + 1);
	vec_push(loops, (struct loop){.head = g->rows[head].addr,
				.latch = g->rows[part_latch(g, g->stack + first, count, head)].addr,
				.outer = s->region});
}

/* Tarjan's search from one node, with its path in an array: functions are deep. */
static void search_from(struct graph *g, const struct search *s, int32_t root, loop_vec *loops)
{
	int32_t depth = 0;

	g->path[0] = root;
	node_open(g, root);
	while (depth >= 0) {
		int32_t node = g->path[depth], to = edge_at(g, node, g->edge[node]);

		if (to == NODE_END) {
			if (g->low[node] == g->index[node])
				part_close(g, s, node, loops);
			if (--depth >= 0 && g->low[node] < g->low[g->path[depth]])
				g->low[g->path[depth]] = g->low[node];
			continue;
		}
		g->edge[node]++;
		if (!edge_counts(g, s, to))
			continue;
		if (!g->index[to]) {
			node_open(g, to);
			g->path[++depth] = to;
		} else if (g->stacked[to] && g->index[to] < g->low[node]) {
			g->low[node] = g->index[to];
		}
	}
}

static void region_search(struct graph *g, uint32_t region, loop_vec *loops)
{
	struct search s = {region, region ? node_at(g, loops->at[region - 1].head) : NODE_NONE};

	memset(g->index, 0, (size_t)g->count * sizeof(*g->index));
	g->next_index = g->stack_count = 0;
	for (int32_t i = 0; i < g->count; i++)
		if (g->region[i] == region && !g->index[i] && i != s.head)
			search_from(g, &s, i, loops);
}

static void graph_done(struct graph *g)
{
	free(g->target);
	free(g->falls);
	free(g->table);
	free(g->index);
	free(g->low);
	free(g->edge);
	free(g->stack);
	free(g->path);
	free(g->stacked);
	vec_done(&g->orphans);
}

void loops_find(const struct instruction *instructions, uint32_t count, struct arena *arena,
	struct loops *ret_loops)
{
	struct graph g = {.rows = instructions, .count = (int32_t)count};
	size_t room = (size_t)count + 1;
	loop_vec loops = {0};

	g.target = mem_new(room, sizeof(*g.target));
	g.falls = mem_new(room, 1);
	g.table = mem_new(room, 1);
	g.index = mem_new(room, sizeof(*g.index));
	g.low = mem_new(room, sizeof(*g.low));
	g.edge = mem_new(room, sizeof(*g.edge));
	g.stack = mem_new(room, sizeof(*g.stack));
	g.path = mem_new(room, sizeof(*g.path));
	g.stacked = mem_new(room, 1);
	g.region = arena_take(arena, room * sizeof(*g.region));
	graph_fill(&g);
	region_search(&g, 0, &loops);
	for (uint32_t i = 0; i < loops.count; i++) /* grows while it is walked */
		region_search(&g, i + 1, &loops);
	*ret_loops = (struct loops){.instructions = instructions,
		.instruction_count = count,
		.innermost = g.region,
		.at = arena_keep(arena, loops.at, loops.count * sizeof(*loops.at)),
		.count = loops.count};
	vec_done(&loops);
	graph_done(&g);
}

const struct instruction *loops_instruction(const struct loops *loops, uint64_t addr)
{
	uint32_t lo = 0, hi = loops->instruction_count;

	while (lo < hi) {
		uint32_t middle = lo + (hi - lo) / 2;
		const struct instruction *row = &loops->instructions[middle];

		if (addr < row->addr)
			hi = middle;
		else if (addr - row->addr < row->size_bytes)
			return row;
		else
			lo = middle + 1;
	}
	return NULL;
}
