/* cgroup_quota.c - see cgroup_quota.h.
 *
 * /proc/self/cgroup has one line per hierarchy, "ID:CONTROLLERS:/PATH"; version 2 is "0::/PATH".
 * A quota may be set on any group above ours.  In a container the path may not exist below the
 * mount point; then only the root of the mount is looked at, which is the container's own group. */
#include "cgroup_quota.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

enum { FILE_MAX = 1 << 16 };

static bool quota_is_set(const char *folder, bool second)
{
	str_auto struct str path = {0};
	char line[64];

	str_addf(&path, "%s/%s", folder, second ? "cpu.max" : "cpu.cfs_quota_us");
	if (io_read_line(str_text(&path), line, sizeof(line)) < 0)
		return false;
	return second ? !str_starts(line, "max") : strtol(line, NULL, 10) > 0;
}

/* From `path` in the hierarchy at `mount` up to its root. */
static bool hierarchy_search(const char *mount, const char *path, bool second, struct str *ret_path)
{
	str_auto struct str folder = {0};

	str_addf(&folder, "%s%s", mount, path);
	for (;;) {
		char *slash;

		if (quota_is_set(str_text(&folder), second)) {
			str_addf(ret_path, "%s/cpu.stat", str_text(&folder));
			return true;
		}
		if (folder.len <= strlen(mount))
			return false;
		slash = strrchr(folder.at, '/');
		folder.len = (size_t)(slash - folder.at);
		*slash = '\0';
	}
}

static bool controllers_have_cpu(const char *list, size_t len)
{
	while (len) {
		size_t word = strcspn(list, ",:");

		if (word == 3 && !strncmp(list, "cpu", 3))
			return true;
		if (word >= len)
			return false;
		list += word + 1;
		len -= word + 1;
	}
	return false;
}

void cgroup_quota_find(struct str *ret_path)
{
	str_auto struct str text = {0};
	char *rest, *line;

	if (io_read_at(AT_FDCWD, "/proc/self/cgroup", FILE_MAX, &text) < 0)
		return;
	rest = text.at;
	while ((line = strsep(&rest, "\n")) && *line) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
		bool second = list && list[1] == ':';

		if (!path)
			continue;
		path++;
		if (second && hierarchy_search("/sys/fs/cgroup", path, true, ret_path))
			return;
		if (!second && controllers_have_cpu(list + 1, (size_t)(path - list - 2)) &&
			hierarchy_search("/sys/fs/cgroup/cpu", path, false, ret_path))
			return;
	}
}
