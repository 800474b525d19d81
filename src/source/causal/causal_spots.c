/* causal_spots.c - where the program is, sample by sample, without a profiler beside ours. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "causal_parts.h"

static const struct causal_code *code_find(const causal_code_vec *code, uint64_t addr)
{
	uint32_t low = 0, high = code->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (code->at[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && addr < code->at[low - 1].end ? &code->at[low - 1] : NULL;
}

int causal_spots(struct causal *causal, const struct causal_spot **ret_spots, uint32_t *ret_count,
	struct err *err)
{
	int map = bpf_map__fd(bpf_object__find_map_by_name(causal->object, "assay_spots"));
	causal_code_vec code = {0};
	uint64_t addr = 0, ns;
	int r;

	arena_done(&causal->spot_paths);
	causal->spots.count = 0;
	r = causal_map_code(causal->pid, &causal->spot_paths, &code, err);
	for (void *from = NULL; r >= 0 && bpf_map_get_next_key(map, from, &addr) == 0;
		from = &addr) {
		const struct causal_code *at = code_find(&code, addr);

		if (at && bpf_map_lookup_elem(map, &addr, &ns) == 0)
			vec_push(&causal->spots,
				(struct causal_spot){at->path, addr - at->start + at->offset, ns});
	}
	vec_done(&code);
	*ret_spots = causal->spots.at;
	*ret_count = causal->spots.count;
	return r;
}

/* Another program: its addresses mean something else. */
void causal_spots_forget(struct causal *causal)
{
	int map = bpf_map__fd(bpf_object__find_map_by_name(causal->object, "assay_spots"));
	uint64_t addr;

	while (bpf_map_get_next_key(map, NULL, &addr) == 0 && bpf_map_delete_elem(map, &addr) == 0)
		;
}
