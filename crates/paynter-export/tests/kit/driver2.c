/* Calls an FMU (FMI 2.0) as an importer does, and as one should not. Prints numbers and statuses, one per line. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *component;
typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} callbacks;
typedef struct { int again, terminate, nominals, values, has_next; double next; } event_info;

component fmi2Instantiate(const char *, int, const char *, const char *, const callbacks *, int, int);
void fmi2FreeInstance(component);
int fmi2SetupExperiment(component, int, double, double, int, double);
int fmi2EnterInitializationMode(component);
int fmi2ExitInitializationMode(component);
int fmi2Reset(component);
int fmi2Terminate(component);
int fmi2GetReal(component, const unsigned *, size_t, double *);
int fmi2SetReal(component, const unsigned *, size_t, const double *);
int fmi2SetInteger(component, const unsigned *, size_t, const int *);
int fmi2DoStep(component, double, double, int);
int fmi2GetFMUstate(component, void **);
int fmi2SetFMUstate(component, void *);
int fmi2FreeFMUstate(component, void **);
int fmi2SerializedFMUstateSize(component, void *, size_t *);
int fmi2SerializeFMUstate(component, void *, char *, size_t);
int fmi2DeSerializeFMUstate(component, const char *, size_t, void **);
int fmi2GetDirectionalDerivative(component, const unsigned *, size_t, const unsigned *, size_t, const double *, double *);
int fmi2NewDiscreteStates(component, event_info *);
int fmi2EnterContinuousTimeMode(component);
int fmi2EnterEventMode(component);
int fmi2GetEventIndicators(component, double *, size_t);
int fmi2GetDerivatives(component, double *, size_t);
int fmi2SetContinuousStates(component, const double *, size_t);
int fmi2GetContinuousStates(component, double *, size_t);
int fmi2SetTime(component, double);

static int n_messages;
static char last_message[600];
static void logger(void *e, const char *name, int status, const char *category, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_message, sizeof last_message, format, args);
    va_end(args);
    (void)e, (void)name, (void)status, (void)category;
    ++n_messages;
}

static const callbacks given = {logger, calloc, free, NULL, NULL};

/* Says whether a call that must fail did fail, and said why. */
static void must_fail(const char *what, int status)
{
    printf("%s %s\n", what, status == 3 && n_messages > 0 ? "refused" : "ACCEPTED");
    if (status == 3)
        printf("  %s\n", last_message);
    n_messages = 0;
}

static double get(component c, unsigned reference)
{
    double value = -1;
    if (fmi2GetReal(c, &reference, 1, &value))
        printf("ERROR %s\n", last_message);
    return value;
}

static component begin(int kind, double stop)
{
    component c = fmi2Instantiate("one", kind, GUID, "", &given, 0, 1);
    if (!c || fmi2SetupExperiment(c, 1, 1e-9, 0, stop > 0, stop))
        printf("ERROR\n");
    return c;
}

static void initialise(component c)
{
    if (fmi2EnterInitializationMode(c) || fmi2ExitInitializationMode(c))
        printf("ERROR %s\n", last_message);
}

int main(void)
{
    component c, other;
    void *saved = NULL, *copy = NULL;
    size_t size = 0;
    char *bytes;
    double nan_value = NAN, value, t;
    unsigned reference;
    int k;

    must_fail("a wrong GUID", fmi2Instantiate("x", 1, "{none}", "", &given, 0, 0) ? 0 : 3);
    c = begin(1, 1.5);
    must_fail("a step before the start", fmi2DoStep(c, 0, 0.1, 1));
    reference = PARAMETER;
    must_fail("a parameter that is no number", fmi2SetReal(c, &reference, 1, &nan_value));
    value = -1;
    must_fail("a parameter outside of its range", fmi2SetReal(c, &reference, 1, &value));
    value = 2;
    if (fmi2SetReal(c, &reference, 1, &value))
        printf("ERROR %s\n", last_message);
    reference = OUTPUT;
    must_fail("an output that is set", fmi2SetReal(c, &reference, 1, &value));
    reference = 9999;
    must_fail("a reference that is not there", fmi2SetReal(c, &reference, 1, &value));
    must_fail("an integer", fmi2SetInteger(c, &reference, 1, &k));
    initialise(c);
    reference = PARAMETER;
    must_fail("a parameter during the run", fmi2SetReal(c, &reference, 1, &value));
    must_fail("a second initialization", fmi2EnterInitializationMode(c));
    must_fail("a step from elsewhere", fmi2DoStep(c, 0.7, 0.1, 1));
    must_fail("a step backwards", fmi2DoStep(c, 0, -0.1, 1));
    must_fail("a step that is no number", fmi2DoStep(c, 0, NAN, 1));

    /* In fifteen communication steps, with the state saved in the middle. */
    for (k = 0; k < 15; ++k) {
        if (k == 5 && fmi2GetFMUstate(c, &saved))
            printf("ERROR %s\n", last_message);
        if (fmi2DoStep(c, 0.1 * k, 0.1 * (k + 1) - 0.1 * k, 1))
            printf("ERROR %s\n", last_message);
    }
    printf("end %.17g\n", get(c, OUTPUT));
    must_fail("a step beyond the stop time", fmi2DoStep(c, 1.5, 0.1, 1));
    if (fmi2SerializedFMUstateSize(c, saved, &size))
        printf("ERROR\n");
    bytes = (char *)malloc(size);
    if (fmi2SerializeFMUstate(c, saved, bytes, size) || fmi2DeSerializeFMUstate(c, bytes, size, &copy))
        printf("ERROR\n");

    /* Another instance goes on from the saved state and comes to the same end. */
    other = begin(1, 1.5);
    initialise(other);
    if (fmi2SetFMUstate(other, copy))
        printf("ERROR %s\n", last_message);
    for (k = 5; k < 15; ++k)
        if (fmi2DoStep(other, 0.1 * k, 0.1 * (k + 1) - 0.1 * k, 1))
            printf("ERROR %s\n", last_message);
    printf("same %d\n", get(c, OUTPUT) == get(other, OUTPUT));
    if (fmi2Reset(other))
        printf("ERROR\n");
    fmi2FreeFMUstate(c, &saved);
    fmi2FreeFMUstate(c, &copy);
    free(bytes);
    fmi2Terminate(c);
    must_fail("a step after the end", fmi2DoStep(c, 1.5, 0.1, 1));
    fmi2FreeInstance(c);
    fmi2FreeInstance(other);

    /* Model Exchange: derivatives along a direction against differences; events by bisection. */
    c = begin(0, 0);
    reference = PARAMETER;
    value = 2;
    fmi2SetReal(c, &reference, 1, &value);
    initialise(c);
    {
        double x[N_STATES], f0[N_STATES], f1[N_STATES], d, z[2], z1[2], h = 1e-3;
        const unsigned rate = RATE, state = STATE;
        const double seed = 1;
        event_info info;
        must_fail("states in the wrong mode", fmi2EnterEventMode(c) ? 3 : (n_messages = 1, fmi2GetFMUstate(NULL, NULL)));
        if (fmi2NewDiscreteStates(c, &info) || fmi2EnterContinuousTimeMode(c))
            printf("ERROR %s\n", last_message);
        fmi2GetContinuousStates(c, x, N_STATES);
        fmi2GetDerivatives(c, f0, N_STATES);
        if (fmi2GetDirectionalDerivative(c, &rate, 1, &state, 1, &seed, &d))
            printf("ERROR %s\n", last_message);
        x[STATE - 1] += 1e-6;
        fmi2SetContinuousStates(c, x, N_STATES);
        fmi2GetDerivatives(c, f1, N_STATES);
        printf("slope %.17g %.17g\n", d, (f1[RATE - 1 - N_STATES] - f0[RATE - 1 - N_STATES]) / 1e-6);
        x[STATE - 1] -= 1e-6;
        /* Euler steps are exact enough to come to the first event. */
        for (t = 0, k = 0; k < 2000; ++k) {
            int i, has = 0;
            fmi2SetTime(c, t);
            fmi2SetContinuousStates(c, x, N_STATES);
            fmi2GetEventIndicators(c, z, 2);
            fmi2GetDerivatives(c, f0, N_STATES);
            for (i = 0; i < N_STATES; ++i)
                x[i] += h * f0[i];
            t += h;
            fmi2SetTime(c, t);
            fmi2SetContinuousStates(c, x, N_STATES);
            fmi2GetEventIndicators(c, z1, 2);
            has = (z[0] > 0) != (z1[0] > 0) || (z[1] > 0) != (z1[1] > 0);
            if (has) {
                fmi2EnterEventMode(c);
                fmi2NewDiscreteStates(c, &info);
                fmi2EnterContinuousTimeMode(c);
                fmi2GetContinuousStates(c, x, N_STATES);
                if (info.values)
                    break;
            }
        }
        printf("event %.17g\n", t);
    }
    fmi2FreeInstance(c);
    return 0;
}
