/* Test FMUs of costep: faults that end or disturb the process. MIT OR Apache-2.0. */
#define _GNU_SOURCE
#include "common.h"
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Not raise(): handlers of the host expect a fault that comes again. */
static volatile int *volatile nowhere = NULL;
void crash(void) { *nowhere = 1; }

#ifdef CRASH_ON_LOAD
__attribute__((constructor)) static void crash_on_load(void) { crash(); }
#endif
#ifdef HANG_ON_LOAD
__attribute__((constructor)) static void hang_on_load(void) { for (;;) pause(); }
#endif
#ifndef EXCEPTIONS
void throw_exception(void) { abort(); }
#endif

static void hang(void) { for (;;) pause(); }
static int sink(volatile char *before, int depth) {
    volatile char room[4096];
    room[0] = before ? before[0] : 1;
    return depth < 0 ? 0 : sink(room, depth + 1) + room[0];
}
static void *thread_that_sleeps(void *unused) { sleep(600); return unused; }
static void *thread_that_crashes(void *unused) { crash(); return unused; }
static void ignore(int signal) { (void)signal; }
static void eat(void) {
    for (int k = 0; k < 4096; k++) {
        char *piece = malloc(1 << 20);
        if (!piece) abort();
        memset(piece, k, 1 << 20);
        usleep(500);
    }
}

static void in_step(Instance *i) {
    pthread_t thread;
    switch (i->d.fault) {
    case SEGV_STEP: crash(); break;
    case LOG_AND_SEGV: i->log(i, ERROR, "lookup table out of range"); crash(); break;
    case ABORT_STEP: abort();
    case EXIT_STEP: exit(0);
    case EXCEPTION_STEP: throw_exception(); break;
    case STACK_OVERFLOW: i->d.flag = sink(NULL, 0); break;
    case DIVIDE_STEP: raise(SIGFPE); break;
    case LOOP_STEP: for (volatile int k = 0;; k++) {} break;
    case SLEEP_STEP: sleep(600); break;
    case EAT_MEMORY: eat(); break;
    case PRINT_LINES: printf("%% hello from the FMU {\"a\": 1}\n"); fflush(stdout); break;
    case PRINT_ERRORS: fprintf(stderr, "an FMU complains\n"); break;
    case PRINT_FLOOD: for (int k = 0; k < 200000; k++) printf("line %d\n", k); fflush(stdout); break;
    case CLOSE_STDOUT: close(1); break;
#if defined(__x86_64__)
    case FLUSH_DENORMALS: _mm_setcsr(_mm_getcsr() | 0x8040); break;
#endif
    case ROUND_UP: fesetround(FE_UPWARD); break;
#if defined(__GLIBC__)
    case TRAPS_STEP: feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); break;
#endif
    case CHANGE_UMASK: umask(0777); break;
    case CHANGE_FOLDER: if (chdir("/")) abort(); break;
    case CHANGE_LOCALE: setlocale(LC_ALL, "de_DE.UTF-8"); break;
    case SIGNAL_HANDLERS: signal(SIGINT, ignore); signal(SIGTERM, ignore); signal(SIGHUP, ignore); break;
    case LEAVE_CHILD: if (fork() == 0) { sleep(600); _exit(0); } break;
    /* It sleeps before the library is unloaded: it would start in code that is gone. */
    case LEAVE_THREAD: pthread_create(&thread, NULL, thread_that_sleeps, NULL); usleep(50000); break;
    case CRASH_IN_THREAD:
        pthread_create(&thread, NULL, thread_that_crashes, NULL);
        pthread_join(thread, NULL);
        break;
    default: break;
    }
}

void misbehave(void *instance, int place) {
    Instance *i = instance;
    int fault = i->d.fault;
    if (fault <= NO_STATE) return;
    switch (place) {
    case AT_STEP: in_step(i); break;
    case AT_INIT:
        if (fault == SEGV_INIT) crash();
        if (fault == EXIT_INIT) exit(0);
        if (fault == HANG_INIT) hang();
        if (fault == CHANGE_FOLDER_INIT && chdir("/")) abort();
#if defined(__GLIBC__)
        if (fault == ENABLE_TRAPS) feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#endif
        break;
    case AT_GET: if (fault == SEGV_GET && i->d.time >= i->d.r[12]) crash(); break;
    case AT_SET: if (fault == SEGV_SET && i->d.time >= i->d.r[12]) crash(); break;
    case AT_STATE: if (fault == SEGV_STATE && i->d.time >= i->d.r[12]) crash(); break;
    case AT_TERMINATE:
        if (fault == SEGV_TERMINATE) crash();
        if (fault == HANG_TERMINATE) hang();
        break;
    case AT_FREE:
        if (fault == SEGV_FREE) crash();
        if (fault == HANG_FREE) hang();
        break;
    default: break;
    }
}
