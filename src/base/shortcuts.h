/* shortcuts.h: what pen does only to save time: without it the behaviour is the
 * same. A build with --disable-shortcuts has none of them, so that tests try
 * the general paths. In other builds each constant is 1, and costs nothing.
 *
 * splice(2), recvmmsg(2), epoll and the like are not here: configure checks for
 * them. That a short read is taken as the last one is not here either. */
#ifndef PEN_BASE_SHORTCUTS_H
#define PEN_BASE_SHORTCUTS_H

enum {
#ifdef PEN_NO_SHORTCUTS
	SHORTCUTS = 0,
#else
	SHORTCUTS = 1,
#endif
	/* A client's first bytes follow the connect, without waiting until that
	 * has completed. */
	SHORTCUT_EARLY_SEND = SHORTCUTS,
	/* The ACK that ends a handshake goes with bytes: TCP_QUICKACK. */
	SHORTCUT_ACK_WITH_BYTES = SHORTCUTS,
	/* The last bytes and the FIN share a segment: MSG_MORE. */
	SHORTCUT_MORE = SHORTCUTS,
	/* TCP_NODELAY is set by the second write, which some streams never
	 * have. */
	SHORTCUT_LATE_NODELAY = SHORTCUTS,
	/* Events that are no longer wanted stay armed in the epoll set. */
	SHORTCUT_ARMED = SHORTCUTS,
	/* A timerfd is set in place of a timeout for each epoll_wait(2). */
	SHORTCUT_ALARM = SHORTCUTS,
	/* Datagrams of one size are one message: UDP_SEGMENT, UDP_GRO. */
	SHORTCUT_SEGMENTS = SHORTCUTS,
	/* Answers that come one by one are received by recv(2). */
	SHORTCUT_SINGLE_ANSWER = SHORTCUTS,
	/* Answers leave by a socket that is bound to their address. */
	SHORTCUT_REPLY_SOCKETS = SHORTCUTS,
	/* Freed blocks are kept for the next ones. */
	SHORTCUT_SPARES = SHORTCUTS,
};

#endif
