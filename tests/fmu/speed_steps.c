/* Times whole runs of an FMU by Co-Simulation: so many STEPS of 0.1 s at rtol 1e-8, one output read after each.
   Compiled together with the sources of the FMU; GUID, OUTPUT and STEPS are defined on the command line.
   Prints milliseconds, the median of many runs. */

#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 101 };

typedef struct { void *logger, *allocate, *release, *finished, *environment; } callbacks;
void *fmi2Instantiate(const char *, int, const char *, const char *, const callbacks *, int, int);
void fmi2FreeInstance(void *);
int fmi2SetupExperiment(void *, int, double, double, int, double);
int fmi2EnterInitializationMode(void *);
int fmi2ExitInitializationMode(void *);
int fmi2DoStep(void *, double, double, int);
int fmi2GetReal(void *, const unsigned *, size_t, double *);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static const callbacks none;
    static double took[RUNS];
    const unsigned reference = OUTPUT;
    double y = 0;
    int run, k, status = 0;
    for (run = 0; run < RUNS; ++run) {
        void *c = fmi2Instantiate("gyro", 1, GUID, "", &none, 0, 0);
        const double begin = now();
        if (!c)
            return 1;
        status |= fmi2SetupExperiment(c, 1, 1e-8, 0, 1, 0.1 * STEPS) | fmi2EnterInitializationMode(c) | fmi2ExitInitializationMode(c);
        for (k = 0; k < STEPS; ++k)
            status |= fmi2DoStep(c, 0.1 * k, 0.1 * (k + 1) - 0.1 * k, 1) | fmi2GetReal(c, &reference, 1, &y);
        took[run] = now() - begin;
        fmi2FreeInstance(c);
    }
    qsort(took, RUNS, sizeof *took, ascending);
    printf("%.4f %.17g\n", 1e3 * took[RUNS / 2], y);
    return status != 0;
}
