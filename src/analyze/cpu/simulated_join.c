/* simulated_join.c - the time of clock samples beside the counts of the simulator.
 *
 * They meet by the name of the function that really stands at an address (cachegrind attributes
 * inlined code to it too), and by the end of the file's path and the line.  The simulator names no
 * modules, so two functions of one name are one row on both sides. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/label.h"
#include "analyze/profile_filter.h"
#include "base/map.h"
#include "base/str.h"
#include "code/names.h"
#include "model/run.h"
#include "simulated_parts.h"

/* Of the time: a loop in less of it is not worth a second look. */
#define CORE_SHARE 0.05
/* A function with less of the simulated instructions was hardly come to.  A program of two halves
 * (half of its time in what was simulated) is judged by the half that is known. */
#define REACHED_INSTRUCTIONS 0.01
#define REACHED_LINE 0.001 /* the same for a line: everything may be inlined into main */
#define REACHED_LEAST 0.5

static const char *const not_simulated[] = {
	"prefetching: a stream that misses in the model may hit on a real CPU",
	"overlap: an out-of-order core continues while it waits, with several misses at once",
	"address translation (TLB) and page faults",
	"other threads and programs on the same core, caches and memory",
	"the kernel: its time is sampled, but its work is not counted",
	"threads run one at a time, so the model has no sharing or contention",
};

size_t simulated_name_length(const char *name)
{
	static const char *const sets[] = {"_avx512", "_evex", "_avx", "_sse", "_ssse3", "_erms",
		"_unaligned", "_sve", "_asimd"};
	static const char *const clones[] = {
		".isra", ".constprop", ".part", ".cold", ".lto_priv", ".llvm", "@"};
	size_t len = names_bare_length(name);

	for (unsigned i = 0; i < sizeof(clones) / sizeof(*clones); i++) {
		const char *at = memmem(name, len, clones[i], strlen(clones[i]));

		if (at && at > name)
			len = (size_t)(at - name);
	}
	for (unsigned i = 0; str_starts(name, "__") && i < sizeof(sets) / sizeof(*sets); i++) {
		const char *at = memmem(name, len, sets[i], strlen(sets[i]));

		if (at && at > name + 2)
			len = (size_t)(at - name);
	}
	return len;
}

/* Under which key the rows of a function meet.  A C library has one code for memcpy(), memmove()
 * and, but for its first instructions, mempcpy(): each side takes another of the names. */
static const char *meeting_name(const char *name, size_t *ret_len)
{
	static const char *const copies[] = {"__memcpy", "__mempcpy"};

	*ret_len = simulated_name_length(name);
	for (unsigned i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		if (strlen(copies[i]) == *ret_len && memcmp(name, copies[i], *ret_len) == 0) {
			*ret_len = strlen("__memmove");
			return "__memmove";
		}
	return name;
}

struct joining {
	const struct run *clock;
	double executions;
	struct map functions, lines, edge_at;
	vec_of(struct simulated_site) sites, line_sites;
	struct simulated_edges edges;
	double all_ns, kernel_ns, joined_ns, reached_ns;
	bool l2_known;
};

static void joining_done(struct joining *j)
{
	map_done(&j->functions);
	map_done(&j->lines);
	map_done(&j->edge_at);
	vec_done(&j->edges.rows);
	vec_done(&j->sites);
	vec_done(&j->line_sites);
}

static struct simulated_site *function_at(struct joining *j, const char *name, const char *file)
{
	size_t len;
	const char *key = meeting_name(name, &len);
	uint32_t at;

	if (map_add(&j->functions, key, len, j->sites.count, &at)) {
		vec_push(&j->sites,
			(struct simulated_site){.row = {.function = name, .file = file}});
	}
	return &j->sites.at[at];
}

static struct simulated_site *line_at(struct joining *j, const struct simulated_row *row)
{
	str_auto struct str key = {0};
	uint32_t at;

	str_addf(&key, "%s:%u", label_base(row->file), row->line);
	if (map_add(&j->lines, key.at, key.len, j->line_sites.count, &at)) {
		vec_push(&j->line_sites, (struct simulated_site){.row = {.function = row->function,
									 .file = row->file,
									 .line = row->line}});
	}
	return &j->line_sites.at[at];
}

/* The function that stands at a location: the outermost of what was inlined there. */
static const struct function_row *function_standing(const struct run *run, row_id frame)
{
	const struct frame_row *row = &run->frames.at[frame - 1];

	for (unsigned depth = 0; row->outer && depth < LABEL_INLINES_MAX; depth++)
		row = &run->frames.at[row->outer - 1];
	return row->function ? &run->functions.at[row->function - 1] : NULL;
}

static void site_time(struct simulated_site *site, double ns, uint64_t samples)
{
	site->time_ns += ns;
	site->samples += samples;
}

/* Who called it, if that one was simulated too. */
static void caller_take(
	struct joining *j, row_id parent, const struct simulated_site *site, double ns)
{
	const struct run *run = j->clock;
	row_id location = parent ? run->stacks.at[parent - 1].location : 0;
	row_id frame = location ? run->locations.at[location - 1].frame : 0;
	const struct function_row *function = frame ? function_standing(run, frame) : NULL;
	const char *name = function && function->name ? run_text(run, function->name) : "";
	uint32_t ends[2] = {(uint32_t)(site - j->sites.at), 0}, at;
	size_t len;
	const char *key = meeting_name(name, &len);

	if (!map_get(&j->functions, key, len, &ends[1]))
		return;
	if (map_add(&j->edge_at, ends, sizeof(ends), j->edges.rows.count, &at))
		vec_push(&j->edges.rows, (struct simulated_edge){site->row.function,
						 j->sites.at[ends[1]].row.function, 0});
	j->edges.rows.at[at].ns += ns;
}

static void stack_take(struct joining *j, row_id stack, double ns, uint64_t samples)
{
	const struct run *run = j->clock;
	row_id location = stack ? run->stacks.at[stack - 1].location : 0;
	const struct location_row *at = location ? &run->locations.at[location - 1] : NULL;
	const struct function_row *function;
	struct simulated_site *site;
	const struct frame_row *frame;

	j->all_ns += ns;
	if (at && (at->flags & LOCATION_KERNEL)) {
		j->kernel_ns += ns;
		return;
	}
	if (!at || !at->frame)
		return;
	function = function_standing(run, at->frame);
	if (!function || !function->name)
		return;
	site = function_at(j, run_text(run, function->name), run_text(run, function->file));
	site_time(site, ns, samples);
	caller_take(j, run->stacks.at[stack - 1].parent, site, ns);
	frame = &run->frames.at[at->frame - 1];
	if (frame->file && frame->line)
		site_time(line_at(j,
				  &(struct simulated_row){
					  .function = run_text(run, function->name),
					  .file = run_text(run, frame->file),
					  .line = frame->line,
				  }),
			ns, samples);
}

static void samples_join(struct joining *j, const struct profile_samples *samples, double ns_each)
{
	const struct profile_cost *none = &samples->no_stack;

	if (none->samples)
		stack_take(j, 0, (double)none->weight * ns_each / j->executions, none->samples);
	vec_foreach (const struct profile_stack, at, &samples->stacks)
		stack_take(j, at->stack, (double)at->cost.weight * ns_each / j->executions,
			at->cost.samples);
}

/* Most time first; what has none by instructions. */
static int by_time(const void *a, const void *b)
{
	const struct simulated_site *x = a, *y = b;
	uint64_t left = x->row.counts[SIMULATED_INSTRUCTIONS];
	uint64_t right = y->row.counts[SIMULATED_INSTRUCTIONS];

	if (x->time_ns > y->time_ns || x->time_ns < y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	if (left != right)
		return left > right ? -1 : 1;
	return strcmp(x->row.function, y->row.function);
}

/* Sites in the arena, with their shares and ratios. */
static struct simulated_site *sites_keep(const struct joining *j, struct simulated_site *sites,
	uint32_t count, const struct simulated_costs *costs, struct arena *arena)
{
	struct simulated_site *kept = arena_keep(arena, sites, count * sizeof(*kept));

	qsort(kept, count, sizeof(*kept), by_time);
	for (uint32_t i = 0; i < count; i++) {
		kept[i].time_share = j->all_ns > 0 ? kept[i].time_ns / j->all_ns : 0;
		kept[i].why = "";
		kept[i].l2_known = j->l2_known;
		simulated_site_ratios(costs, &kept[i]);
	}
	return kept;
}

/* How many ns a weight of 1 is.  A sample without a period, or of another event, says only a share:
 * then the CPU time of the executions is shared out. */
static double ns_of_weight(const struct run *run, const struct profile_samples *samples)
{
	uint64_t cpu_ns = 0;

	if (str_equal(samples->unit, "ns"))
		return 1;
	vec_foreach (const struct execution_packed, e, &run->executions)
		cpu_ns += e->user_ns + e->system_ns;
	return samples->total.weight ? (double)cpu_ns / (double)samples->total.weight : 0;
}

static struct simulated_site *sites_make(struct joining *j, const struct simulated_rules *rules,
	struct arena *arena, struct simulated_view *view)
{
	struct simulated_site *functions =
		sites_keep(j, j->sites.at, j->sites.count, &view->costs, arena);

	view->hottest_core = UINT32_MAX;
	for (uint32_t i = 0; i < j->sites.count; i++) {
		struct simulated_site *site = &functions[i];

		if ((double)site->row.counts[SIMULATED_INSTRUCTIONS] >=
			REACHED_INSTRUCTIONS * (double)view->counts.totals[SIMULATED_INSTRUCTIONS])
			j->reached_ns += site->time_ns;
		if (view->counts.partial) {
			site->why = "the simulation was cut short: rates only";
			site->ns_per_instruction = site->ns_per_l1_miss = (double)NAN;
			site->ns_per_ll_miss = site->ns_per_mispredict = (double)NAN;
			continue;
		}
		simulated_site_judge(rules, &view->costs, arena, site);
		if (site->row.counts[SIMULATED_INSTRUCTIONS])
			j->joined_ns += site->time_ns;
	}
	view->functions = functions;
	view->function_count = j->sites.count;
	if (!view->counts.partial)
		simulated_targets_judge(rules, &j->edges, view, arena, functions);
	for (uint32_t i = j->sites.count; i-- > 0;)
		if (functions[i].category == VERDICT_CORE &&
			functions[i].time_share >= CORE_SHARE &&
			(double)functions[i].samples >= rules->samples_least)
			view->hottest_core = i;
	view->lines = sites_keep(j, j->line_sites.at, j->line_sites.count, &view->costs, arena);
	view->line_count = j->line_sites.count;
	return functions;
}

static int counts_join(struct joining *j, const struct run *simulated, struct arena *arena,
	struct simulated_view *view, struct err *err)
{
	struct simulated_counts lines;
	int r = simulated_take(simulated, SIMULATED_BY_FUNCTION, arena, &view->counts, err);

	if (r >= 0)
		r = simulated_take(simulated, SIMULATED_BY_LINE, arena, &lines, err);
	if (r < 0)
		return r;
	j->l2_known = view->counts.known[SIMULATED_L2_LOAD_MISSES];
	for (uint32_t i = 0; i < view->counts.row_count; i++) {
		const struct simulated_row *row = &view->counts.rows[i];
		struct simulated_site *site = function_at(j, row->function, row->file);

		simulated_counts_add(site->row.counts, row->counts);
	}
	for (uint32_t i = 0; i < lines.row_count; i++)
		if (*lines.rows[i].file && lines.rows[i].line)
			simulated_counts_add(
				line_at(j, &lines.rows[i])->row.counts, lines.rows[i].counts);
	return 0;
}

static void rates_make(struct simulated_view *view)
{
	struct simulated_row all = {0};
	uint64_t instructions = view->counts.totals[SIMULATED_INSTRUCTIONS];

	memcpy(all.counts, view->counts.totals, sizeof(all.counts));
	view->l1_mpki = simulated_mpki(simulated_l1_misses(&all), instructions);
	view->ll_mpki = simulated_mpki(simulated_ll_misses(&all), instructions);
	view->mispredict_mpki = simulated_mpki(simulated_mispredicts(&all), instructions);
}

int simulated_join(const struct run *simulated, const struct run *clock,
	const struct simulated_costs *costs, struct arena *arena, struct simulated_view *ret_view,
	struct err *err)
{
	profile_samples_auto struct profile_samples samples = {0};
	struct simulated_view view = {.costs = *costs,
		.not_simulated = not_simulated,
		.not_simulated_count = sizeof(not_simulated) / sizeof(*not_simulated)};
	struct joining j = {.clock = clock,
		.executions = clock->executions.count ? clock->executions.count : 1};
	struct simulated_site *functions;
	struct simulated_rules rules;
	int r = profile_samples_take(clock, &(struct profile_filter){0}, &samples, err);

	if (r >= 0)
		r = counts_join(&j, simulated, arena, &view, err);
	if (r < 0) {
		joining_done(&j);
		return r;
	}
	simulated_rules_load(&rules);
	samples_join(&j, &samples, ns_of_weight(clock, &samples));
	view.samples = samples.total.samples;
	view.time_ns = j.all_ns;
	view.kernel_share = j.all_ns > 0 ? j.kernel_ns / j.all_ns : 0;
	rates_make(&view);
	functions = sites_make(&j, &rules, arena, &view);
	view.joined_share = j.all_ns > 0 ? j.joined_ns / j.all_ns : 0;
	view.reached_share =
		j.all_ns > j.kernel_ns ? j.reached_ns / (j.all_ns - j.kernel_ns) : (double)NAN;
	simulated_view_judge(&rules, arena, &view);
	if (!view.counts.partial)
		simulated_sites_hide(&rules, arena, functions, view.function_count);
	*ret_view = view;
	joining_done(&j);
	return 0;
}

/* By lines, where most of the time has them: a function may hold the start and the work. */
static double lines_reached(const struct simulated_view *view)
{
	double all = 0, reached = 0,
	       least = REACHED_LINE * (double)view->counts.totals[SIMULATED_INSTRUCTIONS];

	for (uint32_t i = 0; i < view->line_count; i++) {
		const struct simulated_site *line = &view->lines[i];

		all += line->time_ns;
		if ((double)line->row.counts[SIMULATED_INSTRUCTIONS] >= least)
			reached += line->time_ns;
	}
	return all >= 0.5 * view->time_ns * (1 - view->kernel_share) ? reached / all : 1;
}

bool simulated_is_start_only(
	const struct run *simulated, const struct run *clock, struct arena *arena)
{
	struct simulated_rules rules;
	struct simulated_view view;
	struct err ignored = {0};

	simulated_rules_load(&rules);
	if (simulated_join(simulated, clock, &rules.defaults, arena, &view, &ignored) < 0)
		return false;
	return view.counts.partial &&
	       (view.reached_share < REACHED_LEAST || lines_reached(&view) < REACHED_LEAST);
}
