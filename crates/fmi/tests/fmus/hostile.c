/* Test FMU of costep, FMI 2.0: y[k]' = u[k] - y[k] for WIDTH signals, explicit Euler. What it was compiled to do beside
   (-DDEED=name) it does in the first step at or behind 0.3 s; some deeds are done elsewhere. MIT OR Apache-2.0. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
    int done;
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
/* Writes all over the memory that costep shares with this process. */
static __attribute__((unused)) void fill_shared(Instance *i) {
    (void)i;
    for (int k = 3; k <= 100; k++) {
        unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, k, 0);
        if (page != MAP_FAILED) memset(page, 1, 256);
    }
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
static __attribute__((unused)) void flood_errors(Instance *i) {
    (void)i;
    for (int k = 0; k < 200000; k++) fprintf(stderr, "complaint %d\n", k);
}
static __attribute__((unused)) void forge_errors(Instance *i) {
    (void)i;
    fprintf(stderr, "\033[31merror[E0001]\033[0m: forged\r\n");
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
    /* Without a sandbox the next would leave the parent stopped for good. */
    if (sum) abort();
    sum += worked(i, "ptrace", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0);
    sum += worked(i, "kill", kill(getppid(), 0) == 0);
    if (sum) abort();
    char *words[] = {"/bin/true", NULL};
    execv(words[0], words);
    worked(i, "exec", 0);
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
EXPORT void fmi2FreeInstance(void *c) { THROW_AT(AT_FREE); free(c); }
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
EXPORT int fmi2DoStep(void *c, double start, double h, int no_return) {
    (void)no_return;
    Instance *i = c;
    /* Only the one of this name: others beside it are good. */
    if (!i->done && start >= 0.3 - 1e-9 && strncmp(i->name, "bad", 3) == 0) {
        i->done = 1;
        DEED(i);
    }
    for (int k = 0; k < WIDTH; k++) i->y[k] += h * (i->u[k] - i->y[k] + (k == 0));
    return OK;
}
EXPORT int fmi2CancelStep(void *c) { (void)c; return OK; }
EXPORT int fmi2GetRealStatus(void *c, int kind, double *v) { (void)c; (void)kind; (void)v; return DISCARD; }
EXPORT int fmi2GetBooleanStatus(void *c, int kind, int *v) { (void)c; (void)kind; (void)v; return DISCARD; }
#ifdef HUGE_STATE
EXPORT int fmi2GetFMUstate(void *c, void **s) { *s = c; return OK; }
EXPORT int fmi2SetFMUstate(void *c, void *s) { (void)c; (void)s; return OK; }
EXPORT int fmi2FreeFMUstate(void *c, void **s) { (void)c; *s = NULL; return OK; }
EXPORT int fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { (void)c; (void)s; *n = HUGE_STATE; return OK; }
EXPORT int fmi2SerializeFMUstate(void *c, void *s, char *b, size_t n) { (void)c; (void)s; (void)b; (void)n; return OK; }
EXPORT int fmi2DeSerializeFMUstate(void *c, const char *b, size_t n, void **s) { (void)c; (void)b; (void)n; (void)s; return OK; }
#endif
