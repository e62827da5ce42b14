/* An FMU of FMI 2.0 for Co-Simulation as short as one can write it by hand: WIDTH lags, one Euler step per
   communication step. Value references as in the exported FMUs `Lag` and `Wide<W>`. MIT OR Apache-2.0. */
#include <stddef.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
enum { OK, WARNING, DISCARD, ERROR };

#ifdef WIDTH
#define INPUTS WIDTH
#define VALUES (2 * WIDTH) /* u, then y */
#define Y(i) (WIDTH + (i))
#define T 1.0
#else
#define INPUTS 1
#define VALUES 12 /* u(0), y(1), T(10), x0(11) */
#define Y(i) 1
#define T c->value[10]
#endif

typedef struct { double value[VALUES]; } Lag;

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *resources, const void *functions,
                             int visible, int logging) {
    (void)name; (void)kind; (void)guid; (void)resources; (void)functions; (void)visible; (void)logging;
    Lag *c = calloc(1, sizeof(Lag));
#ifndef WIDTH
    if (c) c->value[10] = 1.0;
#endif
    return c;
}
EXPORT void fmi2FreeInstance(void *c) { free(c); }
EXPORT int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *names) {
    (void)c; (void)on; (void)n; (void)names;
    return OK;
}
EXPORT int fmi2SetupExperiment(void *c, int td, double tolerance, double start, int sd, double stop) {
    (void)c; (void)td; (void)tolerance; (void)start; (void)sd; (void)stop;
    return OK;
}
EXPORT int fmi2EnterInitializationMode(void *at) {
#ifndef WIDTH
    Lag *c = at;
    c->value[1] = c->value[11];
#endif
    (void)at;
    return OK;
}
EXPORT int fmi2ExitInitializationMode(void *c) { (void)c; return OK; }
EXPORT int fmi2Terminate(void *c) { (void)c; return OK; }
EXPORT int fmi2Reset(void *c) { (void)c; return OK; }
EXPORT int fmi2GetReal(void *at, const unsigned *vr, size_t n, double *values) {
    const Lag *c = at;
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= VALUES) return ERROR;
        values[k] = c->value[vr[k]];
    }
    return OK;
}
EXPORT int fmi2SetReal(void *at, const unsigned *vr, size_t n, const double *values) {
    Lag *c = at;
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= VALUES) return ERROR;
        c->value[vr[k]] = values[k];
    }
    return OK;
}
EXPORT int fmi2DoStep(void *at, double time, double h, int no_return) {
    (void)time; (void)no_return;
    Lag *c = at;
    for (size_t i = 0; i < INPUTS; i++) c->value[Y(i)] += h * (c->value[i] - c->value[Y(i)]) / T;
    return OK;
}
