/* fingerprint.c - the order of the groups, and what they share.
 *
 * Files that more than one group needs are read once, here. */
#include "source/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "fingerprint_facts.h"
#include "wire/record.h"

enum { MOUNTS_LARGEST = 8 << 20 };

static void facts_begin(struct facts *facts)
{
	facts_read_start(facts, "proc/cpuinfo", &facts->cpuinfo);
	facts_read_start(facts, "proc/self/status", &facts->status);
	(void)io_read_at(facts->root_fd, "proc/self/mountinfo", MOUNTS_LARGEST, &facts->mounts);
	if (facts_read(facts, "sys/devices/system/cpu/online") > 0)
		cpus_parse(facts->text.at, &facts->online);
	else
		cpus_add(&facts->online, 0); /* no /sys, as in some sandboxes */
}

static void facts_take(struct facts *facts)
{
	facts_begin(facts);
	fingerprint_cpu(facts);
	fingerprint_freq(facts);
	fingerprint_memory(facts);
	fingerprint_kernel(facts);
	fingerprint_security(facts);
	fingerprint_limits(facts);
	fingerprint_clock(facts);
	fingerprint_noise(facts);
	fingerprint_tuning(facts);
	fingerprint_storage(facts);
	fingerprint_env(facts);
	fingerprint_identity(facts);
	str_done(&facts->text);
	str_done(&facts->cpuinfo);
	str_done(&facts->status);
	str_done(&facts->mounts);
}

static int check_storage(const char *path, struct err *err)
{
	struct stat there;
	int code;

	if (stat(path, &there) == 0)
		return 0;
	code = errno;
	err_set(err, ERR_USAGE, code, "cannot describe the file system of %s: %s", path,
		err_words(code));
	return err_hint(err, "name a file or directory that exists");
}

int fingerprint_take(
	const struct fingerprint_options *options, const struct wire_sink *sink, struct err *err)
{
	static const struct fingerprint_options defaults;
	struct facts facts = {.sink = sink};
	io_auto int root = -1;
	const char *path;
	int r;

	options = options ? options : &defaults;
	path = options->root ? options->root : "/";
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0) {
		r = errno;
		return err_set(err, ERR_UNAVAILABLE, r, "cannot open the directory %s: %s", path,
			err_words(r));
	}
	if (!options->root && options->storage_path) {
		r = check_storage(options->storage_path, err);
		if (r < 0)
			return r;
	}
	facts.root_fd = root;
	facts.recorded = options->root != NULL;
	facts.storage_path = options->storage_path;
	facts_take(&facts);
	if (facts.failure < 0)
		return err_set(err, ERR_UNAVAILABLE, -facts.failure,
			"the fingerprint could not be kept: %s", err_words(-facts.failure));
	return 0;
}
