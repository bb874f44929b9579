/* veth.h: a network of one cable, for tests that need whole frames.
 *
 *     "near" ------ "far"      both ends in a namespace of this process alone
 *
 * The kernel gives neither end an address and says nothing on it by itself. */
#ifndef PEN_TEST_VETH_H
#define PEN_TEST_VETH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Moves this process into a new namespace (as root, or as root of a user
 * namespace of its own) with the cable plugged in and both ends up. NULL, or
 * why that cannot be. */
const char *veth_up(void);
/* Runs `ip` with these words; the test fails when it does. */
void veth_ip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What `ip` prints; lives until the test ends. */
const char *veth_ip_says(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* A packet socket at "near" or "far" for all frames that come in there, without
 * waiting. With `offload` each begins with a struct virtio_net_hdr. */
int veth_open(const char *end, bool offload);
/* The Ethernet address of an end. */
void veth_mac(const char *end, uint8_t mac[6]);
/* Sends a frame; the test fails when that does. */
void veth_send(int fd, const void *bytes, size_t n);
/* The next frame, waited for; its length. */
size_t veth_receive(int fd, void *bytes, size_t room);
/* Switches a feature of ethtool's old calls, ETHTOOL_SX. */
void veth_feature(const char *end, unsigned command, bool on);

#endif
