/* dsr_fast.h: values of dsr_fast_path: the same as those of enum
 * link_fast_mode, which layers above dsr have. */
#ifndef PEN_CONTROL_DSR_FAST_H
#define PEN_CONTROL_DSR_FAST_H

enum dsr_fast { DSR_FAST_OFF, DSR_FAST_AUTO, DSR_FAST_ON };

#endif
