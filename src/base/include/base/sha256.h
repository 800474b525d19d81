/* sha256.h - SHA-256 (FIPS 180-4), for content hashes and fingerprint keys. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[64];
};

enum { SHA256_TEXT = 65 }; /* 64 hex digits and the NUL */

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t len);
void sha256_text(struct sha256 *sha, char ret_text[SHA256_TEXT]); /* ends the hash */

/* All that can still be read from `fd`, and how many bytes that is.  0 or negative errno. */
int sha256_fd(int fd, char ret_text[SHA256_TEXT], uint64_t *ret_bytes);
/* A regular file (io_open_regular()) or /dev/null: 0 or negative errno. */
int sha256_file(const char *path, char ret_text[SHA256_TEXT]);
