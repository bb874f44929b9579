/* identity.c: an authority and two certificates by it. */
#include "config.h"

#include <stddef.h>

#include "support/certs.h"
#include "support/identity.h"
#include "support/suite.h"

void
identity_new(struct identity *id, const char *names)
{
	static int count;
	struct cert_wish root_wish = { .name = "Test root", .is_ca = true };
	struct cert_wish w = { .name = names, .days = 200 };
	struct cert *root, *ec, *rsa;

	root_wish.days = w.days;
	root = cert_new(&root_wish);
	w.issuer = root;
	ec = cert_new(&w);
	w.rsa = true;
	rsa = cert_new(&w);
	id->ca = cert_write(root, text("ca%d.pem", ++count));
	id->ec = cert_write_all(ec, text("ec%d.pem", count));
	id->rsa = cert_write_all(rsa, text("rsa%d.pem", count));
	cert_free(rsa);
	cert_free(ec);
	cert_free(root);
}
