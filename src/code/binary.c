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

static int check_type(const struct binary_image *image, const char *name, struct err *err)
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
	if (!binary_image_segment(image, PT_LOAD)) {
		err_set(err, ERR_TARGET, ENOEXEC,
			"%s is cut short or damaged: nothing to load in it", name);
		err_hint(err, "build or copy it again");
		return -ENOEXEC;
	}
	return 0;
}

struct subject {
	struct binary_file file;
	const char *path; /* NULL: bytes only, no other file is looked at */
	const char *name;
	bool libraries;
};

static int inspect_image(const struct subject *subject, struct arena *arena,
	struct binary_facts *facts, struct err *err)
{
	binary_image_auto struct binary_image image = {0};
	struct binary_work work = {.image = &image, .arena = arena, .facts = facts};
	int r = binary_image_init(
		&image, subject->file.bytes, subject->file.len, subject->name, err);

	if (r == 0)
		r = check_type(&image, subject->name, err);
	if (r < 0)
		return r;
	facts->size_bytes = subject->file.len;
	facts->machine = image.head.e_machine == EM_AARCH64 ? "aarch64" : "x86-64";
	facts->path = subject->path;
	facts->name = strrchr(subject->name, '/');
	facts->name = facts->name ? facts->name + 1 : subject->name;
	binary_dynamic_read(&image, &work.dynamic);
	binary_read_tables(&work);
	binary_read_symbols(&work);
	binary_read_code(&work);
	if (subject->path)
		binary_find_debug(&work);
	binary_read_dwarf(&work);
	if (subject->path && subject->libraries)
		binary_find_libraries(&work);
	binary_conclude(&work);
	binary_dynamic_done(&work.dynamic);
	return 0;
}

int binary_inspect_bytes(const void *bytes, size_t len, const char *name, struct arena *arena,
	struct binary_facts *ret_facts, struct err *err)
{
	struct subject subject = {.name = arena_text(arena, name, strlen(name))};
	mem_auto void *copy = mem_new(len, 1); /* libelf may write to it */
	struct binary_facts facts = {0};
	int r;

	memcpy(copy, bytes, len);
	subject.file = (struct binary_file){copy, len};
	r = inspect_image(&subject, arena, &facts, err);

	if (r == 0)
		*ret_facts = facts;
	return r;
}

static int map_program(const char *path, struct binary_file *ret_file, struct err *err)
{
	int r = binary_file_map(path, ret_file);

	if (r == -EACCES || r == -EPERM) {
		err_set(err, ERR_TARGET, -r, "%s may be run but not read: permission denied", path);
		err_hint(err, "read it as its owner or root");
	} else if (r < 0) {
		err_set(err, ERR_TARGET, -r, "cannot read %s: %s", path, err_words(-r));
		err_hint(err, "see whether the file and its disk are whole");
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
static int script_interpreter(const char *path, const struct binary_file *file, struct arena *arena,
	const char **ret_path, struct err *err)
{
	size_t room = file->len < SCRIPT_LINE ? file->len : SCRIPT_LINE;
	char *line = arena_text(arena, (const char *)file->bytes + 2, room - 2), *word;
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
		binary_file_done(&subject->file);
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
	binary_file_done(&subject.file);
	return r;
}
