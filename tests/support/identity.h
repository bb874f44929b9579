/* identity.h: what a server needs to be believed by real programs. Only there
 * when built with OpenSSL. */
#ifndef PEN_TEST_IDENTITY_H
#define PEN_TEST_IDENTITY_H

/* Files in the test's scratch directory, PEM. */
struct identity {
	const char *ca;	      /* the authority of both */
	const char *ec, *rsa; /* key and certificate, P-256 and RSA 2048 */
};

/* Certificates for these names (see certs.h), good for long enough that no
 * scanner finds them about to end. */
void identity_new(struct identity *id, const char *names);

#endif
