/* An FMU whose step at 50 ms does what a macro says: SEGV, EXIT, HANG, SLOW or nothing (GOOD). MIT OR Apache-2.0. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { double u, y; } Instance;
typedef unsigned int Reference;

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
void *fmi2Instantiate(const char *n, int k, const char *g, const char *r, const void *c, int v, int l) {
    (void)n; (void)k; (void)g; (void)r; (void)c; (void)v; (void)l;
    return calloc(1, sizeof(Instance));
}
void fmi2FreeInstance(void *c) { free(c); }
int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *names) { (void)c; (void)on; (void)n; (void)names; return 0; }
int fmi2SetupExperiment(void *c, int td, double t, double s, int sd, double e) { (void)c; (void)td; (void)t; (void)s; (void)sd; (void)e; return 0; }
int fmi2EnterInitializationMode(void *c) { (void)c; return 0; }
int fmi2ExitInitializationMode(void *c) { (void)c; return 0; }
int fmi2Terminate(void *c) { (void)c; return 0; }
int fmi2Reset(void *c) { memset(c, 0, sizeof(Instance)); return 0; }
int fmi2GetReal(void *c, const Reference *r, size_t n, double *v) {
    Instance *i = c;
    for (size_t k = 0; k < n; k++) v[k] = r[k] ? i->y : i->u;
    return 0;
}
int fmi2SetReal(void *c, const Reference *r, size_t n, const double *v) {
    Instance *i = c;
    for (size_t k = 0; k < n; k++) *(r[k] ? &i->y : &i->u) = v[k];
    return 0;
}
int fmi2DoStep(void *c, double t, double h, int last) {
    Instance *i = c;
    (void)last;
    i->y += h * (1.0 - i->u);
#ifdef SEGV
    if (t > 0.0495) *(volatile int *)8 = 1;
#endif
#ifdef EXIT
    if (t > 0.0495) exit(0);
#endif
#ifdef SLOW
    if (t > 0.0495) usleep(40000);
#endif
#ifdef HANG
    if (t > 0.0495) for (;;) pause();
#endif
    (void)t;
    return 0;
}
#define VALUES(type, of) \
    int fmi2Get##type(void *c, const Reference *r, size_t n, of *v) { (void)c; (void)r; (void)v; return n ? 3 : 0; } \
    int fmi2Set##type(void *c, const Reference *r, size_t n, const of *v) { (void)c; (void)r; (void)v; return n ? 3 : 0; }
VALUES(Integer, int)
VALUES(Boolean, int)
VALUES(String, char *)
int fmi2GetFMUstate(void *c, void **s) { (void)c; (void)s; return 3; }
int fmi2SetFMUstate(void *c, void *s) { (void)c; (void)s; return 3; }
int fmi2FreeFMUstate(void *c, void **s) { (void)c; (void)s; return 3; }
int fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { (void)c; (void)s; (void)n; return 3; }
int fmi2SerializeFMUstate(void *c, void *s, char *b, size_t n) { (void)c; (void)s; (void)b; (void)n; return 3; }
int fmi2DeSerializeFMUstate(void *c, const char *b, size_t n, void **s) { (void)c; (void)b; (void)n; (void)s; return 3; }
int fmi2GetDirectionalDerivative(void *c, const Reference *u, size_t n, const Reference *k, size_t m, const double *d, double *v) {
    (void)c; (void)u; (void)n; (void)k; (void)m; (void)d; (void)v; return 3;
}
int fmi2SetRealInputDerivatives(void *c, const Reference *r, size_t n, const int *o, const double *v) { (void)c; (void)r; (void)n; (void)o; (void)v; return 3; }
int fmi2GetRealOutputDerivatives(void *c, const Reference *r, size_t n, const int *o, double *v) { (void)c; (void)r; (void)n; (void)o; (void)v; return 3; }
int fmi2CancelStep(void *c) { (void)c; return 3; }
int fmi2GetStatus(void *c, int k, int *v) { (void)c; (void)k; (void)v; return 3; }
int fmi2GetRealStatus(void *c, int k, double *v) { (void)c; (void)k; (void)v; return 3; }
int fmi2GetIntegerStatus(void *c, int k, int *v) { (void)c; (void)k; (void)v; return 3; }
int fmi2GetBooleanStatus(void *c, int k, int *v) { (void)c; (void)k; (void)v; return 3; }
int fmi2GetStringStatus(void *c, int k, const char **v) { (void)c; (void)k; (void)v; return 3; }
