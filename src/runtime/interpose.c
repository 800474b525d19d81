/* interpose.c - the pthread functions that make a thread wait or wake another, seen from inside.
 *
 * Only in libassay-rt-interpose.so, which the tool preloads when it has no kernel side to tell it
 * who wakes whom.  Each function calls the real one with the same arguments and returns what it
 * returned; what it adds is a note to the accounts (inside.c), and nothing at all without a tool.
 *
 * Allocators call these functions from inside malloc and before any constructor of ours ran, and
 * dlsym may call malloc.  So the three that they use have the C library's own second names and are
 * never looked up; the others are looked up once, in the constructor, and before it by whoever
 * comes first (a program that waits for a condition has a working malloc).
 *
 * A lock that is free is taken without a look at any clock: only who has to wait, and who gives a
 * lock free that others wait for, pays for the notes. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <time.h>

#include "inside_parts.h"

__asm__(".symver libc_mutex_lock, __pthread_mutex_lock@" FIRST);
__asm__(".symver libc_mutex_trylock, __pthread_mutex_trylock@" FIRST);
__asm__(".symver libc_mutex_unlock, __pthread_mutex_unlock@" FIRST);

int libc_mutex_lock(pthread_mutex_t *mutex);
int libc_mutex_trylock(pthread_mutex_t *mutex);
int libc_mutex_unlock(pthread_mutex_t *mutex);

typedef void *start_routine(void *argument);

static struct {
	int (*mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
	int (*mutex_clocklock)(pthread_mutex_t *, clockid_t, const struct timespec *);
	int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
	int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	int (*cond_clockwait)(
		pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
	int (*cond_signal)(pthread_cond_t *);
	int (*cond_broadcast)(pthread_cond_t *);
	int (*rwlock_rdlock)(pthread_rwlock_t *);
	int (*rwlock_wrlock)(pthread_rwlock_t *);
	int (*rwlock_timedrdlock)(pthread_rwlock_t *, const struct timespec *);
	int (*rwlock_timedwrlock)(pthread_rwlock_t *, const struct timespec *);
	int (*rwlock_unlock)(pthread_rwlock_t *);
	int (*sem_wait)(sem_t *);
	int (*sem_timedwait)(sem_t *, const struct timespec *);
	int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
	int (*sem_post)(sem_t *);
	int (*barrier_wait)(pthread_barrier_t *);
	int (*join)(pthread_t, void **);
	int (*timedjoin)(pthread_t, void **, const struct timespec *);
	int (*create)(pthread_t *, const pthread_attr_t *, start_routine *, void *);
} real;

/* ---- the real functions ---- */

/* On x86-64 a condition variable of before 2003 goes by the same names. */
static void *find(const char *name, const char *version)
{
	void *at = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	return at ? at : dlsym(RTLD_NEXT, name);
}

static void find_all(void)
{
	static const char cond[] = "GLIBC_2.3.2";

	if (__atomic_load_n(&real.create, __ATOMIC_ACQUIRE))
		return;
	real.mutex_timedlock = find("pthread_mutex_timedlock", NULL);
	real.mutex_clocklock = find("pthread_mutex_clocklock", NULL);
	real.cond_wait = find("pthread_cond_wait", cond);
	real.cond_timedwait = find("pthread_cond_timedwait", cond);
	real.cond_clockwait = find("pthread_cond_clockwait", NULL);
	real.cond_signal = find("pthread_cond_signal", cond);
	real.cond_broadcast = find("pthread_cond_broadcast", cond);
	real.rwlock_rdlock = find("pthread_rwlock_rdlock", NULL);
	real.rwlock_wrlock = find("pthread_rwlock_wrlock", NULL);
	real.rwlock_timedrdlock = find("pthread_rwlock_timedrdlock", NULL);
	real.rwlock_timedwrlock = find("pthread_rwlock_timedwrlock", NULL);
	real.rwlock_unlock = find("pthread_rwlock_unlock", NULL);
	real.sem_wait = find("sem_wait", NULL);
	real.sem_timedwait = find("sem_timedwait", NULL);
	real.sem_clockwait = find("sem_clockwait", NULL);
	real.sem_post = find("sem_post", NULL);
	real.barrier_wait = find("pthread_barrier_wait", NULL);
	real.join = find("pthread_join", NULL);
	real.timedjoin = find("pthread_timedjoin_np", NULL);
	__atomic_store_n(&real.create, find("pthread_create", NULL), __ATOMIC_RELEASE);
}

/* Before runtime.c's, whose start is the first that could ask for them. */
__attribute__((constructor(101))) static void interpose_start(void)
{
	int saved = errno;

	find_all();
	errno = saved;
}

static void ready(void)
{
	if (!__atomic_load_n(&real.create, __ATOMIC_ACQUIRE))
		interpose_start();
}

/* ---- mutexes ---- */

/* Whether it could be had at once; then *ret has what the call returns. */
static bool mutex_is_free(pthread_mutex_t *mutex, int *ret)
{
	*ret = libc_mutex_trylock(mutex);
	return *ret == 0 || *ret == EOWNERDEAD;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int r;

	if (!inside_is_on())
		return libc_mutex_lock(mutex);
	if (mutex_is_free(mutex, &r))
		return r;
	inside_wait_begin();
	r = libc_mutex_lock(mutex);
	inside_wait_end(mutex);
	return r;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.mutex_timedlock(mutex, until);
	if (mutex_is_free(mutex, &r))
		return r;
	inside_wait_begin();
	r = real.mutex_timedlock(mutex, until);
	inside_wait_end(r ? NULL : mutex);
	return r;
}

EXPORT int pthread_mutex_clocklock(
	pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.mutex_clocklock(mutex, clock, until);
	if (mutex_is_free(mutex, &r))
		return r;
	inside_wait_begin();
	r = real.mutex_clocklock(mutex, clock, until);
	inside_wait_end(r ? NULL : mutex);
	return r;
}

/* Its word is 1 when it is held and nobody waits; other kinds of mutexes have other words there and
 * leave a note each time. */
static bool mutex_has_waiters(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != 1;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (inside_is_on() && mutex_has_waiters(mutex))
		inside_release(mutex);
	return libc_mutex_unlock(mutex);
}

/* ---- condition variables: a wait gives the mutex free and is ended by a signal ---- */

static void cond_begin(pthread_mutex_t *mutex)
{
	inside_release(mutex);
	inside_wait_begin();
}

EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.cond_wait(cond, mutex);
	cond_begin(mutex);
	r = real.cond_wait(cond, mutex);
	inside_wait_end(r ? NULL : cond);
	return r;
}

EXPORT int pthread_cond_timedwait(
	pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.cond_timedwait(cond, mutex, until);
	cond_begin(mutex);
	r = real.cond_timedwait(cond, mutex, until);
	inside_wait_end(r ? NULL : cond);
	return r;
}

EXPORT int pthread_cond_clockwait(
	pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.cond_clockwait(cond, mutex, clock, until);
	cond_begin(mutex);
	r = real.cond_clockwait(cond, mutex, clock, until);
	inside_wait_end(r ? NULL : cond);
	return r;
}

EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	ready();
	inside_release(cond);
	return real.cond_signal(cond);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
	ready();
	inside_release(cond);
	return real.cond_broadcast(cond);
}

/* ---- locks for readers and writers ---- */

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.rwlock_rdlock(lock);
	if (pthread_rwlock_tryrdlock(lock) == 0)
		return 0;
	inside_wait_begin();
	r = real.rwlock_rdlock(lock);
	inside_wait_end(lock);
	return r;
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.rwlock_wrlock(lock);
	if (pthread_rwlock_trywrlock(lock) == 0)
		return 0;
	inside_wait_begin();
	r = real.rwlock_wrlock(lock);
	inside_wait_end(lock);
	return r;
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.rwlock_timedrdlock(lock, until);
	inside_wait_begin();
	r = real.rwlock_timedrdlock(lock, until);
	inside_wait_end(r ? NULL : lock);
	return r;
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.rwlock_timedwrlock(lock, until);
	inside_wait_begin();
	r = real.rwlock_timedwrlock(lock, until);
	inside_wait_end(r ? NULL : lock);
	return r;
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	ready();
	inside_release(lock);
	return real.rwlock_unlock(lock);
}

/* ---- semaphores ---- */

/* errno is the call's result here; the notes leave it alone. */
static void sem_end(sem_t *sem, int r)
{
	int saved = errno;

	inside_wait_end(r ? NULL : sem);
	errno = saved;
}

EXPORT int sem_wait(sem_t *sem)
{
	int r, saved = errno;

	ready();
	if (!inside_is_on())
		return real.sem_wait(sem);
	if (sem_trywait(sem) == 0)
		return 0;
	inside_wait_begin();
	errno = saved;
	r = real.sem_wait(sem);
	sem_end(sem, r);
	return r;
}

EXPORT int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	int r, saved = errno;

	ready();
	if (!inside_is_on())
		return real.sem_timedwait(sem, until);
	if (sem_trywait(sem) == 0)
		return 0;
	inside_wait_begin();
	errno = saved;
	r = real.sem_timedwait(sem, until);
	sem_end(sem, r);
	return r;
}

EXPORT int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
	int r, saved = errno;

	ready();
	if (!inside_is_on())
		return real.sem_clockwait(sem, clock, until);
	if (sem_trywait(sem) == 0)
		return 0;
	inside_wait_begin();
	errno = saved;
	r = real.sem_clockwait(sem, clock, until);
	sem_end(sem, r);
	return r;
}

/* May be called from a signal handler: inside_release() leaves it alone in the middle of a note. */
EXPORT int sem_post(sem_t *sem)
{
	ready();
	inside_release(sem);
	return real.sem_post(sem);
}

/* ---- barriers and threads ---- */

/* The last to come gives it free, and its note is the last. */
EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	int r;

	ready();
	if (!inside_is_on())
		return real.barrier_wait(barrier);
	inside_wait_begin();
	inside_release(barrier);
	r = real.barrier_wait(barrier);
	inside_wait_end(barrier);
	return r;
}

EXPORT int pthread_join(pthread_t thread, void **ret)
{
	int r;

	ready();
	inside_wait_begin();
	r = real.join(thread, ret);
	inside_wait_end((const void *)thread);
	return r;
}

EXPORT int pthread_timedjoin_np(pthread_t thread, void **ret, const struct timespec *until)
{
	int r;

	ready();
	inside_wait_begin();
	r = real.timedjoin(thread, ret, until);
	inside_wait_end(r ? NULL : (const void *)thread);
	return r;
}

/* What a new thread needs from its creator until it runs.  Without a free place it is started as it
 * is, and is found at the first wait. */
enum { BIRTHS = 1024 };
static struct birth {
	uint32_t taken;
	start_routine *start;
	void *argument;
	struct inside_birth account;
} births[BIRTHS];

static struct birth *birth_take(void)
{
	for (unsigned i = 0; i < BIRTHS; i++) {
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(
			    &births[i].taken, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &births[i];
	}
	return NULL;
}

static void birth_give(struct birth *birth)
{
	__atomic_store_n(&birth->taken, 0, __ATOMIC_RELEASE);
}

static void thread_ends(void *nothing)
{
	(void)nothing;
	inside_thread_end();
}

static void *thread_run(void *argument)
{
	struct birth *place = argument, birth = *place;
	void *result;

	birth_give(place);
	inside_thread_begin(&birth.account);
	pthread_cleanup_push(thread_ends, NULL);
	result = birth.start(birth.argument);
	pthread_cleanup_pop(1);
	return result;
}

EXPORT int pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, start_routine *start, void *argument)
{
	struct birth *birth;
	int r;

	ready();
	birth = inside_is_on() ? birth_take() : NULL;
	if (!birth)
		return real.create(thread, attr, start, argument);
	birth->start = start;
	birth->argument = argument;
	birth->account = inside_birth_now();
	r = real.create(thread, attr, thread_run, birth);
	if (r)
		birth_give(birth);
	return r;
}
