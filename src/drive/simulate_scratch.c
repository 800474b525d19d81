/* simulate_scratch.c - the folder of a simulation: what valgrind says in its logs, and its removal.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "simulate_parts.h"

enum { LOG_MOST = 1 << 20 };

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

		if (str_starts(entry->d_name, "log.") &&
			io_read_at(dirfd(dir), entry->d_name, LOG_MOST, &text) >= 0)
			log_look(str_text(&text), ret_log);
	}
	if (dir)
		closedir(dir);
}

void simulate_folder_remove(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	(void)rmdir(folder);
}
