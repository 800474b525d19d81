/* causal_cost.c - what a probe costs: one is put on an instruction of this process, which runs it.
 *
 * A trap and a program in the kernel, and a second trap where the kernel must let the instruction
 * run elsewhere: 0.6 and 13 us on the reference machine, so it is measured and not assumed.  By the
 * thread's own CPU time: others that get the CPU meanwhile do not count. */
#include <bpf/libbpf.h>
#include <time.h>
#include <unistd.h>

#include "base/stats.h"
#include "causal_parts.h"

enum { ROUNDS = 5, VISITS = 200 };

/* One instruction of each kind, at a place that has a name. */
extern const unsigned char assay_cost_cheap[] __attribute__((visibility("hidden")));
extern const unsigned char assay_cost_other[] __attribute__((visibility("hidden")));

static __attribute__((noinline)) void probed(void)
{
#if defined(__x86_64__)
	__asm__ volatile("assay_cost_cheap: nop\n"
			 "assay_cost_other: xorl %%eax, %%eax\n" ::
				 : "eax", "cc");
#elif defined(__aarch64__)
	__asm__ volatile("assay_cost_cheap: b assay_cost_other\n"
			 "assay_cost_other: mov x9, xzr\n" ::
				 : "x9");
#endif
}

static double cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

static double visits_ns(void)
{
	double rounds[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		double start = cpu_ns();

		for (unsigned k = 0; k < VISITS; k++)
			probed();
		rounds[i] = (cpu_ns() - start) / VISITS;
	}
	stats_sort(rounds, ROUNDS);
	return stats_median_sorted(rounds, ROUNDS);
}

static struct bpf_link *probe_self(struct causal *causal, uint64_t addr)
{
	struct bpf_uprobe_opts how = {.sz = sizeof(how), .bpf_cookie = WIRE_CAUSAL_PROBED};
	arena_auto struct arena paths = {0};
	struct bpf_link *link = NULL;
	causal_code_vec code = {0};
	struct err ignored = {0};

	(void)causal_map_code(getpid(), &paths, &code, &ignored);
	vec_foreach (const struct causal_code, at, &code)
		if (addr >= at->start && addr < at->end)
			link = bpf_program__attach_uprobe_opts(
				bpf_object__find_program_by_name(
					causal->object, "assay_causal_uprobe"),
				getpid(), at->path, addr - at->start + at->offset, &how);
	vec_done(&code);
	return link;
}

uint64_t causal_points_cost_ns(struct causal *causal, bool is_cheap)
{
	const unsigned char *at = is_cheap ? assay_cost_cheap : assay_cost_other;
	uint64_t *known = &causal->probe_ns[is_cheap];
	double without, with;
	struct bpf_link *link;

	if (*known || !causal->object)
		return *known;
	without = visits_ns();
	link = probe_self(causal, (uint64_t)(uintptr_t)at);
	if (!link)
		return 0;
	with = visits_ns();
	bpf_link__destroy(link);
	*known = with > without + 1 ? (uint64_t)(with - without) : 1;
	return *known;
}
