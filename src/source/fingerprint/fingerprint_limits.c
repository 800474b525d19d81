/* fingerprint_limits.c - what stands between the program and the whole machine: hypervisor,
 * container, control groups, affinity, resource limits, priority.
 *
 * Everything about this process comes from proc/self, because a recorded machine has that too; only
 * the hypervisor's name needs an instruction (CPUID).  A cgroup limit holds for all below it, so
 * the tightest one on the way to the top is the one that counts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "fingerprint_facts.h"

#define DMI "sys/class/dmi/id/"

struct pair {
	const char *found, *name;
};

/* The hypervisor's signature from CPUID leaf 0x40000000, "" when there is none. */
static void hypervisor_signature(const struct facts *facts, char ret_signature[13])
{
	memset(ret_signature, 0, 13);
#if defined(__x86_64__)
	unsigned a, b, c, d;

	if (facts->recorded || !__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
		return;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(ret_signature, &b, 4);
	memcpy(ret_signature + 4, &c, 4);
	memcpy(ret_signature + 8, &d, 4);
#else
	(void)facts;
#endif
}

static const char *pair_find(const struct pair *pairs, const char *text)
{
	for (; pairs->found; pairs++)
		if (strstr(text, pairs->found))
			return pairs->name;
	return NULL;
}

/* The vendor of a virtual machine says so in DMI; clouds put their name there on bare metal too,
 * so this is asked only when something else says "virtual", or on ARM, which has no CPUID. */
static const char *virtual_by_firmware(struct facts *facts)
{
	static const struct pair vendors[] = {
		{"QEMU", "qemu"},
		{"Amazon EC2", "amazon"},
		{"Google", "google"},
		{"Microsoft", "microsoft"},
		{"VMware", "vmware"},
		{"innotek", "virtualbox"},
		{"Xen", "xen"},
		{"Parallels", "parallels"},
		{"Apple", "apple"},
		{"Hetzner", "kvm"},
		{"DigitalOcean", "kvm"},
		{NULL, NULL},
	};

	if (facts_read(facts, "proc/device-tree/hypervisor/compatible") > 0)
		return strstr(facts->text.at, "xen") ? "xen" : "kvm";
	if (facts_read(facts, "sys/hypervisor/type") > 0)
		return "xen";
	if (facts_read(facts, DMI "product_name") > 0 && str_ends(facts->text.at, ".metal"))
		return "none";
	return facts_read(facts, DMI "sys_vendor") > 0 ? pair_find(vendors, facts->text.at) : NULL;
}

static void limits_virtual(struct facts *facts)
{
	static const struct pair signatures[] = {
		{"KVMKVMKVM", "kvm"},
		{"Microsoft Hv", "microsoft"},
		{"VMwareVMware", "vmware"},
		{"XenVMMXenVMM", "xen"},
		{"TCGTCGTCGTCG", "qemu"},
		{"bhyve bhyve", "bhyve"},
		{"lrpepyh", "parallels"},
		{"ACRNACRNACRN", "acrn"},
		{NULL, NULL},
	};
	char signature[13];
	str_auto struct str flags = {0};
	bool x86 = line_value(str_text(&facts->cpuinfo), "flags", &flags);
	bool guest = x86 && strstr(flags.at, " hypervisor");
	const char *kind = NULL;

	hypervisor_signature(facts, signature);
	if (x86 && !guest)
		kind = "none";
	else if (signature[0])
		kind = pair_find(signatures, signature);
	if (!kind)
		kind = virtual_by_firmware(facts);
	if (!kind && guest)
		kind = "unknown hypervisor";
	if (kind)
		facts_put(facts, "virtualization", kind);
	else
		facts_put_missing(facts, "virtualization", -ENOENT);
	if (signature[0])
		facts_put(facts, "hypervisor", signature);
	else
		facts_put_missing(facts, "hypervisor", -ENOENT);
	facts_put_file(facts, "machine_vendor", DMI "sys_vendor");
	facts_put_file(facts, "machine_product", DMI "product_name");
}

/* The first pid namespace has a fixed inode number (PROC_PID_INIT_INO). */
static bool pid_namespace_is_first(const struct facts *facts)
{
	char target[64];
	ssize_t len = readlinkat(facts->root_fd, "proc/self/ns/pid", target, sizeof(target) - 1);

	if (len < 0)
		return true; /* not told: nothing to claim */
	target[len] = '\0';
	return strstr(target, "[4026531836]") != NULL;
}

static void limits_container(struct facts *facts)
{
	static const struct pair marks[] = {
		{"kubepods", "kubernetes"},
		{"docker", "docker"},
		{"libpod", "podman"},
		{"/lxc", "lxc"},
		{"containerd", "containerd"},
		{NULL, NULL},
	};
	str_auto struct str value = {0};
	const char *kind = NULL;

	if (facts_read(facts, "proc/1/cgroup") > 0)
		kind = pair_find(marks, facts->text.at);
	if (!kind && facts_exists(facts, ".dockerenv"))
		kind = "docker";
	if (!kind && facts_exists(facts, "run/.containerenv"))
		kind = "podman";
	if (!kind && facts_read(facts, "run/systemd/container") > 0) {
		str_add(&value, facts->text.at);
		kind = value.at;
	}
	if (!kind)
		kind = pid_namespace_is_first(facts) ? "none" : "unknown container";
	facts_put(facts, "container", kind);
}

static void limits_resources(struct facts *facts)
{
	static const struct fact_file rows[] = {
		{"rlimit_stack", "Max stack size"},
		{"rlimit_nofile", "Max open files"},
		{"rlimit_memlock", "Max locked memory"},
		{"rlimit_nproc", "Max processes"},
		{"rlimit_as", "Max address space"},
		{"rlimit_core", "Max core file size"},
		{"rlimit_cpu", "Max cpu time"},
		{0},
	};
	int r = facts_read(facts, "proc/self/limits");

	for (const struct fact_file *row = rows; row->name; row++) {
		const char *line = r < 0 ? NULL : strstr(str_text(&facts->text), row->path);
		char soft[32], hard[32];

		if (line && sscanf(line + strlen(row->path), "%31s %31s", soft, hard) == 2)
			facts_putf(facts, row->name, "%s (hard %s)", soft, hard);
		else
			facts_put_missing(facts, row->name, r < 0 ? r : -ENOENT);
	}
}

/* Fields of proc/self/stat are counted behind the last parenthesis: the name may hold blanks. */
static void limits_priority(struct facts *facts)
{
	static const char *const policies[] = {
		"other", "fifo", "rr", "batch", "iso", "idle", "deadline", "ext"};
	int r = facts_read(facts, "proc/self/stat");
	char *rest = r > 0 ? strrchr(facts->text.at, ')') : NULL, *word;
	long values[42] = {0};
	unsigned field = 2;

	if (rest && rest[1])
		for (rest += 2; field < 41 && (word = strsep(&rest, " "));)
			values[++field] = strtol(word, NULL, 10);
	if (field < 41) {
		facts_put_missing(facts, "nice", r < 0 ? r : -ENOENT);
		facts_put_missing(facts, "scheduling_policy", r < 0 ? r : -ENOENT);
		return;
	}
	facts_putf(facts, "nice", "%ld", values[19]);
	if (values[41] >= 0 && values[41] < 8)
		facts_putf(facts, "scheduling_policy", "%s, priority %ld", policies[values[41]],
			values[40]);
	else
		facts_putf(facts, "scheduling_policy", "%ld", values[41]);
}

void fingerprint_limits(struct facts *facts)
{
	facts->group = "limits";
	limits_virtual(facts);
	limits_container(facts);
	fingerprint_cgroup(facts);
	facts_put_line(facts, "affinity", &facts->status, "Cpus_allowed_list");
	facts_put_line(facts, "memory_nodes", &facts->status, "Mems_allowed_list");
	limits_resources(facts);
	limits_priority(facts);
	facts_put_file(facts, "oom_score_adj", "proc/self/oom_score_adj");
}
