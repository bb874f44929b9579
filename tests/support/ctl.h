/* ctl.h: a control server to try penctl against, with the manners a line asks
 * for:
 *
 *     refuse, refuse much   one line; CTL_BIG bytes behind "error: "
 *     pieces, almost        "error: ..." and "error:..." byte by byte
 *     refuse late           a line, then "error: ...", at once or in pieces
 *     classic close, exit   classic Pen's refusals; no refusal: almost one
 *     beginning             "err", without a newline
 *     big                   CTL_BIG times "b"
 *     hang, half, reset     nothing, or a line, and no end; a reset (TCP)
 *     help                  some names
 *     nothing               an empty answer
 *     more than 1000 bytes  their number
 *     any other line        "<LINE" and the text the backend was given */
#ifndef PEN_TEST_CTL_H
#define PEN_TEST_CTL_H

#include "support/backend.h"

enum { CTL_LINE_SIZE = 1 << 21, CTL_BIG = 10 << 20 };

/* A backend's function; its `arg` is the string that ends an echoed line. */
void ctl_serve(struct backend *b, int fd);

/* The penctl to test, beside the pen to test. */
const char *ctl_client(void);

#endif
