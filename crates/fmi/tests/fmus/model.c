/* Test FMUs of costep: the models Lag, S1, S2 and Fault. MIT OR Apache-2.0. */
#include "common.h"
#include <unistd.h>

int dead = 0;

int refuses(uint32_t reference) {
#ifdef REFUSED
    return reference == REFUSED;
#else
    (void)reference;
    return 0;
#endif
}

#if defined(LAG) || defined(FAULT)
#ifdef GLOBAL_STATE
/* One state for all instances: only one per process works. */
static double state;
#define STATE(i) state
#else
#define STATE(i) ((i)->d.x[0])
#endif
/* u(0), y(1), T(10), x0(11), at(12), der(y)(20) */
void start_values(Instance *i) { i->d.r[10] = 1.0; }
void initialise(Instance *i) { STATE(i) = i->d.r[11]; }
void outputs(Instance *i) {
    i->d.r[1] = STATE(i);
    i->d.r[20] = (i->d.r[0] - STATE(i)) / i->d.r[10];
}
void advance(Instance *i, double h) { STATE(i) += h * (i->d.r[0] - STATE(i)) / i->d.r[10]; }
int is_input(uint32_t reference) { return reference == 0; }
void sensitivity(const Instance *i, uint32_t known, double seed, double change[REALS]) {
    if (known == 1) { change[1] += seed; change[20] -= seed / i->d.r[10]; }
    if (known == 0) change[20] += seed / i->d.r[10];
}
#else
static int micro_steps(double h, double micro) {
    int steps = (int)ceil(h / micro * (1.0 - 1e-9));
    return steps < 1 ? 1 : steps;
}
static double input(const Instance *i, uint32_t vr, double s) {
    double value = 0.0, factorial[ORDERS] = {1.0, 2.0, 6.0, 24.0};
    for (int a = ORDERS - 1; a >= 0; a--) value = value * s + i->d.du[a][vr] / factorial[a];
    return value * s + i->d.r[vr];
}
static void rates(const Instance *i, double s, double rate[2]);
void advance(Instance *i, double h) {
    double rate[2], *x = i->d.x;
#ifdef S1
    int steps = micro_steps(h, i->d.r[15]);
#else
    int steps = micro_steps(h, i->d.r[17]);
#endif
    double dt = h / steps;
    for (int k = 0; k < steps; k++) {
        rates(i, k * dt, rate);
        x[0] += dt * rate[0];
        x[1] += dt * rate[1];
        if (i->between) i->between(i, k + 1 == steps ? i->d.time + h : i->d.time + (k + 1) * dt);
    }
    for (uint32_t vr = 0; vr < REALS; vr++) {
        /* Derivatives stay until they are set again. */
        if (is_input(vr)) i->d.r[vr] = input(i, vr, h);
    }
}
#ifdef S1
/* F(0), x(1), v(2), m c d x0 v0 h (10..15), derivatives (20, 21) */
void start_values(Instance *i) {
    double p[] = {10.0, 1e6, 1.0, 0.1, 0.0, 1e-5};
    memcpy(i->d.r + 10, p, sizeof p);
}
void initialise(Instance *i) { i->d.x[0] = i->d.r[13]; i->d.x[1] = i->d.r[14]; }
static void rates(const Instance *i, double s, double rate[2]) {
    const double *p = i->d.r + 10, *x = i->d.x;
    rate[0] = x[1];
    rate[1] = (-p[1] * x[0] - p[2] * x[1] + input(i, 0, s)) / p[0];
}
void outputs(Instance *i) {
    i->d.r[1] = i->d.x[0];
    i->d.r[2] = i->d.x[1];
    rates(i, 0.0, i->d.r + 20);
}
int is_input(uint32_t reference) { return reference == 0; }
void sensitivity(const Instance *i, uint32_t known, double seed, double change[REALS]) {
    const double *p = i->d.r + 10;
    if (known == 0) change[21] += 1.0 / p[0] * seed;
    if (known == 1) { change[1] += seed; change[21] += -p[1] / p[0] * seed; }
    if (known == 2) { change[2] += seed; change[20] += seed; change[21] += -p[2] / p[0] * seed; }
}
#else
/* u1(0), u2(3), F(1), x(2), v(4), m c d ck dk x0 v0 h (10..17), derivatives (20, 21) */
void start_values(Instance *i) {
    double p[] = {10.0, 1e7, 2.0, 1e5, 1e3, 0.0, 0.0, 1e-5};
    memcpy(i->d.r + 10, p, sizeof p);
}
void initialise(Instance *i) { i->d.x[0] = i->d.r[15]; i->d.x[1] = i->d.r[16]; }
static double force(const Instance *i, double s) {
    const double *p = i->d.r + 10, *x = i->d.x;
    return p[3] * (x[0] - input(i, 0, s)) + p[4] * (x[1] - input(i, 3, s));
}
static void rates(const Instance *i, double s, double rate[2]) {
    const double *p = i->d.r + 10, *x = i->d.x;
    rate[0] = x[1];
    rate[1] = (-p[1] * x[0] - p[2] * x[1] - force(i, s)) / p[0];
}
void outputs(Instance *i) {
    i->d.r[1] = force(i, 0.0);
    i->d.r[2] = i->d.x[0];
    i->d.r[4] = i->d.x[1];
    rates(i, 0.0, i->d.r + 20);
}
int is_input(uint32_t reference) { return reference == 0 || reference == 3; }
void sensitivity(const Instance *i, uint32_t known, double seed, double change[REALS]) {
    const double *p = i->d.r + 10;
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
#endif
#endif

int common_enter(Instance *i, double start) {
    misbehave(i, AT_INIT);
    if (i->d.fault == ERROR_ENTER) { i->log(i, ERROR, "no initial state"); return ERROR; }
    i->d.time = start;
    initialise(i);
    outputs(i);
    return OK;
}

int common_exit(Instance *i) {
    if (i->d.fault == ERROR_EXIT) { i->log(i, ERROR, "did not converge"); return ERROR; }
    i->stepping = 1;
    i->dirty = 0;
#ifdef LATE_OUTPUTS
    i->d.x[0] += 0.5;
    outputs(i);
#endif
    return OK;
}

int common_get(Instance *i, const uint32_t *vr, size_t n, double *values) {
    if (i->stepping) misbehave(i, AT_GET);
    if (n == 0) { i->log(i, ERROR, "a get of nothing"); return ERROR; }
    if (i->d.fault == ERROR_GET && i->stepping) { i->log(i, ERROR, "get failed"); return ERROR; }
    if (i->d.fault == DISCARD_GET && i->stepping) { i->log(i, DISCARD, "not now"); return DISCARD; }
    if (i->inside) outputs(i);
    else if (i->stepping && i->dirty) { i->log(i, ERROR, "an input was set and no step done before a get"); return ERROR; }
    if (!i->stepping) outputs(i);
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= REALS) return ERROR;
        values[k] = i->d.r[vr[k]];
    }
    if (i->stepping && n > 0 && i->d.time >= i->d.r[12]) {
        if (i->d.fault == NAN_OUTPUT) values[0] = NAN;
        if (i->d.fault == INFINITE_OUTPUT) values[0] = -INFINITY;
        if (i->d.fault == DENORMAL_OUTPUT) values[0] = 1e-310;
    }
    return OK;
}

int common_set(Instance *i, const uint32_t *vr, size_t n, const double *values) {
    if (i->stepping) misbehave(i, AT_SET);
    if (i->d.fault == ERROR_SET && i->stepping) { i->log(i, ERROR, "set failed"); return ERROR; }
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= REALS || refuses(vr[k])) return ERROR;
        i->d.r[vr[k]] = values[k];
    }
    i->dirty = 1;
    return OK;
}

int common_step(Instance *i, double start, double h) {
#ifdef CHECKS_STEPS
    /* As tools do: nothing behind the stop time, and no step of another length. */
    if (start + h > i->stop) { i->log(i, ERROR, "behind the stop time"); return ERROR; }
    if (i->length != 0.0 && i->length != h) { i->log(i, ERROR, "a step of another length"); return ERROR; }
    i->length = h;
#endif
    i->reached = start + h;
    i->event = 0;
    i->d.time = start;
    /* A short step beyond the tolerance of `at` is done. */
    if (i->d.fault == DISCARD_LONG && start + h > i->d.r[12] + 1e-9 && h > 0.06) {
        i->reached = start + 0.5 * h;
        i->d.x[0] = 1e30;
        return DISCARD;
    }
    if (i->d.fault == SEGV_SHORT && h < 0.06) *(volatile int *)0 = 1;
    if (i->d.fault == HANG_SHORT && h < 0.06) for (;;) sleep(1);
    if (i->d.fault == EVENT_STEP && i->events && start < i->d.r[12] && start + h > i->d.r[12]) {
        /* Comes as far as the event, and returns. */
        h = i->d.r[12] - start;
        i->reached = i->d.r[12];
        i->event = 1;
    }
    if (start >= i->d.r[12] - 1e-9) switch (i->d.fault) {
    case ERROR_STEP: i->log(i, ERROR, "the solver failed"); return ERROR;
    case FORMAT_TEXT: i->log(i, ERROR, "#r1#: %d %g %s%n%n%y%s 100 %"); return ERROR;
    case FATAL_STEP: i->log(i, FATAL, "memory is corrupt"); dead = 1; return FATAL;
    case PENDING_STEP: return PENDING;
    case STRANGE_STATUS: return 42;
    case DISCARD_STEP: case DISCARD_MUTE: case EARLY_RETURN: case END_SIMULATION:
        i->reached = start + 0.5 * h;
        return DISCARD;
    case TIME_STANDS: i->reached = start; i->dirty = 0; return OK;
    case LOG_FLOOD: for (int k = 0; k < 100000; k++) i->log(i, OK, "still here"); break;
    default: misbehave(i, AT_STEP); break;
    }
    advance(i, h);
    outputs(i);
    i->d.time = start + h;
    i->dirty = 0;
    if (start >= i->d.r[12] - 1e-9) {
        if (i->d.fault == END_AT_POINT) return DISCARD;
        if (i->d.fault == MISSES_A_LITTLE) i->reached += 0.01 * h;
        if (i->d.fault == MISSES_MUCH) i->reached += 0.2 * h;
    }
    if (i->d.fault != WARN_STEP || start < i->d.r[12] - 1e-9) return OK;
    i->log(i, WARNING, "the table has been left:\n its last value is used");
    return WARNING;
}

int common_directional(Instance *i, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx, const double *seed, double *out) {
    double change[REALS] = {0};
    for (size_t k = 0; k < nx; k++) sensitivity(i, x[k], seed[k], change);
#ifdef WRONG_DERIVATIVES
    for (size_t k = 0; k < REALS; k++) change[k] *= 1.5;
#endif
    for (size_t k = 0; k < ny; k++) {
        if (y[k] >= REALS) return ERROR;
        out[k] = change[y[k]];
    }
    return OK;
}

int common_output_derivatives(Instance *i, const uint32_t *vr, size_t n, const int *orders, double *out) {
    outputs(i);
    for (size_t k = 0; k < n; k++) {
        if (orders[k] != 1 || vr[k] < 1 || vr[k] > 2) return ERROR;
        out[k] = i->d.r[19 + vr[k]];
    }
    return OK;
}

void *common_get_state(Instance *i, void *old) {
    misbehave(i, AT_STATE);
    if (i->d.fault == NO_STATE) return NULL;
    Data *copy = old ? old : malloc(sizeof(Data));
    *copy = i->d;
    return copy;
}

void common_set_state(Instance *i, const void *state) {
    i->d = *(const Data *)state;
    if (i->d.fault == WRONG_RESTORE) i->d.x[0] *= 1.0 + 1e-9;
    i->dirty = 0;
}
