/* import_perf_name.c - the name of an event that perf.data has none for: its features are cut off,
 * or it came through a pipe of an old perf.  The words are those of `perf list`. */
#include <linux/perf_event.h>

#include "base/str.h"
#include "import_perf_data.h"

static const char *const hardware[] = {"cycles", "instructions", "cache-references", "cache-misses",
	"branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend",
	"stalled-cycles-backend", "ref-cycles"};
static const char *const software[] = {"cpu-clock", "task-clock", "page-faults", "context-switches",
	"cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults",
	"dummy", "bpf-output", "cgroup-switches"};
static const char *const caches[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
static const char *const operations[] = {"load", "store", "prefetch"};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const char *pmu_name(const struct recording *rec, uint32_t type)
{
	vec_foreach (const struct recording_pmu, pmu, &rec->pmus)
		if (pmu->type == type)
			return pmu->name;
	return NULL;
}

/* Cache events: which cache, which operation, whether it missed. */
static void name_cache(struct str *name, uint64_t config)
{
	uint64_t cache = config & 0xff, operation = config >> 8 & 0xff,
		 result = config >> 16 & 0xff;

	if (cache < COUNT(caches) && operation < COUNT(operations) && result < 2)
		str_addf(name, "%s-%s%s", caches[cache], operations[operation],
			result ? "-misses" : "s");
	else
		str_addf(name, "cache/config=0x%llx/", (unsigned long long)config);
}

static void name_base(struct recording *rec, const struct recording_event *event, struct str *name)
{
	/* On hybrid CPUs the upper half of the config is the type of the PMU. */
	const char *pmu = pmu_name(rec, event->type);
	uint32_t low = (uint32_t)event->config;

	if (event->type == PERF_TYPE_HARDWARE && low < COUNT(hardware))
		str_add(name, hardware[low]);
	else if (event->type == PERF_TYPE_SOFTWARE && event->config < COUNT(software))
		str_add(name, software[event->config]);
	else if (event->type == PERF_TYPE_HW_CACHE)
		name_cache(name, low);
	else if (event->type == PERF_TYPE_TRACEPOINT)
		str_addf(name, "tracepoint:%llu", (unsigned long long)event->config);
	else if (event->type == PERF_TYPE_RAW)
		str_addf(name, "r%llx", (unsigned long long)event->config);
	else if (event->type == PERF_TYPE_BREAKPOINT)
		str_add(name, "breakpoint");
	else if (pmu)
		str_addf(name, "%s/config=0x%llx/", pmu, (unsigned long long)event->config);
	else
		str_addf(name, "type=%u,config=0x%llx", event->type,
			(unsigned long long)event->config);
}

const char *recording_event_name(struct recording *rec, const struct recording_event *event)
{
	enum { EXCLUDE_USER = 1 << 4, EXCLUDE_KERNEL = 1 << 5, EXCLUDE_HV = 1 << 6 };
	str_auto struct str name = {0};
	uint64_t exclude = event->flags & (EXCLUDE_USER | EXCLUDE_KERNEL | EXCLUDE_HV);
	unsigned precise = event->flags >> 15 & 3;

	name_base(rec, event, &name);
	if ((event->type == PERF_TYPE_HARDWARE || event->type == PERF_TYPE_HW_CACHE) &&
		event->config >> 32 && pmu_name(rec, (uint32_t)(event->config >> 32))) {
		const char *core = pmu_name(rec, (uint32_t)(event->config >> 32));
		str_auto struct str whole = {0};

		str_addf(&whole, "%s/%s/", core, str_text(&name));
		str_clear(&name);
		str_add(&name, str_text(&whole));
	}
	if (exclude & (EXCLUDE_USER | EXCLUDE_KERNEL) || precise)
		str_add_char(&name, ':');
	if (exclude & (EXCLUDE_USER | EXCLUDE_KERNEL)) {
		str_add(&name, exclude & EXCLUDE_USER ? "" : "u");
		str_add(&name, exclude & EXCLUDE_KERNEL ? "" : "k");
	}
	str_add_repeat(&name, 'p', precise);
	return arena_text(&rec->arena, str_text(&name), name.len);
}
