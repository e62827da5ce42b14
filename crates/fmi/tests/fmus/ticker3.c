/* Test FMU of costep with an event mode and clocks (FMI 3.0). It refuses every call that its mode does not allow.
   MIT OR Apache-2.0. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { OK, WARNING, DISCARD, ERROR };
enum { START, INITIALISING, EVENT, STEP };
/* Floats: y(1) with y' = ticks, ticks(2), kicks(3), geared(4), gear events(5), alarms(6), horns(7), leave(10).
   Int32: gear(20). Clocks: periodic(30), alarm(31), horn(33), which is to sound at once when gear 5 is put in. */
enum { PERIODIC = 30, ALARM = 31, HORN = 33, LOUD = 5 };
#define PERIOD 0.25
#define SHIFT 0.1
#define KICK 0.33

typedef struct {
    int mode, ticking, alarming, announced, horn;
    double time, y, ticks, kicks, gear_events, alarms, horns, leave;
    int32_t gear;
} Data;
typedef struct { Data d; int events, early; void *environment; void (*log)(void *, int, const char *, const char *); } Instance;

static int wrong(Instance *i, const char *why) { i->log(i->environment, ERROR, "logStatusError", why); return ERROR; }

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                         bool logging, bool events, bool early, const uint32_t *vr, size_t n,
                                         void *environment, void *log, void *intermediate) {
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)vr; (void)n; (void)intermediate;
#ifdef REFUSES_EVENTS
    if (events) return NULL;
#endif
    Instance *i = calloc(1, sizeof *i);
    i->events = events; i->early = early; i->environment = environment;
    i->log = (void (*)(void *, int, const char *, const char *))log;
    i->d.leave = 1e300;
    return i;
}
EXPORT void fmi3FreeInstance(void *c) { free(c); }
EXPORT int fmi3EnterInitializationMode(void *c, bool td, double tol, double start, bool sd, double stop) {
    (void)td; (void)tol; (void)sd; (void)stop;
    Instance *i = c;
    i->d.mode = INITIALISING; i->d.time = start;
    return OK;
}
EXPORT int fmi3ExitInitializationMode(void *c) { Instance *i = c; i->d.mode = i->events ? EVENT : STEP; return OK; }
EXPORT int fmi3Terminate(void *c) { (void)c; return OK; }
EXPORT int fmi3Reset(void *c) { memset(c, 0, sizeof(Data)); ((Instance *)c)->d.leave = 1e300; return OK; }
EXPORT int fmi3GetFloat64(void *c, const uint32_t *vr, size_t n, double *v, size_t count) {
    Data *d = &((Instance *)c)->d;
    double all[] = {0, d->y, d->ticks, d->kicks, d->gear, d->gear_events, d->alarms, d->horns};
    (void)count;
    for (size_t k = 0; k < n; k++) { if (vr[k] > 7) return ERROR; v[k] = all[vr[k]]; }
    return OK;
}
EXPORT int fmi3SetFloat64(void *c, const uint32_t *vr, size_t n, const double *v, size_t count) {
    (void)count;
    if (n != 1 || vr[0] != 10) return ERROR;
    ((Instance *)c)->d.leave = v[0];
    return OK;
}
EXPORT int fmi3SetInt32(void *c, const uint32_t *vr, size_t n, const int32_t *v, size_t count) {
    Instance *i = c;
    (void)count;
    if (n != 1 || vr[0] != 20) return ERROR;
    if (i->d.mode == STEP && v[0] != i->d.gear) return wrong(i, "a discrete input was changed outside of an event");
    if (i->d.mode == EVENT) i->d.gear_events += 1;
    if (i->d.mode == EVENT && v[0] == LOUD) i->d.horn = 1;
    i->d.gear = v[0];
    return OK;
}
EXPORT int fmi3SetClock(void *c, const uint32_t *vr, size_t n, const bool *v) {
    Instance *i = c;
    Data *d = &i->d;
    if (d->mode != EVENT) return wrong(i, "a clock ticks outside of an event");
    for (size_t k = 0; k < n; k++) {
        if (!v[k]) continue;
        if (vr[k] == PERIODIC) {
            if (d->ticking) return wrong(i, "a clock ticks twice in an event");
            if (fabs(d->time - SHIFT - PERIOD * d->ticks) > 1e-9) return wrong(i, "a clock ticks at another time");
            d->ticking = 1;
        } else if (vr[k] == ALARM) {
            if (fabs(d->time - 0.5 * (1 + d->alarms)) > 1e-9) return wrong(i, "an alarm at another time");
            d->alarming = 1;
        } else if (vr[k] == HORN) {
            d->horns += 1.0;
        } else return ERROR;
    }
    return OK;
}
/* An alarm 0.5 s after the start and after each alarm. */
EXPORT int fmi3GetIntervalDecimal(void *c, const uint32_t *vr, size_t n, double *interval, int *qualifier) {
    Data *d = &((Instance *)c)->d;
    if (n == 1 && vr[0] == HORN) {
        *interval = 0.0;
        *qualifier = d->horn ? 2 : 0;
        d->horn = 0;
        return OK;
    }
    if (n != 1 || vr[0] != ALARM) return ERROR;
    *interval = 0.5;
    *qualifier = d->announced ? 1 : 2;
    d->announced = 1;
    return OK;
}
EXPORT int fmi3EnterEventMode(void *c) {
    Instance *i = c;
    if (i->d.mode != STEP) return wrong(i, "event mode from elsewhere");
    i->d.mode = EVENT;
    return OK;
}
EXPORT int fmi3EnterStepMode(void *c) {
    Instance *i = c;
    if (i->d.mode != EVENT) return wrong(i, "step mode from elsewhere");
    i->d.mode = STEP;
    return OK;
}
EXPORT int fmi3UpdateDiscreteStates(void *c, bool *again, bool *end, bool *nominals, bool *values, bool *defined, double *next) {
    Instance *i = c;
    Data *d = &i->d;
    if (d->mode != EVENT) return wrong(i, "an update outside of an event");
    /* A kick is announced, and comes in two rounds. */
    int kick = d->kicks == 0.0 && d->time >= KICK;
    if (kick) d->kicks = 1.0;
    if (d->ticking) d->ticks += 1.0;
    if (d->alarming) { d->alarms += 1.0; d->announced = 0; }
    d->ticking = d->alarming = 0;
    *again = kick;
    *end = *nominals = *values = false;
    *defined = d->kicks == 0.0;
    *next = KICK;
    return OK;
}
EXPORT int fmi3DoStep(void *c, double start, double h, bool no_return, bool *event, bool *end, bool *early, double *last) {
    Instance *i = c;
    Data *d = &i->d;
    (void)no_return;
    if (d->mode != STEP) return wrong(i, "a step outside of step mode");
    if (d->gear == LOUD && d->horns == 0.0) return wrong(i, "a step before the horn has sounded");
    if (fabs(start - d->time) > 1e-9) return wrong(i, "a step from another time");
    *event = *end = *early = false;
    /* Leaves a step at some time, without an event. */
    if (d->leave > start + 1e-9 && d->leave < start + h - 1e-9) {
        if (!i->early) return wrong(i, "no early return is allowed");
        h = d->leave - start;
        *early = true;
    }
    d->y += h * d->ticks;
    d->time = start + h;
    *last = d->time;
    return OK;
}
EXPORT int fmi3GetFMUState(void *c, void **s) { if (!*s) *s = malloc(sizeof(Data)); memcpy(*s, c, sizeof(Data)); return OK; }
EXPORT int fmi3SetFMUState(void *c, void *s) { memcpy(c, s, sizeof(Data)); return OK; }
EXPORT int fmi3FreeFMUState(void *c, void **s) { (void)c; free(*s); *s = NULL; return OK; }
EXPORT int fmi3SerializedFMUStateSize(void *c, void *s, size_t *n) { (void)c; (void)s; *n = sizeof(Data); return OK; }
EXPORT int fmi3SerializeFMUState(void *c, void *s, uint8_t *b, size_t n) { (void)c; memcpy(b, s, n); return OK; }
EXPORT int fmi3DeserializeFMUState(void *c, const uint8_t *b, size_t n, void **s) {
    (void)c;
    if (!*s) *s = malloc(n);
    memcpy(*s, b, n);
    return OK;
}
