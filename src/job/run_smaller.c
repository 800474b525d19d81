/* run_smaller.c - the program with less to do: how its time grows, and a simulation that comes to
 * the end.
 *
 * Told by the user (--sizes with {n} in the command, or --smaller), or made: when exactly one
 * argument, or stdin, is a text file, its first half and its first quarter, cut at the end of a
 * line.  A program that does not end with status 0 on such a copy gave nothing: its phase fails and
 * is not evidence. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/label.h"
#include "analyze/scale.h"
#include "base/io.h"
#include "base/words.h"
#include "code/binary.h"
#include "run_job.h"

enum { LINES_LEAST = 32, LOOK = 65536 };
#define COPY_MOST (64u << 20) /* of the file that is cut */
#define SIMULATED_GOOD_NS 8000000000ULL

static const char *const folders[RUN_VARIANTS] = {"smaller", "smallest"};

/* ---- {n} ---- */

static char *place_fill(struct arena *arena, const char *text, uint64_t size)
{
	str_auto struct str out = {0};

	while (*text)
		if (str_starts(text, "{n}")) {
			str_add_number(&out, size, 10, 0);
			text += 3;
		} else {
			str_add_char(&out, *text++);
		}
	return arena_text(arena, str_text(&out), out.len);
}

static char **program_fill(struct run_job *job, char *const *program, uint64_t size)
{
	size_t count = 0;
	char **words;

	while (program[count])
		count++;
	words = arena_take(&job->arena, (count + 1) * sizeof(*words));
	for (size_t i = 0; i < count; i++)
		words[i] = place_fill(&job->arena, program[i], size);
	return words;
}

/* The largest size is the program, the two below it are smaller. */
static int sizes_take(struct run_job *job, struct err *err)
{
	char *const *program = job->options.program;
	struct scale_sizes sizes;
	bool has_place = false;
	int r = scale_sizes_parse(job->options.sizes, &job->arena, &sizes, err);

	if (r < 0)
		return r;
	for (char *const *word = program; *word; word++)
		has_place |= strstr(*word, "{n}") != NULL;
	if (!has_place)
		return err_refuse(err, "--sizes needs {n} in the command",
			"write {n} where the size stands: assay run --sizes 1k,2k,4k -- ./program "
			"{n}");
	if (sizes.count < 2)
		return err_refuse(err, "--sizes needs at least two sizes",
			"write them with commas: --sizes 1k,2k,4k");
	for (unsigned i = 0; i < RUN_VARIANTS && i + 2 <= sizes.count; i++) {
		uint64_t size = sizes.at[sizes.count - 2 - i];

		job->variants[job->variant_count++] = (struct run_variant){
			.program = program_fill(job, program, size),
			.size = (double)size / (double)sizes.at[sizes.count - 1],
			.words = arena_format(&job->arena, "{n} = %llu", (unsigned long long)size),
		};
	}
	job->options.program = program_fill(job, program, sizes.at[sizes.count - 1]);
	return 0;
}

/* ---- --smaller ---- */

/* How much smaller, when one word differs: two numbers, or two files. */
static double words_ratio(char *const *whole, char *const *part)
{
	double ratio = 0;

	for (; *whole && *part; whole++, part++) {
		struct stat large, small;
		char *end_large, *end_small;
		double a = strtod(*whole, &end_large), b = strtod(*part, &end_small);

		if (str_equal(*whole, *part))
			continue;
		if (ratio > 0)
			return 0;
		if (!*end_large && !*end_small && a > 0)
			ratio = b / a;
		else if (stat(*whole, &large) == 0 && stat(*part, &small) == 0 && large.st_size > 0)
			ratio = (double)small.st_size / (double)large.st_size;
	}
	return *whole || *part || ratio >= 1 ? 0 : ratio;
}

static int smaller_take(struct run_job *job, struct err *err)
{
	const char *path;
	char **words;
	int r = words_split(job->options.smaller, &job->arena, &words, NULL, err);

	if (r >= 0)
		r = binary_find(words[0], &job->arena, &path, err);
	if (r < 0)
		return r;
	job->variants[job->variant_count++] = (struct run_variant){
		.program = words,
		.size = words_ratio(job->options.program, words),
		.words = "--smaller",
	};
	return 0;
}

int run_smaller_check(struct run_job *job, struct err *err)
{
	int r = 0;

	if (job->options.sizes && job->options.smaller)
		return err_refuse(err, "--sizes and --smaller exclude each other",
			"--sizes fills in {n}; --smaller is a command of its own");
	if (job->options.sizes)
		r = sizes_take(job, err);
	else if (job->options.smaller)
		r = smaller_take(job, err);
	return r;
}

/* ---- a text file, cut ---- */

static bool bytes_are_text(const struct str *text)
{
	size_t looked = text->len < LOOK ? text->len : LOOK, lines = 0;

	if (str_starts(str_text(text), "#!")) /* a program, not an input */
		return false;
	for (size_t i = 0; i < looked; i++) {
		if (!text->at[i])
			return false;
		lines += text->at[i] == '\n';
	}
	return lines >= LINES_LEAST;
}

static bool file_is_text(const char *path)
{
	io_auto int fd = io_open_regular(AT_FDCWD, path, 0, NULL);
	str_auto struct str head = {0};
	char piece[LOOK];
	ssize_t got = fd >= 0 ? read(fd, piece, sizeof(piece)) : -1;

	if (got <= 0)
		return false;
	str_add_bytes(&head, piece, (size_t)got);
	return bytes_are_text(&head);
}

/* Whether the first argument is what the program runs: a part of that is another program. */
static bool runs_a_script(char *const *program)
{
	static const char *const names[] = {"sh", "bash", "dash", "ksh", "zsh", "python", "perl",
		"ruby", "lua", "node", "php", "Rscript", "julia", "tclsh"};
	const char *name = label_base(program[0]);

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (str_starts(name, names[i]) &&
			!name[strlen(names[i]) + strspn(name + strlen(names[i]), "0123456789.")])
			return program[1] && *program[1] != '-';
	return false;
}

/* The one word that names a text file, 0: stdin is it; negative: none or several. */
static int input_find(const struct run_job *job)
{
	int found = job->input_path && file_is_text(job->input_path) ? 0 : -1;
	char *const *program = job->options.program;

	for (int i = runs_a_script(program) ? 2 : 1; program[i]; i++) {
		if (!file_is_text(program[i]))
			continue;
		if (found >= 0)
			return -E2BIG;
		found = i;
	}
	return found;
}

/* Up to the last line that ends in the first `bytes`. */
static size_t cut_at(const struct str *text, size_t bytes)
{
	while (bytes && text->at[bytes - 1] != '\n')
		bytes--;
	return bytes;
}

static int copy_make(
	struct run_job *job, unsigned i, const char *name, const struct str *text, struct err *err)
{
	size_t len = cut_at(text, text->len >> (i + 1));
	const char *path = arena_format(&job->arena, "%s/%s", folders[i], name);
	int r = len ? directory_add_folder(&job->directory, folders[i], err) : -ENODATA;

	if (r < 0)
		return r;
	path = directory_path(&job->directory, path);
	r = io_replace(path, IO_PRIVATE, text->at, len, err);
	job->variants[i] = (struct run_variant){
		.size = (double)len / (double)text->len,
		.input_path = path,
		.words = arena_format(&job->arena, "the first %.0f %% of %s",
			100.0 * (double)len / (double)text->len, name),
	};
	return r;
}

/* The program with the copy in place of the file. */
static void copy_use(struct run_job *job, unsigned i, int word)
{
	struct run_variant *variant = &job->variants[i];
	char *const *program = job->options.program;
	size_t count = 0;

	while (program[count])
		count++;
	variant->program =
		arena_keep(&job->arena, program, (count + 1) * sizeof(*variant->program));
	if (word) {
		variant->program[word] = arena_copy(&job->arena, variant->input_path);
		variant->input_path = NULL;
	}
}

static const char *copies_make(struct run_job *job, int word)
{
	const char *path = word ? job->options.program[word] : job->input_path;
	const char *name = label_base(path);
	str_auto struct str text = {0};
	struct err ignored = {0};

	if (io_read_at(AT_FDCWD, path, COPY_MOST, &text) < 0)
		return "its input is larger than 64 MiB";
	for (unsigned i = 0; i < RUN_VARIANTS; i++) {
		if (copy_make(job, i, name, &text, &ignored) < 0)
			return "its input has too few lines to be cut";
		copy_use(job, i, word);
		job->variant_count++;
	}
	run_add_note(job->front, "smaller-input",
		arena_format(&job->arena,
			"the program also runs with copies of the first half and the first quarter "
			"of %s, to see how its time grows",
			word ? path : "its stdin"),
		"--smaller CMD names a better one, --skip smaller,smallest omits it");
	return NULL;
}

void run_smaller_make(struct run_job *job)
{
	int word;

	if (job->variant_count)
		return;
	job->variants_reason = "no smaller input is known";
	word = job->endless ? -1 : input_find(job);
	if (word == -E2BIG)
		job->variants_reason = "several arguments are text files: which is the input?";
	else if (word >= 0)
		job->variants_reason = copies_make(job, word);
}

/* ---- which ---- */

uint64_t run_smaller_ns(struct run_job *job, const struct run_variant *variant)
{
	enum evidence_kind kind = variant == job->variants ? EVIDENCE_SMALLER : EVIDENCE_SMALLEST;
	struct err ignored = {0};
	const struct run *run = run_phase_file(job, kind, &ignored);
	double size = variant->size > 0 ? variant->size : 1;

	if (run && run->executions.count)
		return run_execution(run, 1).wall_ns;
	return (uint64_t)(size * (double)job->run_ns);
}

static bool variant_works(struct run_job *job, unsigned i)
{
	const struct manifest_phase *row = run_step_find(job, folders[i]);

	return row && row->outcome == PHASE_DONE;
}

const struct run_variant *run_smaller_simulated(struct run_job *job, uint32_t slower)
{
	const struct run_variant *best = NULL;

	if (slower * job->run_ns <= SIMULATED_GOOD_NS)
		return NULL;
	for (unsigned i = 0; i < RUN_VARIANTS && i < job->variant_count; i++) {
		if (!variant_works(job, i))
			continue;
		best = &job->variants[i];
		if (slower * run_smaller_ns(job, best) <= SIMULATED_GOOD_NS)
			break;
	}
	return best;
}
