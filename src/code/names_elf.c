/* names_elf.c - see names_elf.h.
 *
 * libelf maps the file and checks the section table; unpacking is done here and not by
 * elf_compress(), because libelf 0.188 knows no zstd, writes into the section headers, and would
 * believe a header that says a section becomes 2^60 bytes. */
#include "names_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/str.h"

/* What a packed section may become: zlib cannot pass 1032:1, and 2 GiB is twice the debug_info of a
 * browser.  A section that asks for more is treated as missing. */
enum { UNPACK_RATIO = 1100, UNPACK_SMALL = 1 << 20 };
#define UNPACK_LIMIT (UINT64_C(2) << 30)

static bool unpack_is_sane(uint64_t packed, uint64_t size)
{
	return size && size <= UNPACK_LIMIT &&
	       (size <= UNPACK_SMALL || size / UNPACK_RATIO <= packed);
}

static struct image_bytes unpack(
	struct names_elf *elf, struct image_bytes packed, uint64_t size, unsigned type)
{
	uLongf len = size;
	uint8_t *room;

	if (!unpack_is_sane(packed.len, size))
		return (struct image_bytes){0};
	room = arena_take(&elf->arena, size);
	if (type == ELFCOMPRESS_ZLIB && uncompress(room, &len, packed.at, packed.len) == Z_OK &&
		len == size)
		return (struct image_bytes){room, size, 0};
	if (type == 2 /* ELFCOMPRESS_ZSTD, not in the headers of glibc 2.36 */ &&
		ZSTD_decompress(room, size, packed.at, packed.len) == size)
		return (struct image_bytes){room, size, 0};
	return (struct image_bytes){0};
}

static struct image_bytes unpack_section(
	struct names_elf *elf, Elf_Scn *section, struct image_bytes raw)
{
	size_t head =
		gelf_getclass(elf->elf) == ELFCLASS64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	GElf_Chdr packed;

	if (raw.len <= head || !gelf_getchdr(section, &packed))
		return (struct image_bytes){0};
	return unpack(elf, (struct image_bytes){raw.at + head, raw.len - head, 0}, packed.ch_size,
		packed.ch_type);
}

/* The form before 2012: "ZLIB" and a big-endian size in a section named .zdebug_x. */
static struct image_bytes unpack_old(struct names_elf *elf, struct image_bytes raw)
{
	uint64_t size = 0;

	if (raw.len < 12 || memcmp(raw.at, "ZLIB", 4) != 0)
		return (struct image_bytes){0};
	for (unsigned i = 4; i < 12; i++)
		size = size << 8 | raw.at[i];
	return unpack(
		elf, (struct image_bytes){raw.at + 12, raw.len - 12, 0}, size, ELFCOMPRESS_ZLIB);
}

static Elf_Scn *section_find(struct names_elf *elf, const char *name, GElf_Shdr *ret_head)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		const char *its;

		if (!gelf_getshdr(section, ret_head))
			continue;
		its = elf_strptr(elf->elf, names, ret_head->sh_name);
		if (its && str_equal(its, name))
			return section;
	}
	return NULL;
}

static struct image_bytes section_raw(Elf_Scn *section, const GElf_Shdr *head)
{
	Elf_Data *data = head->sh_type == SHT_NOBITS ? NULL : elf_rawdata(section, NULL);

	if (!data || !data->d_buf || !data->d_size)
		return (struct image_bytes){0};
	return (struct image_bytes){data->d_buf, data->d_size, 0};
}

struct image_bytes names_elf_section(struct names_elf *elf, const char *name)
{
	char old[64] = ".z";
	GElf_Shdr head;
	Elf_Scn *section = section_find(elf, name, &head);

	if (section && head.sh_flags & SHF_COMPRESSED)
		return unpack_section(elf, section, section_raw(section, &head));
	if (section)
		return section_raw(section, &head);
	if (!str_starts(name, ".debug_"))
		return (struct image_bytes){0};
	strncat(old, name + 1, sizeof(old) - sizeof(".z"));
	section = section_find(elf, old, &head);
	return section ? unpack_old(elf, section_raw(section, &head)) : (struct image_bytes){0};
}

bool names_elf_head(struct names_elf *elf, const char *name, GElf_Shdr *ret_head)
{
	return section_find(elf, name, ret_head) != NULL;
}

bool names_elf_has(struct names_elf *elf, const char *name)
{
	GElf_Shdr head;

	return section_find(elf, name, &head) && head.sh_type != SHT_NOBITS && head.sh_size;
}

static void hex_of(const uint8_t *bytes, size_t len, char ret_text[BUILD_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	if (len > (BUILD_ID_TEXT - 1) / 2)
		len = (BUILD_ID_TEXT - 1) / 2;
	for (size_t i = 0; i < len; i++) {
		ret_text[2 * i] = digits[bytes[i] >> 4];
		ret_text[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret_text[2 * len] = '\0';
}

/* True when the build-id was among the notes. */
static bool notes_read(struct names_elf *elf, struct image_bytes notes)
{
	struct cursor cursor = cursor_over(notes, 0);

	while (!cursor.broken && cursor_left(&cursor) >= 12) {
		uint32_t owner = cursor_u32(&cursor), len = cursor_u32(&cursor);
		uint32_t type = cursor_u32(&cursor);
		const uint8_t *text = cursor.at;

		cursor_skip(&cursor, (owner + UINT64_C(3)) & ~UINT64_C(3));
		if (cursor.broken || !cursor_has(&cursor, len))
			return false;
		if (type == NT_GNU_BUILD_ID && owner == 4 && memcmp(text, "GNU", 4) == 0 && len) {
			hex_of(cursor.at, len, elf->build_id);
			return true;
		}
		cursor_skip(&cursor, (len + UINT64_C(3)) & ~UINT64_C(3));
	}
	return false;
}

/* From the sections, where .ko files and debug files have it, or from the segments, which are what
 * was mapped. */
static void build_id_read(struct names_elf *elf)
{
	Elf_Scn *section = NULL;
	size_t count = 0, len;
	const char *bytes = elf_rawfile(elf->elf, &len);
	GElf_Shdr head;
	GElf_Phdr segment;

	while ((section = elf_nextscn(elf->elf, section)) != NULL)
		if (gelf_getshdr(section, &head) && head.sh_type == SHT_NOTE &&
			notes_read(elf, section_raw(section, &head)))
			return;
	if (!bytes || elf_getphdrnum(elf->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf->elf, (int)i, &segment) || segment.p_type != PT_NOTE ||
			segment.p_offset > len || segment.p_filesz > len - segment.p_offset)
			continue;
		if (notes_read(elf, (struct image_bytes){(const uint8_t *)bytes + segment.p_offset,
					    segment.p_filesz, 0}))
			return;
	}
}

static int elf_check(struct names_elf *elf, struct err *err)
{
	GElf_Ehdr head;

	if (!elf->elf || elf_kind(elf->elf) != ELF_K_ELF || !gelf_getehdr(elf->elf, &head))
		return err_set(err, ERR_UNAVAILABLE, ENOEXEC, "%s is not an ELF file", elf->path);
	if (head.e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(
			err, ERR_UNAVAILABLE, ENOTSUP, "%s is a big-endian ELF file", elf->path);
	elf->machine = head.e_machine;
	elf->is_relocatable = head.e_type == ET_REL;
	build_id_read(elf);
	return 0;
}

static struct names_elf *elf_new(const char *path)
{
	struct names_elf *elf = mem_new(1, sizeof(*elf));

	elf_version(EV_CURRENT);
	elf->fd = -1;
	elf->path = arena_text(&elf->arena, path, strlen(path));
	return elf;
}

static int elf_finish(struct names_elf *elf, struct names_elf **ret_elf, struct err *err)
{
	int result = elf_check(elf, err);

	if (result < 0)
		names_elf_close(elf);
	else
		*ret_elf = elf;
	return result;
}

int names_elf_open(const char *path, struct names_elf **ret_elf, struct err *err)
{
	/* A pipe or a device named by a hostile file must not hang the reader. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code = errno;
	struct names_elf *elf;
	struct stat status;

	if (fd < 0)
		return err_set(
			err, ERR_UNAVAILABLE, code, "%s cannot be read: %s", path, err_words(code));
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return err_set(err, ERR_UNAVAILABLE, EINVAL, "%s is not a plain file", path);
	}
	elf = elf_new(path);
	elf->fd = fd;
	elf->elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	return elf_finish(elf, ret_elf, err);
}

int names_elf_open_bytes(const void *bytes, size_t len, const char *name,
	struct names_elf **ret_elf, struct err *err)
{
	struct names_elf *elf = elf_new(name);

	elf->bytes = mem_new(len ? len : 1, 1);
	memcpy(elf->bytes, bytes, len);
	elf->elf = elf_memory(elf->bytes, len);
	return elf_finish(elf, ret_elf, err);
}

void names_elf_close(struct names_elf *elf)
{
	if (!elf)
		return;
	elf_end(elf->elf);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->bytes);
	arena_done(&elf->arena);
	free(elf);
}

const char *names_elf_link(struct names_elf *elf, uint32_t *ret_crc)
{
	struct image_bytes section = names_elf_section(elf, ".gnu_debuglink");
	struct cursor cursor = cursor_over(section, 0);
	const char *name = cursor_text(&cursor);

	if (!name || section.len < 8)
		return NULL;
	cursor = cursor_over(section, section.len - 4);
	*ret_crc = cursor_u32(&cursor);
	return *name && !strchr(name, '/') ? name : NULL;
}

const char *names_elf_alternate(struct names_elf *elf, char ret_build_id[BUILD_ID_TEXT])
{
	struct cursor cursor = cursor_over(names_elf_section(elf, ".gnu_debugaltlink"), 0);
	const char *name = cursor_text(&cursor);

	if (!name || !*name)
		return NULL;
	hex_of(cursor.at, cursor_left(&cursor), ret_build_id);
	return name;
}

uint32_t names_crc32(const uint8_t *bytes, size_t len)
{
	return (uint32_t)crc32_z(0, bytes, len);
}
