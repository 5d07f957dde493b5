/* Runs an FMU (FMI 2.0) in Co-Simulation to STOP, in N and in one communication steps, and prints its output and its
   audit at the end, and the work it took. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *component;
typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} callbacks;

component fmi2Instantiate(const char *, int, const char *, const char *, const callbacks *, int, int);
void fmi2FreeInstance(component);
int fmi2SetupExperiment(component, int, double, double, int, double);
int fmi2EnterInitializationMode(component);
int fmi2ExitInitializationMode(component);
int fmi2Terminate(component);
int fmi2GetReal(component, const unsigned *, size_t, double *);
int fmi2DoStep(component, double, double, int);

static char last_message[600];
static void logger(void *e, const char *name, int status, const char *category, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_message, sizeof last_message, format, args);
    va_end(args);
    (void)e, (void)name, (void)status, (void)category;
}

static const callbacks given = {logger, calloc, free, NULL, NULL};

static void must_work(int status)
{
    if (status)
        printf("ERROR %s\n", last_message);
}

static void run(const char *word, int n)
{
    const unsigned wanted[2] = {OUTPUT, RESIDUAL};
    double values[2] = {0, 0};
    int k;
    component c = fmi2Instantiate("one", 1, GUID, "", &given, 0, 1);
    must_work(fmi2SetupExperiment(c, 1, RTOL, 0, 1, STOP));
    must_work(fmi2EnterInitializationMode(c));
    must_work(fmi2ExitInitializationMode(c));
    for (k = 0; k < n; ++k) {
        must_work(fmi2DoStep(c, STOP * k / n, STOP * (k + 1) / n - STOP * k / n, 1));
        must_work(fmi2GetReal(c, wanted, 2, values));
    }
    must_work(fmi2Terminate(c));
    printf("%s %.17g %.17g %s\n", word, values[0], values[1], last_message);
    fmi2FreeInstance(c);
}

int main(void)
{
    run("many", N);
    run("one", 1);
    return 0;
}
