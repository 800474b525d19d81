/* binary_image.c - the ELF container, read by hand.
 *
 * Only three tables are wanted, the files may be hostile, and a 100 MB library must cost
 * milliseconds; so the tables are copied out with one bounds check each and everything else stays
 * in the mapping, untouched.  libelf comes in only beneath libdw (binary_dwarf.c). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "binary_parts.h"

enum {
	SECTION_LIMIT = 1 << 18,
	NEEDED_LIMIT = 1024,
	NAME_LIMIT = 4096, /* longest symbol that is looked at */
};

#if defined(__x86_64__)
enum { MACHINE_HERE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE_HERE = EM_AARCH64 };
#else
#error "assay is for x86-64 and aarch64"
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

static bool lies_inside(uint64_t offset, uint64_t size, uint64_t len)
{
	return offset <= len && size <= len - offset;
}

const char *binary_text_at(const uint8_t *table, size_t len, uint64_t offset)
{
	if (!table || offset >= len)
		return NULL;
	if (!memchr(table + offset, '\0', len - offset < NAME_LIMIT ? len - offset : NAME_LIMIT))
		return NULL;
	return (const char *)table + offset;
}

static int image_check_machine(const unsigned char *ident, const char *name, struct err *err)
{
	uint16_t machine;

	memcpy(&machine, ident + 18, sizeof(machine)); /* e_machine, in both classes */
	if (ident[EI_DATA] == ELFDATA2MSB)
		machine = (uint16_t)(machine << 8 | machine >> 8);
	if (machine == MACHINE_HERE && ident[EI_DATA] == ELFDATA2LSB)
		return 0;
	err_set(err, ERR_TARGET, ENOEXEC, "%s is a program for %s, this machine is %s", name,
		machine_name(machine), machine_name(MACHINE_HERE));
	err_hint(err, "build it for %s, or run assay on a machine of its kind",
		machine_name(MACHINE_HERE));
	return -ENOEXEC;
}

static int image_check(struct binary_image *image, const void *bytes, size_t len, const char *name,
	struct err *err)
{
	const unsigned char *ident = bytes;

	if (ident[EI_CLASS] != ELFCLASS64) {
		err_set(err, ERR_TARGET, ENOEXEC,
			"%s is a 32-bit program, assay measures 64-bit programs", name);
		err_hint(err, "build it for 64 bits");
		return -ENOEXEC;
	}
	if (ident[EI_DATA] != ELFDATA2LSB) {
		err_set(err, ERR_TARGET, ENOEXEC,
			"%s is for big-endian machines, assay reads little-endian programs", name);
		err_hint(err, "build it for this machine");
		return -ENOEXEC;
	}
	if (len < sizeof(image->head)) {
		err_set(err, ERR_TARGET, ENOEXEC, "%s is cut short: its ELF header is not whole",
			name);
		err_hint(err, "build or copy it again");
		return -ENOEXEC;
	}
	memcpy(&image->head, bytes, sizeof(image->head));
	return 0;
}

static void image_read_segments(struct binary_image *image)
{
	uint64_t count = image->head.e_phnum, at = image->head.e_phoff;

	if (image->head.e_phentsize != sizeof(Elf64_Phdr) ||
		!lies_inside(at, count * sizeof(Elf64_Phdr), image->len))
		return;
	image->low = UINT64_MAX;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Phdr head;

		memcpy(&head, image->bytes + at + i * sizeof(head), sizeof(head));
		vec_push(&image->segments, head);
		if (head.p_type != PT_LOAD || head.p_vaddr + head.p_memsz < head.p_vaddr)
			continue;
		image->low = head.p_vaddr < image->low ? head.p_vaddr : image->low;
		if (head.p_vaddr + head.p_memsz > image->high)
			image->high = head.p_vaddr + head.p_memsz;
	}
}

static void image_read_sections(struct binary_image *image)
{
	uint64_t at = image->head.e_shoff, count = image->head.e_shnum;
	uint32_t names_index = image->head.e_shstrndx;
	const struct binary_section *names;
	Elf64_Shdr first;

	if (!at || image->head.e_shentsize != sizeof(first) ||
		!lies_inside(at, sizeof(first), image->len))
		return;
	/* More than 65279 sections: the true numbers stand in the first header. */
	memcpy(&first, image->bytes + at, sizeof(first));
	count = count ? count : first.sh_size;
	names_index = names_index == SHN_XINDEX ? first.sh_link : names_index;
	if (count > SECTION_LIMIT || !lies_inside(at, count * sizeof(first), image->len))
		return;
	for (uint64_t i = 0; i < count; i++) {
		struct binary_section section = {.name = ""};

		memcpy(&section.head, image->bytes + at + i * sizeof(first), sizeof(first));
		if (section.head.sh_type != SHT_NOBITS && section.head.sh_type != SHT_NULL &&
			lies_inside(section.head.sh_offset, section.head.sh_size, image->len))
			section.data = image->bytes + section.head.sh_offset;
		vec_push(&image->sections, section);
	}
	if (names_index >= image->sections.count)
		return;
	names = &image->sections.at[names_index];
	vec_foreach (struct binary_section, section, &image->sections) {
		const char *name =
			binary_text_at(names->data, names->head.sh_size, section->head.sh_name);

		section->name = name ? name : "";
	}
}

static int image_init(struct binary_image *image, const struct binary_file *file, bool any_machine,
	const char *name, struct err *err)
{
	int r = 0;

	*image = (struct binary_image){.bytes = file->bytes, .len = file->len};
	if (file->len < EI_NIDENT + 4 || memcmp(file->bytes, ELFMAG, SELFMAG) != 0) {
		err_set(err, ERR_TARGET, ENOEXEC, "%s is not an ELF program", name);
		err_hint(err, "name the program itself");
		return -ENOEXEC;
	}
	if (!any_machine)
		r = image_check_machine(file->bytes, name, err);
	if (r == 0)
		r = image_check(image, file->bytes, file->len, name, err);
	if (r < 0)
		return r;
	image_read_segments(image);
	image_read_sections(image);
	return 0;
}

int binary_image_init(struct binary_image *image, const void *bytes, size_t len, const char *name,
	struct err *err)
{
	return image_init(image, &(struct binary_file){bytes, len}, false, name, err);
}

int binary_image_init_foreign(struct binary_image *image, const void *bytes, size_t len,
	const char *name, struct err *err)
{
	return image_init(image, &(struct binary_file){bytes, len}, true, name, err);
}

void binary_image_done(struct binary_image *image)
{
	vec_done(&image->sections);
	vec_done(&image->segments);
}

const struct binary_section *binary_image_section(
	const struct binary_image *image, const char *name)
{
	vec_foreach (const struct binary_section, section, &image->sections)
		if (str_equal(section->name, name))
			return section;
	return NULL;
}

const Elf64_Phdr *binary_image_segment(const struct binary_image *image, uint32_t type)
{
	vec_foreach (const Elf64_Phdr, head, &image->segments)
		if (head->p_type == type)
			return head;
	return NULL;
}

const uint8_t *binary_image_segment_data(const struct binary_image *image, const Elf64_Phdr *head)
{
	if (!head || !lies_inside(head->p_offset, head->p_filesz, image->len))
		return NULL;
	return image->bytes + head->p_offset;
}

const uint8_t *binary_image_at(const struct binary_image *image, uint64_t addr, size_t *ret_len)
{
	vec_foreach (const Elf64_Phdr, head, &image->segments) {
		const uint8_t *data;

		if (head->p_type != PT_LOAD || addr < head->p_vaddr ||
			addr - head->p_vaddr >= head->p_filesz)
			continue;
		data = binary_image_segment_data(image, head);
		if (!data)
			continue;
		*ret_len = head->p_filesz - (addr - head->p_vaddr);
		return data + (addr - head->p_vaddr);
	}
	return NULL;
}

static const char *note_build_id(const uint8_t *data, size_t len, struct arena *arena)
{
	Elf64_Nhdr note;
	size_t at = 0;

	while (len - at >= sizeof(note)) {
		uint64_t name, desc, end;

		memcpy(&note, data + at, sizeof(note));
		name = at + sizeof(note);
		desc = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
		end = desc + ((uint64_t)note.n_descsz + 3) / 4 * 4;
		if (desc + note.n_descsz > len)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz &&
			note.n_descsz <= 64 && memcmp(data + name, "GNU", 4) == 0) {
			char *hex = arena_take(arena, (size_t)note.n_descsz * 2 + 1);

			for (uint32_t i = 0; i < note.n_descsz; i++) {
				hex[2 * i] = "0123456789abcdef"[data[desc + i] >> 4];
				hex[2 * i + 1] = "0123456789abcdef"[data[desc + i] & 15];
			}
			return hex;
		}
		if (end > len)
			return NULL;
		at = end;
	}
	return NULL;
}

const char *binary_image_build_id(const struct binary_image *image, struct arena *arena)
{
	const char *found;

	vec_foreach (const Elf64_Phdr, head, &image->segments) {
		const uint8_t *data = binary_image_segment_data(image, head);

		if (head->p_type != PT_NOTE || !data)
			continue;
		found = note_build_id(data, head->p_filesz, arena);
		if (found)
			return found;
	}
	/* A separate debug file keeps the note in its section; its segments point nowhere. */
	vec_foreach (const struct binary_section, section, &image->sections) {
		if (section->head.sh_type != SHT_NOTE || !section->data)
			continue;
		found = note_build_id(section->data, section->head.sh_size, arena);
		if (found)
			return found;
	}
	return NULL;
}

void binary_image_symbols(const struct binary_image *image, const struct binary_section *table,
	binary_symbol_taker *take, void *context)
{
	const struct binary_section *names;
	Elf64_Sym symbol;

	if (!table || !table->data || table->head.sh_link >= image->sections.count)
		return;
	names = &image->sections.at[table->head.sh_link];
	for (uint64_t at = sizeof(symbol); at + sizeof(symbol) <= table->head.sh_size;
		at += sizeof(symbol)) {
		const char *name;

		memcpy(&symbol, table->data + at, sizeof(symbol));
		name = binary_text_at(names->data, names->head.sh_size, symbol.st_name);
		if (name)
			take(context, &symbol, name);
	}
}

static void dynamic_take(struct binary_dynamic *dynamic, const Elf64_Dyn *entry,
	const uint8_t *names, size_t names_len)
{
	const char *text = binary_text_at(names, names_len, entry->d_un.d_val);

	switch (entry->d_tag) {
	case DT_NEEDED:
		if (text && *text && dynamic->needed.count < NEEDED_LIMIT)
			vec_push(&dynamic->needed, text);
		break;
	case DT_RPATH:
		dynamic->rpath = text;
		break;
	case DT_RUNPATH:
		dynamic->runpath = text;
		break;
	case DT_SONAME:
		dynamic->has_soname = true;
		break;
	case DT_BIND_NOW:
		dynamic->bind_now = true;
		break;
	case DT_FLAGS:
		dynamic->bind_now |= (entry->d_un.d_val & DF_BIND_NOW) != 0;
		break;
	case DT_FLAGS_1:
		dynamic->bind_now |= (entry->d_un.d_val & DF_1_NOW) != 0;
		dynamic->pie = (entry->d_un.d_val & DF_1_PIE) != 0;
		break;
	default:
		break;
	}
}

void binary_dynamic_read(const struct binary_image *image, struct binary_dynamic *ret_dynamic)
{
	const Elf64_Phdr *head = binary_image_segment(image, PT_DYNAMIC);
	const uint8_t *data = binary_image_segment_data(image, head), *names = NULL;
	size_t names_len = 0;
	Elf64_Dyn entry;

	*ret_dynamic = (struct binary_dynamic){0};
	if (!data)
		return;
	for (int pass = 0; pass < 2; pass++) {
		for (uint64_t at = 0; at + sizeof(entry) <= head->p_filesz; at += sizeof(entry)) {
			memcpy(&entry, data + at, sizeof(entry));
			if (entry.d_tag == DT_NULL)
				break;
			if (pass == 0 && entry.d_tag == DT_STRTAB)
				names = binary_image_at(image, entry.d_un.d_ptr, &names_len);
			else if (pass == 1)
				dynamic_take(ret_dynamic, &entry, names, names_len);
		}
	}
}

void binary_dynamic_done(struct binary_dynamic *dynamic)
{
	vec_done(&dynamic->needed);
}

int binary_file_map(const char *path, struct binary_file *ret_file)
{
	io_auto int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	void *bytes;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOEXEC;
	*ret_file = (struct binary_file){0};
	if (status.st_size == 0)
		return 0;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	*ret_file = (struct binary_file){bytes, (size_t)status.st_size};
	return 0;
}

void binary_file_done(struct binary_file *file)
{
	if (file->bytes)
		munmap((void *)(uintptr_t)file->bytes, file->len);
	*file = (struct binary_file){0};
}
