/* fuzz.h: what fuzz targets share. A target is given bytes, does with them what
 * pen would do, and ends the process when a promise of a header is broken;
 * sanitizers find the rest. See README. */
#ifndef PEN_FUZZ_H
#define PEN_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins the entry of a target. libFuzzer, which gets one target alone, has a
 * name for it; in the program that replays the corpus it has its own. */
#ifdef FUZZ_ALONE
#define FUZZ(target) FUZZ_ENTRY(LLVMFuzzerTestOneInput)
#else
#define FUZZ(target) FUZZ_ENTRY(fuzz_##target)
#endif
#define FUZZ_ENTRY(name)                            \
	int name(const uint8_t *data, size_t size); \
	int name(const uint8_t *data, size_t size)

/* Ends the process, and says where, unless the condition holds. */
#define FUZZ_MUST(condition)                                       \
	do {                                                       \
		if (!(condition))                                  \
			fuzz_fail(#condition, __FILE__, __LINE__); \
	} while (0)
void fuzz_fail(const char *condition, const char *file, int line)
    __attribute__((noreturn));

/* A byte off the front of the input; 0 when there is none. */
uint8_t fuzz_byte(const uint8_t **data, size_t *size);
/* The same as the length of pieces that `size` bytes come in: not many. */
size_t fuzz_step(const uint8_t **data, size_t *size);
/* Copies of bytes, to be freed: one that ends where its memory ends, so that
 * sanitizers see what is read beyond; the same as a string, up to a NUL. */
void *fuzz_copy(const void *bytes, size_t n);
char *fuzz_string(const void *bytes, size_t n);
/* Writes a file, which is gone with the process. Returns its path. */
const char *fuzz_file(const void *bytes, size_t n);
/* Lines of the log are made, and go nowhere. */
void fuzz_silence_log(void);

#endif
