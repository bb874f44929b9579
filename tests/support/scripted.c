/* scripted.c: see scripted.h. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>

#include "support/scripted.h"
#include "support/suite.h"
#include "support/wait.h"

/* Says what is due after what was heard; `from` is where that begins. */
static void
perform(struct scripted *s, int fd, const struct scripted_step **step,
    size_t *from)
{
	for (; (*step)->says != NULL; ++*step) {
		size_t n = strlen((*step)->heard);
		const char *at = n == 0
		    ? s->bytes + *from
		    : memmem(s->bytes + *from, s->length - *from,
			  (*step)->heard, n);

		if (at == NULL)
			return;
		*from = (size_t)(at - s->bytes) + n;
		(void)backend_send(fd, (*step)->says, strlen((*step)->says));
	}
}

static void
serve(struct backend *b, int fd)
{
	struct scripted *s = (struct scripted *)b; /* its first member */
	const struct scripted_step *step = s->steps;
	char part[4096];
	size_t from = 0;
	ssize_t n;

	pthread_mutex_lock(&s->lock);
	s->length = 0;
	perform(s, fd, &step, &from);
	pthread_mutex_unlock(&s->lock);
	while ((n = recv(fd, part, sizeof(part), 0)) > 0) {
		pthread_mutex_lock(&s->lock);
		if (s->length + (size_t)n <= sizeof(s->bytes)) {
			memcpy(s->bytes + s->length, part, (size_t)n);
			s->length += (size_t)n;
		}
		perform(s, fd, &step, &from);
		pthread_mutex_unlock(&s->lock);
	}
	pthread_mutex_lock(&s->lock);
	s->ended++;
	s->reset = n < 0;
	pthread_mutex_unlock(&s->lock);
}

void
scripted_start(struct scripted *s, const struct scripted_step *steps)
{
	static const struct scripted_step none[] = { { NULL, NULL } };

	s->steps = steps != NULL ? steps : none;
	s->length = 0;
	s->ended = 0;
	pthread_mutex_init(&s->lock, NULL);
	backend_start(&s->backend, ENDPOINT_TCP4, serve, NULL);
}

void
scripted_stop(struct scripted *s)
{
	backend_stop(&s->backend);
	pthread_mutex_destroy(&s->lock);
}

bool
scripted_has_heard(struct scripted *s, const char *bytes, size_t n)
{
	bool has;

	pthread_mutex_lock(&s->lock);
	has = s->length == n && memcmp(s->bytes, bytes, n) == 0;
	pthread_mutex_unlock(&s->lock);
	return has;
}

void
scripted_expect(struct scripted *s, const char *what)
{
	long long end = wait_now_ms() + wait_scaled(10000);

	while (!scripted_has_heard(s, what, strlen(what))) {
		if (wait_now_ms() > end)
			ck_abort_msg("expected\n%s\nheard\n%.*s", what,
			    (int)s->length, s->bytes);
		wait_nap();
	}
}

bool
scripted_is_over(struct scripted *s, int connections)
{
	bool is;

	pthread_mutex_lock(&s->lock);
	is = s->ended == connections;
	pthread_mutex_unlock(&s->lock);
	return is;
}
