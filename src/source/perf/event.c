/* event.c - see event.h.
 *
 * One pass over the text.  A comma separates events except between slashes; braces make a group;
 * what stands behind the last colon of a known name is modifiers, behind an unknown one it is a
 * tracepoint.  On a hybrid CPU each hardware event becomes one spec per core type, because the
 * kernel counts it on one of them only, and a group is repeated per type for the same reason. */
#include "source/event.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/str.h"
#include "source/pmu.h"
#include "source/pmu_sysfs.h"
#include "source/tracefs.h"
#include "wire/build.h"

#define BLANKS " \t\n"

struct event_name {
	const char *name;
	uint32_t type;
	uint64_t config;
};

static const struct event_name event_names[] = {
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	{"bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
	{"cgroup-switches", PERF_TYPE_SOFTWARE, 11},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{0},
};

static const char *const cache_names[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node", NULL};

static const struct {
	const char *suffix;
	unsigned op, result;
} cache_suffixes[] = {
	{"-loads", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"-load-misses", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS},
	{"-stores", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS},
	{"-prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"-prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_MISS},
};
enum { CACHE_SUFFIXES = sizeof(cache_suffixes) / sizeof(*cache_suffixes) };

/* One item of the list while it is read: an event, or the members of a group. */
struct item {
	struct event_list *list;
	uint32_t first; /* index of its first spec */
	bool is_group;
};

static bool cache_resolve(const char *name, struct event_spec *spec)
{
	for (unsigned cache = 0; cache_names[cache]; cache++) {
		size_t len = strlen(cache_names[cache]);

		if (strncmp(name, cache_names[cache], len) != 0)
			continue;
		for (unsigned s = 0; s < CACHE_SUFFIXES; s++)
			if (str_equal(name + len, cache_suffixes[s].suffix)) {
				spec->type = PERF_TYPE_HW_CACHE;
				spec->config = cache | cache_suffixes[s].op << 8 |
					       cache_suffixes[s].result << 16;
				return true;
			}
	}
	return false;
}

static bool raw_resolve(const char *name, struct event_spec *spec)
{
	size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");
	char hex[24];

	if (name[0] != 'r' || digits == 0 || digits > 16 || name[1 + digits])
		return false;
	snprintf(hex, sizeof(hex), "0x%s", name + 1);
	spec->type = PERF_TYPE_RAW;
	return str_to_u64(hex, &spec->config) == 0;
}

/* The vendor's event of this name; `pmu` NULL: on any core type. */
static const struct event_alias *alias_find(
	const struct event_list *list, const char *name, const char *pmu)
{
	for (uint32_t i = 0; i < list->aliases_count; i++) {
		const struct event_alias *alias = &list->aliases[i];

		if (strcasecmp(alias->name, name) == 0 &&
			(!pmu || !alias->pmu || str_equal(alias->pmu, pmu)))
			return alias;
	}
	return NULL;
}

static void alias_put(const struct event_alias *alias, struct event_spec *spec)
{
	spec->type = PERF_TYPE_RAW;
	spec->config = alias->config;
	spec->config1 = alias->config1;
}

/* A name that needs no colon: 1 found, 0 not known, or an error. */
static int name_resolve(
	struct event_list *list, const char *name, struct event_spec *spec, struct err *err)
{
	const struct event_alias *alias = alias_find(list, name, NULL);
	char pmu[64];
	int r;

	for (const struct event_name *known = event_names; known->name; known++)
		if (str_equal(known->name, name)) {
			spec->type = known->type;
			spec->config = known->config;
			if (str_ends(name, "-clock"))
				spec->unit = "ns";
			return 1;
		}
	if (cache_resolve(name, spec) || raw_resolve(name, spec))
		return 1;
	/* Before sysfs: on a hybrid the same sysfs name may mean an event of either core type. */
	if (alias) {
		alias_put(alias, spec);
		spec->alias = arena_copy(&list->arena, alias->name);
		return 1;
	}
	if (!pmu_find_event(name, pmu, sizeof(pmu)))
		return 0;
	r = pmu_encode(&list->arena, pmu, name, spec, err);
	return r < 0 ? r : 1;
}

static int modifiers_put(struct event_spec *spec, const char *modifiers, struct err *err)
{
	for (const char *at = modifiers; *at; at++) {
		bool chooses = strchr("ukh", *at) != NULL;

		if (chooses && !spec->modified) {
			spec->exclude_user = spec->exclude_kernel = spec->exclude_hypervisor = true;
			spec->modified = true;
		}
		if (*at == 'u')
			spec->exclude_user = false;
		else if (*at == 'k')
			spec->exclude_kernel = false;
		else if (*at == 'h')
			spec->exclude_hypervisor = false;
		else if (*at == 'G')
			spec->exclude_host = true;
		else if (*at == 'H')
			spec->exclude_guest = true;
		else if (*at == 'p' && spec->precise < 3)
			spec->precise++;
		else if (*at == 'D')
			spec->pinned = true;
		else {
			err_set(err, ERR_USAGE, EINVAL, "'%c' is not a modifier in '%s'", *at,
				spec->name);
			err_hint(err, "u user, k kernel, h hypervisor, G guest, H host, p precise, "
				      "D pinned");
			return -EINVAL;
		}
	}
	return 0;
}

static int event_unknown(const struct event_list *list, const char *name, struct err *err)
{
	enum { MOST = 96 };
	char built[MOST][40];
	vec_of(const char *) names = {0};
	const char *nearest;
	unsigned spellings = 0;

	for (const struct event_name *known = event_names; known->name; known++)
		vec_push(&names, known->name);
	for (uint32_t i = 0; i < list->aliases_count; i++)
		vec_push(&names, list->aliases[i].name);
	for (unsigned cache = 0; cache_names[cache]; cache++)
		for (unsigned s = 0; s < CACHE_SUFFIXES && spellings < MOST; s++) {
			snprintf(built[spellings], sizeof(*built), "%s%s", cache_names[cache],
				cache_suffixes[s].suffix);
			vec_push(&names, built[spellings++]);
		}
	vec_push(&names, NULL);
	nearest = str_nearest(name, names.at);
	vec_done(&names);
	err_set(err, ERR_USAGE, EINVAL, "unknown event '%s'", name);
	return err_nearest(err, nearest,
		"write a name as in perf (cycles, page-faults), SYSTEM:TRACEPOINT, rHEX or "
		"PMU/FIELD=VALUE/");
}

/* SYSTEM:NAME.  Without the right to read tracefs the event is kept, as not permitted. */
static int tracepoint_resolve(struct event_list *list, const char *system, const char *name,
	struct event_spec *spec, struct err *err)
{
	struct err why = {0};
	io_auto int tracefs = tracefs_open(&why);
	char nearest[128];
	int id = tracefs < 0 ? tracefs : tracefs_event_id(tracefs, system, name, &why);

	spec->type = PERF_TYPE_TRACEPOINT;
	if (id >= 0) {
		spec->config = (uint64_t)id;
		return 0;
	}
	if (id == -ENOENT && tracefs >= 0) {
		tracefs_nearest(tracefs, system, name, nearest, sizeof(nearest));
		err_set(err, ERR_USAGE, EINVAL, "unknown event '%s:%s'", system, name);
		if (*nearest)
			return err_hint(err, "did you mean '%s:%s'?", system, nearest);
		return err_hint(err, "this kernel has no such tracepoint");
	}
	spec->status = id == -EACCES ? WIRE_EVENT_NOT_PERMITTED : WIRE_EVENT_NOT_SUPPORTED;
	spec->reason = arena_format(&list->arena, "%s (%s)", why.text, why.hint);
	return 0;
}

static int event_resolve(
	struct event_list *list, char *text, struct event_spec *spec, struct err *err)
{
	char *slash = strchr(text, '/'), *colon, *second;
	int r;

	if (slash) {
		char *end = strchr(slash + 1, '/');

		if (!end) {
			err_set(err, ERR_USAGE, EINVAL, "'%s' has no closing slash", spec->name);
			err_hint(err, "write PMU/FIELD=VALUE,.../");
			return -EINVAL;
		}
		*slash = *end = '\0';
		r = pmu_encode(&list->arena, text, slash + 1, spec, err);
		return r < 0 ? r : modifiers_put(spec, end + 1 + (end[1] == ':'), err);
	}
	colon = strchr(text, ':');
	if (colon)
		*colon++ = '\0';
	r = name_resolve(list, text, spec, err);
	if (r)
		return r < 0 ? r : modifiers_put(spec, colon ? colon : "", err);
	if (!colon)
		return event_unknown(list, text, err);
	second = strchr(colon, ':');
	if (second)
		*second++ = '\0';
	r = tracepoint_resolve(list, text, colon, spec, err);
	return r < 0 ? r : modifiers_put(spec, second ? second : "", err);
}

static int event_add(struct item *item, const char *text, size_t len, struct err *err)
{
	struct event_list *list = item->list;
	mem_auto char *copy = mem_copy_text(text, len);
	char *word = str_trim(copy);
	struct event_spec spec = {.unit = "", .scale = 1, .reason = ""};
	int r;

	if (!*word) {
		err_set(err, ERR_USAGE, EINVAL, "empty event name before '%.40s'", text + len);
		err_hint(err, "separate events with single commas: task-clock,page-faults");
		return -EINVAL;
	}
	spec.name = arena_copy(&list->arena, word);
	spec.group = item->is_group ? list->groups : 0;
	r = event_resolve(list, word, &spec, err);
	if (r < 0)
		return r;
	vec_push(&list->specs, spec);
	return 0;
}

static bool event_is_core(const struct event_spec *spec)
{
	return spec->type == PERF_TYPE_HARDWARE || spec->type == PERF_TYPE_HW_CACHE ||
	       spec->type == PERF_TYPE_RAW;
}

static void core_assign(struct event_list *list, struct event_spec *spec, const char *pmu)
{
	struct event_spec probe = {0};
	struct err ignored;

	if (pmu_encode(&list->arena, pmu, "", &probe, &ignored) < 0)
		return;
	if (spec->type == PERF_TYPE_RAW)
		spec->type = probe.type;
	else
		spec->config |= (uint64_t)probe.type << 32;
	spec->core = arena_copy(&list->arena, pmu);
	spec->cpus = probe.cpus;
}

/* The spec as it is for one core type; false when it does not count there.  What is no event of the
 * core (clocks, tracepoints) stands with the first type. */
static bool spec_for_core(
	struct event_list *list, struct event_spec *spec, const struct pmu_core *core, bool first)
{
	if (spec->alias) {
		const struct event_alias *alias = alias_find(list, spec->alias, core->name);

		if (!alias)
			return false;
		alias_put(alias, spec);
	} else if (!event_is_core(spec)) {
		return first;
	}
	core_assign(list, spec, core->name);
	return true;
}

/* Repeat the core events of an item for each core type; see the head of this file. */
static void item_spread(struct item *item, const struct pmu_core *cores, unsigned count)
{
	struct event_list *list = item->list;
	uint32_t members = list->specs.count - item->first;
	mem_auto struct event_spec *specs = mem_new(members, sizeof(*specs));
	bool used = false; /* the item's own group */

	memcpy(specs, &list->specs.at[item->first], members * sizeof(*specs));
	list->specs.count = item->first;
	for (unsigned core = 0; core < count; core++) {
		uint32_t before = list->specs.count;
		uint32_t group = item->is_group ? list->groups + used : 0;

		for (uint32_t i = 0; i < members; i++) {
			struct event_spec copy = specs[i];

			copy.group = group;
			if (spec_for_core(list, &copy, &cores[core], core == 0))
				vec_push(&list->specs, copy);
		}
		if (list->specs.count == before)
			continue;
		used = true;
		if (group > list->groups)
			list->groups = group;
	}
}

/* The end of one event: a comma, a brace or the end of the text, but not between slashes. */
static size_t event_length(const char *text)
{
	bool in_terms = false;
	size_t len = 0;

	for (; text[len]; len++) {
		if (text[len] == '/')
			in_terms = !in_terms;
		else if (!in_terms && strchr(",{}", text[len]))
			break;
	}
	return len;
}

static int group_modify(struct item *item, const char *modifiers, size_t len, struct err *err)
{
	mem_auto char *copy = mem_copy_text(modifiers, len);

	for (uint32_t i = item->first; i < item->list->specs.count; i++) {
		struct event_spec *spec = &item->list->specs.at[i];
		int r = modifiers_put(spec, copy, err);

		if (r < 0)
			return r;
		spec->name = arena_format(&item->list->arena, "%s:%s", spec->name, copy);
	}
	return 0;
}

static int group_refuse(const char *text, const char *why, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "the group in '%.80s' %s", text, why);
	err_hint(err, "write {cycles,instructions} or {cycles,instructions}:u");
	return -EINVAL;
}

/* Returns the number of bytes read. */
static int group_parse(struct item *item, const char *text, struct err *err)
{
	size_t at = 1;
	int r;

	item->is_group = true;
	item->list->groups++;
	for (;; at++) {
		size_t len = event_length(text + at);

		if (text[at + len] == '\0')
			return group_refuse(text, "has no closing brace", err);
		if (text[at + len] == '{')
			return group_refuse(text, "contains another group", err);
		r = event_add(item, text + at, len, err);
		if (r < 0)
			return r;
		at += len;
		if (text[at] == '}')
			break;
	}
	at++;
	if (text[at] == ':') {
		size_t len = strcspn(text + at + 1, ",{}");

		r = group_modify(item, text + at + 1, len, err);
		if (r < 0)
			return r;
		at += 1 + len;
	}
	at += strspn(text + at, BLANKS);
	if (text[at] && text[at] != ',')
		return group_refuse(text, "is followed by something other than a comma", err);
	return (int)at;
}

int event_list_parse(struct event_list *list, const char *text, struct err *err)
{
	struct pmu_core cores[PMU_CORE_TYPES];
	unsigned count = pmu_list(PMU_DEVICES, cores, PMU_CORE_TYPES);

	for (const char *at = text;; at++) {
		struct item item = {.list = list, .first = list->specs.count};
		int r;

		at += strspn(at, BLANKS);
		if (*at == '{') {
			r = group_parse(&item, at, err);
			at += r < 0 ? 0 : r;
		} else {
			size_t len = event_length(at);

			r = event_add(&item, at, len, err);
			at += len;
			if (r >= 0 && *at && *at != ',')
				return group_refuse(text, "has a brace in the wrong place", err);
		}
		if (r < 0)
			return r;
		if (count > 1)
			item_spread(&item, cores, count);
		if (!*at)
			return 0;
	}
}

void event_list_done(struct event_list *list)
{
	arena_done(&list->arena);
	vec_done(&list->specs);
}

int event_emit(const struct event_spec *spec, uint32_t id, const struct wire_sink *sink)
{
	union {
		struct wire_event event;
		unsigned char bytes[4096];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_EVENT, sizeof(space.event));

	space.event.event = id;
	space.event.group = spec->group;
	space.event.status = spec->status;
	space.event.flags = spec->flags;
	space.event.scale = spec->scale;
	wire_add_text(&b, &space.event.name, spec->name);
	wire_add_text(&b, &space.event.unit, spec->unit);
	wire_add_text(&b, &space.event.core, spec->core);
	wire_add_text(&b, &space.event.reason, spec->reason);
	return sink->take(sink->context, wire_end(&b));
}
