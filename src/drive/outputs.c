/* outputs.c - see outputs.h.
 *
 * Into files, not memory: nobody knows beforehand how much a program prints. */
#include "drive/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/helper.h"

enum { SIDES = 2 };

static int command_run(const struct outputs_options *o, const struct spawner_command *command,
	int output_fd, struct err *err)
{
	const struct helper_options how = {
		.argv = (const char *const *)command->argv,
		.path = command->path,
		.folder = command->folder,
		.input_path = o->input_path,
		.output_fd = output_fd,
		.error_fd = -1,
		.limit_ns = o->limit_ns,
		.interrupted = o->interrupted,
	};

	return helper_run(&how, err);
}

static int side_run(const struct outputs_options *o, unsigned side, int output_fd, struct err *err)
{
	int status =
		o->prepare_at ? command_run(o, &o->commands[o->prepare_at + side], -1, err) : 0;

	if (status == 0)
		status = command_run(o, &o->commands[side], output_fd, err);
	if (status <= 0 || o->ignore_failure)
		return status < 0 ? status : 0;
	err_set(err, ERR_TARGET, ECHILD, "%s %s %d when its output was compared", side ? "B" : "A",
		status > HELPER_KILLED ? "was killed by signal" : "exited with status",
		status > HELPER_KILLED ? status - HELPER_KILLED : status);
	err_hint(err, "see its output with --program-output inherit, or use --same-output=no");
	return -ECHILD;
}

/* The line that starts at `start`, printable and cut. */
static void line_copy(FILE *file, long start, char *ret_text, size_t capacity)
{
	size_t len = 0;
	int c = EOF;

	if (fseek(file, start, SEEK_SET) == 0)
		while (len + 1 < capacity && (c = getc(file)) != EOF && c != '\n')
			ret_text[len++] = c >= ' ' && c != 127 ? (char)c : '?';
	ret_text[len] = '\0';
	if (!len && c == EOF)
		snprintf(ret_text, capacity, "(nothing)");
}

static void files_compare(FILE *const *files, struct outputs *ret_outputs)
{
	uint64_t line = 1;
	long start = 0, at = 0;
	int a, b;

	rewind(files[0]);
	rewind(files[1]);
	do {
		a = getc_unlocked(files[0]);
		b = getc_unlocked(files[1]);
		at++;
		if (a == b && a == '\n') {
			line++;
			start = at;
		}
	} while (a == b && a != EOF);
	ret_outputs->same = a == b;
	ret_outputs->line = line;
	for (unsigned i = 0; i < SIDES && a != b; i++)
		line_copy(files[i], start, ret_outputs->text[i], sizeof(ret_outputs->text[i]));
}

int outputs_compare(
	const struct outputs_options *options, struct outputs *ret_outputs, struct err *err)
{
	FILE *files[SIDES] = {tmpfile(), tmpfile()};
	int r = 0;

	*ret_outputs = (struct outputs){0};
	if (!files[0] || !files[1]) {
		if (files[0])
			fclose(files[0]);
		return err_set(err, ERR_OUTPUT, errno, "cannot store the outputs in a file: %s",
			err_words(errno));
	}
	for (unsigned i = 0; r >= 0 && i < SIDES; i++) {
		fcntl(fileno(files[i]), F_SETFD, FD_CLOEXEC);
		r = side_run(options, i, fileno(files[i]), err);
		ret_outputs->bytes[i] = (uint64_t)lseek(fileno(files[i]), 0, SEEK_END);
	}
	if (r >= 0)
		files_compare(files, ret_outputs);
	for (unsigned i = 0; i < SIDES; i++)
		fclose(files[i]);
	return r;
}
