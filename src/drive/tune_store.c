/* tune_store.c - where the journal is, who holds it, and what an earlier boot left.
 *
 * One file per boot: every knob is gone with the boot that set it, so a journal of another boot is
 * void.  The lock is taken on the folder, which is never replaced, so the file may come and go. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "tune_parts.h"

enum { JOURNAL_LARGEST = 64 << 20, LOCK_TRIES = 30, LOCK_PAUSE_NS = 100000000 };

static const char folder_path[] = "/var/lib/assay/tune";

static int boot_id_read(struct tune *tune, const char **ret_id, struct err *err)
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	int r = tune_value_read(tune, path, ret_id, NULL);

	if (r >= 0 && strspn(*ret_id, "0123456789abcdef-") == strlen(*ret_id))
		return 0;
	err_set(err, ERR_UNAVAILABLE, r < 0 ? -r : EINVAL, "cannot tell which boot this is: %s: %s",
		path, r < 0 ? err_words(-r) : "is not an identifier");
	err_hint(err, "mount /proc");
	return -err->code;
}

/* How many changes a journal of another boot tells of. */
static uint32_t changes_in(int folder, const char *name)
{
	str_auto struct str text = {0};
	struct tune_journal journal = {0};
	uint32_t count;

	if (io_read_at(folder, name, JOURNAL_LARGEST, &text) < 0)
		return 0;
	tune_journal_read(&journal, str_text(&text), text.len);
	count = tune_journal_count(&journal);
	tune_journal_done(&journal);
	return count;
}

/* Count, or remove, the journals of other boots. */
static uint32_t other_boots(struct tune *tune, bool remove)
{
	DIR *folder = opendir(tune_full_path(tune, folder_path));
	const char *ours = strrchr(tune->journal_path, '/') + 1;
	const struct dirent *entry;
	uint32_t count = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		if (!str_ends(entry->d_name, ".ndjson") || str_equal(entry->d_name, ours))
			continue;
		if (remove)
			unlinkat(dirfd(folder), entry->d_name, 0);
		else
			count += changes_in(dirfd(folder), entry->d_name);
	}
	closedir(folder);
	return count;
}

int tune_open(struct tune *ret_tune, const struct tune_options *options, struct err *err)
{
	const char *boot;
	int r;

	*ret_tune = (struct tune){.options = *options, .folder = -1, .file = -1};
	ret_tune->session = clock_realtime_ns();
	r = boot_id_read(ret_tune, &boot, err);
	if (r < 0)
		return r;
	ret_tune->journal_path =
		arena_format(&ret_tune->texts, "%s%s/%s.ndjson", options->root, folder_path, boot);
	ret_tune->void_changes = other_boots(ret_tune, false);
	return 0;
}

const char *tune_journal_id(struct tune *tune)
{
	const char *name = strrchr(tune->journal_path, '/') + 1;
	uint64_t session = 0;

	vec_foreach (const struct tune_entry, entry, &tune->journal.entries)
		if (entry->active && entry->last_session > session)
			session = entry->last_session;
	return session ? arena_format(&tune->texts, "%.*s:%llu", (int)strcspn(name, "."), name,
				 (unsigned long long)session)
		       : NULL;
}

void tune_close(struct tune *tune)
{
	io_close_pointer(&tune->file);
	io_close_pointer(&tune->folder);
	vec_done(&tune->items);
	tune_journal_done(&tune->journal);
	arena_done(&tune->texts);
}

int tune_journal_load(struct tune *tune, struct err *err)
{
	str_auto struct str text = {0};
	int r = io_read_at(AT_FDCWD, tune->journal_path, JOURNAL_LARGEST, &text);

	tune_journal_done(&tune->journal);
	if (r < 0 && r != -ENOENT) {
		err_set(err, ERR_UNAVAILABLE, -r, "cannot read the journal %s: %s",
			tune->journal_path, err_words(-r));
		err_hint(err, "each \"old\" in the file is a value to restore");
		return r;
	}
	tune_journal_read(&tune->journal, str_text(&text), text.len);
	return 0;
}

static int cannot_write(const char *path, int code, struct err *err)
{
	bool denied = code == EACCES || code == EPERM;

	err_set(err, denied ? ERR_UNAVAILABLE : ERR_OUTPUT, code, "cannot write %s: %s", path,
		err_words(code));
	err_hint(err, denied ? "run it as root" : "assay changes nothing without a journal");
	return -code;
}

static int folder_make(const char *path, struct err *err)
{
	char part[4096];

	for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		int len = slash ? (int)(slash - path) : (int)strlen(path);

		snprintf(part, sizeof(part), "%.*s", len, path);
		if (mkdir(part, 0755) == 0)
			(void)io_sync_folder(part);
		else if (errno != EEXIST && access(part, F_OK) < 0)
			return cannot_write(part, errno, err);
		if (!slash)
			return 0;
	}
}

/* A tool that was killed leaves its guardian at work for a moment: wait for that. */
static int folder_lock(struct tune *tune, struct err *err)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	uint64_t holder = 0;

	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (flock(tune->folder, LOCK_EX | LOCK_NB) == 0)
			return 0;
		nanosleep(&pause, NULL);
	}
	if (tune_journal_load(tune, err) >= 0)
		vec_foreach (const struct tune_entry, entry, &tune->journal.entries)
			holder = entry->pid;
	err_set(err, ERR_UNAVAILABLE, EBUSY, "another assay tune is running on this machine%s",
		holder ? "" : ", and has changed nothing yet");
	if (holder)
		err_hint(err, "process %llu; wait for it to end, or stop it",
			(unsigned long long)holder);
	else
		err_hint(err, "wait for it to end and try again");
	return -EBUSY;
}

int tune_lock(struct tune *tune, struct err *err)
{
	const char *path = tune_full_path(tune, folder_path);
	int r = folder_make(path, err);

	if (r < 0)
		return r;
	tune->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tune->folder < 0)
		return cannot_write(path, errno, err);
	r = folder_lock(tune, err);
	if (r >= 0)
		r = tune_journal_load(tune, err);
	if (r < 0)
		return r;
	tune->file = open(
		tune->journal_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (tune->file < 0)
		return cannot_write(tune->journal_path, errno, err);
	return io_sync_folder(tune->journal_path);
}

void tune_journal_add(struct tune *tune, struct tune_line line, struct str *text)
{
	line.session = tune->session;
	line.pid = (uint64_t)getpid();
	line.time_ns = clock_realtime_ns();
	/* What was cut short stays a line of its own, and the reader passes over it. */
	if (tune->journal.torn)
		str_add_char(text, '\n');
	tune->journal.torn = false;
	tune_journal_line(&line, text);
}

int tune_journal_write(struct tune *tune, const struct str *text, bool synced, struct err *err)
{
	off_t end = lseek(tune->file, 0, SEEK_END);
	int r = io_write_all(tune->file, text->at, text->len);

	if (r >= 0 && synced && fdatasync(tune->file) < 0)
		r = -errno;
	if (r >= 0)
		return 0;
	tune->journal.torn = end < 0 || ftruncate(tune->file, end) < 0;
	return cannot_write(tune->journal_path, -r, err);
}

int tune_journal_append(struct tune *tune, struct tune_line line, struct err *err)
{
	str_auto struct str text = {0};

	tune_journal_add(tune, line, &text);
	return tune_journal_write(tune, &text, false, err);
}

void tune_journal_tidy(struct tune *tune)
{
	struct err ignored = {0};

	if (tune->folder < 0)
		return; /* not the holder: nothing was changed */
	other_boots(tune, true);
	if (tune_journal_load(tune, &ignored) < 0 || tune_journal_count(&tune->journal))
		return;
	/* Lines that nobody understood may tell a value that somebody wants to have back. */
	if (tune->journal.skipped)
		(void)rename(tune->journal_path,
			arena_format(&tune->texts, "%s.broken", tune->journal_path));
	else
		unlink(tune->journal_path);
	io_close_pointer(&tune->file);
}
