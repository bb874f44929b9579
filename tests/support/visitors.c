/* visitors.c: threads of clients. */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support/visitors.h"
#include "support/wait.h"

enum { MOST = 8 };

static struct {
	pthread_t threads[MOST];
	int numbers[MOST], count;
	bool (*visit)(int visitor, int nth);
	atomic_bool over;
	atomic_int served, failed;
} all;

static void *
come_and_go(void *arg)
{
	int visitor = *(const int *)arg, nth = 0;

	while (!atomic_load(&all.over))
		atomic_fetch_add(
		    all.visit(visitor, nth++) ? &all.served : &all.failed, 1);
	return NULL;
}

void
visitors_begin(int count, bool (*visit)(int visitor, int nth))
{
	int i;

	ck_assert_int_le(count, MOST);
	all.count = count;
	all.visit = visit;
	atomic_store(&all.over, false);
	for (i = 0; i < count; i++) {
		all.numbers[i] = i;
		pthread_create(
		    &all.threads[i], NULL, come_and_go, &all.numbers[i]);
	}
}

void
visitors_await(int more)
{
	int before = atomic_load(&all.served);

	WAIT_FOR(atomic_load(&all.served) > before + more, 20000);
}

int
visitors_end(void)
{
	int i;

	atomic_store(&all.over, true);
	for (i = 0; i < all.count; i++)
		pthread_join(all.threads[i], NULL);
	ck_assert_msg(atomic_load(&all.failed) == 0, "%d failed, %d served",
	    atomic_load(&all.failed), atomic_load(&all.served));
	return atomic_load(&all.served);
}
