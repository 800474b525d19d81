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

/* "flags:	0100002", in octal, the second line of fdinfo. */
static bool is_written(int info, const char *name)
{
	str_auto struct str text = {0};
	const char *line;
	unsigned long flags;

	if (io_read_at(info, name, TEXT_MOST, &text) < 0)
		return false;
	line = strstr(str_text(&text), "flags:");
	flags = line ? strtoul(line + strlen("flags:"), NULL, 8) : O_APPEND;
	return (flags & O_ACCMODE) != O_RDONLY && !(flags & O_APPEND);
}

static void files_look(pid_t pid, open_file_take *take, void *context)
{
	char path[PATH_MAX], folder[48];
	struct dirent *entry;
	struct stat file;
	io_auto int info = -1;
	DIR *files;

	snprintf(folder, sizeof(folder), "/proc/%d/fdinfo", (int)pid);
	info = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	files = info < 0 ? NULL : opendir(folder);
	while (files && (entry = readdir(files))) {
		ssize_t len;

		if (*entry->d_name == '.' || !is_written(info, entry->d_name) ||
			fstatat(dirfd(files), entry->d_name, &file, 0) < 0 ||
			!S_ISREG(file.st_mode) || !file.st_nlink)
			continue;
		len = readlinkat(dirfd(files), entry->d_name, path, sizeof(path) - 1);
		path[len > 0 ? len : 0] = '\0';
		if (*path == '/')
			take(context, path);
	}
	if (files)
		closedir(files);
}

static void tree_look(pid_t pid, unsigned depth, open_file_take *take, void *context)
{
	str_auto struct str text = {0};
	char path[64], *at;
	unsigned count = 0;

	files_look(pid, take, context);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	if (depth >= DEPTH_MOST || io_read_at(AT_FDCWD, path, TEXT_MOST, &text) < 0)
		return;
	at = text.at;
	while (at && *at && count++ < CHILDREN_MOST) {
		char *end;
		long child = strtol(at, &end, 10);

		if (end == at)
			break;
		tree_look((pid_t)child, depth + 1, take, context);
		at = end;
	}
}

void open_files_look(pid_t pid, open_file_take *take, void *context)
{
	tree_look(pid, 0, take, context);
}
