/* directory.c - see directory.h.
 *
 * The name of a run is the time in UTC, so that names sort by age; mkdir() decides who gets it when
 * two start in the same second.  `latest` is a link that is made beside its place and renamed onto
 * it: whoever follows it finds the old directory or the new one. */
#include "model/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "model/store.h"

enum { TRIES = 1000, DEEPEST = 8, MANIFEST_LARGEST = 64 << 20 };

static int cannot_make(const char *path, int code, struct err *err)
{
	err_set(err, ERR_OUTPUT, code, "cannot create the directory %s: %s", path, err_words(code));
	return err_hint(err, "choose another directory with -o DIR");
}

static bool folder_is_empty(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool empty = folder != NULL;

	while (empty && (entry = readdir(folder)))
		empty = str_equal(entry->d_name, ".") || str_equal(entry->d_name, "..");
	if (folder)
		closedir(folder);
	return empty;
}

static int create_named(struct directory *d, const char *path, struct err *err)
{
	size_t len = strlen(path);
	const char *slash;
	int made;

	while (len > 1 && path[len - 1] == '/')
		len--;
	d->path = arena_text(&d->texts, path, len);
	slash = strrchr(d->path, '/');
	d->id = slash && slash[1] ? slash + 1 : d->path;
	made = io_place_make_folder(d->path, IO_PRIVATE_FOLDER, err);
	if (made != 0)
		return made < 0 ? made : 0;
	if (folder_is_empty(d->path))
		return 0;
	err_set(err, ERR_USAGE, EEXIST, "%s already exists, and assay never overwrites a run",
		d->path);
	return err_hint(err, "name a new directory with -o, or omit -o");
}

static int create_dated(struct directory *d, uint64_t now_ns, struct err *err)
{
	time_t seconds = (time_t)(now_ns / 1000000000);
	struct tm parts = {0};
	char name[32] = "";
	int made;

	if (gmtime_r(&seconds, &parts))
		strftime(name, sizeof(name), "%Y%m%d-%H%M%S", &parts);
	d->root = DIRECTORY_ROOT;
	made = io_place_make_folder(d->root, IO_PRIVATE_FOLDER, err);
	if (made < 0)
		return made;
	for (unsigned i = 1; i <= TRIES; i++) {
		d->id = i == 1 ? arena_format(&d->texts, "%s", name)
			       : arena_format(&d->texts, "%s-%u", name, i);
		d->path = arena_format(&d->texts, "%s/%s", d->root, d->id);
		made = io_place_make_folder(d->path, IO_PRIVATE_FOLDER, err);
		if (made != 0)
			return made < 0 ? made : 0;
	}
	return cannot_make(d->path, EEXIST, err);
}

int directory_create(
	struct directory *ret_directory, const char *path, uint64_t now_ns, struct err *err)
{
	*ret_directory = (struct directory){0};
	return path ? create_named(ret_directory, path, err)
		    : create_dated(ret_directory, now_ns, err);
}

void directory_done(struct directory *directory)
{
	arena_done(&directory->texts);
}

const char *directory_path(struct directory *directory, const char *name)
{
	return arena_format(&directory->texts, "%s/%s", directory->path, name);
}

int directory_add_folder(struct directory *directory, const char *name, struct err *err)
{
	const char *path = directory_path(directory, name);

	int made = io_place_make_folder(path, IO_PRIVATE_FOLDER, err);

	return made < 0 ? made : 0;
}

int directory_keep(struct directory *directory, const struct manifest *manifest, struct err *err)
{
	str_auto struct str text = {0};

	manifest_write(manifest, &text);
	return io_replace(directory_path(directory, MANIFEST_NAME), IO_PRIVATE, str_text(&text),
		text.len, err);
}

/* Plain files only: whoever made the directory could wait for us in a pipe of that name. */
static int file_hash(const char *path, bool is_ours, struct manifest_file *file)
{
	io_auto int fd = io_open_regular(AT_FDCWD, path, O_NOFOLLOW, NULL);

	if (fd < 0)
		return fd == IO_NOT_REGULAR || fd == -EISDIR ? -ELOOP : fd;
	if (is_ours) /* a phase is a command that knows nothing of the directory */
		(void)fchmod(fd, IO_PRIVATE);
	return sha256_fd(fd, file->sha256, &file->bytes);
}

static bool file_is_known(const struct manifest *manifest, const char *path)
{
	vec_foreach (const struct manifest_file, file, &manifest->files)
		if (str_equal(file->path, path))
			return true;
	return false;
}

/* Plain files below `path` that are new, named from `prefix` on, without the manifest and what io.c
 * is still writing. */
static void files_list(
	const char *path, const char *prefix, unsigned depth, struct manifest *manifest)
{
	DIR *folder = depth < DEEPEST ? opendir(path) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		const char *name = entry->d_name;
		str_auto struct str inside = {0}, full = {0};
		struct stat what;

		if (str_equal(name, ".") || str_equal(name, "..") || str_ends(name, ".tmp") ||
			(!*prefix && str_equal(name, MANIFEST_NAME)))
			continue;
		str_addf(&inside, "%s%s%s", prefix, *prefix ? "/" : "", name);
		str_addf(&full, "%s/%s", path, name);
		if (lstat(full.at, &what) < 0 || file_is_known(manifest, inside.at))
			continue;
		if (S_ISDIR(what.st_mode))
			files_list(full.at, inside.at, depth + 1, manifest);
		else if (S_ISREG(what.st_mode))
			vec_push(&manifest->files,
				(struct manifest_file){.path = arena_text(&manifest->texts,
							       inside.at, inside.len)});
	}
	if (folder)
		closedir(folder);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(
		((const struct manifest_file *)a)->path, ((const struct manifest_file *)b)->path);
}

int directory_hash(const struct directory *directory, struct manifest *manifest, struct err *err)
{
	uint32_t known = manifest->files.count;

	files_list(directory->path, "", 0, manifest);
	for (uint32_t i = known; i < manifest->files.count; i++) {
		struct manifest_file *file = &manifest->files.at[i];
		str_auto struct str full = {0};
		int r;

		str_addf(&full, "%s/%s", directory->path, file->path);
		r = file_hash(full.at, true, file);
		if (r < 0) {
			manifest->files.count = known;
			return err_set(err, ERR_OUTPUT, -r, "cannot read %s back: %s", full.at,
				err_words(-r));
		}
	}
	vec_sort(&manifest->files, by_path);
	return 0;
}

int directory_set_latest(const struct directory *directory, struct err *err)
{
	str_auto struct str link = {0}, fresh = {0};

	if (!directory->root)
		return 0;
	str_addf(&link, "%s/" DIRECTORY_LATEST, directory->root);
	str_addf(&fresh, "%s.%s.tmp", link.at, directory->id);
	unlink(fresh.at);
	if (symlink(directory->id, fresh.at) == 0 && rename(fresh.at, link.at) == 0)
		return 0;
	err_set(err, ERR_OUTPUT, errno, "cannot create the link %s: %s", link.at, err_words(errno));
	err_hint(err, "the run is complete, in %s", directory->path);
	unlink(fresh.at);
	return -err->code;
}

int directory_resolve(const char *name, struct arena *arena, const char **ret_path, struct err *err)
{
	bool latest = str_equal(name, DIRECTORY_LATEST);
	const char *path = latest ? DIRECTORY_ROOT "/" DIRECTORY_LATEST : name;
	mem_auto char *real = realpath(path, NULL);
	struct stat what;
	int code = 0;

	if (!real || stat(real, &what) < 0)
		code = errno;
	else if (!S_ISDIR(what.st_mode))
		code = ENOTDIR;
	if (!real || code) {
		err_set(err, ERR_USAGE, code, "no evidence directory %s", path);
		return err_hint(err, latest ? "create one first: assay run -- PROGRAM"
					    : "ls " DIRECTORY_ROOT
					      " lists those of this directory");
	}
	*ret_path = arena_copy(arena, real);
	return 0;
}

int directory_load(const char *path, struct manifest *ret_manifest, struct err *err)
{
	str_auto struct str name = {0}, text = {0};
	int r;

	manifest_init(ret_manifest);
	str_addf(&name, "%s/" MANIFEST_NAME, path);
	r = io_read(name.at, MANIFEST_LARGEST, &text, err);
	if (r == -ENOENT) {
		err_set(err, ERR_USAGE, ENOENT, "%s has no " MANIFEST_NAME, path);
		err_hint(err, "name a directory that assay run created");
	}
	return r < 0 ? r : manifest_read(str_text(&text), text.len, name.at, ret_manifest, err);
}

const char *directory_fault_word(enum directory_fault fault)
{
	static const char *const words[DIRECTORY_FAULTS] = {
		"missing", "changed", "unreadable", "added"};

	return words[fault];
}

static void finding_add(struct directory_check *check, enum directory_fault fault, const char *path,
	const char *detail)
{
	vec_push(&check->findings, (struct directory_finding){fault, path,
					   arena_copy(&check->manifest.texts, detail)});
	check->faults += fault != DIRECTORY_ADDED;
}

static void file_check(
	struct directory_check *check, const char *folder, const struct manifest_file *file)
{
	struct manifest_file now = {.path = file->path};
	str_auto struct str full = {0}, detail = {0};
	struct err why = {0};
	struct run *run = NULL;
	int r;

	str_addf(&full, "%s/%s", folder, file->path);
	r = file_hash(full.at, false, &now);
	if (r == -ENOENT) {
		finding_add(check, DIRECTORY_MISSING, file->path, "");
	} else if (r < 0) {
		finding_add(check, DIRECTORY_UNREADABLE, file->path,
			r == -ELOOP ? "it is not a regular file" : err_words(-r));
	} else if (!str_equal(now.sha256, file->sha256)) {
		if (now.bytes != file->bytes)
			str_addf(&detail, "%llu bytes now, %llu when it was written",
				(unsigned long long)now.bytes, (unsigned long long)file->bytes);
		finding_add(check, DIRECTORY_CHANGED, file->path, str_text(&detail));
	} else if (str_ends(file->path, ".assay") && store_load(full.at, &run, &why) < 0) {
		finding_add(check, DIRECTORY_UNREADABLE, file->path, why.text);
	}
	run_close(run);
}

/* What is there and not in the manifest. */
static void added_find(struct directory_check *check, const char *path)
{
	const struct manifest *known = &check->manifest;
	struct manifest now;

	manifest_init(&now);
	files_list(path, "", 0, &now);
	vec_foreach (const struct manifest_file, file, &now.files) {
		bool listed = false;

		vec_foreach (const struct manifest_file, old, &known->files)
			listed = listed || str_equal(old->path, file->path);
		if (!listed)
			finding_add(check, DIRECTORY_ADDED,
				arena_copy(&check->manifest.texts, file->path), "");
	}
	manifest_done(&now);
}

int directory_check(const char *path, struct directory_check *ret_check, struct err *err)
{
	int r;

	*ret_check = (struct directory_check){0};
	r = directory_load(path, &ret_check->manifest, err);
	if (r < 0)
		return r;
	ret_check->files = ret_check->manifest.files.count;
	vec_foreach (const struct manifest_file, file, &ret_check->manifest.files)
		file_check(ret_check, path, file);
	if (ret_check->manifest.state != MANIFEST_RUNNING)
		added_find(ret_check, path);
	return 0;
}

void directory_check_done(struct directory_check *check)
{
	manifest_done(&check->manifest);
	vec_done(&check->findings);
}
