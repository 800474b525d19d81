/* causal_stacks.c - whole stacks of the program, sample by sample, as the kernel side walked them.
 *
 * Kept only while asked for: leaving one frame is some twenty steps of a search. */
#include <string.h>

#include "base/sorted.h"
#include "causal_parts.h"

void causal_stacks_begin(struct causal *causal)
{
	struct assay_causal_settings *settings = &causal->kernel->settings;

	settings->stacks = 0;
	causal->kernel->counts.stacks = 0;
	if (causal->stack_pages)
		settings->stacks = ASSAY_CAUSAL_STACKS;
}

static struct causal_place frame_place(const causal_code_vec *code, uint64_t addr)
{
	uint32_t upto = vec_upto(code, start, addr);
	const struct causal_code *at = upto ? &code->at[upto - 1] : NULL;

	if (!at || addr >= at->end)
		return (struct causal_place){.offset = addr};
	return (struct causal_place){at->path, addr - at->start + at->offset, 1};
}

static void stack_add(
	struct causal *causal, const causal_code_vec *code, const struct assay_causal_stack *from)
{
	uint32_t count = from->count < WIRE_CAUSAL_DEPTH ? from->count : WIRE_CAUSAL_DEPTH;
	struct causal_place *frames;

	if (!count || !from->weight_ns)
		return;
	frames = arena_take(&causal->stack_texts, count * sizeof(*frames));
	for (uint32_t i = 0; i < count; i++)
		frames[i] = frame_place(code, from->frame[i]);
	vec_push(&causal->stacks, (struct causal_stack){.frames = frames,
					  .count = count,
					  .own = from->own < count ? from->own : 0,
					  .thread = from->tid,
					  .ns = from->weight_ns});
}

int causal_stacks_end(struct causal *causal, const struct causal_stack **ret_stacks,
	uint32_t *ret_count, struct err *err)
{
	uint64_t kept = causal->kernel->counts.stacks;
	causal_code_vec code = {0};
	int r;

	causal->kernel->settings.stacks = 0;
	arena_done(&causal->stack_texts);
	causal->stacks.count = 0;
	r = causal_map_code(causal->pid, &causal->stack_texts, &code, err);
	for (uint64_t i = 0; r >= 0 && causal->stack_pages && i < kept && i < ASSAY_CAUSAL_STACKS;
		i++)
		stack_add(causal, &code, &causal->stack_pages[i]);
	vec_done(&code);
	*ret_stacks = causal->stacks.at;
	*ret_count = causal->stacks.count;
	return r;
}

void causal_stacks_forget(struct causal *causal)
{
	vec_done(&causal->stacks);
	arena_done(&causal->stack_texts);
}
