/* fingerprint_cpu.c - which processor this is, and how its speed is chosen.
 *
 * proc/cpuinfo is read only as far as its first read() goes: the first processor is enough, and the
 * whole of it is 400 KiB on 256 cpus (before 5.18 its open may wait 10 ms for the clock counters).
 * Sockets and cores are counted by following the kernel's lists: one read per socket or core, not
 * per cpu.  ARM names no model in cpuinfo, so implementer and part are looked up here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fingerprint_facts.h"

#define CPU "sys/devices/system/cpu/"

struct arm_part {
	unsigned implementer, part;
	const char *name;
};

/* Linux arch/arm64/include/asm/cputype.h; the ones found in servers, laptops and phones. */
static const struct arm_part arm_parts[] = {
	{0x41, 0xd03, "Cortex-A53"},
	{0x41, 0xd05, "Cortex-A55"},
	{0x41, 0xd07, "Cortex-A57"},
	{0x41, 0xd08, "Cortex-A72"},
	{0x41, 0xd09, "Cortex-A73"},
	{0x41, 0xd0a, "Cortex-A75"},
	{0x41, 0xd0b, "Cortex-A76"},
	{0x41, 0xd0c, "Neoverse-N1"},
	{0x41, 0xd0d, "Cortex-A77"},
	{0x41, 0xd40, "Neoverse-V1"},
	{0x41, 0xd41, "Cortex-A78"},
	{0x41, 0xd44, "Cortex-X1"},
	{0x41, 0xd46, "Cortex-A510"},
	{0x41, 0xd47, "Cortex-A710"},
	{0x41, 0xd48, "Cortex-X2"},
	{0x41, 0xd49, "Neoverse-N2"},
	{0x41, 0xd4d, "Cortex-A715"},
	{0x41, 0xd4e, "Cortex-X3"},
	{0x41, 0xd4f, "Neoverse-V2"},
	{0x41, 0xd81, "Cortex-A720"},
	{0x41, 0xd82, "Cortex-X4"},
	{0x41, 0xd84, "Neoverse-V3"},
	{0x41, 0xd8e, "Neoverse-N3"},
	{0x43, 0x0af, "ThunderX2"},
	{0x46, 0x001, "A64FX"},
	{0x48, 0xd01, "TaiShan v110"},
	{0x61, 0x022, "Apple M1 Icestorm"},
	{0x61, 0x023, "Apple M1 Firestorm"},
	{0xc0, 0xac3, "Ampere-1"},
	{0xc0, 0xac4, "Ampere-1a"},
};

static const char *arm_vendor(unsigned implementer)
{
	switch (implementer) {
	case 0x41:
		return "ARM";
	case 0x42:
		return "Broadcom";
	case 0x43:
		return "Cavium";
	case 0x46:
		return "Fujitsu";
	case 0x48:
		return "HiSilicon";
	case 0x4e:
		return "NVIDIA";
	case 0x51:
		return "Qualcomm";
	case 0x61:
		return "Apple";
	case 0xc0:
		return "Ampere";
	default:
		return NULL;
	}
}

static unsigned arm_number(const struct facts *facts, const char *key)
{
	str_auto struct str value = {0};

	line_value(str_text(&facts->cpuinfo), key, &value);
	return (unsigned)strtoul(str_text(&value), NULL, 0);
}

static void arm_model(struct facts *facts)
{
	unsigned implementer = arm_number(facts, "CPU implementer");
	unsigned part = arm_number(facts, "CPU part");
	const char *vendor = arm_vendor(implementer), *name = NULL;

	for (unsigned i = 0; i < sizeof(arm_parts) / sizeof(*arm_parts); i++)
		if (arm_parts[i].implementer == implementer && arm_parts[i].part == part)
			name = arm_parts[i].name;
	if (name)
		facts_put(facts, "model", name);
	else
		facts_putf(facts, "model", "%s part 0x%03x", vendor ? vendor : "unknown", part);
	facts_putf(facts, "vendor", "%s (0x%02x)", vendor ? vendor : "unknown", implementer);
	facts_put_line(facts, "family", &facts->cpuinfo, "CPU architecture");
	facts_put_line(facts, "model_number", &facts->cpuinfo, "CPU part");
	facts_putf(facts, "stepping", "r%up%u", arm_number(facts, "CPU variant"),
		arm_number(facts, "CPU revision"));
}

static void cpu_flags(struct facts *facts, const char *key)
{
	str_auto struct str flags = {0};
	unsigned count = 0;

	if (!line_value(str_text(&facts->cpuinfo), key, &flags)) {
		facts_put_missing(facts, "flags_hash", -ENOENT);
		facts_put_missing(facts, "flags_count", -ENOENT);
		return;
	}
	for (const char *at = flags.at; *at; at += strspn(at, " ")) {
		at += strcspn(at, " ");
		count++;
	}
	facts_put_hash(facts, "flags_hash", flags.at, flags.len);
	facts_putf(facts, "flags_count", "%u", count);
}

static void cpu_model(struct facts *facts)
{
	str_auto struct str found = {0};

	if (line_value(str_text(&facts->cpuinfo), "CPU implementer", &found)) {
		arm_model(facts);
		cpu_flags(facts, "Features");
	} else {
		facts_put_line(facts, "model", &facts->cpuinfo, "model name");
		facts_put_line(facts, "vendor", &facts->cpuinfo, "vendor_id");
		facts_put_line(facts, "family", &facts->cpuinfo, "cpu family");
		facts_put_line(facts, "model_number", &facts->cpuinfo, "model");
		facts_put_line(facts, "stepping", &facts->cpuinfo, "stepping");
		cpu_flags(facts, "flags");
	}
	facts_put_line(facts, "microcode", &facts->cpuinfo, "microcode");
}

static void cpu_count(struct facts *facts, const char *name, const char *path)
{
	struct cpus cpus;
	int r = facts_read(facts, path);

	if (r < 0) {
		facts_put_missing(facts, name, r);
		return;
	}
	cpus_parse(str_text(&facts->text), &cpus);
	facts_putf(facts, name, "%u", cpus_count(&cpus));
}

/* How many sets the online cpus fall into, by the list each cpu gives of its companions. */
static void cpu_groups(struct facts *facts, const char *name, const char *file)
{
	struct cpus seen = {0}, group;
	unsigned count = 0;

	for (int cpu = cpus_next(&facts->online, -1); cpu >= 0;
		cpu = cpus_next(&facts->online, cpu)) {
		char path[128];
		int r;

		if (cpus_has(&seen, (unsigned)cpu))
			continue;
		snprintf(path, sizeof(path), CPU "cpu%d/%s", cpu, file);
		r = facts_read(facts, path);
		if (r < 0) {
			facts_put_missing(facts, name, r);
			return;
		}
		cpus_parse(str_text(&facts->text), &group);
		for (unsigned i = 0; i < CPUS_LIMIT / 64; i++)
			seen.bits[i] |= group.bits[i];
		count++;
	}
	if (count)
		facts_putf(facts, name, "%u", count);
	else
		facts_put_missing(facts, name, -ENOENT);
}

/* Hybrid Intel has one PMU per kind of core; ARM tells kinds apart by the id register. */
static void cpu_kinds(struct facts *facts)
{
	static const char *const kinds[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};
	str_auto struct str value = {0};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char path[64];

		snprintf(path, sizeof(path), "sys/devices/%s/cpus", kinds[i]);
		if (facts_read(facts, path) > 0)
			str_addf(&value, "%s%s (cpu %s)", value.len ? ", " : "", kinds[i],
				facts->text.at);
	}
	if (value.len)
		facts_put(facts, "core_kinds", value.at);
	else if (facts_exists(facts, CPU "cpu0/regs/identification/midr_el1"))
		facts_put_per_cpu(facts, "core_kinds", "regs/identification/midr_el1");
	else
		facts_put(facts, "core_kinds", "one");
	facts_put_per_cpu(facts, "capacity", "cpu_capacity");
}

static bool cache_read(struct facts *facts, int cpu, unsigned index, const char *file, char *ret)
{
	char path[128];

	snprintf(path, sizeof(path), CPU "cpu%d/cache/index%u/%s", cpu, index, file);
	if (facts_read(facts, path) < 0)
		return false;
	snprintf(ret, 32, "%s", str_text(&facts->text));
	return true;
}

static bool cache_describe(struct facts *facts, int cpu, const char *wanted, struct str *out)
{
	char level[32], type[32], size[32], ways[32], line[32], label[68];

	for (unsigned index = 0; index < 8; index++) {
		if (!cache_read(facts, cpu, index, "level", level) ||
			!cache_read(facts, cpu, index, "type", type))
			return false;
		snprintf(label, sizeof(label), "l%s%s", level,
			str_equal(type, "Data")		 ? "d"
			: str_equal(type, "Instruction") ? "i"
							 : "");
		if (!str_equal(label, wanted))
			continue;
		if (!cache_read(facts, cpu, index, "size", size))
			return false;
		str_add(out, size);
		if (cache_read(facts, cpu, index, "ways_of_associativity", ways))
			str_addf(out, " %s-way", ways);
		if (cache_read(facts, cpu, index, "coherency_line_size", line))
			str_addf(out, ", %s-byte lines", line);
		return true;
	}
	return false;
}

/* Caches of the first cpu, and of the first efficiency core where there is one. */
static void cpu_caches(struct facts *facts)
{
	static const char *const labels[] = {"l1d", "l1i", "l2", "l3"};
	int first = cpus_next(&facts->online, -1), small = -1;

	if (facts_read(facts, "sys/devices/cpu_atom/cpus") > 0) {
		struct cpus atoms;

		cpus_parse(facts->text.at, &atoms);
		small = cpus_next(&atoms, -1);
	}
	for (unsigned i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		str_auto struct str value = {0};
		char name[16];

		snprintf(name, sizeof(name), "cache_%s", labels[i]);
		if (!cache_describe(facts, first, labels[i], &value)) {
			facts_put_missing(facts, name, -ENOENT);
			continue;
		}
		if (small >= 0) {
			str_add(&value, "; cpu_atom ");
			if (!cache_describe(facts, small, labels[i], &value))
				str_add(&value, "absent");
		}
		facts_put(facts, name, value.at);
	}
	cpu_groups(facts, "l3_domains", "cache/index3/shared_cpu_list");
}

void fingerprint_cpu(struct facts *facts)
{
	static const struct fact_file files[] = {
		{"online_list", CPU "online"},
		{"offline_list", CPU "offline"},
		{"smt_active", CPU "smt/active"},
		{"smt_control", CPU "smt/control"},
		{0},
	};

	facts->group = "cpu";
	cpu_model(facts);
	cpu_count(facts, "online", CPU "online");
	cpu_count(facts, "possible", CPU "possible");
	cpu_count(facts, "present", CPU "present");
	facts_put_files(facts, files);
	cpu_groups(facts, "sockets", "topology/package_cpus_list");
	cpu_groups(facts, "cores", "topology/core_cpus_list");
	cpu_kinds(facts);
	cpu_caches(facts);
}

/* One word for three drivers' switches. */
static void freq_boost(struct facts *facts)
{
	long long value;
	int r = facts_read_number(facts, CPU "intel_pstate/no_turbo", &value);

	if (r == 0) {
		facts_put(facts, "boost", value ? "off" : "on");
		return;
	}
	r = facts_read_number(facts, CPU "cpufreq/boost", &value);
	if (r == 0)
		facts_put(facts, "boost", value ? "on" : "off");
	else
		facts_put_missing(facts, "boost", r);
}

static void freq_driver_mode(struct facts *facts)
{
	const char *path = CPU "intel_pstate/status";

	if (!facts_exists(facts, path))
		path = CPU "amd_pstate/status";
	facts_put_file(facts, "driver_mode", path);
}

/* "POLL C1 C6(off)": the idle states of the first cpu; all cpus have the same ones. */
static void freq_idle_states(struct facts *facts)
{
	int cpu = cpus_next(&facts->online, -1);
	name_list_auto struct name_list states = {0};
	str_auto struct str value = {0};
	char path[160];

	snprintf(path, sizeof(path), CPU "cpu%d/cpuidle", cpu);
	facts_list(facts, path, "state", &states);
	vec_foreach (char *, state, &states.at) {
		long long disabled = 0;

		snprintf(path, sizeof(path), CPU "cpu%d/cpuidle/%.32s/name", cpu, *state);
		if (facts_read(facts, path) <= 0)
			continue;
		str_addf(&value, "%s%s", value.len ? " " : "", facts->text.at);
		snprintf(path, sizeof(path), CPU "cpu%d/cpuidle/%.32s/disable", cpu, *state);
		if (facts_read_number(facts, path, &disabled) == 0 && disabled)
			str_add(&value, "(off)");
	}
	if (value.len)
		facts_put(facts, "idle_states", value.at);
	else
		facts_put_missing(facts, "idle_states", -ENOENT);
}

void fingerprint_freq(struct facts *facts)
{
	static const struct fact_file files[] = {
		{"max_perf_pct", CPU "intel_pstate/max_perf_pct"},
		{"min_perf_pct", CPU "intel_pstate/min_perf_pct"},
		{"idle_driver", CPU "cpuidle/current_driver"},
		{"idle_governor", CPU "cpuidle/current_governor_ro"},
		{"intel_idle_max_cstate", "sys/module/intel_idle/parameters/max_cstate"},
		{"processor_max_cstate", "sys/module/processor/parameters/max_cstate"},
		{0},
	};

	facts->group = "freq";
	facts_put_file(facts, "driver", CPU "cpu0/cpufreq/scaling_driver"); /* one per machine */
	freq_driver_mode(facts);
	facts_put_per_cpu(facts, "governor", "cpufreq/scaling_governor");
	freq_boost(facts);
	facts_put_per_cpu(facts, "min_khz", "cpufreq/scaling_min_freq");
	facts_put_per_cpu(facts, "max_khz", "cpufreq/scaling_max_freq");
	facts_put_per_cpu(facts, "hardware_max_khz", "cpufreq/cpuinfo_max_freq");
	facts_put_per_cpu(facts, "energy_preference", "cpufreq/energy_performance_preference");
	facts_put_per_cpu(facts, "energy_bias", "power/energy_perf_bias");
	freq_idle_states(facts);
	facts_put_files(facts, files);
}
