/* task_scan.c - see task_scan.h.
 *
 * /proc is read after the side-band events were switched on: what changes while we read is in the
 * ring as well, with a later time, and wins. */
#include "source/task_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/str.h"
#include "wire/build.h"

enum { MAPS_MAX = 64 << 20, MAP_SIZE = 8192 };

static bool take_number(const char **at, int base, uint64_t *ret_value)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*ret_value = strtoull(*at, &end, base);
	*at = end;
	return errno == 0;
}

static bool take_char(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* "55d0c0a00000-55d0c0a02000 r-xp 00002000 fe:01 1234      /usr/bin/cat" */
bool task_map_parse(const char *line, struct task_map *ret_map)
{
	struct task_map map = {0};
	uint64_t device;

	if (!take_number(&line, 16, &map.start) || !take_char(&line, '-') ||
		!take_number(&line, 16, &map.end) || !take_char(&line, ' ') ||
		strnlen(line, 5) < 5 || map.end <= map.start)
		return false;
	map.executable = line[2] == 'x';
	line += 4;
	if (!take_char(&line, ' ') || !take_number(&line, 16, &map.file_offset) ||
		!take_char(&line, ' ') || !take_number(&line, 16, &device) ||
		!take_char(&line, ':') || !take_number(&line, 16, &device) ||
		!take_char(&line, ' ') || !take_number(&line, 10, &map.inode))
		return false;
	map.path = line + strspn(line, " ");
	*ret_map = map;
	return true;
}

static int map_emit(
	pid_t pid, const struct task_map *found, uint32_t flags, const struct wire_sink *sink)
{
	union {
		struct wire_map map;
		unsigned char bytes[MAP_SIZE];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_MAP, sizeof(space.map));

	space.map.pid = space.map.tid = (uint32_t)pid;
	space.map.start = found->start;
	space.map.len = found->end - found->start;
	space.map.file_offset = found->file_offset;
	space.map.inode = found->inode;
	space.map.flags = flags;
	wire_add_text(&b, &space.map.path, *found->path ? found->path : "//anon");
	return sink->take(sink->context, wire_end(&b));
}

static int name_emit(pid_t pid, pid_t tid, const char *name, const struct wire_sink *sink)
{
	union {
		struct wire_task task;
		unsigned char bytes[sizeof(struct wire_task) + 64];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_TASK, sizeof(space.task));

	space.task.kind = WIRE_TASK_NAME;
	space.task.pid = (uint32_t)pid;
	space.task.tid = (uint32_t)tid;
	wire_add_text(&b, &space.task.name, name);
	return sink->take(sink->context, wire_end(&b));
}

static int threads_scan(pid_t pid, const struct wire_sink *sink, struct task_scan *scan)
{
	const struct dirent *entry;
	char path[64], name[64];
	DIR *folder;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	if (!folder)
		return 0;
	while (r >= 0 && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", (int)pid, entry->d_name);
		if (io_read_line(path, name, sizeof(name)) <= 0)
			continue;
		scan->threads++;
		r = name_emit(pid, atoi(entry->d_name), name, sink);
	}
	closedir(folder);
	return r;
}

static int maps_scan(pid_t pid, const struct wire_sink *sink, struct task_scan *scan)
{
	str_auto struct str text = {0};
	char path[64], *rest, *line;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	r = io_read_at(AT_FDCWD, path, MAPS_MAX, &text);
	if ((r == -EACCES || r == -EPERM) && !scan->denied++)
		scan->denied_first = pid;
	if (r < 0 || !text.len)
		return 0; /* gone, or a kernel thread */
	r = 0;
	for (line = strtok_r(text.at, "\n", &rest); line && r >= 0;
		line = strtok_r(NULL, "\n", &rest)) {
		struct task_map map;

		if (!task_map_parse(line, &map) || !map.executable)
			continue;
		scan->maps++;
		r = map_emit(pid, &map, 0, sink);
	}
	return r;
}

int task_scan_process(pid_t pid, const struct wire_sink *sink, struct task_scan *scan)
{
	int r = threads_scan(pid, sink, scan);

	scan->processes++;
	return r < 0 ? r : maps_scan(pid, sink, scan);
}

int task_scan_machine(const struct wire_sink *sink, struct task_scan *scan)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	int r = 0;

	if (!folder)
		return 0;
	while (r >= 0 && (entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			r = task_scan_process(atoi(entry->d_name), sink, scan);
	closedir(folder);
	return r;
}

int task_scan_kernel(const struct wire_sink *sink)
{
	/* The last byte is left out, so that start + len is a number of 64 bits. */
	const struct task_map kernel = {
		.start = UINT64_C(1) << 63, .end = UINT64_MAX, .path = "[kernel]"};

	return map_emit(-1, &kernel, WIRE_MAP_KERNEL, sink);
}
