/* causal_points.c - other probed points than those it was opened with: how a point is searched for.
 *
 * A probe costs the program 0.7 us a visit, so one that turns out hot is taken away alone, at once.
 */
#include <bpf/libbpf.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "causal_parts.h"

enum { REMOVERS = 16 };

void causal_points_copy(struct causal *causal, const struct causal_point *points, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < CAUSAL_PROBED_MAX; i++) {
		struct causal_point point = points[i];

		point.name = mem_copy_text(point.name, strlen(point.name));
		point.path = point.path ? mem_copy_text(point.path, strlen(point.path)) : NULL;
		vec_push(&causal->points, point);
	}
}

void causal_points_forget(struct causal *causal)
{
	vec_foreach (struct causal_point, point, &causal->points) {
		mem_free_pointer(&point->name);
		mem_free_pointer(&point->path);
	}
	vec_done(&causal->points);
}

/* Links to take away: every REMOVERS-th from `first` on. */
struct removal {
	struct bpf_link **links;
	uint32_t first, count;
};

static void *removal_do(void *data)
{
	const struct removal *removal = data;

	for (uint32_t i = removal->first; i < removal->count; i += REMOVERS)
		bpf_link__destroy(removal->links[i]);
	return NULL;
}

/* Taking one probe away waits for several grace periods of the kernel one after the other (Linux
 * 6.18), in which others may wait too.  `assay causal --progress auto --budget 12s -- perl` took 52
 * s on two busy CPUs, nearly all of it in there; side by side, and with a limit to the search, 16
 * s. The links have nothing in common. */
void causal_probes_remove(struct causal *causal)
{
	struct removal removals[REMOVERS];
	pthread_t threads[REMOVERS];
	bool started[REMOVERS] = {false};
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the thread that waits */
	for (uint32_t i = 0; i < REMOVERS && i < causal->probes.count; i++) {
		removals[i] = (struct removal){causal->probes.at, i, causal->probes.count};
		started[i] = i + 1 < causal->probes.count &&
			     pthread_create(&threads[i], NULL, removal_do, &removals[i]) == 0;
		if (!started[i])
			removal_do(&removals[i]);
	}
	for (uint32_t i = 0; i < REMOVERS; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	vec_done(&causal->probes);
}

uint32_t causal_points_change(
	struct causal *causal, const struct causal_point *points, uint32_t count)
{
	uint32_t placed = 0;

	causal_probes_remove(causal);
	causal_points_forget(causal);
	causal_points_copy(causal, points, count);
	memset(causal->kernel->visits, 0, sizeof(causal->kernel->visits));
	for (uint32_t i = 0; i < causal->points.count; i++) {
		struct bpf_link *link = causal->engine->place_probe(causal, i);

		vec_push(&causal->probes, link);
		placed += link != NULL;
	}
	return placed;
}

void causal_points_drop(struct causal *causal, uint32_t index)
{
	if (index >= causal->probes.count)
		return;
	bpf_link__destroy(causal->probes.at[index]);
	causal->probes.at[index] = NULL;
}

uint64_t causal_points_count(const struct causal *causal, uint32_t index)
{
	return index < CAUSAL_PROBED_MAX
		       ? __atomic_load_n(&causal->kernel->visits[index], __ATOMIC_RELAXED)
		       : 0;
}

void causal_points_lift(struct causal *causal)
{
	causal_probes_remove(causal);
}

int causal_points_return(struct causal *causal, struct err *err)
{
	return causal->engine->place_probes(causal, err);
}

uint64_t causal_points_trapped(const struct causal *causal, bool is_cheap)
{
	uint64_t visits = 0;

	for (uint32_t i = 0; i < causal->points.count; i++)
		if (causal->points.at[i].kind == CAUSAL_UPROBE &&
			causal->points.at[i].is_cheap == is_cheap)
			visits += causal_points_count(causal, i);
	return visits;
}
