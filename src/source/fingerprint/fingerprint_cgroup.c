/* fingerprint_cgroup.c - how much of the machine the control groups leave us, v1 and v2.
 *
 * A limit holds for everything below it, so the tightest one between our group and the top of the
 * mount counts.  On hybrid machines (v1 controllers, an empty v2 tree) each controller is looked
 * for in v1 first.  In a container the mount may show only our own subtree while proc/self/cgroup
 * still names the host's path; the mount's root is then taken off the path. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fingerprint_facts.h"

struct cgroup {
	unsigned version; /* 0: not mounted */
	char point[512];  /* relative to the root, no slash at either end */
	char path[1024];  /* "" or "/a/b" below it */
};

static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, word, len) == 0 && (!at[len] || at[len] == ',' || at[len] == '\n'))
			return true;
	return false;
}

/* The mount that carries `controller`: v1 when there is one, else v2.  `ret_root` is what part of
 * the hierarchy the mount shows. */
static void cgroup_find_mount(const struct facts *facts, const char *controller,
	struct cgroup *cgroup, char ret_root[1024])
{
	str_auto struct str copy = {0};
	char *rest, *line;

	str_add(&copy, str_text(&facts->mounts));
	rest = copy.at;
	while ((line = strsep(&rest, "\n"))) {
		struct mount mount;
		unsigned version;

		if (!mount_parse(line, &mount))
			continue;
		version = str_equal(mount.type, "cgroup2") ? 2
			  : str_equal(mount.type, "cgroup") && list_has(mount.super, controller)
				  ? 1
				  : 0;
		if (!version || cgroup->version == 1)
			continue;
		cgroup->version = version;
		snprintf(cgroup->point, sizeof(cgroup->point), "%s", mount.point + 1);
		snprintf(ret_root, 1024, "%s", str_equal(mount.root, "/") ? "" : mount.root);
	}
}

/* Our path in the hierarchy: "4:cpu,cpuacct:/a/b" in v1, "0::/a/b" in v2. */
static void cgroup_find_path(struct facts *facts, const char *controller, struct cgroup *cgroup)
{
	char *rest, *line;

	if (facts_read(facts, "proc/self/cgroup") <= 0)
		return;
	rest = facts->text.at;
	while ((line = strsep(&rest, "\n"))) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		controllers++;
		if (cgroup->version == 2 ? !*controllers : list_has(controllers, controller))
			snprintf(cgroup->path, sizeof(cgroup->path), "%s",
				str_equal(path, "/") ? "" : path);
	}
}

static struct cgroup cgroup_find(struct facts *facts, const char *controller)
{
	struct cgroup cgroup = {0};
	char root[1024] = "", folder[1600];

	cgroup_find_mount(facts, controller, &cgroup, root);
	if (!cgroup.version)
		return cgroup;
	cgroup_find_path(facts, controller, &cgroup);
	if (*root && str_starts(cgroup.path, root))
		memmove(cgroup.path, cgroup.path + strlen(root),
			strlen(cgroup.path) - strlen(root) + 1);
	snprintf(folder, sizeof(folder), "%s%s", cgroup.point, cgroup.path);
	if (!facts_exists(facts, folder))
		cgroup.path[0] = '\0'; /* a path of the host that this mount does not show */
	return cgroup;
}

static int cgroup_read(struct facts *facts, const struct cgroup *cgroup, const char *file)
{
	char path[1800];

	if (!cgroup->version)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s%s/%s", cgroup->point, cgroup->path, file);
	return facts_read(facts, path);
}

/* A limit of one group: HUGE_VAL for none. */
typedef int limit_reader(struct facts *facts, const struct cgroup *cgroup, double *ret_limit);

static int read_cpu_limit(struct facts *facts, const struct cgroup *cgroup, double *ret_limit)
{
	double quota = HUGE_VAL, period = 0;
	int r;

	if (cgroup->version == 2) {
		r = cgroup_read(facts, cgroup, "cpu.max");
		if (r >= 0 && sscanf(str_text(&facts->text), "%lf %lf", &quota, &period) != 2)
			quota = HUGE_VAL;
	} else {
		r = cgroup_read(facts, cgroup, "cpu.cfs_quota_us");
		if (r >= 0)
			quota = strtod(str_text(&facts->text), NULL);
		if (r >= 0 && quota > 0 && cgroup_read(facts, cgroup, "cpu.cfs_period_us") > 0)
			period = strtod(facts->text.at, NULL);
	}
	*ret_limit = quota > 0 && period > 0 ? quota / period : HUGE_VAL;
	return r < 0 ? r : 0;
}

static int read_memory_limit(struct facts *facts, const struct cgroup *cgroup, double *ret_limit)
{
	int r = cgroup_read(
		facts, cgroup, cgroup->version == 2 ? "memory.max" : "memory.limit_in_bytes");
	char *end;

	if (r < 0)
		return r;
	*ret_limit = strtod(str_text(&facts->text), &end);
	/* v1 writes "no limit" as the largest multiple of the page size below 2^63. */
	if (end == str_text(&facts->text) || *ret_limit > 9.2e18)
		*ret_limit = HUGE_VAL;
	return 0;
}

/* The tightest limit from our group to the top; -ENOENT when no group has the file. */
static int cgroup_tightest(
	struct facts *facts, struct cgroup cgroup, limit_reader *read_limit, double *ret_limit)
{
	double tightest = HUGE_VAL;
	bool found = false;
	int r = -ENOENT;

	for (;;) {
		double limit = HUGE_VAL;
		char *slash;

		r = read_limit(facts, &cgroup, &limit);
		if (r == -EACCES || r == -EPERM)
			return r;
		found |= r == 0;
		if (r == 0 && limit < tightest)
			tightest = limit;
		slash = strrchr(cgroup.path, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	*ret_limit = tightest;
	return found ? 0 : -ENOENT;
}

static void put_limit(struct facts *facts, const char *name, const struct cgroup *cgroup,
	limit_reader *read_limit, const char *format)
{
	double limit;
	int r = cgroup_tightest(facts, *cgroup, read_limit, &limit);

	if (r < 0)
		facts_put_missing(facts, name, r);
	else if (isinf(limit))
		facts_put(facts, name, "max");
	else if (str_equal(format, "cpus"))
		facts_putf(facts, name, "%.2f cpus", limit);
	else
		facts_putf(facts, name, "%.0f bytes", limit);
}

/* Of our group; of the nearest one above it where the controller ends higher up. */
static void put_group_file(
	struct facts *facts, const char *name, struct cgroup cgroup, const char *file)
{
	int r = cgroup_read(facts, &cgroup, file);
	char *slash;

	while (r == -ENOENT && (slash = strrchr(cgroup.path, '/'))) {
		*slash = '\0';
		r = cgroup_read(facts, &cgroup, file);
	}

	if (r < 0)
		facts_put_missing(facts, name, r);
	else
		facts_put(facts, name, str_text(&facts->text));
}

static void put_throttled(struct facts *facts, const struct cgroup *cgroup)
{
	int r = cgroup_read(facts, cgroup, "cpu.stat");
	const char *at = r < 0 ? NULL : strstr(str_text(&facts->text), "nr_throttled ");

	if (at)
		facts_putf(facts, "throttled_periods", "%llu", strtoull(at + 13, NULL, 10));
	else
		facts_put_missing(facts, "throttled_periods", r < 0 ? r : -ENOENT);
}

void fingerprint_cgroup(struct facts *facts)
{
	struct cgroup cpu = cgroup_find(facts, "cpu"), set = cgroup_find(facts, "cpuset");
	struct cgroup memory = cgroup_find(facts, "memory"), pids = cgroup_find(facts, "pids");

	if (cpu.version)
		facts_putf(facts, "cgroup_version", "v%u", cpu.version);
	else
		facts_put_missing(facts, "cgroup_version", -ENOENT);
	put_limit(facts, "cpu_quota", &cpu, read_cpu_limit, "cpus");
	put_group_file(facts, "cpu_weight", cpu, cpu.version == 2 ? "cpu.weight" : "cpu.shares");
	put_group_file(facts, "cpuset", set,
		set.version == 2 ? "cpuset.cpus.effective" : "cpuset.effective_cpus");
	put_limit(facts, "memory_max", &memory, read_memory_limit, "bytes");
	put_group_file(facts, "pids_max", pids, "pids.max");
	put_throttled(facts, &cpu);
}
