/* binary_find.c - the file a name starts, as execvp() would find it, and a sentence when not. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "binary_parts.h"

enum { NAMES_LIMIT = 20000 };

static int check_path(const char *path, struct err *err)
{
	struct stat status;

	if (stat(path, &status) < 0) {
		int code = errno;

		err_set(err, ERR_TARGET, code, "cannot find the program %s: %s", path,
			err_words(code));
		err_hint(err, code == EACCES ? "check the permissions of its parent directories"
					     : "check the path");
		return -code;
	}
	if (S_ISDIR(status.st_mode)) {
		err_set(err, ERR_TARGET, EISDIR, "%s is a directory, not a program", path);
		err_hint(err, "name a program in it");
		return -EISDIR;
	}
	if (!S_ISREG(status.st_mode)) {
		err_set(err, ERR_TARGET, EACCES, "%s is not a regular file and cannot be run",
			path);
		err_hint(err, "name a program");
		return -EACCES;
	}
	if (access(path, X_OK) == 0)
		return 0;
	if (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) {
		err_set(err, ERR_TARGET, EACCES, "you may not run %s: permission denied", path);
		err_hint(err, "run as a permitted user; see `ls -l %s`", path);
	} else {
		err_set(err, ERR_TARGET, EACCES, "%s is not executable", path);
		err_hint(err, "make it so with `chmod +x %s`", path);
	}
	return -EACCES;
}

static void add_names_of(struct arena *arena, const char *folder, const char **names, size_t *count)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry;

	while (entries && *count < NAMES_LIMIT && (entry = readdir(entries)) != NULL)
		if (entry->d_name[0] != '.')
			names[(*count)++] = arena_copy(arena, entry->d_name);
	if (entries)
		closedir(entries);
}

/* The name in PATH that was perhaps meant. */
static const char *nearest_in(struct arena *arena, const char *folders, const char *name)
{
	const char **names = arena_take(arena, (NAMES_LIMIT + 1) * sizeof(*names));
	size_t count = 0;

	while (*folders) {
		size_t len = strcspn(folders, ":");

		if (len)
			add_names_of(arena, arena_text(arena, folders, len), names, &count);
		folders += len + (folders[len] == ':');
	}
	names[count] = NULL;
	return str_nearest(name, names);
}

static int report_not_found(
	struct arena *arena, const char *folders, const char *name, struct err *err)
{
	const char *nearest = nearest_in(arena, folders, name);

	err_set(err, ERR_TARGET, ENOENT, "no program %s in PATH", name);
	if (access(name, F_OK) == 0)
		return err_hint(err, "for the file here write ./%s", name);
	return err_nearest(err, nearest, "check the spelling, or write its path");
}

int binary_find(const char *name, struct arena *arena, const char **ret_path, struct err *err)
{
	const char *folders = getenv("PATH"), *rest;
	struct err blocked = {0};

	if (!*name) {
		err_set(err, ERR_TARGET, ENOENT, "the name of the program is empty");
		err_hint(err, "check for a shell variable without a value");
		return -ENOENT;
	}
	if (strchr(name, '/')) {
		int r = check_path(name, err);

		if (r == 0)
			*ret_path = arena_copy(arena, name);
		return r;
	}
	folders = folders ? folders : "/usr/local/bin:/usr/bin:/bin";
	for (rest = folders; *rest;) {
		size_t len = strcspn(rest, ":");
		/* an empty folder in PATH is the working directory */
		const char *path =
			arena_format(arena, "%.*s/%s", len ? (int)len : 1, len ? rest : ".", name);
		struct err one = {0};
		int r = check_path(path, &one);

		if (r == 0) {
			*ret_path = path;
			return 0;
		}
		if (r != -ENOENT && r != -ENOTDIR && r != -EISDIR && !blocked.code)
			blocked = one;
		rest += len + (rest[len] == ':');
	}
	if (!blocked.code)
		return report_not_found(arena, folders, name, err);
	*err = blocked;
	return -err->code;
}
