/* The limit: FMUs of FMI 2.0 loaded with dlopen and called with fmi2SetReal, fmi2DoStep and fmi2GetReal, nothing else.
   usage: bareloop LIBRARY GUID RESOURCES ring N   a ring of N `Lag`s
          bareloop LIBRARY GUID RESOURCES wide W   two `Wide`s, W signals each way
   Reads numbers of steps from standard input, one per line; answers each with the seconds they took. MIT OR Apache-2.0. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP 1e-3

typedef unsigned Ref;
typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

static void *(*instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int);
static int (*setup)(void *, int, double, double, int, double);
static int (*enter)(void *);
static int (*leave)(void *);
static int (*set)(void *, const Ref *, size_t, const double *);
static int (*get)(void *, const Ref *, size_t, double *);
static int (*step)(void *, double, double, int);

static void logger(void *environment, const char *name, int status, const char *category, const char *text, ...) {
    (void)environment; (void)name; (void)status; (void)category;
    fprintf(stderr, "%s\n", text);
}
static const Callbacks callbacks = {logger, calloc, free, NULL, NULL};

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) { fprintf(stderr, "%s\n", dlerror()); exit(1); }
    return found;
}

static void load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); exit(1); }
    *(void **)&instantiate = symbol(library, "fmi2Instantiate");
    *(void **)&setup = symbol(library, "fmi2SetupExperiment");
    *(void **)&enter = symbol(library, "fmi2EnterInitializationMode");
    *(void **)&leave = symbol(library, "fmi2ExitInitializationMode");
    *(void **)&set = symbol(library, "fmi2SetReal");
    *(void **)&get = symbol(library, "fmi2GetReal");
    *(void **)&step = symbol(library, "fmi2DoStep");
}

static void *make(char **argv) {
    void *c = instantiate("fmu", 1, argv[2], argv[3], &callbacks, 0, 0);
    if (!c) { fprintf(stderr, "not instantiated\n"); exit(1); }
    setup(c, 0, 0.0, 0.0, 0, 0.0);
    return c;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long long done = 0;

static void ring(void **c, double *y, size_t n, long steps) {
    const Ref u_ref = 0, y_ref = 1;
    for (long k = 0; k < steps; k++) {
        const double t = (double)done++ * STEP;
        for (size_t i = 0; i < n; i++) set(c[i], &u_ref, 1, &y[i ? i - 1 : n - 1]);
        for (size_t i = 0; i < n; i++) step(c[i], t, STEP, 1);
        for (size_t i = 0; i < n; i++) get(c[i], &y_ref, 1, &y[i]);
    }
}

static void wide(void **c, double **y, const Ref *u_ref, const Ref *y_ref, size_t width, long steps) {
    for (long k = 0; k < steps; k++) {
        const double t = (double)done++ * STEP;
        for (int i = 0; i < 2; i++) set(c[i], u_ref, width, y[1 - i]);
        for (int i = 0; i < 2; i++) step(c[i], t, STEP, 1);
        for (int i = 0; i < 2; i++) get(c[i], y_ref, width, y[i]);
    }
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    load(argv[1]);
    const int is_ring = strcmp(argv[4], "ring") == 0;
    const size_t n = strtoul(argv[5], NULL, 10), count = is_ring ? n : 2;
    void **c = malloc(count * sizeof *c);
    double *y = calloc(n, sizeof *y), *other = calloc(n, sizeof *other), *both[2] = {y, other};
    Ref *u_ref = malloc(n * sizeof *u_ref), *y_ref = malloc(n * sizeof *y_ref), start = 11, out = 1;
    for (size_t i = 0; i < count; i++) {
        c[i] = make(argv);
        const double x0 = (double)(i % 5);
        if (is_ring) set(c[i], &start, 1, &x0);
        enter(c[i]);
        leave(c[i]);
        if (is_ring) get(c[i], &out, 1, &y[i]);
    }
    for (size_t i = 0; i < n; i++) {
        u_ref[i] = (Ref)i;
        y_ref[i] = (Ref)(n + i);
    }
    long steps;
    while (scanf("%ld", &steps) == 1) {
        const double begin = now();
        if (is_ring) ring(c, y, n, steps);
        else wide(c, both, u_ref, y_ref, n, steps);
        printf("%.9e %.17g\n", now() - begin, y[0]);
        fflush(stdout);
    }
    return 0;
}
