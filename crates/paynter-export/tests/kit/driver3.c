/* Calls an FMU (FMI 3.0) as an importer does, and as one should not. Prints numbers and statuses, one per line. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *instance;
typedef void (*log_callback)(void *, int, const char *, const char *);

instance fmi3InstantiateCoSimulation(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t[],
                                     size_t, void *, log_callback, void (*)(void));
instance fmi3InstantiateModelExchange(const char *, const char *, const char *, bool, bool, void *, log_callback);
void fmi3FreeInstance(instance);
int fmi3EnterInitializationMode(instance, bool, double, double, bool, double);
int fmi3ExitInitializationMode(instance);
int fmi3Terminate(instance);
int fmi3Reset(instance);
int fmi3GetFloat64(instance, const uint32_t[], size_t, double[], size_t);
int fmi3SetFloat64(instance, const uint32_t[], size_t, const double[], size_t);
int fmi3GetInt32(instance, const uint32_t[], size_t, int32_t[], size_t);
int fmi3GetClock(instance, const uint32_t[], size_t, bool[]);
int fmi3DoStep(instance, double, double, bool, bool *, bool *, bool *, double *);
int fmi3GetFMUState(instance, void **);
int fmi3SetFMUState(instance, void *);
int fmi3FreeFMUState(instance, void **);
int fmi3UpdateDiscreteStates(instance, bool *, bool *, bool *, bool *, bool *, double *);
int fmi3EnterContinuousTimeMode(instance);
int fmi3EnterEventMode(instance);
int fmi3SetTime(instance, double);
int fmi3GetContinuousStates(instance, double[], size_t);
int fmi3SetContinuousStates(instance, const double[], size_t);
int fmi3GetContinuousStateDerivatives(instance, double[], size_t);

static int n_messages;
static char last_message[600];
static void logger(void *e, int status, const char *category, const char *message)
{
    (void)e, (void)status, (void)category;
    snprintf(last_message, sizeof last_message, "%s", message);
    ++n_messages;
}

/* Says whether a call that must fail did fail, and said why. */
static void must_fail(const char *what, int status)
{
    printf("%s %s\n", what, status == 3 && n_messages > 0 ? "refused" : "ACCEPTED");
    n_messages = 0;
}

static void must_work(int status)
{
    if (status)
        printf("ERROR %s\n", last_message);
}

static double get(instance c, uint32_t reference)
{
    double value = -1;
    must_work(fmi3GetFloat64(c, &reference, 1, &value, 1));
    return value;
}

static instance co_simulation(bool early_return)
{
    instance c = fmi3InstantiateCoSimulation("one", TOKEN, "", false, true, false, early_return, NULL, 0, NULL, logger, NULL);
    if (!c)
        printf("ERROR no instance\n");
    return c;
}

static void initialise(instance c, bool has_stop, double stop)
{
    must_work(fmi3EnterInitializationMode(c, true, 1e-9, 0, has_stop, stop));
    must_work(fmi3ExitInitializationMode(c));
}

/* To `stop` in steps of this length, through early returns; gives how often a step returned early. */
static int run(instance c, double begin, double stop, double step)
{
    bool event_needed, terminate, early;
    double t = begin, reached = 0;
    int n_early = 0;
    long k = 1;
    while (t < stop) {
        const double next = begin + k * step < stop - 1e-9 ? begin + k * step : stop;
        must_work(fmi3DoStep(c, t, next - t, true, &event_needed, &terminate, &early, &reached));
        n_early += early;
        k += !early;
        if (reached <= t) {
            printf("ERROR no progress at %.17g\n", t);
            return n_early;
        }
        t = reached;
    }
    return n_early;
}

int main(void)
{
    instance c, other;
    void *saved = NULL;
    bool a, b, d, e, has_next, ticks[2];
    const uint32_t clocks[2] = {CLOCK, CLOCK};
    uint32_t reference = INPUT;
    double value = 2, next = 0, nan_value = NAN, x[N_STATES], f[N_STATES], t;
    int32_t whole;
    int k, n_ticks = 0;

    must_fail("a wrong token", fmi3InstantiateModelExchange("x", "none", "", false, false, NULL, logger) ? 0 : 3);
    c = co_simulation(false);
    must_fail("a step before the start", fmi3DoStep(c, 0, 0.1, true, &a, &b, &d, &t));
    must_fail("an input that is no number", fmi3SetFloat64(c, &reference, 1, &nan_value, 1));
    must_fail("more values than variables", fmi3SetFloat64(c, &reference, 1, &value, 2));
    must_fail("a stop before the start", fmi3EnterInitializationMode(c, false, 0, 1, true, 0.5));
    must_fail("an integer", fmi3GetInt32(c, &reference, 1, &whole, 1));
    initialise(c, true, 3);
    reference = CLOCK;
    must_fail("a clock read as a number", fmi3GetFloat64(c, &reference, 1, &value, 1));
    must_fail("a clock outside of event mode", fmi3GetClock(c, clocks, 1, ticks));
    must_fail("a step beyond the stop time", fmi3DoStep(c, 0, 3.5, true, &a, &b, &d, &t));

    /* Steps of any length come to the same end, on the way through a saved state as well. */
    run(c, 0, 1.234, 0.05);
    must_work(fmi3GetFMUState(c, &saved));
    run(c, 1.234, 3, 0.003);
    printf("fine %.17g\n", get(c, OUTPUT));
    printf("residual %.17g\n", get(c, RESIDUAL));
    other = co_simulation(false);
    initialise(other, true, 3);
    run(other, 0, 3, 3);
    printf("whole %.17g\n", get(other, OUTPUT));
    must_work(fmi3SetFMUState(other, saved));
    run(other, 1.234, 3, 0.003);
    printf("same %d\n", get(c, OUTPUT) == get(other, OUTPUT));
    must_work(fmi3FreeFMUState(c, &saved));

    /* An input that changes in the middle of a step that looked ahead. */
    must_work(fmi3Reset(other));
    initialise(other, true, 3);
    run(other, 0, 1, 0.01);
    reference = INPUT;
    value = 2;
    must_work(fmi3SetFloat64(other, &reference, 1, &value, 1));
    run(other, 1, 3, 0.01);
    printf("changed %.17g\n", get(other, OUTPUT));
    must_work(fmi3Terminate(c));
    fmi3FreeInstance(c);
    fmi3FreeInstance(other);

    /* Every tick ends a step early. */
    c = co_simulation(true);
    initialise(c, false, 0);
    printf("early %d\n", run(c, 0, 2.95, 2.95));
    fmi3FreeInstance(c);

    /* Model Exchange: the clock ticks at every time event, once. */
    c = fmi3InstantiateModelExchange("two", TOKEN, "", false, true, NULL, logger);
    initialise(c, false, 0);
    must_work(fmi3UpdateDiscreteStates(c, &a, &b, &d, &e, &has_next, &next));
    must_work(fmi3EnterContinuousTimeMode(c));
    t = 0;
    while (has_next && next < 1.05) {
        must_work(fmi3GetContinuousStates(c, x, N_STATES));
        must_work(fmi3GetContinuousStateDerivatives(c, f, N_STATES));
        for (k = 0; k < N_STATES; ++k)
            x[k] += (next - t) * f[k];
        must_work(fmi3SetTime(c, next));
        must_work(fmi3SetContinuousStates(c, x, N_STATES));
        must_work(fmi3EnterEventMode(c));
        must_work(fmi3GetClock(c, clocks, 2, ticks));
        n_ticks += ticks[0];
        if (ticks[1])
            printf("ERROR a tick is told twice\n");
        t = next;
        must_work(fmi3UpdateDiscreteStates(c, &a, &b, &d, &e, &has_next, &next));
        must_work(fmi3GetClock(c, clocks, 1, ticks));
        if (ticks[0])
            printf("ERROR a tick after the event\n");
        must_work(fmi3EnterContinuousTimeMode(c));
    }
    printf("ticks %d\n", n_ticks);
    fmi3FreeInstance(c);
    return 0;
}
