/* framemodel.h: a second opinion on what a frame is. */
#ifndef PEN_TEST_FRAMEMODEL_H
#define PEN_TEST_FRAMEMODEL_H

#include "dsr/frame/frame.h"

/* The same as frame_parse(), slowly. */
void framemodel_parse(struct frame *f, unsigned char *bytes, size_t length);
/* The same as frame_checksum_ok(). */
bool framemodel_checksum_ok(const struct frame *f);

#endif
