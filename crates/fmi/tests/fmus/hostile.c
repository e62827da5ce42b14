/* Test FMU of costep, FMI 2.0: y[k]' = u[k] - y[k] for WIDTH signals, explicit Euler. What it was compiled to do beside
   (-DDEED=name) it does in the first step at or behind 0.3 s; some deeds are done elsewhere. MIT OR Apache-2.0. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/xattr.h>
#include <netinet/in.h>
#include <pthread.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#ifndef WIDTH
#define WIDTH 1
#endif

enum { OK, WARNING, DISCARD, ERROR };

typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

typedef struct {
    double u[WIDTH], y[WIDTH];
    int done, slow, stays;
    const Callbacks *callbacks;
    char name[64];
    char resources[4096];
} Instance;

static void say(Instance *i, const char *text) {
    i->callbacks->logger(i->callbacks->environment, i->name, WARNING, "logStatusWarning", "%s", text);
}

/* ---- deeds in a step ---- */

static __attribute__((unused)) void nothing(Instance *i) { (void)i; }
static __attribute__((unused)) void close_files(Instance *i) {
    (void)i;
    for (int k = 0; k <= 100; k++) close(k);
}
static __attribute__((unused)) void write_files(Instance *i) {
    (void)i;
    for (int k = 3; k <= 100; k++) if (write(k, "stray", 5) < 0) continue;
}
static __attribute__((unused)) void cut_files(Instance *i) {
    (void)i;
    for (int k = 3; k <= 100; k++) if (ftruncate(k, 1000) < 0) continue;
}
/* Writes into the recording, by its name. */
static __attribute__((unused)) void spoil_recording(Instance *i) {
    (void)i;
    int file = open("out/results.arrows", O_WRONLY);
    if (file < 0 || pwrite(file, "stray", 5, 100) != 5) abort();
    close(file);
}
/* Pipes in the places of files of the run. */
static __attribute__((unused)) void put_pipe(const char *path) { unlink(path); if (mkfifo(path, 0600)) abort(); }
static __attribute__((unused)) void pipe_recording(Instance *i) { (void)i; put_pipe("out/results.arrows"); }
static __attribute__((unused)) void pipe_others(Instance *i) {
    const char *names[] = {"outcome.json", "run.toml", "bad.log", "printed.log", "checkpoint", "checkpoint.previous", "checkpoint.new"};
    char path[100];
    for (int k = 0; k < 7; k++) {
        snprintf(path, sizeof path, "out/%s", names[k]);
        put_pipe(path);
    }
    puts("printed");
    fflush(stdout);
    say(i, "said");
}
/* Cuts or removes it, when the run has read it again. */
static __attribute__((unused)) void cut_recording(void) { if (truncate("out/results.arrows", 600)) abort(); }
static __attribute__((unused)) void remove_recording(void) { if (unlink("out/results.arrows")) abort(); }
/* Writes all over the memory that costep shares with this process. */
static __attribute__((unused)) void fill_shared(Instance *i) {
    (void)i;
    for (int k = 3; k <= 100; k++) {
        unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, k, 0);
        if (page != MAP_FAILED) memset(page, 1, 256);
    }
}
/* Writes ones all over the memory that costep shares with this process, found by its name, and ends the program well. */
static __attribute__((unused)) void fill_found(uint64_t value, unsigned long most) {
    char line[4400];
    unsigned long start, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:costep") && sscanf(line, "%lx-%lx", &start, &end) == 2)
            for (volatile uint64_t *at = (uint64_t *)start; (unsigned long)at < end && (unsigned long)at < start + most; at++)
                *at = value;
}
static __attribute__((unused)) void forge_end(Instance *i) {
    (void)i;
    fill_found(1, 512);
    _exit(0);
}
/* The same all over it, and goes on. */
static __attribute__((unused)) void fill_mailbox(Instance *i) { (void)i; fill_found(UINT64_MAX, 1ul << 30); }
/* The thread ends without a word at its next call of the system that is not to read or write, outside of this call. */
static __attribute__((unused)) void lose_thread(Instance *i) {
    (void)i;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 1, 0, 0, 0)) abort();
}
/* A child that leaves group and session. */
static __attribute__((unused)) void leave_child(Instance *i) {
    (void)i;
    if (fork() == 0) {
        setsid();
        if (fork() == 0) { sleep(600); _exit(0); }
        _exit(0);
    }
    usleep(100000);
}
/* Copies of the process that come back from the call: by the C library, by the system itself, in the place of the original. */
static __attribute__((unused)) void come_back_twice(Instance *i) {
    (void)i;
    for (int k = 0; k < 3; k++) if (fork() == 0) return;
    usleep(20000);
}
static __attribute__((unused)) void come_back_twice_raw(Instance *i) {
    (void)i;
    syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    usleep(20000);
}
static __attribute__((unused)) void go_into_background(Instance *i) { (void)i; if (daemon(1, 1)) abort(); }
/* A fault later, in a thread, while this FMU is in a call again. */
static __attribute__((unused)) void *fault_soon(void *nowhere) { usleep(20000); *(volatile int *)nowhere = 1; return NULL; }
static __attribute__((unused)) void fault_later(Instance *i) {
    pthread_t thread;
    i->slow = 1;
    pthread_create(&thread, NULL, fault_soon, NULL);
    pthread_detach(thread);
}
/* A fault that a handler turns into a good end of the program. */
static __attribute__((unused)) void end_well(int number) { (void)number; _exit(0); }
static __attribute__((unused)) void hide_fault(Instance *i) { (void)i; signal(SIGSEGV, end_well); fault_soon(NULL); }
/* Calls of the system are interrupted all the time. */
static __attribute__((unused)) void nod(int number) { (void)number; }
static __attribute__((unused)) void interrupt(Instance *i) {
    (void)i;
    struct sigaction nods = {.sa_handler = nod};
    struct itimerval often = {{0, 100}, {0, 100}};
    if (sigaction(SIGALRM, &nods, NULL) || setitimer(ITIMER_REAL, &often, NULL)) abort();
}
static __attribute__((unused)) void ring_alarm(Instance *i) { i->slow = 1; ualarm(10000, 0); }
static __attribute__((unused)) void ignore_children(Instance *i) { (void)i; signal(SIGCHLD, SIG_IGN); }
static __attribute__((unused)) void block_signals(Instance *i) {
    (void)i;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}
static __attribute__((unused)) void clear_environment(Instance *i) { (void)i; clearenv(); }
static __attribute__((unused)) void replace_files(Instance *i) {
    (void)i;
    int nothing = open("/dev/null", O_RDWR);
    for (int k = 0; k <= 100; k++) if (k != nothing) dup2(nothing, k);
}
static __attribute__((unused)) void limit(int resource, rlim_t most) {
    struct rlimit limit = {most, most};
    if (setrlimit(resource, &limit)) abort();
}
static __attribute__((unused)) void limit_files(Instance *i) { (void)i; limit(RLIMIT_NOFILE, 0); }
static __attribute__((unused)) void limit_sizes(Instance *i) { (void)i; limit(RLIMIT_FSIZE, 0); }
static __attribute__((unused)) void limit_memory(Instance *i) { (void)i; limit(RLIMIT_AS, 1 << 20); }
static __attribute__((unused)) void limit_time(Instance *i) {
    (void)i;
    limit(RLIMIT_CPU, 0);
    for (volatile int k = 0;; k++) {}
}
/* Messages: of 10 MB, without a text, from a thread, and from one when the instance is gone. */
static __attribute__((unused)) void log_much(Instance *i) {
    char *text = malloc(10000001);
    memset(text, 'a', 10000000);
    text[10000000] = 0;
    say(i, text);
    free(text);
    i->callbacks->logger(i->callbacks->environment, NULL, 77, NULL, NULL);
}
static __attribute__((unused)) void *talk(void *instance) {
    for (int k = 0; k < 1000; k++) say(instance, "from a thread");
    return NULL;
}
static __attribute__((unused)) void log_from_threads(Instance *i) {
    pthread_t threads[4];
    for (int k = 0; k < 4; k++) pthread_create(threads + k, NULL, talk, i);
    for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
}
static __attribute__((unused)) void *talk_on(void *instance) {
    /* Instances of these are never freed. */
    for (;;) { say(instance, "still here"); usleep(50); }
    return NULL;
}
static __attribute__((unused)) void log_for_ever(Instance *i) {
    pthread_t thread;
    i->stays = 1;
    pthread_create(&thread, NULL, talk_on, i);
    pthread_detach(thread);
}
static __attribute__((unused)) void flood_errors(Instance *i) {
    (void)i;
    for (int k = 0; k < 200000; k++) fprintf(stderr, "complaint %d\n", k);
}
static __attribute__((unused)) void forge_errors(Instance *i) {
    (void)i;
    fprintf(stderr, "\033[31merror[E0001]\033[0m: forged\r\n");
}
static __attribute__((unused)) void kill_itself(Instance *i) { (void)i; kill(getpid(), SIGKILL); }
static __attribute__((unused)) void spin(Instance *i) { for (volatile int k = 0;; k++) i->done = k; }
/* A line that nobody has ended. */
static __attribute__((unused)) void print_a_bit(Instance *i) { (void)i; printf("last words"); }
/* A thread that waits for input for ever, with the lock of its stream. */
static __attribute__((unused)) void *wait_for_input(void *stream) { fgetc(stream); return NULL; }
static __attribute__((unused)) void hold_stream(Instance *i) {
    (void)i;
    int ends[2];
    pthread_t thread;
    FILE *stream = pipe(ends) ? NULL : fdopen(ends[0], "r");
    if (!stream || pthread_create(&thread, NULL, wait_for_input, stream)) abort();
    usleep(100000);
}
static __attribute__((unused)) void hang(Instance *i) { (void)i; for (;;) pause(); }

/* What a sandbox refuses: each way out is tried. If one has worked, the process ends. */
static __attribute__((unused)) void *idle(void *nothing) { return nothing; }
static __attribute__((unused)) int worked(Instance *i, const char *what, int yes) {
    char text[100];
    snprintf(text, sizeof text, "escape by %s: %s", what, yes ? "WORKED" : "refused");
    say(i, text);
    return yes;
}
static __attribute__((unused)) void stop_parent(Instance *i) { worked(i, "stop", kill(getppid(), SIGSTOP) == 0); }
static __attribute__((unused)) void kill_parent(Instance *i) { worked(i, "kill", kill(getppid(), SIGKILL) == 0); }
/* Ways to a file outside that are not to open it. */
static __attribute__((unused)) void escape_by_name(Instance *i, const char *outside, int *sum) {
    char secret[4096], other[4096], inside[8192];
    snprintf(secret, sizeof secret, "%s/secret", outside);
    snprintf(other, sizeof other, "%s/written", outside);
    snprintf(inside, sizeof inside, "%s/stolen", getenv("TMPDIR"));
    *sum += worked(i, "truncate", truncate(secret, 0) == 0);
    *sum += worked(i, "link", link(secret, inside) == 0);
    *sum += worked(i, "rename", rename(secret, inside) == 0);
    *sum += worked(i, "mkdir", mkdir(other, 0777) == 0);
    *sum += worked(i, "mknod", mknod(other, S_IFIFO | 0600, 0) == 0);
    *sum += worked(i, "symlink", symlink(secret, other) == 0);
    *sum += worked(i, "fchmodat2", syscall(452, AT_FDCWD, secret, 0777, 0) == 0);
    *sum += worked(i, "setxattr", setxattr(secret, "user.a", "b", 1, 0) == 0);
    /* A link inside to what is outside, and the file system as others see it. */
    if (symlink(secret, inside)) abort();
    *sum += worked(i, "link inside", open(inside, O_RDONLY) >= 0);
    unlink(inside);
    snprintf(inside, sizeof inside, "/proc/self/root%s", secret);
    *sum += worked(i, "root", open(inside, O_RDONLY) >= 0);
    snprintf(inside, sizeof inside, "/proc/%d/environ", (int)getppid());
    *sum += worked(i, "another process", open(inside, O_RDONLY) >= 0);
}
/* Has every thread of this process but that of the sandbox, which would wait for itself, read what is outside. */
static char wanted[4096];
static volatile sig_atomic_t got;
static __attribute__((unused)) void want(int signal) { (void)signal; got = open(wanted, O_RDONLY) >= 0 ? 1 : -1; }
static __attribute__((unused)) void escape_by_threads(Instance *i) {
    snprintf(wanted, sizeof wanted, "%s/secret", getenv("COSTEP_TEST_OUTSIDE"));
    signal(SIGUSR1, want);
    DIR *threads = opendir("/proc/self/task");
    if (!threads) abort();
    int sum = 0, count = 0;
    for (struct dirent *entry; (entry = readdir(threads));) {
        char path[300], name[20] = "", what[40];
        int id = atoi(entry->d_name);
        snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
        int file = id ? open(path, O_RDONLY) : -1;
        if (file < 0 || read(file, name, sizeof name - 1) < 1) continue;
        close(file);
        name[strcspn(name, "\n")] = 0;
        if (!strcmp(name, "sandbox")) continue;
        got = 0;
        if (syscall(SYS_tgkill, getpid(), id, SIGUSR1)) continue;
        for (int k = 0; k < 5000 && !got; k++) usleep(1000);
        snprintf(what, sizeof what, "thread %s", name);
        sum += worked(i, what, got > 0);
        count++;
    }
    closedir(threads);
    if (sum || !count) abort();
}
static __attribute__((unused)) void escape(Instance *i) {
    const char *outside = getenv("COSTEP_TEST_OUTSIDE");
    char path[4096];
    int sum = 0;
    snprintf(path, sizeof path, "%s/written", outside);
    sum += worked(i, "write", open(path, O_WRONLY | O_CREAT, 0644) >= 0);
    snprintf(path, sizeof path, "%s/secret", outside);
    sum += worked(i, "read", open(path, O_RDONLY) >= 0);
    sum += worked(i, "chmod", chmod(path, 0777) == 0);
    sum += worked(i, "unlink", unlink(path) == 0);
    int net = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int known = net >= 0 && (connect(net, (struct sockaddr *)&to, sizeof to) == 0 || errno == ECONNREFUSED);
    sum += worked(i, "connect", known);
    pid_t child = fork();
    if (child == 0) _exit(0);
    sum += worked(i, "fork", child > 0);
    sum += worked(i, "system", system("true") == 0);
    /* Without a sandbox the next would change this machine, or leave the parent stopped for good. */
    if (sum) abort();
    sum += worked(i, "ptrace", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0);
    sum += worked(i, "kill", kill(getppid(), 0) == 0);
    struct rlimit few = {0, 0};
    sum += worked(i, "limits of another", prlimit(getppid(), RLIMIT_NOFILE, &few, NULL) == 0);
    int ends[2];
    sum += worked(i, "signals of a file", pipe(ends) || fcntl(ends[0], F_SETOWN, getppid()) == 0);
    escape_by_name(i, outside, &sum);
    sum += worked(i, "ring of calls", syscall(SYS_io_uring_setup, 1, path) >= 0);
    sum += worked(i, "name space", syscall(SYS_unshare, 0x10000000) == 0);
    sum += worked(i, "mount", syscall(SYS_fsopen, "tmpfs", 0) >= 0);
    sum += worked(i, "watch of files", syscall(SYS_fanotify_init, 0, 0) >= 0);
    sum += worked(i, "copy of a mount", syscall(467, AT_FDCWD, outside, 1, 0, 0) >= 0);
    sum += worked(i, "priority of another", setpriority(PRIO_PROCESS, getppid(), 1) == 0);
    sum += worked(i, "priority of a group", setpriority(PRIO_PGRP, 0, 1) == 0);
    unsigned long cores[16] = {3};
    sum += worked(i, "cores of another", syscall(SYS_sched_setaffinity, getppid(), sizeof cores, cores) >= 0);
    sum += worked(i, "disk of another", syscall(SYS_ioprio_set, 1, getppid(), 2 << 13 | 7) >= 0);
    int readable = open("/etc/ld.so.cache", O_RDONLY), attributes = 0;
    sum += worked(i, "lease", fcntl(readable, F_SETLEASE, F_RDLCK) == 0);
    sum += worked(i, "attributes", ioctl(readable, FS_IOC_GETFLAGS, &attributes) == 0
                                       && ioctl(readable, FS_IOC_SETFLAGS, &attributes) == 0);
    sum += worked(i, "terminal", ioctl(0, TIOCSTI, "x") == 0);
    struct timex nothing = {0};
    sum += worked(i, "clock", syscall(SYS_adjtimex, &nothing) >= 0);
    struct rlimit now;
    struct { int resource; rlim_t most; } limits[] = {{RLIMIT_DATA, 16ull << 30}, {RLIMIT_FSIZE, 4ull << 30},
        {RLIMIT_NOFILE, 256}, {RLIMIT_CPU, 30 * 24 * 3600}, {RLIMIT_CORE, 0}};
    for (int k = 0; k < 5; k++) {
        rlim_t most = limits[k].most;
        sum += worked(i, "limits", getrlimit(limits[k].resource, &now) || now.rlim_cur > most || now.rlim_max > most);
    }
    if (sum) abort();
    char *words[] = {"/bin/true", NULL};
    execv(words[0], words);
    worked(i, "exec", 0);
    int program = memfd_create("program", 0);
    syscall(SYS_execveat, program, "", words, NULL, 0x1000);
    worked(i, "exec of memory", 0);
    /* What it needs still works: threads, its resources, a scratch folder. */
    pthread_t thread;
    if (pthread_create(&thread, NULL, idle, NULL) || pthread_join(thread, NULL)) abort();
    snprintf(path, sizeof path, "%s/scratch", getenv("TMPDIR"));
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || write(file, "text", 4) != 4 || close(file) || unlink(path)) abort();
}

/* ---- elsewhere ---- */

#ifndef DEED
#define DEED nothing
#endif
#ifdef HANG_ON_LOAD
__attribute__((constructor)) static void hang_on_load(void) { for (;;) pause(); }
#endif
/* What is done when the library is unloaded, or the program ends. */
#ifdef AT_UNLOAD
__attribute__((destructor)) static void at_unload(void) { AT_UNLOAD; }
#endif
#ifdef AT_EXIT_OF_PROGRAM
static void at_exit(void) { AT_EXIT_OF_PROGRAM; }
__attribute__((constructor)) static void at_load(void) { atexit(at_exit); }
#endif

#ifdef THROWS
void throw_exception(void);
#define THROW_AT(place) do { if ((place) == THROWS) throw_exception(); } while (0)
#else
#define THROW_AT(place) do {} while (0)
#endif
enum { AT_INSTANTIATE = 1, AT_ENTER, AT_EXIT, AT_TERMINATE, AT_FREE };

/* ---- FMI 2.0 ---- */

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *resources, const Callbacks *c,
                             int visible, int logging) {
    (void)kind; (void)guid; (void)visible; (void)logging;
    Instance *i = calloc(1, sizeof(Instance));
    i->callbacks = c;
    snprintf(i->name, sizeof i->name, "%s", name);
    snprintf(i->resources, sizeof i->resources, "%s", resources);
    THROW_AT(AT_INSTANTIATE);
    return i;
}
EXPORT void fmi2FreeInstance(void *c) { THROW_AT(AT_FREE); if (!((Instance *)c)->stays) free(c); }
EXPORT int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *names) {
    (void)c; (void)on; (void)n; (void)names;
    return OK;
}
EXPORT int fmi2SetupExperiment(void *c, int td, double tol, double start, int sd, double stop) {
    (void)c; (void)td; (void)tol; (void)start; (void)sd; (void)stop;
    return OK;
}
EXPORT int fmi2EnterInitializationMode(void *c) { (void)c; THROW_AT(AT_ENTER); return OK; }
EXPORT int fmi2ExitInitializationMode(void *c) { (void)c; THROW_AT(AT_EXIT); return OK; }
EXPORT int fmi2Terminate(void *c) { (void)c; THROW_AT(AT_TERMINATE); return OK; }
EXPORT int fmi2Reset(void *c) {
    memset(((Instance *)c)->u, 0, sizeof(double) * WIDTH);
    memset(((Instance *)c)->y, 0, sizeof(double) * WIDTH);
    return OK;
}
static double *variable(Instance *i, uint32_t vr) { return vr < WIDTH ? i->u + vr : i->y + (vr - WIDTH); }
EXPORT int fmi2GetReal(void *c, const uint32_t *vr, size_t n, double *v) {
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= 2 * WIDTH) return ERROR;
        v[k] = *variable(c, vr[k]);
    }
    return OK;
}
EXPORT int fmi2SetReal(void *c, const uint32_t *vr, size_t n, const double *v) {
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= 2 * WIDTH) return ERROR;
        *variable(c, vr[k]) = v[k];
    }
    return OK;
}
#ifdef WILD_TEXT
/* From 0.3 s on the text is nowhere. */
EXPORT int fmi2GetString(void *c, const uint32_t *vr, size_t n, const char **v) {
    (void)vr;
    for (size_t k = 0; k < n; k++) v[k] = ((Instance *)c)->done ? (const char *)8 : "here";
    return OK;
}
#endif
#ifdef COUNTS
/* The number of steps so far, in a file that outlives this process. */
static void count_step(Instance *i) {
    static int file = -1;
    static uint64_t steps;
    char path[4096];
    if (strncmp(i->name, "good", 4)) return;
    snprintf(path, sizeof path, "%s/count", getenv("TMPDIR"));
    if (file < 0 && (file = open(path, O_WRONLY | O_CREAT, 0600)) < 0) abort();
    steps++;
    if (pwrite(file, &steps, sizeof steps, 0) != sizeof steps) abort();
}
#endif
EXPORT int fmi2DoStep(void *c, double start, double h, int no_return) {
    (void)no_return;
    Instance *i = c;
    /* Only the one of this name: others beside it are good. */
    if (!i->done && start >= 0.3 - 1e-9 && strncmp(i->name, "bad", 3) == 0) {
        i->done = 1;
        DEED(i);
    }
    if (i->slow) usleep(200000);
#ifdef COUNTS
    count_step(i);
#endif
    for (int k = 0; k < WIDTH; k++) i->y[k] += h * (i->u[k] - i->y[k] + (k == 0));
    return OK;
}
EXPORT int fmi2CancelStep(void *c) { (void)c; return OK; }
EXPORT int fmi2GetRealStatus(void *c, int kind, double *v) { (void)c; (void)kind; (void)v; return DISCARD; }
EXPORT int fmi2GetBooleanStatus(void *c, int kind, int *v) { (void)c; (void)kind; (void)v; return DISCARD; }
#ifdef GROWING_STATE
/* Its bytes are 16 more every time it is asked for them; those behind the state are checked. */
typedef struct { Instance instance; size_t extra; } State;
static size_t extra;
EXPORT int fmi2GetFMUstate(void *c, void **s) {
    State *state = *s ? *s : calloc(1, sizeof(State));
    state->instance = *(Instance *)c;
    *s = state;
    return OK;
}
EXPORT int fmi2SetFMUstate(void *c, void *s) { *(Instance *)c = ((State *)s)->instance; return OK; }
EXPORT int fmi2FreeFMUstate(void *c, void **s) { (void)c; free(*s); *s = NULL; return OK; }
EXPORT int fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) {
    (void)c;
    ((State *)s)->extra = extra += 16;
    *n = sizeof(double) * 2 * WIDTH + extra;
    return OK;
}
EXPORT int fmi2SerializeFMUstate(void *c, void *s, char *b, size_t n) {
    (void)c;
    State *state = s;
    if (n != sizeof(double) * 2 * WIDTH + state->extra) return ERROR;
    memcpy(b, state->instance.u, sizeof(double) * WIDTH);
    memcpy(b + sizeof(double) * WIDTH, state->instance.y, sizeof(double) * WIDTH);
    memset(b + sizeof(double) * 2 * WIDTH, 7, state->extra);
    return OK;
}
EXPORT int fmi2DeSerializeFMUstate(void *c, const char *b, size_t n, void **s) {
    State *state = calloc(1, sizeof(State));
    state->instance = *(Instance *)c;
    for (size_t k = sizeof(double) * 2 * WIDTH; k < n; k++) if (b[k] != 7) return ERROR;
    memcpy(state->instance.u, b, sizeof(double) * WIDTH);
    memcpy(state->instance.y, b + sizeof(double) * WIDTH, sizeof(double) * WIDTH);
    *s = state;
    return OK;
}
#endif
#ifdef HUGE_STATE
EXPORT int fmi2GetFMUstate(void *c, void **s) { *s = c; return OK; }
EXPORT int fmi2SetFMUstate(void *c, void *s) { (void)c; (void)s; return OK; }
EXPORT int fmi2FreeFMUstate(void *c, void **s) { (void)c; *s = NULL; return OK; }
EXPORT int fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { (void)c; (void)s; *n = HUGE_STATE; return OK; }
EXPORT int fmi2SerializeFMUstate(void *c, void *s, char *b, size_t n) { (void)c; (void)s; (void)b; (void)n; return OK; }
EXPORT int fmi2DeSerializeFMUstate(void *c, const char *b, size_t n, void **s) { (void)c; (void)b; (void)n; (void)s; return OK; }
#endif
