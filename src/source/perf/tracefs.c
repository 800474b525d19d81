/* tracefs.c - see tracefs.h. */
#include "source/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"

static int tracefs_open_detached(void)
{
	io_auto int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	return (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
}

int tracefs_open(struct err *err)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	bool denied = false;
	int fd;

	for (unsigned i = 0; i < 2; i++) {
		fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && faccessat(fd, "events", R_OK, 0) == 0)
			return fd;
		denied |= errno == EACCES;
		if (fd >= 0)
			close(fd);
	}
	fd = tracefs_open_detached();
	if (fd >= 0)
		return fd;
	if (denied || geteuid() != 0) {
		err_set(err, ERR_UNAVAILABLE, EACCES, "only root can read tracepoints here");
		err_hint(
			err, "run as root, or: sudo mount -o remount,mode=755 /sys/kernel/tracing");
		return -EACCES;
	}
	err_set(err, ERR_UNAVAILABLE, ENOENT, "tracefs is not mounted and cannot be opened");
	err_hint(err, "mount -t tracefs nodev /sys/kernel/tracing");
	return -ENOENT;
}

int tracefs_event_id(int tracefs, const char *system, const char *name, struct err *err)
{
	str_auto struct str text = {0};
	char path[256];
	uint64_t id = 0;
	int r;

	if (strchr(system, '/') || strchr(name, '/'))
		r = -ENOENT;
	else {
		snprintf(path, sizeof(path), "events/%s/%s/id", system, name);
		r = io_read_at(tracefs, path, 64, &text);
	}
	if (r == 0 && (str_to_u64(str_trim(text.at), &id) < 0 || id > INT32_MAX))
		r = -EINVAL;
	if (r < 0) {
		err_set(err, ERR_UNAVAILABLE, -r, "cannot read tracepoint %s:%s: %s", system, name,
			err_words(-r));
		if (r == -EACCES)
			err_hint(err, "run as root");
		return r;
	}
	return (int)id;
}

static void nearest_in(DIR *folder, const char *name, char *nearest, size_t capacity)
{
	const struct dirent *entry;

	while ((entry = readdir(folder))) {
		const char *two[] = {entry->d_name, *nearest ? nearest : NULL, NULL};
		const char *better = entry->d_name[0] == '.' ? NULL : str_nearest(name, two);

		if (better && better != nearest)
			snprintf(nearest, capacity, "%s", better);
	}
}

void tracefs_nearest(
	int tracefs, const char *system, const char *name, char *nearest, size_t capacity)
{
	char path[256];
	DIR *folder;
	int fd;

	*nearest = '\0';
	snprintf(path, sizeof(path), "events/%s", system);
	fd = strchr(system, '/') ? -1 : openat(tracefs, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (!folder) {
		if (fd >= 0)
			close(fd);
		return;
	}
	nearest_in(folder, name, nearest, capacity);
	closedir(folder);
}
