/* causal_chain.c - see causal_chain.h.
 *
 * A loop is a jump back: from the place it leads to (the head, visited once in each round) up to
 * the jump.  A block that the compiler moved behind its function jumps back too; what it looks like
 * then is a place of the function like any other, whose visits are counted before it is believed.
 */
#include "drive/causal_chain.h"

#include "base/str.h"
#include "causal_cheap.h"
#include "causal_sites_parts.h"
#include "code/disassemble.h"
#include "code/loops.h"

enum { FUNCTION_BYTES_MOST = 256 << 10, LOOPS_MOST = 16 };
static const double share_least = 0.05;

/* The points that one place of a stack stands for. */
struct chain_frame {
	uint32_t first, count; /* of ids */
};

struct chain {
	struct causal_sites *sites;
	struct arena *arena;
	struct map frame_by_place, point_by_place;
	vec_of(struct chain_frame) frames;
	vec_of(uint32_t) ids;
	causal_function_vec points;
	vec_of(uint32_t) last; /* of each point: the stack it was seen on last */
};

/* The heads of the loops of a function that an address is in, the outermost first. */
static unsigned heads_find(const struct causal_module *module, const struct names_frame *function,
	uint64_t addr, uint64_t ret_heads[LOOPS_MOST])
{
	arena_auto struct arena arena = {0};
	const struct disassemble_options how = {.machine = image_machine(module->image)};
	const struct instruction *at;
	struct disassembly rows = {0};
	struct err ignored = {0};
	struct image_bytes code;
	struct loops loops;
	unsigned count = 0;

	if (!function->function_bytes || function->function_bytes > FUNCTION_BYTES_MOST)
		return 0;
	code = image_code(module->image, function->function_addr, (size_t)function->function_bytes);
	if (!code.at || disassemble(&how, &code, &arena, &rows, &ignored) < 0)
		return 0;
	loops_find(rows.at, rows.count, &arena, &loops);
	at = loops_instruction(&loops, addr);
	for (uint32_t loop = at ? loops.innermost[at - loops.instructions] : 0;
		loop && count < LOOPS_MOST; loop = loops.at[loop - 1].outer)
		ret_heads[count++] = loops.at[loop - 1].head;
	for (unsigned i = 0; i < count / 2; i++) {
		uint64_t inner = ret_heads[i];

		ret_heads[i] = ret_heads[count - 1 - i];
		ret_heads[count - 1 - i] = inner;
	}
	return count;
}

static bool is_own(struct causal_sites *sites, const struct causal_module *module, uint64_t addr)
{
	const struct place *own;
	enum causal_own kind = causal_sites_own(sites, module->path, &own);

	if (kind != CAUSAL_OWN_LINES)
		return kind == CAUSAL_OWN_ALL;
	vec_foreach (const struct place_range, range, &own->ranges)
		if (addr >= range->low && addr < range->high)
			return true;
	return false;
}

/* What a place in a function is called: as --progress takes it, where there are lines. */
static const char *loop_name(struct chain *chain, const struct causal_module *module,
	const struct names_frame *function, uint64_t addr)
{
	struct names_frame frames[CAUSAL_CHAIN];
	unsigned count = names_find(module->names, addr, UINT64_MAX, frames, CAUSAL_CHAIN);
	int at = place_frame(chain->sites->scope, frames, count);

	if (at >= 0 && frames[at].line)
		return causal_sites_line_name(chain->sites, frames[at].file, frames[at].line);
	return arena_format(chain->arena, "%.80s+0x%llx", function->function,
		(unsigned long long)(addr - function->function_addr));
}

static void point_add(struct chain *chain, const struct causal_module *module,
	const struct names_frame *function, uint64_t addr)
{
	bool is_loop = addr != function->function_addr;
	struct causal_function point = {.addr = addr,
		.bytes = is_loop ? 0 : function->function_bytes,
		.point = {.kind = CAUSAL_UPROBE, .path = module->path},
		.is_loop = is_loop,
		.function = arena_copy(chain->arena, function->function)};
	str_auto struct str key = {0};
	uint32_t known;

	str_addf(&key, "%s %llx", module->path, (unsigned long long)addr);
	if (!map_get(&chain->point_by_place, key.at, key.len, &known)) {
		causal_cheap_point(module->image, function, addr, &point.point);
		known = chain->points.count;
		map_put(&chain->point_by_place, key.at, key.len, known);
		point.point.name = is_loop ? loop_name(chain, module, function, addr)
					   : causal_point_name(chain->arena, function->function);
		vec_push(&chain->points, point);
		vec_push(&chain->last, UINT32_MAX);
	}
	vec_push(&chain->ids, known);
}

/* The function's entry, then the loops around the place. */
static void frame_learn(struct chain *chain, const struct causal_place *place)
{
	const struct causal_module *module =
		&chain->sites->modules.at[causal_sites_module(chain->sites, place->path)];
	struct names_frame frames[CAUSAL_CHAIN], *function;
	uint64_t heads[LOOPS_MOST], addr;
	unsigned found, count;

	if (!module->names || !image_addr_of_offset(module->image, place->offset, &addr))
		return;
	found = names_find(module->names, addr, UINT64_MAX, frames, CAUSAL_CHAIN);
	function = found ? &frames[found - 1] : NULL;
	if (!function || !function->function || !function->function_addr ||
		!is_own(chain->sites, module, function->function_addr))
		return;
	point_add(chain, module, function, function->function_addr);
	count = heads_find(module, function, addr, heads);
	for (unsigned i = 0; i < count; i++)
		point_add(chain, module, function, heads[i]);
}

static struct chain_frame frame_of(struct chain *chain, const struct causal_place *place)
{
	str_auto struct str key = {0};
	struct chain_frame frame = {.first = chain->ids.count};
	uint32_t known;

	if (!place->path)
		return frame;
	str_addf(&key, "%s %llx", place->path, (unsigned long long)place->offset);
	if (map_get(&chain->frame_by_place, key.at, key.len, &known) && known < chain->frames.count)
		return chain->frames.at[known];
	frame_learn(chain, place);
	frame.count = chain->ids.count - frame.first;
	map_put(&chain->frame_by_place, key.at, key.len, chain->frames.count);
	vec_push(&chain->frames, frame);
	return frame;
}

/* From the root in; a function that calls itself counts where it stands first. */
static void stack_take(struct chain *chain, const struct causal_stack *stack, uint32_t number)
{
	uint32_t depth = 0;

	for (uint32_t i = stack->count; i--;) {
		struct chain_frame frame = frame_of(chain, &stack->frames[i]);

		for (uint32_t k = 0; k < frame.count; k++) {
			uint32_t id = chain->ids.at[frame.first + k];
			struct causal_function *point = &chain->points.at[id];

			depth++;
			if (chain->last.at[id] == number)
				continue;
			chain->last.at[id] = number;
			point->share += (double)stack->ns;
			point->depth += (double)stack->ns * depth;
		}
	}
}

static int by_depth(const void *a, const void *b)
{
	const struct causal_function *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void causal_chain_list(struct causal_sites *sites, const struct causal_stack *stacks,
	uint32_t count, struct arena *arena, causal_function_vec *ret_points)
{
	struct chain chain = {.sites = sites, .arena = arena};
	double all_ns = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		all_ns += (double)stacks[i].ns;
		stack_take(&chain, &stacks[i], i);
	}
	vec_foreach (struct causal_function, point, &chain.points) {
		point->depth /= point->share;
		point->share /= all_ns;
	}
	vec_sort(&chain.points, by_depth);
	vec_foreach (const struct causal_function, point, &chain.points)
		if (point->share >= share_least && kept++ < CAUSAL_CHAIN_MAX)
			vec_push(ret_points, *point);
	map_done(&chain.frame_by_place);
	map_done(&chain.point_by_place);
	vec_done(&chain.frames);
	vec_done(&chain.ids);
	vec_done(&chain.points);
	vec_done(&chain.last);
}
