/* module.c - from the name of a mapping to the file behind it.
 *
 * The process's own view of the file system comes first (/proc/PID/root: containers), while the
 * process still lives; a deleted file is reached through /proc/PID/map_files.  Where that is not
 * the file that `path` names for us, the descriptor is kept for naming at the end. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/str.h"
#include "profile.h"

static uint32_t module_kind(const char *path)
{
	if (str_starts(path, "[kernel") || str_starts(path, "[guest.kernel"))
		return MODULE_KERNEL;
	if (str_equal(path, "[vdso]"))
		return MODULE_VDSO;
	/* Code in memory that no file backs: a JIT's, or its file is of a kind that holds none. */
	if (!*path || str_starts(path, "//anon") || str_starts(path, "[heap]") ||
		str_starts(path, "[stack") || str_starts(path, "[anon") ||
		str_starts(path, "/memfd:") || str_starts(path, "/dev/zero") ||
		str_starts(path, "/SYSV"))
		return MODULE_JIT;
	return 0;
}

/* Whose map files are believed: those of the process's user. */
static uint32_t process_owner(uint32_t pid)
{
	struct stat process;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return stat(path, &process) == 0 ? process.st_uid : geteuid();
}

struct module *module_of_path(
	struct profile *profile, const char *path, const char *build_id, uint32_t pid)
{
	str_auto struct str key = {0};
	uint32_t kind = module_kind(path), index;
	struct module *module;

	if (kind == MODULE_JIT)
		str_addf(&key, "[jit %u]", pid);
	else
		str_addf(&key, "%s\n%s", path, build_id);
	if (map_get(&profile->module_of, key.at, key.len, &index))
		return profile->modules.at[index - 1];
	module = arena_take(&profile->arena, sizeof(*module));
	*module = (struct module){
		.path = kind == MODULE_JIT ? arena_text(&profile->arena, key.at, key.len)
					   : arena_copy(&profile->arena, path),
		.build_id = arena_copy(&profile->arena, build_id),
		.fd = -1,
		.flags = kind,
		.owner = kind == MODULE_JIT ? process_owner(pid) : 0,
	};
	module->row =
		run_add_module(profile->run, &(struct module_row){
						     .path = run_intern(profile->run, module->path),
						     .build_id = run_intern(profile->run, build_id),
						     .flags = kind,
					     });
	vec_push(&profile->modules, module);
	map_put(&profile->module_of, key.at, key.len, profile->modules.count);
	return module;
}

/* Our own vdso is the one of every process of this kernel and word size. */
static void module_open_vdso(struct module *module)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct err ignored;

	if (vdso && image_open_bytes(vdso, VDSO_LARGEST, "[vdso]", &module->image, &ignored) < 0)
		module->image = NULL;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static void module_open_file(struct module *module, const struct mapping *mapping, uint32_t pid)
{
	char path[4200], view[4300];
	struct err ignored;
	size_t len = strlen(module->path);

	if (str_ends(module->path, " (deleted)"))
		len -= strlen(" (deleted)");
	snprintf(path, sizeof(path), "%.*s", (int)len, module->path);
	snprintf(view, sizeof(view), "/proc/%u/root%s", pid, path);
	if (access(view, R_OK) < 0 || len != strlen(module->path))
		snprintf(view, sizeof(view), "/proc/%u/map_files/%llx-%llx", pid,
			(unsigned long long)mapping->start, (unsigned long long)mapping->end);
	if (access(view, R_OK) == 0 && !same_file(view, path)) {
		module->fd = io_open_regular(AT_FDCWD, view, 0, NULL);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", module->fd);
	}
	if (image_open(path, &module->image, &ignored) < 0)
		module->image = NULL;
	/* Rebuilt meanwhile: its rules and names would be lies. */
	if (module->image && *module->build_id && *image_build_id(module->image) &&
		!str_equal(module->build_id, image_build_id(module->image))) {
		image_close(module->image);
		module->image = NULL;
		module->flags |= MODULE_REPLACED;
	}
}

static void module_open(
	struct profile *profile, struct module *module, const struct mapping *mapping, uint32_t pid)
{
	struct module_row *row = &profile->run->modules.at[module->row - 1];

	module->tried = true;
	if (module->flags & MODULE_VDSO)
		module_open_vdso(module);
	else if (!(module->flags & (MODULE_KERNEL | MODULE_JIT)))
		module_open_file(module, mapping, pid);
	if (module->image) {
		module->table = unwind_table_open(module->image);
		if (!row->build_id)
			row->build_id = run_intern(profile->run, image_build_id(module->image));
	}
	row->flags = module->flags;
}

bool mapping_place(struct profile *profile, struct mapping *mapping, uint64_t at, uint32_t pid)
{
	struct module *module = mapping->module;
	uint64_t offset = at - mapping->start + mapping->file_offset, addr;

	if (mapping->placed)
		return module->image != NULL;
	if (!module->tried)
		module_open(profile, module, mapping, pid);
	mapping->placed = true;
	mapping->bias = 0;
	if (!module->image) {
		/* Without the file an offset in it is the best that can be said. */
		if (!(module->flags & (MODULE_KERNEL | MODULE_JIT)))
			mapping->bias = mapping->start - mapping->file_offset;
		return false;
	}
	if (module->flags & MODULE_VDSO)
		mapping->bias = mapping->start;
	else if (image_addr_of_offset(module->image, offset, &addr))
		mapping->bias = at - addr;
	else
		mapping->bias = mapping->start - mapping->file_offset;
	return true;
}

void module_done(struct module *module)
{
	unwind_table_close(module->table);
	image_close(module->image);
	if (module->fd >= 0)
		close(module->fd);
}
