/* mca.c - see mca.h.
 *
 * The JSON of LLVM 14 has no view of the bottleneck, so it is derived: the block's reciprocal
 * throughput is what its busiest unit needs for one round, and a round that takes clearly longer
 * waits for results.  "-mcpu=native" of a CPU newer than LLVM is not refused but silently another
 * model; the name in the answer tells.  Names of its units hold a NUL (LLVM 14). */
#include "drive/mca.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/io.h"
#include "base/str.h"
#include "code/binary.h"

#define MCA_LIMIT_NS UINT64_C(10000000000)
enum { MCA_MOST = 8 << 20 };

/* A round is 1.5 times longer than its busiest unit needs: then it waits. */
static const double waits_factor = 1.5;

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : 0;
}

int mca_parse(const char *text, size_t len, struct mca_result *ret_result)
{
	json_error_t error;
	json_t *root = json_loadb(text, len, JSON_ALLOW_NUL, &error);
	const json_t *region = json_array_get(json_object_get(root, "CodeRegions"), 0);
	const json_t *summary = json_object_get(region, "SummaryView");
	const char *cpu =
		json_string_value(json_object_get(json_object_get(root, "TargetInfo"), "CPUName"));
	double rounds = number_of(summary, "Iterations"),
	       cycles = number_of(summary, "TotalCycles");
	struct mca_result result = {
		.throughput_cycles = number_of(summary, "BlockRThroughput"),
		.ipc = number_of(summary, "IPC"),
	};

	if (!(rounds >= 1) || !(cycles > 0)) {
		json_decref(root);
		return -EINVAL;
	}
	result.cycles = cycles / rounds;
	result.waits = result.cycles > waits_factor * result.throughput_cycles;
	snprintf(result.cpu, sizeof(result.cpu), "%s", cpu ? cpu : "");
	str_flatten(result.cpu);
	json_decref(root);
	*ret_result = result;
	return 0;
}

static int memory_file(const char *name, const char *text, size_t len)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd >= 0 && io_write_all(fd, text, len) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* One call with this CPU; its output into `answer`. */
static int mca_ask(const struct mca_options *options, const char *program, const char *cpu,
	struct str *answer, struct err *err)
{
	str_auto struct str text = {0};
	io_auto int in = -1, out = -1;
	char in_path[64], out_path[64], cpu_word[64];
	const char *argv[] = {"llvm-mca", cpu_word, "--json", "--iterations=100", NULL};
	int r;

	for (uint32_t i = 0; i < options->count; i++)
		str_addf(&text, "%s\n", options->lines[i]);
	in = memory_file("loop", str_text(&text), text.len);
	out = memory_file("answer", "", 0);
	if (in < 0 || out < 0)
		return err_set(err, ERR_UNAVAILABLE, errno, "cannot pass the loop to llvm-mca: %s",
			err_words(errno));
	snprintf(in_path, sizeof(in_path), "/proc/self/fd/%d", in);
	snprintf(out_path, sizeof(out_path), "/proc/self/fd/%d", out);
	snprintf(cpu_word, sizeof(cpu_word), "-mcpu=%s", cpu);
	r = helper_run(&(struct helper_options){.argv = argv,
			       .path = program,
			       .input_path = in_path,
			       .output_fd = out,
			       .error_fd = -1,
			       .limit_ns = MCA_LIMIT_NS,
			       .interrupted = options->interrupted},
		err);
	if (r < 0)
		return r;
	if (r > 0 || io_read_at(AT_FDCWD, out_path, MCA_MOST, answer) < 0) {
		err_set(err, ERR_UNAVAILABLE, EINVAL, "llvm-mca does not understand this loop");
		err_hint(err, "it may use instructions that are newer than the installed LLVM");
		return -EINVAL;
	}
	return 0;
}

static const char *stand_in(const struct mca_options *options)
{
#if defined(__x86_64__)
	return options->intel_cpu ? "icelake-server" : "znver3";
#else
	(void)options;
	return "cortex-a57";
#endif
}

static bool is_no_cpu(const char *name)
{
	return !*name || str_equal(name, "generic") || str_starts(name, "x86-64");
}

static int mca_find(struct arena *arena, const char **ret_path, struct err *err)
{
	static const char *const names[] = {
		"llvm-mca", "llvm-mca-19", "llvm-mca-16", "llvm-mca-15", "llvm-mca-14"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (binary_find(names[i], arena, ret_path, err) >= 0)
			return 0;
	err_set(err, ERR_UNAVAILABLE, ENOENT, "the static model of a loop needs llvm-mca");
	err_hint(err, "sudo apt install llvm");
	return -ENOENT;
}

int mca_run(const struct mca_options *options, struct mca_result *ret_result, struct err *err)
{
	arena_auto struct arena arena = {0};
	str_auto struct str answer = {0};
	struct mca_result result;
	const char *program;
	int r = mca_find(&arena, &program, err);

	if (r >= 0)
		r = mca_ask(options, program, "native", &answer, err);
	if (r == -EINVAL || (r >= 0 && (mca_parse(str_text(&answer), answer.len, &result) < 0 ||
					       is_no_cpu(result.cpu)))) {
		str_clear(&answer);
		r = mca_ask(options, program, stand_in(options), &answer, err);
		if (r >= 0 && mca_parse(str_text(&answer), answer.len, &result) < 0)
			r = err_set(
				err, ERR_UNAVAILABLE, EINVAL, "cannot read the answer of llvm-mca");
		result.stand_in = true;
	}
	if (r < 0)
		return r;
	*ret_result = result;
	return 0;
}
