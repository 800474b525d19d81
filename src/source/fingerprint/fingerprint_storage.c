/* fingerprint_storage.c - the file system under a path, and the device under that.
 *
 * The mount is the one with the longest mount point above the path, the last one when several are
 * stacked: that needs no statx (mount ids came with 5.8) and works on a recorded machine. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "fingerprint_facts.h"

struct storage {
	char point[PATH_MAX], device[32], type[64], source[PATH_MAX];
	char options[512], super[512];
};

static bool path_is_below(const char *path, const char *point)
{
	size_t len = strlen(point);

	if (str_equal(point, "/"))
		return true;
	return strncmp(path, point, len) == 0 && (!path[len] || path[len] == '/');
}

/* mountinfo writes blank, tab, newline and backslash as \040 and the like. */
static void unescape(char *text)
{
	char *out = text;

	for (const char *at = text; *at; out++) {
		if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
			at[3] >= '0' && at[3] <= '7') {
			*out = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
			at += 4;
		} else {
			*out = *at++;
		}
	}
	*out = '\0';
}

static bool storage_find(const struct facts *facts, const char *path, struct storage *ret)
{
	str_auto struct str copy = {0};
	size_t longest = 0;
	char *rest, *line;

	str_add(&copy, str_text(&facts->mounts));
	rest = copy.at;
	while ((line = strsep(&rest, "\n"))) {
		struct mount mount;
		char point[PATH_MAX];

		if (!mount_parse(line, &mount))
			continue;
		snprintf(point, sizeof(point), "%s", mount.point);
		unescape(point);
		if (strlen(point) < longest || !path_is_below(path, point))
			continue;
		longest = strlen(point);
		snprintf(ret->point, sizeof(ret->point), "%s", point);
		snprintf(ret->device, sizeof(ret->device), "%s", mount.device);
		snprintf(ret->type, sizeof(ret->type), "%s", mount.type);
		snprintf(ret->source, sizeof(ret->source), "%s", mount.source);
		snprintf(ret->options, sizeof(ret->options), "%s", mount.options);
		snprintf(ret->super, sizeof(ret->super), "%s", mount.super);
	}
	return longest > 0;
}

/* A partition has no queue of its own; its disk is the folder above. */
static void put_queue(struct facts *facts, const char *name, const char *device, const char *file)
{
	char path[160];

	snprintf(path, sizeof(path), "sys/dev/block/%s/queue/%s", device, file);
	if (!facts_exists(facts, path))
		snprintf(path, sizeof(path), "sys/dev/block/%s/../queue/%s", device, file);
	facts_put_choice(facts, name, path);
}

static void put_free(struct facts *facts, const char *path)
{
	struct statvfs there;

	if (facts->recorded)
		facts_put_missing(facts, "free", -ENOENT);
	else if (statvfs(path, &there) < 0)
		facts_put_missing(facts, "free", -errno);
	else if (!there.f_blocks)
		facts_put_missing(facts, "free", -ENOENT); /* proc and its like */
	else
		facts_putf(facts, "free", "%.1f %%",
			100.0 * (double)there.f_bavail / (double)there.f_blocks);
}

/* A network mount names a server: only its hash is shown. */
static void put_source(struct facts *facts, const char *source)
{
	if (str_starts(source, "//") || strchr(source, ':'))
		facts_put_hash(facts, "device", source, strlen(source));
	else
		facts_put(facts, "device", source);
}

void fingerprint_storage(struct facts *facts)
{
	static const char *const names[] = {"mount_point", "filesystem", "mount_options",
		"filesystem_options_hash", "device", "scheduler", "rotational", "read_ahead_kb",
		"free"};
	struct storage storage = {0};
	char path[PATH_MAX];

	facts->group = "storage";
	if (facts->recorded)
		snprintf(path, sizeof(path), "%s", facts->storage_path ? facts->storage_path : "/");
	else if (!realpath(facts->storage_path ? facts->storage_path : ".", path))
		snprintf(path, sizeof(path), "/");
	facts_put(facts, "path", path);
	if (!storage_find(facts, path, &storage)) {
		for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
			facts_put_missing(facts, names[i], -ENOENT);
		return;
	}
	facts_put(facts, "mount_point", storage.point);
	facts_put(facts, "filesystem", storage.type);
	facts_put(facts, "mount_options", storage.options);
	facts_put_hash(facts, "filesystem_options_hash", storage.super, strlen(storage.super));
	put_source(facts, storage.source);
	put_queue(facts, "scheduler", storage.device, "scheduler");
	put_queue(facts, "rotational", storage.device, "rotational");
	put_queue(facts, "read_ahead_kb", storage.device, "read_ahead_kb");
	put_free(facts, path);
}
