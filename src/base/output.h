/* output.h: descriptors that others gave us to write to, as standard output and
 * standard error: terminals, pipes, sockets of a service manager. A reader that
 * stops reading must not stop us, and our flags must not change theirs: a shell
 * whose terminal does not block any more gets errors from it. */
#ifndef PEN_BASE_OUTPUT_H
#define PEN_BASE_OUTPUT_H

#include <stddef.h>
#include <sys/types.h>

/* Opens /dev/null for each of the descriptors 0 to 2 that the caller has
 * closed; else the first files and sockets of the process would become its
 * standard input and output. To be called before anything is opened. */
void output_fill_standard_files(void);

/* Opens the terminal or pipe behind `fd` again, and puts that in its place: an
 * open file description of our own, which does not block. To be called while
 * the process still has the rights, and the /proc, that it was started with. If
 * it cannot be opened again, as a terminal of another user, and with all else,
 * `fd` stays as it is, and output_write() has to do without. */
void output_own(int fd);

/* write(2) that does not wait, of any descriptor. Of a pipe that could not be
 * opened again it writes at most 4096 bytes, for which poll(2) reported that
 * there is room: only another writer of that pipe can take that room away
 * before. A terminal that could not be opened again does not block while this
 * writes. */
ssize_t output_write(int fd, const void *bytes, size_t n);

#endif
