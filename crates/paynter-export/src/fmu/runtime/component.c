
/* ---- a functional mock-up unit ------------------------------------------------------------------------------------ */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define FMI_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI_EXPORT __attribute__((visibility("default")))
#else
#define FMI_EXPORT
#endif

enum phase { INSTANTIATED = 1, INITIALIZING = 2, EVENT_MODE = 4, CONTINUOUS = 8, STEPPING = 16, TERMINATED = 32, FAILED = 64 };
enum { LOG_ERROR, LOG_WARNING, LOG_INFO };
/* Without a stop time, steps reach at most so many communication steps ahead. */
enum { LOOK_AHEAD = 100 };

typedef struct component component;
typedef void (*log_function)(component *, int level, const char *text);

struct component {
    M m;
    integrator in;
    int is_cosimulation, phase, is_logging, is_stale, needs_start, needs_projection;
    int early_return, has_stop, has_ended;
    /* Clocks whose tick at this instant was told. */
    signed char is_told[ROOM(N_CLOCKS)];
    double start, stop, tolerance;
    double dx[ROOM(N_X)], y[ROOM(N_Y)], z[ROOM(N_GUARDS)];
    /* Of this instance, never part of a saved state. */
    log_function log;
    void *environment, *callbacks;
    char *name;
    char token[64];
};

/* Writes a message; gives 0 for "failed", so that it ends an expression. */
static int complain(component *c, int level, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (c->log && (level != LOG_INFO || c->is_logging))
        c->log(c, level, text);
    return 0;
}

static int explain(component *c, const char *what, int status)
{
    if (status == STATUS_OK)
        return 1;
    return complain(c, LOG_ERROR, "%s: %s (t = %.9g s)", what, @P@_message(&c->m, status), c->m.t);
}

/* Refuses a call in a phase in which the standard does not allow it. */
static int allowed(component *c, int phases, const char *function)
{
    if (c->phase & phases)
        return 1;
    return complain(c, LOG_ERROR, "%s: not allowed in this state", function);
}

static void set_defaults(component *c)
{
    @P@_defaults(&c->m);
    memset(&c->in, 0, sizeof c->in);
    c->in.rtol = default_tolerance;
    c->start = default_start;
    c->has_stop = c->has_ended = c->needs_projection = 0;
    c->phase = INSTANTIATED;
    c->needs_start = c->is_stale = 1;
    c->m.t = default_start;
    @P@_parameters_changed(&c->m);
}

static int find_consistent_start(component *c)
{
    if (!c->needs_start)
        return 1;
    if (!explain(c, "start", @P@_init(&c->m, c->start)) || !explain(c, "start", project(&c->m)) ||
        !explain(c, "start", balance_of_energy(&c->m, &c->in.balance)))
        return 0;
    c->needs_start = 0;
    c->is_stale = 1;
    return 1;
}

/* Rates and outputs at the present point. */
static int refresh(component *c)
{
    if (c->phase == INITIALIZING && !find_consistent_start(c))
        return 0;
    if (!c->is_stale)
        return 1;
    if (!explain(c, "derivatives", @P@_derivatives(&c->m, c->dx)) || !explain(c, "outputs", @P@_outputs(&c->m, c->y)))
        return 0;
    c->is_stale = 0;
    return 1;
}

static double *parameter(component *c, int index) { return (double *)(void *)&c->m.p + index; }

static int get_value(component *c, unsigned reference, double *value)
{
    const variable_row *v;
    if (reference >= N_REFERENCES)
        return complain(c, LOG_ERROR, "there is no variable with reference %u", reference);
    v = &references[reference];
    switch (v->kind) {
    case OF_TIME: *value = c->m.t; return 1;
    case OF_PARAMETER: case OF_BOUND:
        if (v->kind == OF_BOUND && c->needs_start)
            @P@_parameters_changed(&c->m);
        *value = *parameter(c, v->index);
        return 1;
    case OF_NUMBER: *value = v->low; return 1;
    case OF_INPUT: *value = c->m.u[v->index]; return 1;
    case OF_STATE:
        if (c->phase == INITIALIZING && !find_consistent_start(c))
            return 0;
        *value = c->m.x[v->index];
        return 1;
    case OF_CLOCK: return complain(c, LOG_ERROR, "%s is a clock", v->name);
    default:
        if (c->phase == INSTANTIATED && !find_consistent_start(c))
            return 0;
        if (!refresh(c))
            return 0;
        if (v->kind == OF_GUARD) {
            if (!explain(c, "event indicators", @P@_guards(&c->m, c->z)))
                return 0;
            *value = c->z[v->index];
            return 1;
        }
        if (v->kind == OF_AUDIT) {
            *value = c->y[v->index] - c->in.balance;
            return 1;
        }
        *value = v->kind == OF_RATE ? c->dx[v->index] : (v->kind == OF_DISCRETE ? c->m.d[v->index] : c->y[v->index]);
        return 1;
    }
}

static int set_value(component *c, unsigned reference, double value)
{
    const variable_row *v;
    if (reference >= N_REFERENCES)
        return complain(c, LOG_ERROR, "there is no variable with reference %u", reference);
    v = &references[reference];
    if (!is_finite(value))
        return complain(c, LOG_ERROR, "%s: the value is not a finite number", v->name);
    switch (v->kind) {
    case OF_INPUT:
        c->m.u[v->index] = value;
        break;
    case OF_PARAMETER:
        if (!(c->phase & (INSTANTIATED | INITIALIZING)))
            return complain(c, LOG_ERROR, "%s: a parameter is set before the run begins", v->name);
        if (value < v->low || value > v->high)
            return complain(c, LOG_ERROR, "%s: %.9g is outside of its range %.9g .. %.9g", v->name, value, v->low, v->high);
        *parameter(c, v->index) = value;
        break;
    case OF_STATE:
        if (!(c->phase & (INSTANTIATED | INITIALIZING)))
            return complain(c, LOG_ERROR, "%s: a state is set before the run begins", v->name);
        if (v->low > 0)
            return complain(c, LOG_ERROR, "%s: its start follows from parameters and other starts", v->name);
        c->m.x[v->index] = value;
        break;
    default: return complain(c, LOG_ERROR, "%s cannot be set", v->name);
    }
    c->is_stale = 1;
    if (c->phase & (INSTANTIATED | INITIALIZING))
        c->needs_start = 1;
    return 1;
}

static int enter_initialization(component *c)
{
    c->m.t = c->start;
    c->needs_start = 1;
    c->phase = INITIALIZING;
    return 1;
}

static int exit_initialization(component *c)
{
    if (!find_consistent_start(c))
        return 0;
    c->phase = c->is_cosimulation ? STEPPING : EVENT_MODE;
    c->is_stale = 1;
    return 1;
}

/* Everything that happens at the present instant. Gives 0 on failure. */
static int handle_event(component *c, int *has_moved, int *has_ended)
{
    double before[ROOM(N_X)];
    int i, status;
    memcpy(before, c->m.x, sizeof c->m.x);
    memset(c->is_told, 0, sizeof c->is_told);
    c->is_stale = 1;
    if (c->needs_projection && !explain(c, "constraints", project(&c->m)))
        return 0;
    c->needs_projection = 0;
    status = react_and_balance(&c->m, &c->in, (const signed char *)0);
    *has_ended = status == STATUS_STOP;
    if (*has_ended)
        complain(c, LOG_INFO, "%s", @P@_message(&c->m, status));
    else if (!explain(c, "event", status))
        return 0;
    *has_moved = 0;
    for (i = 0; i < N_X; ++i)
        *has_moved |= before[i] != c->m.x[i];
    return 1;
}

/* After a step of somebody else's integrator: tells whether the state has left its constraints. */
static int has_drifted(component *c)
{
#if N_CONSTRAINTS > 0
    const double gap = row_gaps(&c->m, routine_constraints, (const int *)0, (const real *)0, N_CONSTRAINTS);
    c->needs_projection = !(gap <= R_MET);
    return c->needs_projection;
#else
    (void)c;
    return 0;
#endif
}

static int event_indicators(component *c, double *z)
{
    return explain(c, "event indicators", @P@_guards(&c->m, z));
}

/* Directional derivatives of rates and outputs along states and inputs. */
static int directional(component *c, const unsigned *unknown, unsigned long n_unknown, const unsigned *known,
                       unsigned long n_known, const double *seeds, double *out)
{
    double rates[ROOM(N_X)], outputs[ROOM(N_Y)];
    unsigned long k;
    int i;
    M *m = &c->m;
    if (c->phase == INITIALIZING && !find_consistent_start(c))
        return 0;
    m->time_seed = 0;
    for (i = 0; i < N_X; ++i)
        m->x_seed[i] = 0;
    for (i = 0; i < N_U; ++i)
        m->u_seed[i] = 0;
    for (k = 0; k < n_known; ++k) {
        if (known[k] >= N_REFERENCES || (references[known[k]].kind != OF_STATE && references[known[k]].kind != OF_INPUT &&
                                         references[known[k]].kind != OF_TIME))
            return complain(c, LOG_ERROR, "derivatives are taken with respect to states and inputs only");
        if (references[known[k]].kind == OF_STATE)
            m->x_seed[references[known[k]].index] = seeds[k];
        else if (references[known[k]].kind == OF_INPUT)
            m->u_seed[references[known[k]].index] = seeds[k];
        else
            m->time_seed = seeds[k];
    }
    c->is_stale = 1;
    if (!explain(c, "derivatives", routine_rates(m, c->dx)) || !explain(c, "derivatives", tangent_rates(m, rates)) ||
        !explain(c, "derivatives", routine_outputs(m, c->y)) || !explain(c, "derivatives", tangent_outputs(m, outputs)))
        return 0;
    for (k = 0; k < n_unknown; ++k) {
        const variable_row *v = unknown[k] < N_REFERENCES ? &references[unknown[k]] : (const variable_row *)0;
        if (!v || (v->kind != OF_RATE && v->kind != OF_OUTPUT && v->kind != OF_STATE))
            return complain(c, LOG_ERROR, "derivatives are taken of rates and outputs only");
        out[k] = v->kind == OF_RATE ? rates[v->index] : (v->kind == OF_OUTPUT ? outputs[v->index] : m->x_seed[v->index]);
    }
    return 1;
}

/* One communication step. `*reached` is how far it came. */
static int communication_step(component *c, double point, double step, int *has_event, int *has_ended, double *reached)
{
    const double tiny = 1e-9 * larger(absolute(point), step);
    double target = point + step;
    int status;
    *has_event = *has_ended = 0;
    *reached = c->m.t;
    if (c->has_ended)
        return complain(c, LOG_ERROR, "doStep: the model has ended the run at t = %.9g s", c->m.t);
    if (!is_finite(point) || !is_finite(step) || step <= 0)
        return complain(c, LOG_ERROR, "doStep: the step must be a positive number");
    if (absolute(point - c->m.t) > tiny)
        return complain(c, LOG_ERROR, "doStep: begins at t = %.17g s, but the model is at t = %.17g s", point, c->m.t);
    if (c->has_stop && target > c->stop + tiny)
        return complain(c, LOG_ERROR, "doStep: t = %.9g s is beyond the stop time %.9g s", target, c->stop);
    if (c->has_stop && absolute(target - c->stop) <= 8 * EPSILON * absolute(c->stop))
        target = c->stop;
    c->is_stale = 1;
    status = integrate(&c->m, &c->in, target, c->has_stop ? larger(c->stop, target) : target + LOOK_AHEAD * step,
                       c->early_return, has_event);
    *reached = c->m.t;
    if (status == STATUS_STOP) {
        complain(c, LOG_INFO, "%s", @P@_message(&c->m, status));
        *has_ended = c->has_ended = 1;
        return 1;
    }
    if (!explain(c, "doStep", status)) {
        complain(c, LOG_INFO, "after %lu steps, %lu rejected", c->in.steps, c->in.rejected);
        return 0;
    }
    return 1;
}

/* Says at the end what Co-Simulation has done. */
static void tell_work(component *c)
{
    if (c->is_cosimulation)
        complain(c, LOG_INFO, "%lu steps, %lu rejected, %lu evaluations, %lu events", c->in.steps, c->in.rejected,
                 c->m.evaluations, c->m.events);
}

static component *make_component(const char *name, const char *token, int is_cosimulation, log_function log,
                                 void *callbacks, void *environment, int is_logging)
{
    component *c = (component *)calloc(1, sizeof *c);
    const char *given = name ? name : "";
    if (!c)
        return c;
    c->log = log;
    c->callbacks = callbacks;
    c->environment = environment;
    c->is_logging = is_logging;
    c->is_cosimulation = is_cosimulation;
    c->name = (char *)calloc(strlen(given) + 1, 1);
    if (c->name)
        strcpy(c->name, given);
    if (!token || strcmp(token, instantiation_token) != 0) {
        complain(c, LOG_ERROR, "instantiate: the GUID or token is not that of this model");
        free(c->name);
        free(c);
        return (component *)0;
    }
    set_defaults(c);
    return c;
}

static void free_component(component *c)
{
    if (c) {
        free(c->name);
        free(c);
    }
}

/* A saved state is a copy without what belongs to one instance. */
static int save_state(component *c, void **state)
{
    component *copy = (component *)*state;
    if (!copy)
        copy = (component *)malloc(sizeof *copy);
    if (!copy)
        return complain(c, LOG_ERROR, "no memory for a state");
    *copy = *c;
    copy->log = (log_function)0;
    copy->environment = copy->callbacks = (void *)0;
    copy->name = (char *)0;
    memcpy(copy->token, instantiation_token, strlen(instantiation_token) + 1);
    *state = copy;
    return 1;
}

static int restore_state(component *c, const void *state)
{
    const component *from = (const component *)state;
    component own;
    if (!from || strcmp(from->token, instantiation_token) != 0)
        return complain(c, LOG_ERROR, "this is no state of this model");
    own = *c;
    *c = *from;
    c->log = own.log;
    c->environment = own.environment;
    c->callbacks = own.callbacks;
    c->name = own.name;
    c->is_logging = own.is_logging;
    c->is_cosimulation = own.is_cosimulation;
    return 1;
}
