/* binary.c - one inspection from the name to the facts.
 *
 * The file is mapped and only the pages that are looked at are read: 110 MB of libLLVM cost
 * 12-20 ms.  A script leads to its interpreter, as the kernel would, and through env(1). */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "binary_parts.h"

enum { SCRIPT_DEPTH = 5, SCRIPT_LINE = 256 }; /* the kernel's BINPRM_BUF_SIZE and depth */

#if defined(__x86_64__)
enum { MACHINE_HERE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE_HERE = EM_AARCH64 };
#else
#error "assay supports x86-64 and aarch64"
#endif

static const char *machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {{EM_X86_64, "x86-64"}, {EM_AARCH64, "aarch64"}, {EM_386, "i386"},
		{EM_ARM, "32-bit ARM"}, {EM_RISCV, "RISC-V"}, {EM_PPC64, "PowerPC 64"},
		{EM_S390, "s390"}, {EM_MIPS, "MIPS"}, {EM_LOONGARCH, "LoongArch"}, {EM_BPF, "BPF"},
		{EM_SPARCV9, "SPARC"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return "another kind of machine";
}

/* Asked before the file is opened, which takes files of any 64-bit machine and no other. */
static int check_machine(const struct image_file *file, const char *name, struct err *err)
{
	const uint8_t *ident = file->bytes;
	uint16_t machine;

	if (file->len < EI_NIDENT + 4 || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return 0;
	memcpy(&machine, ident + 18, sizeof(machine)); /* e_machine, in both classes */
	if (ident[EI_DATA] == ELFDATA2MSB)
		machine = (uint16_t)(machine << 8 | machine >> 8);
	if (machine == MACHINE_HERE && ident[EI_DATA] == ELFDATA2LSB)
		return 0;
	err_set(err, ERR_TARGET, ENOEXEC, "%s is a program for %s, but this machine is %s", name,
		machine_name(machine), machine_name(MACHINE_HERE));
	err_hint(
		err, "build it for %s, or run assay on such a machine", machine_name(MACHINE_HERE));
	return -ENOEXEC;
}

const char *binary_kind_name(enum binary_kind kind)
{
	static const char *const names[BINARY_KINDS] = {
		[BINARY_EXEC] = "executable",
		[BINARY_PIE] = "pie",
		[BINARY_STATIC] = "static",
		[BINARY_STATIC_PIE] = "static-pie",
		[BINARY_LIBRARY] = "shared library",
	};

	return kind < BINARY_KINDS ? names[kind] : "unknown";
}

const char *binary_language_name(enum binary_language language)
{
	static const char *const names[LANGUAGES] = {
		[LANGUAGE_UNKNOWN] = "unknown",
		[LANGUAGE_C] = "c",
		[LANGUAGE_CXX] = "c++",
		[LANGUAGE_RUST] = "rust",
		[LANGUAGE_GO] = "go",
		[LANGUAGE_FORTRAN] = "fortran",
		[LANGUAGE_ASSEMBLER] = "assembler",
		[LANGUAGE_OTHER] = "other",
	};

	return language < LANGUAGES ? names[language] : "unknown";
}

bool binary_is_static(const struct binary_facts *facts)
{
	return facts->kind == BINARY_STATIC || facts->kind == BINARY_STATIC_PIE;
}

static int check_type(const struct image *image, const char *name, struct err *err)
{
	if (image->head.e_type == ET_REL) {
		err_set(err, ERR_TARGET, ENOEXEC, "%s is an object file, not a program", name);
		err_hint(err, "link it first");
		return -ENOEXEC;
	}
	if (image->head.e_type == ET_CORE) {
		err_set(err, ERR_TARGET, ENOEXEC, "%s is a core dump, not a program", name);
		err_hint(err, "name the program that left it");
		return -ENOEXEC;
	}
	if (image->head.e_type != ET_EXEC && image->head.e_type != ET_DYN) {
		err_set(err, ERR_TARGET, ENOEXEC, "%s is an ELF file of an unknown type", name);
		err_hint(err, "build or copy it again");
		return -ENOEXEC;
	}
	if (!image_segment(image, PT_LOAD)) {
		err_set(err, ERR_TARGET, ENOEXEC,
			"%s is truncated or damaged: it has nothing to load", name);
		err_hint(err, "build or copy it again");
		return -ENOEXEC;
	}
	return 0;
}

struct subject {
	struct image_file file;
	const char *path; /* NULL: bytes only, no other file is looked at */
	const char *name;
	bool libraries;
};

static void inspect_parts(struct binary_work *work, bool with_libraries)
{
	binary_dynamic_read(work->image, &work->dynamic);
	binary_read_tables(work);
	binary_read_symbols(work);
	binary_read_code(work);
	binary_find_debug(work);
	binary_read_dwarf(work);
	if (with_libraries)
		binary_find_libraries(work);
	binary_conclude(work);
	binary_dynamic_done(&work->dynamic);
	debug_set_done(&work->debug);
}

static int inspect_image(const struct subject *subject, struct arena *arena,
	struct binary_facts *facts, struct err *err)
{
	image_auto struct image *image = NULL;
	struct binary_work work = {.arena = arena, .facts = facts};
	int r = check_machine(&subject->file, subject->name, err);

	if (r == 0)
		r = image_open_bytes(
			subject->file.bytes, subject->file.len, subject->name, &image, err);
	if (r == 0)
		r = check_type(image, subject->name, err);
	if (r < 0) {
		err->kind = ERR_TARGET;
		return r;
	}
	work.image = image;
	facts->size_bytes = subject->file.len;
	facts->machine = machine_name(image->head.e_machine);
	facts->path = subject->path;
	facts->name = strrchr(subject->name, '/');
	facts->name = facts->name ? facts->name + 1 : subject->name;
	inspect_parts(&work, subject->path && subject->libraries);
	return 0;
}

int binary_inspect_bytes(const void *bytes, size_t len, const char *name, struct arena *arena,
	struct binary_facts *ret_facts, struct err *err)
{
	struct subject subject = {.file = {bytes, len}, .name = arena_copy(arena, name)};
	struct binary_facts facts = {0};
	int r = inspect_image(&subject, arena, &facts, err);

	if (r == 0)
		*ret_facts = facts;
	return r;
}

static int map_program(const char *path, struct image_file *ret_file, struct err *err)
{
	int r = image_file_map(path, ret_file);

	if (r == -EACCES || r == -EPERM) {
		err_set(err, ERR_TARGET, -r, "%s can be run but not read: permission denied", path);
		err_hint(err, "read it as its owner or as root");
	} else if (r < 0) {
		err_set(err, ERR_TARGET, -r, "cannot read %s: %s", path, err_words(-r));
		err_hint(err, "check that the file and its disk are intact");
	}
	return r;
}

/* The next word of `line`, cut off with a NUL; moves on.  NULL at the end. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");
	size_t len = strcspn(word, " \t");

	if (!len)
		return NULL;
	*line = word + len + (word[len] != '\0');
	word[len] = '\0';
	return word;
}

/* The program that a script's first line starts.  env(1) is looked through: switches and
 * assignments, then the name, which is searched in PATH. */
static int script_interpreter(const char *path, const struct image_file *file, struct arena *arena,
	const char **ret_path, struct err *err)
{
	size_t len = file->len < SCRIPT_LINE ? file->len : SCRIPT_LINE;
	char *line = arena_text(arena, (const char *)file->bytes + 2, len - 2), *word;
	const char *base;

	line[strcspn(line, "\r\n")] = '\0';
	word = next_word(&line);
	if (!word) {
		err_set(err, ERR_TARGET, ENOEXEC, "the #! line of %s names no interpreter", path);
		err_hint(err, "correct the first line of the script: #!/bin/sh");
		return -ENOEXEC;
	}
	base = strrchr(word, '/');
	if (base && str_equal(base, "/env")) {
		do
			word = next_word(&line);
		while (word && (*word == '-' || strchr(word, '=')));
		if (!word) {
			err_set(err, ERR_TARGET, ENOEXEC,
				"the #! line of %s starts env without a program", path);
			err_hint(err, "correct the first line of the script");
			return -ENOEXEC;
		}
	}
	if (binary_find(word, arena, ret_path, err) < 0) {
		err_set(err, ERR_TARGET, ENOENT, "the interpreter of %s, %s, cannot be run", path,
			word);
		err_hint(err, "install it, or correct the first line of the script");
		return -ENOENT;
	}
	return 0;
}

/* From the file that was asked for to the ELF file that runs, through scripts. */
static int open_program(const char *name, struct arena *arena, struct subject *subject,
	struct binary_facts *facts, struct err *err)
{
	int r = binary_find(name, arena, &subject->path, err);

	for (int depth = 0; r == 0; depth++) {
		const char *path = subject->path;

		r = map_program(path, &subject->file, err);
		if (r < 0)
			break;
		subject->name = path;
		if (subject->file.len >= 4 && memcmp(subject->file.bytes, ELFMAG, SELFMAG) == 0)
			return 0;
		if (subject->file.len < 2 || memcmp(subject->file.bytes, "#!", 2) != 0) {
			r = err_set(err, ERR_TARGET, ENOEXEC,
				"%s is neither an ELF program nor a script with a #! line", path);
			err_hint(err, "name the program that runs it: assay ... -- sh %s", path);
		} else if (depth == SCRIPT_DEPTH) {
			r = err_set(err, ERR_TARGET, ELOOP,
				"%s is a script whose interpreters lead nowhere", name);
			err_hint(err, "correct the first line of the script");
		} else {
			facts->script = facts->script ? facts->script : path;
			r = script_interpreter(path, &subject->file, arena, &subject->path, err);
		}
		image_file_done(&subject->file);
	}
	return r;
}

static void read_privileges(const char *path, struct binary_facts *facts)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return;
	facts->setuid = status.st_mode & S_ISUID;
	facts->setgid = status.st_mode & S_ISGID;
	facts->file_capabilities = getxattr(path, "security.capability", NULL, 0) > 0;
}

int binary_inspect(const char *name, const struct binary_options *options, struct arena *arena,
	struct binary_facts *ret_facts, struct err *err)
{
	struct subject subject = {.libraries = !options || !options->without_libraries};
	struct binary_facts facts = {0};
	int r = open_program(name, arena, &subject, &facts, err);

	if (r < 0)
		return r;
	r = inspect_image(&subject, arena, &facts, err);
	if (r == 0) {
		read_privileges(subject.path, &facts);
		if (options && options->sha256) {
			struct sha256 sha;

			sha256_init(&sha);
			sha256_add(&sha, subject.file.bytes, subject.file.len);
			sha256_text(&sha, facts.sha256);
		}
		*ret_facts = facts;
	}
	image_file_done(&subject.file);
	return r;
}
