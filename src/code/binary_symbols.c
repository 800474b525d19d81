/* binary_symbols.c - what the names in a program tell: sanitizers, allocator, language, probes.
 *
 * Each name is looked at once.  C++ and Rust programs have a million of them, so mangled names,
 * nearly all of those, leave early. */
#include <ctype.h>
#include <string.h>

#include "binary_parts.h"
#include "code/usdt.h"

struct sign_name {
	const char *name;
	bool prefix;  /* anything may follow */
	bool defined; /* counts only where it is defined, not where it is wanted */
	uint32_t sign;
};

static const struct sign_name sign_names[] = {
	{"__asan_init", false, false, SIGN_ASAN},
	{"__tsan_init", false, false, SIGN_TSAN},
	{"__msan_init", false, false, SIGN_MSAN},
	{"__lsan_init", false, false, SIGN_LSAN},
	{"__hwasan_init", false, false, SIGN_HWASAN},
	{"__ubsan_handle_", true, false, SIGN_UBSAN},
	{"__gcov_", true, false, SIGN_GCOV},
	{"__llvm_profile_", true, false, SIGN_PROFILE},
	{"__fentry__", false, false, SIGN_MCOUNT},
	{"mcount", false, false, SIGN_MCOUNT},
	{"_mcount", false, false, SIGN_MCOUNT},
	{"je_malloc", false, false, SIGN_JEMALLOC},
	{"_rjem_malloc", false, false, SIGN_JEMALLOC},
	{"mallocx", false, false, SIGN_JEMALLOC},
	{"tc_malloc", false, false, SIGN_TCMALLOC},
	{"TCMalloc", true, false, SIGN_TCMALLOC},
	{"mi_malloc", false, false, SIGN_MIMALLOC},
	{"malloc", false, true, SIGN_MALLOC},
	{"__libc_malloc", false, true, SIGN_LIBC_MALLOC},
	{"pthread_create", false, false, SIGN_THREADS},
	{"thrd_create", false, false, SIGN_THREADS},
	{"rust_eh_personality", false, false, SIGN_RUST},
	{"__rust_alloc", false, false, SIGN_RUST},
	{"__gxx_personality_v0", false, false, SIGN_CXX},
};

/* Rust's older mangling is C++'s with a hash at the end: 17h and 16 hex digits, then E. */
static bool is_rust_name(const char *name)
{
	size_t len = strlen(name);

	if (name[1] == 'R')
		return true;
	if (len < 24 || name[len - 1] != 'E' || strncmp(name + len - 20, "17h", 3) != 0)
		return false;
	for (size_t i = len - 17; i < len - 1; i++)
		if (!isxdigit((unsigned char)name[i]))
			return false;
	return true;
}

/* pthread_create@GLIBC_2.34: a version may stand behind a name of .symtab. */
static bool sign_matches(const struct sign_name *sign, const char *name, bool defined)
{
	size_t len = strlen(sign->name);

	if ((sign->defined && !defined) || strncmp(name, sign->name, len) != 0)
		return false;
	return sign->prefix || !name[len] || name[len] == '@';
}

static void take_symbol(struct binary_work *work, const Elf64_Sym *symbol, const char *name)
{
	bool defined = symbol->st_shndx != SHN_UNDEF;
	const char *dot;

	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') && name[2]) {
		if (!defined)
			return;
		if (!is_rust_name(name)) {
			work->names_cxx++;
		} else {
			work->names_rust++;
			if (strstr(name, "18precondition_check"))
				work->signs |= SIGN_RUST_CHECKS;
		}
	} else {
		for (size_t i = 0; i < sizeof(sign_names) / sizeof(*sign_names); i++)
			if (sign_names[i].name[0] == name[0] &&
				sign_matches(&sign_names[i], name, defined))
				work->signs |= sign_names[i].sign;
	}
	if (!defined || (symbol->st_info & 15) != STT_FUNC)
		return;
	dot = strchr(name + 1, '.');
	if (!dot)
		return;
	if (strstr(dot, ".constprop.") || strstr(dot, ".isra.") || strstr(dot, ".part."))
		work->signs |= SIGN_CLONE;
	if (strstr(dot, ".lto_priv."))
		work->signs |= SIGN_LTO;
}

static void take_symbols(struct binary_work *work, uint32_t type)
{
	const struct image_section *table = image_symbol_table(work->image, type);
	const char *name;
	Elf64_Sym symbol;

	for (uint64_t i = 1; image_symbol(work->image, table, i, &symbol, &name); i++)
		if (name)
			take_symbol(work, &symbol, name);
}

void binary_read_symbols(struct binary_work *work)
{
	static const struct {
		const char *library;
		uint32_t sign;
	} by_library[] = {{"libasan.", SIGN_ASAN}, {"libtsan.", SIGN_TSAN},
		{"libubsan.", SIGN_UBSAN}, {"liblsan.", SIGN_LSAN}, {"libpthread.", SIGN_THREADS},
		{"libstdc++.", SIGN_CXX}, {"libc++.", SIGN_CXX}};

	usdt_probe_vec probes = {0};

	take_symbols(work, SHT_SYMTAB);
	take_symbols(work, SHT_DYNSYM);
	vec_foreach (const char *, needed, &work->dynamic.needed)
		for (size_t i = 0; i < sizeof(by_library) / sizeof(*by_library); i++)
			if (str_starts(*needed, by_library[i].library))
				work->signs |= by_library[i].sign;
	usdt_read(work->image, &probes);
	work->facts->usdt_probes = probes.count;
	vec_done(&probes);
	work->facts->coz_points = work->signs & SIGN_COZ;
}
