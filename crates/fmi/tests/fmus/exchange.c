/* Test FMUs of costep for Model Exchange: the models Lag, Fault, S1, S2, Ball, Sampler, Chatter, Stepper,
   Planes, Sphere. They check in every call that it is allowed. MIT OR Apache-2.0. */
#include "exchange.h"

#if defined(LAG) || defined(FAULT)
/* u(0), y(1), T(10), x0(11), der(y)(20) */
const int states = 1, indicators = 0;
void start_values(Data *d) { d->r[10] = 1.0; }
void initialise(Data *d) { d->x[0] = d->r[11]; }
void rates(const Data *d, double rate[2]) { rate[0] = (d->r[0] - d->x[0]) / d->r[10]; }
void outputs(Data *d) { d->r[1] = d->x[0]; rates(d, d->r + 20); }
void event(Data *d, Update *u) {
    if (d->fault == INFINITE_STATE && d->time > 0.0) { d->x[0] = INFINITY; u->values = 1; }
    if (d->fault == NEW_NOMINALS) u->nominals = 1;
}
int is_input(uint32_t reference) { return reference == 0; }
int is_state(uint32_t reference) { return reference == 1; }
void sensitivity(const Data *d, uint32_t known, double seed, double change[REALS]) {
    if (known == 1) { change[1] += seed; change[20] -= seed / d->r[10]; }
    if (known == 0) change[20] += seed / d->r[10];
}
#elif defined(S1)
/* F(0), x(1), v(2), m c d x0 v0 h (10..15), derivatives (20, 21) */
const int states = 2, indicators = 0;
void start_values(Data *d) {
    double p[] = {10.0, 1e6, 1.0, 0.1, 0.0, 1e-5};
    memcpy(d->r + 10, p, sizeof p);
}
void initialise(Data *d) { d->x[0] = d->r[13]; d->x[1] = d->r[14]; }
void rates(const Data *d, double rate[2]) {
    const double *p = d->r + 10, *x = d->x;
    rate[0] = x[1];
    rate[1] = (-p[1] * x[0] - p[2] * x[1] + d->r[0]) / p[0];
}
void outputs(Data *d) { d->r[1] = d->x[0]; d->r[2] = d->x[1]; rates(d, d->r + 20); }
void event(Data *d, Update *u) { (void)d; (void)u; }
int is_input(uint32_t reference) { return reference == 0; }
int is_state(uint32_t reference) { return reference == 1 || reference == 2; }
void sensitivity(const Data *d, uint32_t known, double seed, double change[REALS]) {
    const double *p = d->r + 10;
    if (known == 0) change[21] += 1.0 / p[0] * seed;
    if (known == 1) { change[1] += seed; change[21] += -p[1] / p[0] * seed; }
    if (known == 2) { change[2] += seed; change[20] += seed; change[21] += -p[2] / p[0] * seed; }
}
#elif defined(S2)
/* u1(0), u2(3), F(1), x(2), v(4), m c d ck dk x0 v0 h (10..17), derivatives (20, 21) */
const int states = 2, indicators = 0;
void start_values(Data *d) {
    double p[] = {10.0, 1e7, 2.0, 1e5, 1e3, 0.0, 0.0, 1e-5};
    memcpy(d->r + 10, p, sizeof p);
}
void initialise(Data *d) { d->x[0] = d->r[15]; d->x[1] = d->r[16]; }
static double force(const Data *d) {
    const double *p = d->r + 10, *x = d->x;
    return p[3] * (x[0] - d->r[0]) + p[4] * (x[1] - d->r[3]);
}
void rates(const Data *d, double rate[2]) {
    const double *p = d->r + 10, *x = d->x;
    rate[0] = x[1];
    rate[1] = (-p[1] * x[0] - p[2] * x[1] - force(d)) / p[0];
}
void outputs(Data *d) { d->r[1] = force(d); d->r[2] = d->x[0]; d->r[4] = d->x[1]; rates(d, d->r + 20); }
void event(Data *d, Update *u) { (void)d; (void)u; }
int is_input(uint32_t reference) { return reference == 0 || reference == 3; }
int is_state(uint32_t reference) { return reference == 2 || reference == 4; }
void sensitivity(const Data *d, uint32_t known, double seed, double change[REALS]) {
    const double *p = d->r + 10;
    if (known == 0) { change[1] += -p[3] * seed; change[21] += p[3] / p[0] * seed; }
    if (known == 3) { change[1] += -p[4] * seed; change[21] += p[4] / p[0] * seed; }
    if (known == 2) { change[2] += seed; change[1] += p[3] * seed; change[21] += -(p[1] + p[3]) / p[0] * seed; }
    if (known == 4) {
        change[4] += seed;
        change[1] += p[4] * seed;
        change[20] += seed;
        change[21] += -(p[2] + p[4]) / p[0] * seed;
    }
}
#elif defined(PLANES)
/* c(0), a(1), b(2): a + b + c = 0 and 2 a - 3 b + 2 c = 9, solved for a and b */
const int states = 0, indicators = 0;
void start_values(Data *d) { (void)d; }
void initialise(Data *d) { (void)d; }
void rates(const Data *d, double rate[2]) { (void)d; (void)rate; }
void outputs(Data *d) { d->r[1] = 1.8 - d->r[0]; d->r[2] = -1.8; }
void event(Data *d, Update *u) { (void)d; (void)u; }
int is_input(uint32_t reference) { return reference == 0; }
int is_state(uint32_t reference) { (void)reference; return 0; }
#elif defined(SPHERE)
/* a(0), b(3), c(1), square(10), swing(11): a^2 + b^2 + c^2 = square + swing sin t, solved for c */
const int states = 0, indicators = 0;
void start_values(Data *d) { d->r[10] = 5.0; }
void initialise(Data *d) { (void)d; }
void rates(const Data *d, double rate[2]) { (void)d; (void)rate; }
void outputs(Data *d) {
    d->r[1] = sqrt(d->r[10] + d->r[11] * sin(d->time) - d->r[0] * d->r[0] - d->r[3] * d->r[3]);
}
void event(Data *d, Update *u) { (void)d; (void)u; }
int is_input(uint32_t reference) { return reference == 0 || reference == 3; }
int is_state(uint32_t reference) { (void)reference; return 0; }
#elif defined(BALL)
/* height(1), speed(2), e(10), threshold(11), derivatives (20, 21), z(25); rests when relation is set */
const int states = 2, indicators = 1;
void start_values(Data *d) { d->r[10] = 0.8; d->r[11] = 0.05; }
void initialise(Data *d) { d->x[0] = 1.0; d->x[1] = 0.0; }
void rates(const Data *d, double rate[2]) {
    rate[0] = d->relation ? 0.0 : d->x[1];
    rate[1] = d->relation ? 0.0 : -9.81;
}
void outputs(Data *d) { d->r[1] = d->x[0]; d->r[2] = d->x[1]; rates(d, d->r + 20); }
double indicator(const Data *d) { return d->relation ? 1.0 : d->x[0]; }
void event(Data *d, Update *u) {
    if (d->x[0] > 0.0 || d->x[1] >= 0.0) return;
    d->x[0] = DBL_MIN;
    d->x[1] *= -d->r[10];
    if (d->x[1] < d->r[11]) { d->relation = 1; d->x[1] = 0.0; }
    u->values = 1;
}
int is_input(uint32_t reference) { (void)reference; return 0; }
int is_state(uint32_t reference) { return reference == 1 || reference == 2; }
#elif defined(SAMPLER)
/* u(0), y(1), gate(2, a discrete input), sampled(3), period(10), derivative (20): y follows the last sample of u; nothing
   is sampled while the gate is not positive. */
const int states = 1, indicators = 0;
void start_values(Data *d) { d->r[10] = 0.1; d->r[2] = 1.0; }
void initialise(Data *d) { d->next = d->r[10]; }
void rates(const Data *d, double rate[2]) { rate[0] = d->r[3] - d->x[0]; }
void outputs(Data *d) { d->r[1] = d->x[0]; rates(d, d->r + 20); }
void event(Data *d, Update *u) {
    (void)u;
    if (d->time < d->next) return;
    if (d->r[2] > 0.0) { d->r[3] = d->r[0]; d->samples++; }
    d->next += d->r[10];
}
int is_input(uint32_t reference) { return reference == 0 || reference == 2; }
int is_state(uint32_t reference) { return reference == 1; }
#elif defined(CHATTER)
/* y(1), hysteresis(10), derivative (20), z(25): falls while positive, rises while not. */
const int states = 1, indicators = 1;
void start_values(Data *d) { d->r[10] = 0.0; }
void initialise(Data *d) { d->x[0] = 0.35; d->relation = 1; }
void rates(const Data *d, double rate[2]) { rate[0] = d->relation ? -1.0 : 1.0; }
void outputs(Data *d) { d->r[1] = d->x[0]; rates(d, d->r + 20); }
double indicator(const Data *d) { return d->x[0] + (d->relation ? d->r[10] : -d->r[10]); }
void event(Data *d, Update *u) { (void)u; d->relation = indicator(d) > 0.0; }
int is_input(uint32_t reference) { (void)reference; return 0; }
int is_state(uint32_t reference) { return reference == 1; }
#elif defined(STEPPER)
/* y(1), count(3), derivative (20): asks for an event after every third inner step, which counts and lifts y by 1. */
const int states = 1, indicators = 0;
void start_values(Data *d) { (void)d; }
void initialise(Data *d) { (void)d; }
void rates(const Data *d, double rate[2]) { rate[0] = 1.0; (void)d; }
void outputs(Data *d) { d->r[1] = d->x[0]; rates(d, d->r + 20); }
void event(Data *d, Update *u) {
    if (d->steps < 3) return;
    d->steps = 0;
    d->r[3] += 1.0;
    d->x[0] += 1.0;
    u->values = 1;
}
int is_input(uint32_t reference) { (void)reference; return 0; }
int is_state(uint32_t reference) { return reference == 1; }
#endif

#if !defined(BALL) && !defined(CHATTER)
double indicator(const Data *d) { (void)d; return 1.0; }
#endif
#if defined(BALL) || defined(SAMPLER) || defined(CHATTER) || defined(STEPPER) || defined(PLANES) || defined(SPHERE)
void sensitivity(const Data *d, uint32_t known, double seed, double change[REALS]) { (void)d; (void)known; (void)seed; change[0] = NAN; }
#endif
#ifdef SAMPLER
int is_discrete(uint32_t reference) { return reference == 2; }
#else
int is_discrete(uint32_t reference) { (void)reference; return 0; }
#endif

#define REQUIRE(condition, text) do { if (!(condition)) { i->log(i, ERROR, text); return ERROR; } } while (0)

int common_enter(Instance *i, double start) {
    REQUIRE(i->d.mode == INSTANTIATED, "not just instantiated");
    i->d.time = i->d.last_event = start;
    i->d.completed[0] = i->d.completed[1] = start;
    i->d.next = INFINITY;
    i->d.mode = INITIALIZATION;
#ifdef ALWAYS_FAULT
    i->d.fault = ALWAYS_FAULT;
#endif
    initialise(&i->d);
    outputs(&i->d);
    return OK;
}
int common_exit(Instance *i) {
    REQUIRE(i->d.mode == INITIALIZATION, "not in initialization mode");
    i->d.mode = EVENT;
    return OK;
}
int common_enter_event(Instance *i) {
    REQUIRE(i->d.mode == CONTINUOUS, "not in continuous-time mode");
    i->d.mode = EVENT;
    i->d.last_event = i->d.time;
    return OK;
}
int common_update(Instance *i, Update *u) {
    REQUIRE(i->d.mode == EVENT, "not in event mode");
    if (i->d.fault == ERROR_EVENT && i->d.time > 0.5) { i->log(i, ERROR, "the event failed"); return ERROR; }
    event(&i->d, u);
    u->defined = isfinite(i->d.next);
    u->next = i->d.next;
    if (i->d.fault == PAST_EVENT && i->d.time > 0.0) { u->defined = 1; u->next = i->d.time - 1e-3; }
    if (i->d.fault == NAN_EVENT) { u->defined = 1; u->next = NAN; }
    if (i->d.fault == END_AT_EVENT && i->d.time > 0.4) u->terminate = 1;
    if (i->d.fault == ENDLESS_EVENT) u->again = 1;
    outputs(&i->d);
    return OK;
}
int common_enter_continuous(Instance *i) {
    REQUIRE(i->d.mode == EVENT, "not in event mode");
    i->d.mode = CONTINUOUS;
    return OK;
}
int common_completed(Instance *i, int *event, int *end) {
    REQUIRE(i->d.mode == CONTINUOUS, "not in continuous-time mode");
    REQUIRE(i->d.time >= i->d.completed[1], "a step back was completed");
    i->d.completed[0] = i->d.completed[1];
    i->d.completed[1] = i->d.time;
    *end = i->d.fault == END_AFTER_STEP && i->d.time > 0.4;
    *event = 0;
#ifdef STEPPER
    *event = ++i->d.steps >= 3;
#endif
    return OK;
}
int common_set_time(Instance *i, double t) {
    REQUIRE(i->d.mode == CONTINUOUS, "not in continuous-time mode");
    REQUIRE(t >= i->d.last_event, "there is no way back over an event");
    REQUIRE(t >= i->d.completed[0], "there is no way back over two completed steps");
    i->d.time = t;
    return OK;
}
int common_set_states(Instance *i, const double *x, size_t n) {
    REQUIRE(i->d.mode == CONTINUOUS && n == (size_t)states, "states cannot be set now");
    for (size_t k = 0; k < n; k++) REQUIRE(isfinite(x[k]), "a state is not finite");
    if (i->d.fault == DISCARD_ABOVE && x[0] > 0.25) { i->log(i, DISCARD, "beyond the range"); return DISCARD; }
    memcpy(i->d.x, x, n * sizeof *x);
    outputs(&i->d);
    i->current = 0;
    return OK;
}
int common_get_states(Instance *i, double *x, size_t n) {
    REQUIRE(i->d.mode != INSTANTIATED && n == (size_t)states, "states cannot be read now");
    memcpy(x, i->d.x, n * sizeof *x);
    return OK;
}
int common_rates(Instance *i, double *rate, size_t n) {
    REQUIRE(i->d.mode != INSTANTIATED && n == (size_t)states, "derivatives cannot be read now");
    outputs(&i->d);
    memcpy(rate, i->d.r + 20, n * sizeof *rate);
    i->current = 1;
    if (i->d.time > 0.5) {
        if (i->d.fault == NAN_RATE) rate[0] = NAN;
        if (i->d.fault == DISCARD_RATE) { i->log(i, DISCARD, "division by zero"); return DISCARD; }
        if (i->d.fault == ERROR_RATE) { i->log(i, ERROR, "the equations have no solution"); return ERROR; }
    }
    return OK;
}
int common_indicators(Instance *i, double *z, size_t n) {
    REQUIRE(i->d.mode != INSTANTIATED && n == (size_t)indicators, "event indicators cannot be read now");
    if (n) z[0] = i->d.fault == NAN_INDICATOR && i->d.time > 0.3 ? NAN : indicator(&i->d);
    return OK;
}
int common_nominals(Instance *i, double *nominals, size_t n) {
    REQUIRE(i->d.mode == EVENT || i->d.mode == CONTINUOUS, "nominal values cannot be read now");
    for (size_t k = 0; k < n; k++) {
        nominals[k] = i->d.r[30 + k] > 0.0 ? i->d.r[30 + k] : 1.0;
        if (i->d.fault == BAD_NOMINALS) nominals[k] = -1.0;
    }
    return OK;
}
int common_get(Instance *i, const uint32_t *vr, size_t n, double *values) {
    if (i->d.mode != INSTANTIATED) outputs(&i->d);
    if (!i->current) memcpy(i->shown, i->d.r, sizeof i->shown);
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= REALS) return ERROR;
        values[k] = vr[k] == 25 ? indicator(&i->d) : i->d.r[vr[k]];
#ifdef STALE_OUTPUTS
        if (vr[k] != 25) values[k] = i->shown[vr[k]];
#endif
    }
    i->current = 1;
    return OK;
}
int common_set(Instance *i, const uint32_t *vr, size_t n, const double *values) {
    for (size_t k = 0; k < n; k++) {
        REQUIRE(vr[k] < REALS && isfinite(values[k]), "no such value");
        REQUIRE(i->d.mode <= INITIALIZATION || is_input(vr[k]), "only inputs can be set now");
        REQUIRE(i->d.mode != CONTINUOUS || !is_discrete(vr[k]), "discrete inputs can be set at events only");
        i->d.r[vr[k]] = values[k];
    }
    i->current = 0;
    return OK;
}
int common_directional(Instance *i, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx, const double *seed, double *out) {
    double change[REALS] = {0};
    for (size_t k = 0; k < nx; k++) {
        REQUIRE(is_input(x[k]) || is_state(x[k]), "not a known variable");
        sensitivity(&i->d, x[k], seed[k], change);
    }
    for (size_t k = 0; k < ny; k++) {
        if (y[k] >= REALS) return ERROR;
        out[k] = change[y[k]];
    }
    return OK;
}
void *common_get_state(Instance *i, void *old) {
    if (i->d.fault == NO_STATE) return NULL;
    Data *copy = old ? old : malloc(sizeof(Data));
    *copy = i->d;
    return copy;
}
