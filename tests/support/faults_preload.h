/* faults_preload.h: what the calls of faults_calls.c go through. */
#ifndef PEN_TEST_FAULTS_PRELOAD_H
#define PEN_TEST_FAULTS_PRELOAD_H

#include <sys/epoll.h>

enum { FAULT_NO_FD = -1 };

/* The error that this call is to have, one of those that end with 0; or 0. With
 * a descriptor only what it may have, with these flags of recv(2). To be called
 * by what is called instead of the call, of which there is a stack. */
int fault(const char *call, const int *errors, int fd, int flags)
    __attribute__((noinline));
/* An epoll set has been told this. */
void fault_note_watch(
    int set, int what, int fd, const struct epoll_event *event);

#endif
