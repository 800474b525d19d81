/* preload.c - the runtime stands beside the program (a build tree) or in ../lib/assay (installed).
 *
 * The page is a memfd that only this process holds open; the target reaches it through
 * /proc/PID/fd, so no file is left behind when both are gone.  LD_PRELOAD is a list separated by
 * blanks and colons without any way to quote them, so such a path is refused here with words
 * instead of by ld.so with silence. */
#include "source/preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wire/page.h"

static int runtime_find(const char *library, char *ret_path, size_t capacity, struct err *err)
{
	static const char *const places[] = {"", "../lib/assay/"};
	char folder[4000];
	ssize_t len = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	char *slash;

	if (len < 0)
		return err_set(err, ERR_UNAVAILABLE, errno, "cannot read /proc/self/exe: %s",
			err_words(errno));
	folder[len] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	for (unsigned i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(ret_path, capacity, "%s/%s%s", folder, places[i], library);
		if (access(ret_path, R_OK) == 0)
			return 0;
	}
	err_set(err, ERR_UNAVAILABLE, ENOENT, "%s is neither in %s nor in %s/../lib/assay", library,
		folder, folder);
	err_hint(err, "install all of assay (ninja install), not only the program");
	return -ENOENT;
}

static int page_open(struct preload *preload, struct err *err)
{
	void *page = MAP_FAILED;

	preload->fd = memfd_create("assay-rt-page", MFD_CLOEXEC);
	if (preload->fd >= 0 && ftruncate(preload->fd, WIRE_PAGE_BYTES) == 0)
		page = mmap(
			NULL, WIRE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, preload->fd, 0);
	if (page == MAP_FAILED)
		return err_set(err, ERR_UNAVAILABLE, errno,
			"cannot make a shared page for the runtime: %s", err_words(errno));
	preload->page = page;
	preload->page->magic = WIRE_PAGE_MAGIC;
	preload->page->version = WIRE_PAGE_VERSION;
	snprintf(preload->page_variable, sizeof(preload->page_variable), "%s=/proc/%d/fd/%d",
		WIRE_PAGE_ENVIRONMENT, (int)getpid(), preload->fd);
	return 0;
}

int preload_open(const char *library, struct preload *ret_preload, struct err *err)
{
	const char *others = getenv("LD_PRELOAD");
	char path[4096];
	int r = runtime_find(library, path, sizeof(path), err);

	*ret_preload = (struct preload){.fd = -1};
	if (r < 0)
		return r;
	if (strpbrk(path, " \t\n:")) {
		err_set(err, ERR_UNAVAILABLE, EINVAL,
			"LD_PRELOAD cannot name %s: its path has a blank or a colon", path);
		err_hint(err, "put assay into a directory without them");
		return -EINVAL;
	}
	snprintf(ret_preload->preload_variable, sizeof(ret_preload->preload_variable),
		"LD_PRELOAD=%s%s%.3900s", path, others && *others ? ":" : "", others ? others : "");
	r = page_open(ret_preload, err);
	if (r < 0)
		preload_close(ret_preload);
	return r;
}

unsigned preload_attached(const struct preload *preload)
{
	return atomic_load_explicit(&preload->page->attached, memory_order_acquire);
}

void preload_close(struct preload *preload)
{
	if (preload->page)
		munmap(preload->page, WIRE_PAGE_BYTES);
	if (preload->fd >= 0)
		close(preload->fd);
	preload->page = NULL;
	preload->fd = -1;
}
