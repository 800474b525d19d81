/* order.c - samples in order of time.
 *
 * Each CPU's ring is in order, the rings among each other are not.  Only the small rows wait for
 * their turn; the stacks were unwound when they came.  A round says up to when nothing older can
 * come any more; without rounds (some files have none) half of a large heap is let go.  A sample
 * without a time (many files have none) has no turn to wait for. */

#include "profile.h"

enum { WAITING_LARGEST = 1 << 20 };

static int waiting_compare(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->row.time_ns != y->row.time_ns)
		return x->row.time_ns < y->row.time_ns ? -1 : 1;
	return x->first_branch < y->first_branch ? -1 : x->first_branch > y->first_branch;
}

static void waiting_append(struct profile *profile, const struct waiting *waiting)
{
	row_id sample = run_add_sample(profile->run, &waiting->row);

	for (uint32_t i = 0; i < waiting->branch_count; i++) {
		struct branch_row branch = profile->waiting_branches.at[waiting->first_branch + i];

		branch.sample = sample;
		run_add_branch(profile->run, &branch);
	}
	if (waiting->has_access) {
		struct access_row access = waiting->access;

		access.sample = sample;
		run_add_access(profile->run, &access);
	}
}

void order_flush(struct profile *profile, uint64_t time_ns)
{
	uint32_t done = 0, left;

	if (!profile->waiting.count)
		return;
	vec_sort(&profile->waiting, waiting_compare);
	while (done < profile->waiting.count && profile->waiting.at[done].row.time_ns <= time_ns)
		waiting_append(profile, &profile->waiting.at[done++]);
	left = profile->waiting.count - done;
	for (uint32_t i = 0; done && i < left; i++)
		profile->waiting.at[i] = profile->waiting.at[done + i];
	profile->waiting.count = left;
	if (!left)
		profile->waiting_branches.count = 0;
}

void order_add(
	struct profile *profile, const struct waiting *waiting, const struct wire_sample *sample)
{
	struct waiting copy = *waiting;

	copy.first_branch = profile->waiting_branches.count;
	copy.branch_count = sample->branch_count;
	for (uint32_t i = 0; i < sample->branch_count; i++) {
		const struct wire_branch *branch = &sample->branches[i];

		vec_push(&profile->waiting_branches,
			(struct branch_row){
				.from = location_of_addr(
					profile, sample->pid, branch->from, sample->time_ns, 0),
				.to = location_of_addr(
					profile, sample->pid, branch->to, sample->time_ns, 0),
				.cycles = branch->cycles,
				.flags = branch->flags,
			});
	}
	if (!copy.row.time_ns) {
		waiting_append(profile, &copy);
		profile->waiting_branches.count = copy.first_branch;
		return;
	}
	vec_push(&profile->waiting, copy);
	if (profile->waiting.count >= WAITING_LARGEST) {
		uint64_t middle = profile->waiting.at[profile->waiting.count / 2].row.time_ns;

		order_flush(profile, middle);
		if (profile->waiting.count >= WAITING_LARGEST)
			order_flush(profile, UINT64_MAX);
	}
}
