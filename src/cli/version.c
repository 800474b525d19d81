/* version.c - `assay --version`, and with --verbose the libraries that are in use.
 *
 *     assay --version --verbose
 *
 * The libraries are asked, not the headers of the build: what a bug report needs.  libiberty is
 * linked in and has no version. */
#include <bpf/libbpf.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <lzma.h>
#include <sqlite3.h>
#include <zlib.h>
#include <zstd.h>

#include "cli.h"
#include "code/disassemble.h"

static void add_libraries(struct str *out)
{
	const char *bpf = libbpf_version_string(); /* "v1.1" */
	const char *const libraries[][2] = {
		{"glibc", gnu_get_libc_version()},
		{"libbpf", bpf + (*bpf == 'v')},
		{"sqlite", sqlite3_libversion()},
		{"zstd", ZSTD_versionString()},
		{"zlib", zlibVersion()},
		{"liblzma", lzma_version_string()},
		{"jansson", jansson_version_str()},
	};
	int major, minor;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		str_addf(out, "  %-8s  %s\n", libraries[i][0], libraries[i][1]);
	if (disassemble_version(&major, &minor))
		str_addf(out, "  capstone  %d.%d\n", major, minor);
	else
		str_add(out, "  capstone  not installed\n");
}

void version_write(struct str *out, bool verbose)
{
	str_add(out, "assay " ASSAY_VERSION "\n");
	if (verbose)
		add_libraries(out);
}
