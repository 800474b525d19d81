/* name.c - the distinct places (thousands), not the samples (millions), get their names, at the
 * end.
 *
 * Module by module: its book of names is opened, asked for each place, and closed again, so that
 * only one book is in memory at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "ingest/ingest.h"
#include "profile.h"

enum { INLINE_DEPTH = 64, LOCATION_STEPS = 16 };

struct naming {
	struct run *run;
	const struct ingest_naming *options;
	struct namer namer;
	uint32_t done, of;
};

/* A module of the run as ingest saw it; NULL for a run that was loaded from its file. */
static const struct module *module_seen(const struct ingest_naming *options, row_id row)
{
	const struct profile *profile = options->ingest ? options->ingest->profile : NULL;

	if (profile)
		vec_foreach (struct module *, module, &profile->modules)
			if ((*module)->row == row)
				return *module;
	return NULL;
}

static int names_open_vdso(struct names **ret_names, struct err *err)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	const struct names_options options = {.path = "[vdso]"};

	if (!vdso)
		return err_set(err, ERR_UNAVAILABLE, ENOENT, "cannot read the vdso");
	return names_open_bytes(vdso, VDSO_LARGEST, &options, ret_names, err);
}

/* A jitdump that the process had mapped, else the map file that perf's convention names. */
static int names_open_jitted(const struct naming *naming, const struct module *seen, row_id row,
	struct names **ret_names, struct err *err)
{
	const struct run *run = naming->run;
	struct names_options options = {.interrupted = naming->options->interrupted};
	uint32_t owner = seen ? seen->owner : geteuid(), pid = 0;
	const char *name = run_text(run, run->modules.at[row - 1].path);
	char path[96], dump[64];
	int r;

	if (sscanf(name, "[jit %u]", &pid) != 1)
		return err_set(err, ERR_UNAVAILABLE, ENOENT, "%s has no symbols", name);
	snprintf(dump, sizeof(dump), "/jit-%u.dump", pid);
	vec_foreach (const struct module_row, module, &run->modules) {
		options.path = run_text(run, module->path);
		if (str_ends(options.path, dump) &&
			names_open_jit(&options, owner, ret_names, err) == 0)
			return 0;
	}
	options.path = path;
	snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid, pid);
	r = names_open_jit(&options, owner, ret_names, err);
	if (r < 0) {
		snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
		r = names_open_jit(&options, owner, ret_names, err);
	}
	return r;
}

/* Hex of the running kernel's build-id; "" when it does not tell. */
static void kernel_build_id(char ret_build_id[IMAGE_BUILD_ID_TEXT])
{
	enum { NOTES = 1 << 16 };
	str_auto struct str notes = {0};

	*ret_build_id = '\0';
	if (io_read_at(AT_FDCWD, "/sys/kernel/notes", NOTES, &notes) == 0)
		image_notes_build_id(
			(struct image_bytes){(const unsigned char *)notes.at, notes.len, 0},
			ret_build_id);
}

/* An imported recording says which kernel it is of. */
static bool run_is_foreign(const struct run *run)
{
	struct utsname here;

	vec_foreach (const struct field_row, field, &run->fields)
		if (str_equal(run_text(run, field->group), "recording") &&
			str_equal(run_text(run, field->name), "os_release"))
			return uname(&here) == 0 &&
			       !str_equal(here.release, run_text(run, field->value));
	return false;
}

/* Names of another kernel at these addresses would be lies; so would be this machine's vdso and the
 * JIT maps of whoever has the process id now. */
static int module_is_foreign(
	const struct run *run, const struct module_row *module, struct err *err)
{
	const char *build_id = run_text(run, module->build_id);
	char here[IMAGE_BUILD_ID_TEXT];
	bool foreign =
		module->flags & (MODULE_KERNEL | MODULE_VDSO | MODULE_JIT) && run_is_foreign(run);

	if (!foreign && module->flags & MODULE_KERNEL && *build_id &&
		str_equal(run_text(run, module->path), "[kernel]")) {
		kernel_build_id(here);
		foreign = *here && !str_equal(here, build_id);
	}
	if (!foreign)
		return 0;
	err_set(err, ERR_UNAVAILABLE, ENOENT, "%s belongs to another kernel than the running one",
		run_text(run, module->path));
	err_hint(err, "import the recording on the machine where it was made");
	return -ENOENT;
}

static int module_names(
	struct naming *naming, row_id row, struct names **ret_names, struct err *err)
{
	const struct module_row *module = &naming->run->modules.at[row - 1];
	const struct module *seen = module_seen(naming->options, row);
	struct names_options options = {
		.path = run_text(naming->run, module->path),
		.build_id = module->build_id ? run_text(naming->run, module->build_id) : NULL,
		.symfs = naming->options->symfs,
		.without_inlines = naming->options->without_inlines,
		.debuginfod = naming->options->debuginfod,
		.interrupted = naming->options->interrupted,
	};
	char path[64];
	int r = module_is_foreign(naming->run, module, err);

	if (r < 0)
		return r;
	if (module->flags & MODULE_KERNEL)
		return names_open_kernel(NULL, ret_names, err);
	if (module->flags & MODULE_VDSO)
		return names_open_vdso(ret_names, err);
	if (module->flags & MODULE_JIT)
		return names_open_jitted(naming, seen, row, ret_names, err);
	if (seen && seen->fd >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", seen->fd);
		options.path = path;
	}
	return names_open(&options, ret_names, err);
}

static void location_name(struct naming *naming, struct names *names, row_id id)
{
	struct names_frame frames[INLINE_DEPTH];
	const struct location_row *location = &naming->run->locations.at[id - 1];
	unsigned count = names_find(names, location->addr, UINT64_MAX, frames, INLINE_DEPTH);
	row_id frame = 0;

	quota_step(naming->namer.quota, LOCATION_STEPS * (count + 1));
	for (unsigned i = count; i; i--)
		frame = namer_frame(&naming->namer, &frames[i - 1], location->module, frame);
	if (frame)
		run_name_location(naming->run, id, frame);
}

static void module_missing(struct naming *naming, row_id row, const struct err *err)
{
	struct run *run = naming->run;
	const struct module_row *module = &run->modules.at[row - 1];

	if (module->flags & (MODULE_JIT | MODULE_VDSO))
		return; /* nobody promised names there; the report shows them as unknown */
	vec_foreach (const struct note_row, note, &run->notes)
		if (str_equal(run_text(run, note->text), err->text))
			return; /* a run that was named before it was stored said so already */
	run_add_note(run, "module-without-names", err->text, err->hint);
}

/* Of the kernel: what its symbols take, which nobody made up. */
static uint64_t names_file_bytes(struct names *names)
{
	const struct quota *quota = names ? names_quota(names) : NULL;

	return quota ? quota->file_bytes : 1 << 30;
}

/* A file that takes too much is read up to there, and the run says so. */
static void module_stopped(struct naming *naming, row_id row, struct names *names)
{
	const struct quota *quota = names ? names_quota(names) : NULL;
	const struct module_row *module = &naming->run->modules.at[row - 1];
	str_auto struct str text = {0};

	if (quota_is_left(quota))
		quota = naming->namer.quota;
	if (quota_is_left(quota) || quota->end == QUOTA_INTERRUPTED)
		return;
	quota_tell(quota,
		module->flags & MODULE_JIT && names ? names_basis(names)
						    : run_text(naming->run, module->path),
		&text);
	run_add_note(naming->run, "file-too-costly", str_text(&text), quota_hint);
}

/* Ids of the places to name, those of one module together. */
static row_id *places_sorted(const struct run *run, uint32_t *ret_count)
{
	uint32_t *start = mem_new(run->modules.count + 2, sizeof(*start));
	row_id *ids = mem_new(run->locations.count + 1, sizeof(*ids));
	uint32_t count = 0;

	vec_foreach (const struct location_row, location, &run->locations)
		if (location->module && !location->frame) {
			start[location->module + 1]++;
			count++;
		}
	for (uint32_t i = 1; i <= run->modules.count + 1; i++)
		start[i] += start[i - 1];
	for (uint32_t i = 0; i < run->locations.count; i++) {
		const struct location_row *location = &run->locations.at[i];

		if (location->module && !location->frame)
			ids[start[location->module]++] = i + 1;
	}
	free(start);
	*ret_count = count;
	return ids;
}

void ingest_name(struct run *run, const struct ingest_naming *options)
{
	static const struct ingest_naming defaults;
	struct naming naming = {
		.run = run, .options = options ? options : &defaults, .namer = {.run = run}};
	mem_auto row_id *ids = places_sorted(run, &naming.of);
	bool frozen = run->frozen;

	run->frozen = false; /* names are all that is added to a run that was loaded */
	while (naming.done < naming.of && !interrupt_now(naming.options->interrupted).count) {
		row_id module = run->locations.at[ids[naming.done] - 1].module;
		struct names *names = NULL;
		struct quota keeping; /* what the names take in the run: as much again */
		struct err err = {0};

		if (module_names(&naming, module, &names, &err) < 0)
			module_missing(&naming, module, &err);
		keeping = quota_of(names_file_bytes(names), naming.options->interrupted);
		naming.namer.quota = &keeping;
		for (; naming.done < naming.of; naming.done++) {
			row_id id = ids[naming.done];

			if (run->locations.at[id - 1].module != module)
				break;
			if (names && quota_is_left(&keeping))
				location_name(&naming, names, id);
		}
		module_stopped(&naming, module, names);
		names_close(names);
		if (naming.options->progress)
			naming.options->progress(naming.options->context, naming.done, naming.of);
	}
	namer_done(&naming.namer);
	run->frozen = frozen;
}
