/* Test FMU of costep for FMI 3.0: y' = u - y for arrays u(0), y(1) of n(12) times 2 elements, y'(20). Explicit Euler.
   MIT OR Apache-2.0. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST 64

enum { OK, ERROR = 3 };

typedef struct {
    uint64_t n;
    int configuring;
    double u[MOST], y[MOST];
} Instance;

static size_t width(const Instance *i) { return 2 * i->n; }

EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                         bool logging, bool events, bool early, const uint32_t *vr, size_t n,
                                         void *environment, void *log, void *update) {
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)events; (void)early; (void)vr;
    (void)n; (void)environment; (void)log;
    if (update) abort(); /* this FMU does not offer it */
    Instance *i = calloc(1, sizeof(Instance));
    i->n = 2;
    return i;
}
EXPORT void fmi3FreeInstance(void *c) { free(c); }
EXPORT int fmi3EnterConfigurationMode(void *c) { ((Instance *)c)->configuring = 1; return OK; }
EXPORT int fmi3ExitConfigurationMode(void *c) { ((Instance *)c)->configuring = 0; return OK; }
EXPORT int fmi3EnterInitializationMode(void *c, bool td, double tol, double start, bool sd, double stop) {
    (void)c; (void)td; (void)tol; (void)start; (void)sd; (void)stop;
    return OK;
}
EXPORT int fmi3ExitInitializationMode(void *c) { (void)c; return OK; }
EXPORT int fmi3Terminate(void *c) { (void)c; return OK; }
EXPORT int fmi3Reset(void *c) { memset(c, 0, sizeof(Instance)); ((Instance *)c)->n = 2; return OK; }
EXPORT int fmi3SetUInt64(void *c, const uint32_t *vr, size_t n, const uint64_t *v, size_t count) {
    Instance *i = c;
    if (!i->configuring || n != 1 || count != 1 || vr[0] != 12 || 2 * v[0] > MOST) return ERROR;
    i->n = v[0];
    return OK;
}
EXPORT int fmi3SetFloat64(void *c, const uint32_t *vr, size_t n, const double *v, size_t count) {
    Instance *i = c;
    if (count != n * width(i)) return ERROR;
    for (size_t k = 0; k < n; k++, v += width(i)) {
        if (vr[k] > 1) return ERROR;
        memcpy(vr[k] == 0 ? i->u : i->y, v, width(i) * sizeof(double));
    }
    return OK;
}
EXPORT int fmi3GetFloat64(void *c, const uint32_t *vr, size_t n, double *v, size_t count) {
    Instance *i = c;
    if (count != n * width(i)) return ERROR;
    for (size_t k = 0; k < n; k++) {
        for (size_t e = 0; e < width(i); e++) *v++ = vr[k] == 1 ? i->y[e] : i->u[e] - i->y[e];
    }
    return OK;
}
EXPORT int fmi3DoStep(void *c, double start, double h, bool no_return, bool *event, bool *end, bool *early, double *last) {
    Instance *i = c;
    (void)no_return;
    for (size_t e = 0; e < width(i); e++) i->y[e] += h * (i->u[e] - i->y[e]);
    *event = *end = *early = false;
    *last = start + h;
    return OK;
}
EXPORT int fmi3GetDirectionalDerivative(void *c, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx,
                                        const double *seed, size_t ns, double *out, size_t no) {
    Instance *i = c;
    if (nx != 1 || ns != width(i) || no != ny * width(i)) return ERROR;
    for (size_t k = 0; k < ny; k++) {
        double factor = y[k] == 20 ? (x[0] == 0 ? 1.0 : -1.0) : (x[0] == 1 ? 1.0 : 0.0);
        for (size_t e = 0; e < width(i); e++) *out++ = factor * seed[e];
    }
    return OK;
}
