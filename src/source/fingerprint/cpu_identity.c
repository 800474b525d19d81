/* cpu_identity.c - see cpu_identity.h.
 *
 * x86 says the same family and model on all cores of a hybrid, so there the name of the PMU tells
 * the kinds apart.  ARM has one PMU for each kind and a MIDR for each CPU; cpuinfo is asked only
 * where midr_el1 is not readable (before Linux 4.7, and in some containers). */
#include "source/cpu_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/str.h"
#include "source/pmu.h"

enum { CPUINFO_LIMIT = 16 << 20 };

static int root_read(const char *root, const char *path, char *line, size_t capacity)
{
	char full[512];

	line[0] = '\0';
	snprintf(full, sizeof(full), "%s%s", root, path);
	return io_read_line(full, line, capacity);
}

/* The value of the first "KEY : VALUE" line; false when there is none. */
static bool cpuinfo_value(const char *text, const char *key, char *value, size_t capacity)
{
	size_t len = strlen(key);

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *after = at + len;

		if (strncmp(at, key, len) != 0)
			continue;
		after += strspn(after, " \t");
		if (*after != ':')
			continue;
		after += 1 + strspn(after + 1, " \t");
		snprintf(value, capacity, "%.*s", (int)strcspn(after, "\n"), after);
		return true;
	}
	return false;
}

static unsigned cpuinfo_number(const char *text, const char *key)
{
	char value[64];

	return cpuinfo_value(text, key, value, sizeof(value)) ? (unsigned)strtoul(value, NULL, 0)
							      : 0;
}

/* MIDR as the register has it, from the four lines of cpuinfo. */
static uint64_t cpuinfo_midr(const char *text)
{
	uint64_t implementer = cpuinfo_number(text, "CPU implementer") & 0xff;
	uint64_t part = cpuinfo_number(text, "CPU part") & 0xfff;

	if (!implementer)
		return 0;
	return implementer << 24 | (uint64_t)(cpuinfo_number(text, "CPU variant") & 0xf) << 20 |
	       0xf << 16 | part << 4 | (cpuinfo_number(text, "CPU revision") & 0xf);
}

static uint64_t cpu_midr(const char *root, int cpu)
{
	char path[128], line[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1",
		cpu < 0 ? 0 : cpu);
	if (root_read(root, path, line, sizeof(line)) <= 0)
		return 0;
	return strtoull(line, NULL, 16);
}

static void kind_fill(
	const char *root, const char *cpuinfo, const struct pmu_core *core, struct cpu_kind *kind)
{
	char path[256], line[64];

	*kind = (struct cpu_kind){0};
	if (core) {
		snprintf(kind->pmu, sizeof(kind->pmu), "%s", core->name);
		snprintf(path, sizeof(path), PMU_DEVICES "/%s/cpus", core->name);
		if (root_read(root, path, kind->cpus, sizeof(kind->cpus)) < 0)
			kind->cpus[0] = '\0';
		snprintf(path, sizeof(path), PMU_DEVICES "/%s/caps/slots", core->name);
		if (root_read(root, path, line, sizeof(line)) > 0)
			kind->slots = (unsigned)strtoul(line, NULL, 0);
	}
	kind->midr = cpu_midr(root, core ? core->cpu : 0);
	if (!kind->midr)
		kind->midr = cpuinfo_midr(cpuinfo);
	if (kind->midr || !cpuinfo_value(cpuinfo, "vendor_id", kind->vendor, sizeof(kind->vendor)))
		return;
	kind->family = cpuinfo_number(cpuinfo, "cpu family");
	kind->model = cpuinfo_number(cpuinfo, "model");
	kind->stepping = cpuinfo_number(cpuinfo, "stepping");
}

static int core_compare(const void *a, const void *b)
{
	const struct pmu_core *left = a, *right = b;

	return left->cpu != right->cpu ? (left->cpu > right->cpu) - (left->cpu < right->cpu)
				       : strcmp(left->name, right->name);
}

static enum cpu_switch switch_read(const char *root, const char *path)
{
	char line[16];

	if (root_read(root, path, line, sizeof(line)) <= 0)
		return CPU_SWITCH_UNKNOWN;
	return line[0] == '0' ? CPU_SWITCH_OFF : CPU_SWITCH_ON;
}

int cpu_identity_read(const char *root, struct cpu_identity *ret_identity, struct err *err)
{
	str_auto struct str cpuinfo = {0};
	struct pmu_core cores[CPU_KINDS];
	struct cpu_identity identity = {0};
	char path[512];
	unsigned count;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	(void)io_read_at(AT_FDCWD, path, CPUINFO_LIMIT, &cpuinfo);
	snprintf(path, sizeof(path), "%s" PMU_DEVICES, root);
	count = pmu_list(path, cores, CPU_KINDS);
	qsort(cores, count, sizeof(*cores), core_compare);
	for (unsigned i = 0; i < count; i++)
		kind_fill(root, str_text(&cpuinfo), &cores[i], &identity.kind[i]);
	if (!count)
		kind_fill(root, str_text(&cpuinfo), NULL, &identity.kind[0]);
	identity.kinds = count ? count : 1;
	if (!identity.kind[0].midr && !identity.kind[0].vendor[0])
		return err_set(err, ERR_UNAVAILABLE, ENODATA,
			"cannot tell which CPU this is: neither %s/proc/cpuinfo nor midr_el1 says "
			"so",
			root);
	identity.smt = switch_read(root, "/sys/devices/system/cpu/smt/active");
	identity.nmi_watchdog = switch_read(root, "/proc/sys/kernel/nmi_watchdog");
	*ret_identity = identity;
	return 0;
}
