/* open_files.c - see open_files.h. */
#include "source/open_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"

enum { DEPTH_MOST = 16, CHILDREN_MOST = 64, TEXT_MOST = 1 << 16 };

/* "flags:	0100002", in octal, the second line of fdinfo.  O_RDONLY: not known. */
static unsigned long flags_of(int info, const char *name)
{
	str_auto struct str text = {0};
	const char *line;

	if (io_read_at(info, name, TEXT_MOST, &text) < 0)
		return O_RDONLY;
	line = strstr(str_text(&text), "flags:");
	return line ? strtoul(line + strlen("flags:"), NULL, 8) : O_RDONLY;
}

/* Each regular file that a process has open for writing. */
typedef void descriptor_take(
	void *context, int files, const char *name, unsigned long flags, const struct stat *file);

static void files_each(pid_t pid, descriptor_take *take, void *context)
{
	char folder[48];
	struct dirent *entry;
	struct stat file;
	io_auto int info = -1;
	DIR *files;

	snprintf(folder, sizeof(folder), "/proc/%d/fdinfo", (int)pid);
	info = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	files = info < 0 ? NULL : opendir(folder);
	while (files && (entry = readdir(files))) {
		unsigned long flags = *entry->d_name == '.' ? 0 : flags_of(info, entry->d_name);

		if ((flags & O_ACCMODE) != O_RDONLY &&
			fstatat(dirfd(files), entry->d_name, &file, 0) == 0 &&
			S_ISREG(file.st_mode))
			take(context, dirfd(files), entry->d_name, flags, &file);
	}
	if (files)
		closedir(files);
}

struct look {
	open_file_take *take;
	void *context;
};

static void path_take(
	void *context, int files, const char *name, unsigned long flags, const struct stat *file)
{
	const struct look *look = context;
	char path[PATH_MAX];
	ssize_t len;

	if (flags & O_APPEND || !file->st_nlink)
		return;
	len = readlinkat(files, name, path, sizeof(path) - 1);
	path[len > 0 ? len : 0] = '\0';
	if (*path == '/')
		look->take(look->context, path);
}

static void tree_look(pid_t pid, unsigned depth, struct look *look)
{
	str_auto struct str text = {0};
	char path[64], *at;
	unsigned count = 0;

	files_each(pid, path_take, look);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	if (depth >= DEPTH_MOST || io_read_at(AT_FDCWD, path, TEXT_MOST, &text) < 0)
		return;
	at = text.at;
	while (at && *at && count++ < CHILDREN_MOST) {
		char *end;
		long child = strtol(at, &end, 10);

		if (end == at)
			break;
		tree_look((pid_t)child, depth + 1, look);
		at = end;
	}
}

void open_files_look(pid_t pid, open_file_take *take, void *context)
{
	tree_look(pid, 0, &(struct look){take, context});
}

struct wanted {
	const struct stat *file;
	bool found;
};

static void wanted_find(
	void *context, int files, const char *name, unsigned long flags, const struct stat *file)
{
	struct wanted *wanted = context;

	(void)files;
	(void)name;
	(void)flags;
	if (file->st_dev == wanted->file->st_dev && file->st_ino == wanted->file->st_ino)
		wanted->found = true;
}

bool open_files_has_writer(const struct stat *file)
{
	struct wanted wanted = {.file = file};
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	while (!wanted.found && processes && (entry = readdir(processes))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			files_each((pid_t)pid, wanted_find, &wanted);
	}
	if (processes)
		closedir(processes);
	return wanted.found;
}
