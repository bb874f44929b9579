/* forge.h: what the tests of made frames share. */
#ifndef PEN_TEST_DSR_FORGE_H
#define PEN_TEST_DSR_FORGE_H

#include "dsr/frame/frame.h"
#include "unit/dsr/samples.h"

enum { TAG = 0x2064 };

extern const struct mac one, two;
/* Where frames are made, and the bytes of the sample in use. */
extern unsigned char out[4096];
extern unsigned char bytes[SAMPLE_MAX];

/* A sample, parsed; it is good. */
struct frame sample(const char *name);
/* What was made: n bytes of `out`, which model and parser must like. */
struct frame made(size_t n, enum frame_kind kind);
/* The same, and it goes back the way f came. */
struct frame answer(size_t n, const struct frame *f, enum frame_kind kind);

struct peer peer(const char *ip, uint16_t port);
bool same_peer(const struct peer *a, const struct peer *b);

#endif
