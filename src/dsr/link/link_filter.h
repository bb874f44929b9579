/* link_filter.h: the filter of a link as a program for the kernel.
 *
 * Classic BPF (McCanne and Jacobson 1993; the kernel's
 * Documentation/networking/filter.rst), only with what all systems have.
 * Pure. */
#ifndef PEN_DSR_LINK_FILTER_H
#define PEN_DSR_LINK_FILTER_H

#include <stdint.h>

#include "dsr/link/link.h"

enum { LINK_PROGRAM_MAX = 4096 }; /* what kernels take */

/* Laid out as struct sock_filter and struct bpf_insn. */
struct link_insn {
	uint16_t code;
	uint8_t yes, no;
	uint32_t k;
};

struct link_program {
	unsigned count;
	struct link_insn at[LINK_PROGRAM_MAX];
};

/* Writes the program that lets in the addresses of `f`, in frames to `mac` or
 * to groups. It finds a tag that is in the frame, none that the kernel has
 * taken out. Returns false when there are too many addresses: then the program
 * lets all of IP in, and the reader of the frames has to check. */
bool link_filter_write(
    struct link_program *p, const struct link_filter *f, const struct mac *mac);
/* The program with all of IP. */
void link_filter_write_any(
    struct link_program *p, const struct link_filter *f, const struct mac *mac);

#endif
