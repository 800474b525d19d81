/* leftover.c - see leftover.h.
 *
 * Our code stands at the beginning of a page of anonymous memory that can be executed and not
 * written.  Programs that make code have many such pages, so the first bytes of a thousand of them
 * are read with one call. */
#include "leftover.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/io.h"
#include "base/str.h"
#include "wire/causal_blob.h"

enum { PAGE = 4096, AT_ONCE = 1024 };

uint64_t process_start(pid_t pid)
{
	enum { FIELD = 22 };
	char path[48], line[1024], *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	at = io_read_line(path, line, sizeof(line)) < 0 ? NULL : strrchr(line, ')');
	if (at && (str_starts(at, ") Z") || str_starts(at, ") X")))
		return 0;
	for (unsigned field = 2; at && field < FIELD; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool head_read(pid_t pid, uint64_t at, struct wire_causal_blob *ret_head)
{
	struct iovec to = {ret_head, sizeof(*ret_head)}, from = {(void *)at, sizeof(*ret_head)};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof(*ret_head) &&
	       ret_head->magic == WIRE_CAUSAL_BLOB_MAGIC;
}

static bool is_used(const struct wire_causal_blob *head, pid_t pid)
{
	return head->target == (uint32_t)pid && head->owner_start &&
	       process_start((pid_t)head->owner) == head->owner_start;
}

static void leftover_add(pid_t pid, uint64_t at, injection_vec *ret_left)
{
	struct wire_causal_blob head;
	struct injection left = {.pid = pid, .code = at};

	if (!head_read(pid, at, &head) || is_used(&head, pid))
		return;
	left.code_bytes = head.code_bytes;
	left.board = head.board;
	left.board_bytes = head.board_bytes;
	left.seats = head.seats;
	left.seats_bytes = head.seats_bytes;
	left.handler = at + head.handler;
	left.signal = head.signal;
	left.owner = (pid_t)head.owner;
	left.owner_start = head.owner_start;
	memcpy(&left.old, head.old, sizeof(left.old));
	vec_push(ret_left, left);
}

/* The pages from `start` on, `count` of them. */
static void pages_look(pid_t pid, uint64_t start, unsigned count, injection_vec *ret_left)
{
	uint64_t magic[AT_ONCE];
	struct iovec to = {magic, count * sizeof(*magic)}, from[AT_ONCE];
	ssize_t got;

	for (unsigned i = 0; i < count; i++)
		from[i] = (struct iovec){(void *)(start + (uint64_t)i * PAGE +
						  offsetof(struct wire_causal_blob, magic)),
			sizeof(*magic)};
	got = process_vm_readv(pid, &to, 1, from, count, 0);
	for (unsigned i = 0; (ssize_t)((i + 1) * sizeof(*magic)) <= got; i++)
		if (magic[i] == WIRE_CAUSAL_BLOB_MAGIC)
			leftover_add(pid, start + (uint64_t)i * PAGE, ret_left);
}

void leftovers_find(pid_t pid, injection_vec *ret_left)
{
	char path[32], line[512];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, inode;
		char rights[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %" SCNu64, &start, &end,
			    rights, &inode) < 4 ||
			inode || strcmp(rights, "r-xp") != 0)
			continue;
		for (; start < end; start += (uint64_t)AT_ONCE * PAGE) {
			uint64_t pages = (end - start) / PAGE;

			pages_look(pid, start, (unsigned)(pages < AT_ONCE ? pages : AT_ONCE),
				ret_left);
		}
	}
	if (maps)
		fclose(maps);
}

bool leftover_is_there(const struct injection *injection)
{
	struct wire_causal_blob head;

	return head_read(injection->pid, injection->code, &head) &&
	       head.board == injection->board && head.owner_start == injection->owner_start;
}
