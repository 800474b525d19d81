/* simulate_scratch.c - the folder of a simulation: its making, what valgrind says in its logs, its
 * removal.
 *
 * A folder is locked while it is used, by its spawner too, so one that nobody has locked was left
 * by a tool that was killed: the next simulation of the same user removes it.  Its program may run
 * on: valgrind writes there when that ends, and makes its exit status 1 where it cannot.  So a
 * folder stays as long as one of the logs in it is open. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "simulate_parts.h"

enum { LOG_MOST = 1 << 20, TRIES = 10, PID_MOST = 16 };
#define PREFIX "assay-simulate-"
#define LOG "log." /* and the process */

/* The line that `at` stands in, without valgrind's "==123== ". */
static void line_copy(const char *text, const char *at, char *ret_line, size_t capacity)
{
	const char *start = at, *end = strchrnul(at, '\n');
	const char *mark;

	while (start > text && start[-1] != '\n')
		start--;
	mark = strstr(start, "== ");
	if (str_starts(start, "==") && mark && mark < end)
		start = mark + 3;
	snprintf(ret_line, capacity, "%.*s", (int)(end - start < 400 ? end - start : 400), start);
	str_flatten(ret_line);
}

static void log_look(const char *text, struct simulate_log *log)
{
	/* A program's own ud2 makes valgrind say "Unrecognised instruction" too, but not this. */
	const char *at = strstr(text, "unhandled instruction");

	if (at && !log->unsupported) {
		log->unsupported = true;
		snprintf(log->instruction, sizeof(log->instruction), "%.*s", (int)strcspn(at, "\n"),
			at);
		str_flatten(log->instruction);
	}
	at = strstr(text, "valgrind: ");
	if (at && !*log->complaint)
		line_copy(text, at, log->complaint, sizeof(log->complaint));
}

void simulate_log_read(const char *folder, struct simulate_log *ret_log)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	*ret_log = (struct simulate_log){0};
	while (dir && (entry = readdir(dir))) {
		str_auto struct str text = {0};

		if (str_starts(entry->d_name, LOG) &&
			io_read_at(dirfd(dir), entry->d_name, LOG_MOST, &text) >= 0)
			log_look(str_text(&text), ret_log);
	}
	if (dir)
		closedir(dir);
}

/* Whether the process has this file open; one that may not be asked may have. */
static bool process_has(const char *pid, const struct stat *file)
{
	char path[64];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return errno != ENOENT;
	while (!found && (entry = readdir(dir))) {
		struct stat open_file;

		found = fstatat(dirfd(dir), entry->d_name, &open_file, 0) == 0 &&
			open_file.st_ino == file->st_ino && open_file.st_dev == file->st_dev;
	}
	closedir(dir);
	return found;
}

/* Whether a simulated process still runs: each has a log of its own, named after it. */
static bool folder_is_used(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own >= 0 ? fdopendir(own) : NULL;
	struct dirent *entry;
	struct stat file;
	bool used = false;

	if (!dir)
		io_close_pointer(&own);
	while (dir && !used && (entry = readdir(dir))) {
		const char *pid = entry->d_name + strlen(LOG);

		used = str_starts(entry->d_name, LOG) && *pid &&
		       strspn(pid, "0123456789") == strlen(pid) && strlen(pid) < PID_MOST &&
		       fstatat(fd, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
		       process_has(pid, &file);
	}
	if (dir)
		closedir(dir);
	return used;
}

/* The files in the folder behind `fd`, which is closed. */
static void folder_empty(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;

	if (!dir)
		close(fd);
	while (dir && (entry = readdir(dir)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/* A folder of ours, locked; or -1: it is another user's, in use, or gone. */
static int folder_lock(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat there, named;

	if (fd >= 0 && fstat(fd, &there) == 0 && there.st_uid == geteuid() &&
		flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		fstatat(base, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		named.st_ino == there.st_ino && named.st_dev == there.st_dev)
		return fd;
	io_close_pointer(&fd);
	return -1;
}

static void folders_sweep(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		io_auto int fd = -1;

		if (!str_starts(entry->d_name, PREFIX))
			continue;
		fd = folder_lock(dirfd(dir), entry->d_name);
		if (fd < 0 || folder_is_used(fd))
			continue;
		folder_empty(fcntl(fd, F_DUPFD_CLOEXEC, 0)); /* locked until it is gone */
		(void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

int simulate_folder_make(struct arena *arena, struct simulate_folder *ret_folder, struct err *err)
{
	const char *base = getenv("TMPDIR");
	char *path = NULL;

	base = base && *base == '/' ? base : "/tmp";
	folders_sweep(base);
	/* Whoever sweeps between the next two calls takes it for an old one. */
	for (unsigned i = 0; i < TRIES; i++) {
		path = arena_format(arena, "%s/" PREFIX "%d-XXXXXX", base, (int)getpid());
		if (!mkdtemp(path))
			break;
		ret_folder->lock = folder_lock(AT_FDCWD, path);
		if (ret_folder->lock >= 0) {
			ret_folder->path = path;
			return 0;
		}
		errno = EAGAIN;
	}
	err_set(err, ERR_OUTPUT, errno, "cannot create a directory for the simulation (%s): %s",
		path, err_words(errno));
	err_hint(err, "set TMPDIR to a directory with enough space");
	return -err->code;
}

void simulate_folder_remove(struct simulate_folder *folder)
{
	if (!folder->path)
		return;
	if (!folder_is_used(folder->lock)) {
		folder_empty(fcntl(folder->lock, F_DUPFD_CLOEXEC, 0));
		(void)rmdir(folder->path);
	}
	io_close_pointer(&folder->lock);
	folder->path = NULL;
}
