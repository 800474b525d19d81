/* run_written.c - files that the program writes, put back after a phase that was stopped.
 *
 * A phase that is stopped ends the program in the middle of its work.  A database then has a
 * journal that the next run rolls back, or refuses.  So the first run is looked at while it goes: a
 * file is the program's when a process of it has it open for writing, not when its time changes. Of
 * those in the working directory or among the arguments a copy is made after each whole run; what
 * such a run has itself removed again (the journal) is known too.  After a stopped phase they are
 * as the last whole run left them, and nothing else is touched: no file that is only appended to (a
 * log may have other writers), none that somebody else changes between two runs or has open, none
 * that is too large, all of them or none. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "run_job.h"
#include "source/open_files.h"

enum { FILES_MOST = 32, COPY_PIECE = 1 << 16 };
#define BYTES_MOST (64ULL << 20)
#define COPIES "files"

/* ---- which ---- */

static bool is_below(const char *path, const char *folder)
{
	size_t len = folder ? strlen(folder) : 0;

	return len && strncmp(path, folder, len) == 0 && path[len] == '/';
}

static bool is_argument(const struct run_job *job, const char *path)
{
	for (char *const *word = job->options.program + 1; *word; word++) {
		const char *value = strchr(*word, '=');
		mem_auto char *whole = realpath(*word, NULL);
		mem_auto char *behind = value ? realpath(value + 1, NULL) : NULL;

		if ((whole && str_equal(whole, path)) || (behind && str_equal(behind, path)))
			return true;
	}
	return false;
}

static void file_take(void *context, const char *path)
{
	struct run_job *job = context;
	struct run_written *written = &job->written;
	mem_auto char *folder = realpath(".", NULL);
	mem_auto char *own = realpath(job->directory.path, NULL);

	vec_foreach (const struct run_written_file, file, &written->files)
		if (str_equal(file->path, path))
			return;
	if (!own || is_below(path, own) || (!is_below(path, folder) && !is_argument(job, path)))
		return;
	if (written->files.count >= FILES_MOST) {
		written->refused = "the program writes too many files";
		return;
	}
	vec_push(&written->files, (struct run_written_file){.path = arena_copy(&job->arena, path)});
}

void run_written_look(void *context, pid_t pid)
{
	open_files_look(pid, file_take, context);
}

/* ---- copies ---- */

static int bytes_copy(int from, int to)
{
	mem_auto char *piece = mem_new(COPY_PIECE, 1);
	ssize_t got;

	while ((got = read(from, piece, COPY_PIECE)) != 0) {
		int r = got < 0 ? -errno : io_write_all(to, piece, (size_t)got);

		if (r < 0 && r != -EINTR)
			return r;
	}
	return 0;
}

/* From `from` to `to`, which is made with `mode`. */
static int file_copy(const char *from, const char *to, unsigned mode, struct err *err)
{
	io_place_auto struct io_place place = {.folder = -1};
	io_auto int in = io_open_regular(AT_FDCWD, from, O_NOFOLLOW, NULL), out = -1;
	int r = in < 0 ? err_set(err, ERR_OUTPUT, -in, "cannot read %s: %s", from, err_words(-in))
		       : io_place_open(&place, to, err);

	if (r >= 0)
		out = io_place_open_file(&place, O_WRONLY | O_CREAT | O_TRUNC, mode, err);
	if (r < 0 || out < 0)
		return r < 0 ? r : out;
	r = bytes_copy(in, out);
	return r < 0 ? err_set(err, ERR_OUTPUT, -r, "cannot write %s: %s", to, err_words(-r)) : 0;
}

static bool is_unchanged(const struct run_written_file *file, const struct stat *now)
{
	return file->exists && now->st_size == file->kept.st_size &&
	       now->st_ino == file->kept.st_ino &&
	       now->st_mtim.tv_sec == file->kept.st_mtim.tv_sec &&
	       now->st_mtim.tv_nsec == file->kept.st_mtim.tv_nsec;
}

static bool file_stat(const struct run_written_file *file, struct stat *ret_status)
{
	return lstat(file->path, ret_status) == 0 && S_ISREG(ret_status->st_mode);
}

static uint64_t bytes_now(const struct run_written *written)
{
	uint64_t bytes = 0;
	struct stat now;

	vec_foreach (const struct run_written_file, file, &written->files)
		bytes += file_stat(file, &now) ? (uint64_t)now.st_size : 0;
	return bytes;
}

static int file_keep(struct run_job *job, struct run_written_file *file, uint32_t number)
{
	struct err why = {0};
	struct stat now;
	bool exists = file_stat(file, &now);
	int r = 0;

	if (exists && is_unchanged(file, &now))
		return 0;
	file->copy = arena_format(&job->arena, "%s/" COPIES "/%u", job->directory.path, number);
	if (exists)
		r = file_copy(file->path, file->copy, IO_PRIVATE, &why);
	file->exists = exists;
	if (exists)
		file->kept = now;
	if (r < 0)
		job->written.refused = arena_copy(&job->arena, why.text);
	return r;
}

/* After a whole run: its files are as they ought to be. */
static void written_keep(struct run_job *job)
{
	struct run_written *written = &job->written;
	struct err why = {0};

	if (!written->files.count || written->refused)
		return;
	if (bytes_now(written) > BYTES_MOST)
		written->refused = "the files that the program writes have more than 64 MiB";
	else if (!written->kept && directory_add_folder(&job->directory, COPIES, &why) < 0)
		written->refused = arena_copy(&job->arena, why.text);
	for (uint32_t i = 0; !written->refused && i < written->files.count; i++)
		(void)file_keep(job, &written->files.at[i], i + 1);
	written->kept = !written->refused;
}

/* ---- back ---- */

/* 1: put back, 0: it was as it ought to be. */
static int file_restore(const struct run_written_file *file, struct err *err)
{
	const struct timespec times[2] = {file->kept.st_atim, file->kept.st_mtim};
	struct stat now;
	bool exists = file_stat(file, &now);
	int r;

	if (!file->exists) /* a whole run takes it away itself */
		return exists && unlink(file->path) == 0;
	if (exists && is_unchanged(file, &now))
		return 0;
	r = file_copy(file->copy, file->path, file->kept.st_mode & 07777, err);
	if (r < 0)
		return r;
	(void)utimensat(AT_FDCWD, file->path, times, AT_SYMLINK_NOFOLLOW);
	return 1;
}

/* To put a file back would undo what another program wrote.  The program itself has ended. */
static bool is_others(const struct run_job *job, const struct run_written_file *file)
{
	struct stat now;
	bool exists = file_stat(file, &now);

	if (!job->written.torn && (file->exists ? !exists || !is_unchanged(file, &now) : exists))
		return true;
	return exists && open_files_has_writer(&now);
}

void run_written_restore(struct run_job *job)
{
	struct run_written *written = &job->written;
	struct stat now;

	vec_foreach (const struct run_written_file, file, &written->files)
		if (written->kept && !written->refused && is_others(job, file))
			written->refused = arena_format(
				&job->arena, "another program writes %s too", file->path);
	if (!written->torn || !written->kept || written->refused)
		return;
	written->torn = false;
	vec_foreach (struct run_written_file, file, &written->files) {
		struct err why = {0};
		int r = file_restore(file, &why);

		if (r < 0 && !written->failed)
			written->failed = arena_format(
				&job->arena, "%s; its copy is %s", why.text, file->copy);
		file->restored += r > 0;
		if (r > 0 && file_stat(file, &now))
			file->kept = now;
	}
}

void run_written_after(struct run_job *job, bool whole)
{
	job->written.torn = job->written.torn || !whole;
	if (whole && !job->written.torn)
		written_keep(job);
}

static void names_add(struct run_job *job, struct str *out, bool all)
{
	mem_auto char *folder = realpath(".", NULL);

	vec_foreach (const struct run_written_file, file, &job->written.files)
		if (all || file->restored)
			str_addf(out, "%s%s", out->len ? ", " : "",
				is_below(file->path, folder) ? file->path + strlen(folder) + 1
							     : file->path);
}

/* Told once, at the end; the copies have done their work. */
void run_written_end(struct run_job *job)
{
	struct run_written *written = &job->written;
	str_auto struct str names = {0};
	bool torn = written->torn;

	if (!written->kept && !written->refused && written->files.count)
		written->refused = "the first run did not end by itself";
	run_written_restore(job);
	names_add(job, &names, written->refused && torn);
	if (written->refused && torn)
		run_add_note(job->front, "files-left",
			arena_format(&job->arena,
				"a phase stopped the program while it was writing %s, and its "
				"files were not put back: %s",
				names.at, written->refused),
			"check them; a copy of the directory is a good place to measure in");
	else if (written->failed)
		run_add_note(job->front, "files-left", written->failed, "copy it back yourself");
	else if (names.len)
		run_add_note(job->front, "files-restored",
			arena_format(&job->arena,
				"files that the program writes were put back after a phase had "
				"stopped it: %s",
				names.at),
			"");
	if (written->kept && !written->failed) {
		vec_foreach (const struct run_written_file, file, &written->files)
			if (file->copy)
				(void)unlink(file->copy);
		(void)rmdir(directory_path(&job->directory, COPIES));
	}
}
