/* kernel_text.c - see kernel_text.h. */
#include "kernel_text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"

enum { KERNEL_TEXT_LIMIT = 256 << 20, MODULES_LIMIT = 16 << 20 };
#define KEPT_PREFIX "kallsyms-"

/* Our folder below the user's cache folder; false when there is none that is ours alone. */
static bool folder_find(char *folder, size_t capacity)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct stat found;

	if (cache && *cache == '/')
		snprintf(folder, capacity, "%s", cache);
	else if (home && *home == '/')
		snprintf(folder, capacity, "%s/.cache", home);
	else
		return false;
	mkdir(folder, 0700);
	strncat(folder, "/assay", capacity - strlen(folder) - 1);
	mkdir(folder, 0700);
	return lstat(folder, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
	       !(found.st_mode & 077);
}

/* "FOLDER/kallsyms-KEY"; false when the key cannot be told. */
static bool kept_path(char *path, size_t capacity)
{
	str_auto struct str modules = {0};
	char folder[3900], boot[64];

	if (!folder_find(folder, sizeof(folder)) ||
		io_read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) <= 0)
		return false;
	if (io_read_at(AT_FDCWD, "/proc/modules", MODULES_LIMIT, &modules) < 0)
		str_clear(&modules); /* a kernel without modules */
	str_add(&modules, boot);
	snprintf(path, capacity, "%s/" KEPT_PREFIX "%016llx", folder,
		(unsigned long long)map_hash(modules.at, modules.len));
	return true;
}

/* Those of other boots and module sets are of no use any more. */
static void others_remove(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	const struct dirent *entry;
	char folder[4000];
	DIR *dir;

	snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir)))
		if (str_starts(entry->d_name, KEPT_PREFIX) && !str_equal(entry->d_name, name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/* Only functions, and only of a kernel that shows its addresses and has no BPF programs. */
static bool functions_take(const struct str *all, struct str *functions)
{
	const char *line = str_text(all);

	if (strstr(line, "\t[bpf]") || str_starts(line, "0000000000000000 t"))
		return false;
	while (*line) {
		const char *end = strchrnul(line, '\n'),
			   *type = memchr(line, ' ', (size_t)(end - line));

		if (type && type + 1 < end && strchr("tTwW", type[1]))
			str_add_bytes(functions, line, (size_t)(end - line) + (*end == '\n'));
		line = *end ? end + 1 : end;
	}
	return functions->len > 0;
}

int kernel_text_read(struct str *text, struct err *err)
{
	str_auto struct str functions = {0};
	struct err ignored;
	char path[4000];
	bool keep = kept_path(path, sizeof(path));
	int r;

	if (keep && io_read_at(AT_FDCWD, path, KERNEL_TEXT_LIMIT, text) == 0 && text->len)
		return 0;
	str_clear(text);
	r = io_read("/proc/kallsyms", KERNEL_TEXT_LIMIT, text, err);
	if (r == 0 && keep && functions_take(text, &functions) &&
		io_replace(path, IO_PRIVATE, functions.at, functions.len, &ignored) == 0)
		others_remove(path);
	return r;
}
