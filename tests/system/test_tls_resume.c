/* test_tls_resume.c: sessions of clients that are resumed, and those that must
 * not be: nobody comes in with a session who would be refused without. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/upgrading.h"
#include "support/wait.h"

static struct tls_chain c;
static struct backend server;

static void
begin(void)
{
	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
}

static void
up(const char *commands)
{
	tls_chain_up(
	    &c, text("ssl_cert %s;%s", c.site, commands), server.at.text, NULL);
}

static void
end(void)
{
	backend_stop(&server);
	tls_chain_end(&c);
}

/* Both versions, one after the other. */
static void
both(void (*story)(int version))
{
	story(TLS1_2_VERSION);
	story(TLS1_3_VERSION);
}

static struct tls_wish
wish(int version)
{
	return (struct tls_wish){ .min = version, .max = version };
}

static struct tls_wish
wish_with(const char *cert, int version)
{
	return (struct tls_wish){
		.cert = cert, .key = cert, .min = version, .max = version
	};
}

/* Talks, resuming `*s` if it can; whether it could. `*s` is replaced by the
 * session of this time. */
static bool
resumes_at(const struct tls_chain *chain, struct tls_wish w, SSL_SESSION **s)
{
	struct tls_peer *p;
	bool resumed;

	w.resume = *s;
	p = tls_chain_opens(chain, &w);
	tls_peer_expect_echo(p, "hello");
	resumed = tls_peer_is_resumed(p);
	SSL_SESSION_free(*s);
	*s = tls_peer_session(p);
	ck_assert(tls_peer_half_close(p));
	tls_peer_expect_end(p);
	tls_peer_close(p);
	return resumed;
}

static bool
resumes(struct tls_wish w, SSL_SESSION **s)
{
	return resumes_at(&c, w, s);
}

static void
refused(struct tls_wish w, SSL_SESSION *s)
{
	w.resume = s;
	(void)tls_chain_refused(&c, &w);
}

/* The files are read again; that it has been done shows in the log. */
static void
reread(void)
{
	kill(c.pen.child.pid, SIGHUP);
	WAIT_FOR(child_has_said(&c.pen.child, "certificates replaced"), 10000);
}

/* ---- tickets ---- */

static void
emit_tickets(int version)
{
	SSL_SESSION *s = NULL;

	begin();
	up("");
	ck_assert(!resumes(wish(version), &s));
	ck_assert(resumes(wish(version), &s));
	ck_assert(resumes(wish(version), &s));
	ck_assert_int_eq(tls_chain_count(&c, "tls_handshakes"), 3);
	ck_assert_int_eq(tls_chain_count(&c, "tls_resumed"), 2);
	/* settings that nobody's session depends on, and all of them again */
	tls_chain_tell(&c, "ssl_alpn h2,http/1.1");
	ck_assert(resumes(wish(version), &s));
	tls_chain_ask(&c, "reload");
	ck_assert(resumes(wish(version), &s));
	/* a new certificate */
	tls_chain_cert(&c, "site.pem",
	    (struct cert_wish){ .name = "a.test,IP:127.0.0.1" });
	reread();
	ck_assert(resumes(wish(version), &s));
	/* the keys were in the memory of that one */
	tls_chain_down(&c);
	up("");
	ck_assert(!resumes(wish(version), &s));
	tls_chain_tell(&c, "no ssl_tickets");
	ck_assert(!resumes(wish(version), &s));
	tls_chain_down(&c);
	SSL_SESSION_free(s);
	end();
}

START_TEST(tickets)
{
	both(emit_tickets);
}
END_TEST

/* Each connection may come to another worker: all have the same keys. */
static void
emit_workers(int version)
{
	SSL_SESSION *s = NULL;
	int i;

	begin();
	tls_chain_up(&c, text("ssl_cert %s", c.site), "--workers", "4",
	    "--workers-by", "connection", server.at.text, NULL);
	ck_assert(!resumes(wish(version), &s));
	for (i = 0; i < 10; i++)
		ck_assert(resumes(wish(version), &s));
	tls_chain_cert(&c, "site.pem",
	    (struct cert_wish){ .name = "a.test,IP:127.0.0.1" });
	reread();
	for (i = 0; i < 10; i++)
		ck_assert(resumes(wish(version), &s));
	ck_assert_int_eq(tls_chain_count(&c, "tls_resumed"), 20);
	tls_chain_down(&c);
	SSL_SESSION_free(s);
	end();
}

START_TEST(tickets_of_other_workers)
{
	both(emit_workers);
}
END_TEST

/* Also those of a context that is made while they serve, and those that serve
 * after them. */
static void
emit_more_workers(int version)
{
	SSL_SESSION *s = NULL;
	int i;

	begin();
	tls_chain_up(&c, "", "--workers", "4", "--workers-by", "connection",
	    server.at.text, NULL);
	tls_chain_ask(&c, text("ssl_cert %s", c.site));
	ck_assert(!resumes(wish(version), &s));
	for (i = 0; i < 10; i++)
		ck_assert(resumes(wish(version), &s));
	tls_chain_ask(&c, "workers 3");
	for (i = 0; i < 10; i++)
		ck_assert(resumes(wish(version), &s));
	tls_chain_down(&c);
	SSL_SESSION_free(s);
	end();
}

START_TEST(tickets_of_more_workers)
{
	both(emit_more_workers);
}
END_TEST

/* The process that replaces pen has its keys, and hands them on. */
static void
go_through_upgrades(int version, const char *commands)
{
	SSL_SESSION *s = NULL, *old;
	pid_t first, second;

	begin();
	up(commands);
	ck_assert(!resumes(wish(version), &s));
	old = SSL_SESSION_dup(s);
	first = upgrading_go(&c.ctl, c.pen.child.pid);
	ck_assert(resumes(wish(version), &s));
	second = upgrading_go(&c.ctl, first);
	ck_assert(resumes(wish(version), &s));
	ck_assert(resumes(wish(version), &old));
	ck_assert_int_eq(child_wait(&c.pen.child, 20000), 0);
	upgrading_end(second);
	SSL_SESSION_free(old);
	SSL_SESSION_free(s);
	end();
}

static void
emit_upgrades(int version)
{
	go_through_upgrades(version, "");
	go_through_upgrades(version, "workers 3;workers_by connection");
}

START_TEST(tickets_through_upgrades)
{
	NEED_UPGRADES(upgrading_install());
	both(emit_upgrades);
}
END_TEST

/* `n` keys, each of bytes of one kind. */
static const char *
key_file(const char *name, const char *kinds)
{
	const char *path = scratch(name);
	FILE *f = fopen(path, "w");
	int i;

	ck_assert_ptr_nonnull(f);
	for (; *kinds != '\0'; kinds++)
		for (i = 0; i < 80; i++)
			fputc(*kinds, f);
	ck_assert_int_eq(fclose(f), 0);
	return path;
}

static void
emit_shared_keys(int version)
{
	SSL_SESSION *s = NULL, *old;
	struct tls_chain other;
	const char *keys;

	begin();
	keys = key_file("keys", "a");
	up(text("ssl_ticket_key %s", keys));
	other = c;
	endpoint_new(&other.front, ENDPOINT_TCP4);
	endpoint_new(&other.ctl, ENDPOINT_UNIX);
	tls_chain_up(&other,
	    text("ssl_cert %s;ssl_ticket_key %s", c.site, keys), server.at.text,
	    NULL);
	ck_assert(!resumes(wish(version), &s));
	ck_assert(resumes_at(&other, wish(version), &s));
	ck_assert(resumes(wish(version), &s));
	/* a new key comes first at one of them; the old one still opens */
	old = SSL_SESSION_dup(s);
	key_file("keys", "ba");
	reread();
	ck_assert(resumes(wish(version), &old));
	ck_assert(resumes(wish(version), &s));
	SSL_SESSION_free(old);
	/* then it goes: what was renewed with the new key is good */
	old = SSL_SESSION_dup(s);
	tls_chain_tell(
	    &c, text("ssl_ticket_key %s", key_file("new-keys", "b")));
	ck_assert(resumes(wish(version), &s));
	/* other keys, nothing to open it with */
	tls_chain_tell(
	    &c, text("ssl_ticket_key %s", key_file("other-keys", "cd")));
	ck_assert(!resumes(wish(version), &s));
	SSL_SESSION_free(old);
	SSL_SESSION_free(s);
	tls_chain_down(&other);
	tls_chain_down(&c);
	end();
}

START_TEST(keys_of_a_file)
{
	both(emit_shared_keys);
}
END_TEST

/* ---- without tickets ---- */

static void
emit_cache(int version)
{
	SSL_SESSION *s = NULL;

	begin();
	up("no ssl_tickets;ssl_session_cache 100");
	ck_assert(!resumes(wish(version), &s));
	ck_assert(resumes(wish(version), &s));
	ck_assert(resumes(wish(version), &s));
	ck_assert_int_eq(tls_chain_count(&c, "tls_resumed"), 2);
	ck_assert_str_eq(tls_chain_ask(&c, "ssl_session_cache 0"), "0\n");
	ck_assert(!resumes(wish(version), &s));
	ck_assert(!resumes(wish(version), &s));
	tls_chain_down(&c);
	SSL_SESSION_free(s);
	end();
}

START_TEST(session_cache)
{
	both(emit_cache);
}
END_TEST

/* A client of TLS 1.2 may have no tickets. */
START_TEST(session_ids_beside_tickets)
{
	struct tls_wish w = wish(TLS1_2_VERSION);
	SSL_SESSION *s = NULL;

	NEEDS_ONE_WORKER("each worker keeps sessions of its own");
	w.no_ticket = true;
	begin();
	up("");
	ck_assert(!resumes(w, &s));
	ck_assert(resumes(w, &s));
	ck_assert(resumes(w, &s));
	tls_chain_ask(&c, "ssl_session_cache 0");
	ck_assert(!resumes(w, &s));
	ck_assert(!resumes(w, &s));
	SSL_SESSION_free(s);
	tls_chain_down(&c);
	end();
}
END_TEST

/* ---- who must not come in ---- */

/* A session is for the name that it was made for (RFC 6066, 3), which is none
 * of a name that is refused. */
static void
emit_other_name(int version, bool no_ticket)
{
	struct tls_wish w = wish(version);
	SSL_SESSION *s = NULL;

	w.no_ticket = no_ticket;
	begin();
	up("ssl_refuse_names bad.test");
	w.sni = "a.test";
	ck_assert(!resumes(w, &s));
	ck_assert(resumes(w, &s));
	w.sni = "bad.test";
	refused(w, s);
	w.sni = "b.test";
	ck_assert(!resumes(w, &s));
	ck_assert(resumes(w, &s));
	w.sni = NULL;
	ck_assert(!resumes(w, &s));
	SSL_SESSION_free(s);
	tls_chain_down(&c);
	end();
}

START_TEST(nobody_for_another_name)
{
	NEEDS_ONE_WORKER("each worker keeps sessions of its own");
	emit_other_name(TLS1_2_VERSION, false);
	emit_other_name(TLS1_2_VERSION, true);
	emit_other_name(TLS1_3_VERSION, false);
}
END_TEST

/* With TLS 1.3 each resumption brings a new ticket: there would be no end. */
static void
emit_expired(const char *setting)
{
	static const int version[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct cert_wish mine = { .name = "me",
		.for_client = true,
		.seconds = 2 + (int)(wait_scaled(400) / 1000) };
	SSL_SESSION *s[] = { NULL, NULL };
	struct tls_wish w[2];
	struct cert *me;
	time_t over;
	int i;

	begin();
	mine.issuer = c.ca;
	up(text("%sssl_ca_file %s;ssl_require", setting, c.ca_file));
	over = time(NULL) + mine.seconds;
	me = cert_new(&mine);
	for (i = 0; i < 2; i++) {
		w[i] = wish_with(cert_write_all(me, "me.pem"), version[i]);
		ck_assert(!resumes(w[i], &s[i]));
		ck_assert(resumes(w[i], &s[i]));
	}
	cert_free(me);
	WAIT_FOR(time(NULL) > over + 1, 10000);
	for (i = 0; i < 2; i++) {
		refused(w[i], s[i]);
		SSL_SESSION_free(s[i]);
	}
	tls_chain_down(&c);
	end();
}

START_TEST(nobody_whose_certificate_has_expired)
{
	NEEDS_ONE_WORKER("each worker keeps sessions of its own");
	emit_expired("");
	emit_expired("no ssl_tickets;");
}
END_TEST

/* From one who needed no certificate to a pen that wants one. */
static void
emit_require(int version)
{
	const char *settings[] = { "", "no ssl_tickets;ssl_session_cache 9;" };
	SSL_SESSION *s, *t;
	int i;

	for (i = 0; i < 2; i++) {
		s = t = NULL;
		begin();
		up(text("%sssl_ca_file %s", settings[i], c.ca_file));
		ck_assert(!resumes(wish(version), &s));
		ck_assert(resumes(wish(version), &s));
		tls_chain_tell(&c, "ssl_request");
		ck_assert(!resumes(wish(version), &t));
		ck_assert(resumes(wish(version), &t));
		tls_chain_tell(&c, "no ssl_request; ssl_require");
		refused(wish(version), s);
		refused(wish(version), t);
		WAIT_FOR(tls_chain_count(&c, "closed_tls_failed") == 2, 10000);
		SSL_SESSION_free(s);
		SSL_SESSION_free(t);
		tls_chain_down(&c);
		end();
	}
}

START_TEST(nobody_without_a_certificate)
{
	both(emit_require);
}
END_TEST

/* The same with two that share their keys. */
static void
emit_stricter_twin(int version)
{
	struct tls_chain twin;
	SSL_SESSION *s = NULL;
	const char *keys;

	begin();
	keys = key_file("keys", "a");
	up(text(
	    "ssl_ticket_key %s;ssl_ca_file %s;ssl_request", keys, c.ca_file));
	ck_assert(!resumes(wish(version), &s));
	twin = c;
	endpoint_new(&twin.front, ENDPOINT_TCP4);
	endpoint_new(&twin.ctl, ENDPOINT_UNIX);
	tls_chain_up(&twin,
	    text("ssl_cert %s;ssl_ticket_key %s;ssl_ca_file %s;ssl_require",
		c.site, keys, c.ca_file),
	    server.at.text, NULL);
	tls_chain_down(&c);
	c = twin;
	refused(wish(version), s);
	SSL_SESSION_free(s);
	tls_chain_down(&c);
	end();
}

START_TEST(nobody_from_a_twin)
{
	both(emit_stricter_twin);
}
END_TEST

static void
emit_with_certificate(int version)
{
	SSL_SESSION *s = NULL;
	struct tls_peer *p;
	struct tls_wish w;
	const char *me;

	begin();
	me = tls_chain_cert(&c, "me.pem",
	    (struct cert_wish){ .name = "me", .for_client = true });
	up(text("ssl_ca_file %s;ssl_require", c.ca_file));
	w = wish_with(me, version);
	ck_assert(!resumes(w, &s));
	ck_assert(resumes(w, &s));
	/* who it is, is known from the session */
	w.resume = s;
	p = tls_chain_opens(&c, &w);
	tls_peer_expect_echo(p, "hello");
	ck_assert(tls_peer_is_resumed(p));
	ck_assert_ptr_nonnull(strstr(tls_chain_ask(&c, "connections json"),
	    "\"resumed\":true,\"subject\":\"CN=me\""));
	tls_peer_close(p);
	SSL_SESSION_free(s);
	tls_chain_down(&c);
	end();
}

START_TEST(with_a_certificate)
{
	both(emit_with_certificate);
}
END_TEST

/* A certificate is revoked, or an authority goes, in the same files as
 * before. */
static void
emit_revoked(int version)
{
	struct cert_wish mine = { .name = "me", .for_client = true };
	struct cert_wish other = { .name = "authority", .is_ca = true };
	struct cert *me, *successor;
	SSL_SESSION *s = NULL;
	struct tls_wish w;
	const char *file, *crl;

	begin();
	mine.issuer = c.ca;
	me = cert_new(&mine);
	file = cert_write_all(me, "me.pem");
	crl = cert_write_crl(c.ca, NULL, "crl.pem");
	up(text("ssl_ca_file %s;ssl_crl %s;ssl_require", c.ca_file, crl));
	w = wish_with(file, version);
	ck_assert(!resumes(w, &s));
	ck_assert(resumes(w, &s));
	cert_write_crl(c.ca, me, "crl.pem");
	reread();
	refused(w, s);
	SSL_SESSION_free(s);
	tls_chain_down(&c);

	s = NULL;
	up(text("ssl_ca_file %s;ssl_require", c.ca_file));
	ck_assert(!resumes(w, &s));
	ck_assert(resumes(w, &s));
	successor = cert_new(&other);
	cert_write(successor, "ca.pem");
	reread();
	refused(w, s);
	SSL_SESSION_free(s);
	tls_chain_down(&c);
	cert_free(successor);
	cert_free(me);
	end();
}

START_TEST(nobody_who_was_revoked)
{
	both(emit_revoked);
}
END_TEST

SUITE(test_tls_resume)
{
	Suite *s = suite_create("tls_resume");

	SUITE_ADD(s, tickets, 30);
	SUITE_ADD(s, tickets_of_other_workers, 30);
	SUITE_ADD(s, tickets_of_more_workers, 30);
	SUITE_ADD(s, tickets_through_upgrades, 120);
	SUITE_ADD(s, keys_of_a_file, 30);
	SUITE_ADD(s, session_cache, 30);
	SUITE_ADD(s, session_ids_beside_tickets, 30);
	SUITE_ADD(s, nobody_for_another_name, 30);
	SUITE_ADD(s, nobody_whose_certificate_has_expired, 60);
	SUITE_ADD(s, nobody_without_a_certificate, 30);
	SUITE_ADD(s, nobody_from_a_twin, 30);
	SUITE_ADD(s, with_a_certificate, 30);
	SUITE_ADD(s, nobody_who_was_revoked, 30);
	return s;
}
