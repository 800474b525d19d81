/* run_input.c - what the program reads from stdin, kept so that every run can read it again.
 *
 * A terminal cannot be replayed: the program then reads nothing.  A pipe that nobody writes to (the
 * stdin of many CI jobs) must not stop the whole job: when it gives nothing for ten seconds,
 * nothing is what the program gets, and that is told. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "run_job.h"

enum { PATIENCE_MS = 10000, PIECE = 65536 };
#define INPUT_LARGEST (1ULL << 30)
#define INPUT_FILE "input"

static int unreadable_file(const char *path, int code, const char *hint, struct err *err)
{
	err_set(err, ERR_USAGE, code, "cannot read %s: %s", path, err_words(code));
	return err_hint(err, "%s", hint);
}

static int file_check(const char *path, const char *hint, struct err *err)
{
	io_auto int fd = str_equal(path, "/dev/null") ? open(path, O_RDONLY | O_CLOEXEC)
						      : io_open_regular(AT_FDCWD, path, 0, NULL);

	if (fd < 0 && fd != IO_NOT_REGULAR && fd != -EISDIR)
		return unreadable_file(path, -fd, hint, err);
	if (fd < 0) {
		err_set(err, ERR_USAGE, EINVAL,
			"%s is not a regular file, so it cannot be read again", path);
		return err_hint(err, "%s", hint);
	}
	return 0;
}

static int golden_check(struct run_job *job, const char *path, struct err *err)
{
	static const char hint[] = "--golden names the file with the expected output";
	int r = file_check(path, hint, err), read;

	if (r < 0)
		return r;
	read = sha256_file(path, job->expected_sha256);
	return read < 0 ? unreadable_file(path, -read, hint, err) : 0;
}

int run_input_check(struct run_job *job, struct err *err)
{
	const char *input = job->options.input, *golden = job->options.golden;
	int r = 0;

	if (input)
		r = file_check(input,
			"--input names the file that the program reads; piped input needs no "
			"option",
			err);
	if (r >= 0 && golden)
		r = golden_check(job, golden, err);
	if (r >= 0 && input) {
		job->input_path = input;
		job->input_words = input;
	}
	return r;
}

/* 1: something comes, or the end; 0: nothing came; negative: Ctrl-C. */
static int input_comes(void)
{
	struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
	int got = poll(&ready, 1, PATIENCE_MS);

	return got < 0 ? -errno : got > 0;
}

static int too_large(struct err *err)
{
	err_set(err, ERR_USAGE, EFBIG, "stdin has more than 1 GiB, which is not stored");
	return err_hint(err, "store it in a file and use --input FILE");
}

static int unreadable(int code, struct err *err)
{
	if (code == EINTR)
		return err_set(err, ERR_USAGE, EINTR, "interrupted while reading stdin");
	err_set(err, ERR_USAGE, code, "cannot read stdin: %s", err_words(code));
	return err_hint(err, "use --input FILE, or </dev/null, to set the program's stdin");
}

/* All of stdin to a file; how many bytes that were. */
static int64_t input_copy(const struct run_job *job, struct io_writer *writer, struct err *err)
{
	char piece[PIECE];
	uint64_t bytes = 0;
	ssize_t got;

	while ((got = read(STDIN_FILENO, piece, sizeof(piece))) != 0) {
		int r;

		if (got < 0 && errno == EINTR && !job_interrupted(job->host).count)
			continue;
		if (got < 0)
			return unreadable(errno, err);
		r = io_writer_write(writer, piece, (size_t)got);
		if (r < 0)
			return r; /* told when the file is closed */
		bytes += (uint64_t)got;
		if (bytes > INPUT_LARGEST)
			return too_large(err);
	}
	return (int64_t)bytes;
}

static int input_spool(struct run_job *job, struct err *err)
{
	const char *path = directory_path(&job->directory, INPUT_FILE);
	struct io_writer writer;
	struct err late = {0};
	int64_t bytes;
	int r = io_writer_open(&writer, path, IO_PRIVATE, err);

	if (r < 0)
		return r;
	job_progress(job->host, "reading stdin");
	bytes = input_copy(job, &writer, err);
	job_progress(job->host, NULL);
	r = io_writer_close(&writer, bytes < 0 ? (int)bytes : 0, err->code ? &late : err);
	if (r < 0)
		return r;
	if (!bytes) {
		unlink(path);
		return 0;
	}
	job->input_path = path;
	job->input_words = arena_format(
		&job->arena, "stdin, %llu bytes, stored in " INPUT_FILE, (unsigned long long)bytes);
	return 0;
}

int run_input_take(struct run_job *job, struct err *err)
{
	struct stat what, nowhere;
	int comes;

	if (job->input_path) /* --input */
		return 0;
	if (fstat(STDIN_FILENO, &what) < 0 || isatty(STDIN_FILENO))
		return 0;
	if (stat("/dev/null", &nowhere) == 0 && what.st_rdev == nowhere.st_rdev &&
		S_ISCHR(what.st_mode))
		return 0;
	comes = input_comes();
	if (comes > 0)
		comes = input_spool(job, err);
	else if (comes == 0)
		run_add_note(job->front, "no-input",
			"nothing arrived on stdin for 10 s, so the program gets no input",
			"use --input FILE, or </dev/null, to set its stdin");
	job->stopped = comes == -EINTR; /* nothing was measured yet, and that is the report */
	return comes == -EINTR ? 0 : comes;
}
