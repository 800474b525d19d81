/* causal_spots.c - where the program is, sample by sample, without a profiler beside ours. */
#include "base/sorted.h"
#include "causal_parts.h"

static const struct causal_code *code_find(const causal_code_vec *code, uint64_t addr)
{
	uint32_t upto = vec_upto(code, start, addr);

	return upto && addr < code->at[upto - 1].end ? &code->at[upto - 1] : NULL;
}

void causal_spot_add(struct causal *causal, const causal_code_vec *code, uint64_t addr, uint64_t ns)
{
	const struct causal_code *at = code_find(code, addr);

	if (at)
		vec_push(&causal->spots,
			(struct causal_spot){at->path, addr - at->start + at->offset, ns});
}

int causal_spots(struct causal *causal, const struct causal_spot **ret_spots, uint32_t *ret_count,
	struct err *err)
{
	causal_code_vec code = {0};
	int r;

	arena_done(&causal->spot_paths);
	causal->spots.count = 0;
	r = causal_map_code(causal->pid, &causal->spot_paths, &code, err);
	if (r >= 0)
		causal->engine->spots_read(causal, &code);
	vec_done(&code);
	*ret_spots = causal->spots.at;
	*ret_count = causal->spots.count;
	return r;
}
