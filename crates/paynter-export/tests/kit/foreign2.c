/* An FMU for Model Exchange (FMI 2.0) that Paynter did not write: a ball in millimetres that bounces, a count of
   bounces, and a wind that begins at 0.5 s. It gives no derivatives and no states to save, and its memory is hidden. */

#include <stdlib.h>
#include <string.h>

typedef struct { int again, ends, nominals, values, has_next; double next; } event_info;
typedef struct { void (*log)(void *, const char *, int, const char *, const char *, ...); } callbacks;
typedef struct { double t, h, v, g, e, push, wind; int bounces; long steps; const callbacks *calls; } ball;
enum { OK, ERROR = 3 };

const char *fmi2GetVersion(void) { return "2.0"; }
void *fmi2Instantiate(const char *name, int type, const char *guid, const char *where, const callbacks *calls, int see, int log)
{
    ball *b = (ball *)calloc(1, sizeof *b);
    (void)where, (void)see, (void)log;
    if (type != 0 || strcmp(guid, "{ball}") != 0) {
        calls->log(NULL, name, ERROR, "error", "%s", "this is another ball");
        free(b);
        return NULL;
    }
    b->calls = calls;
    b->g = 9810;
    b->e = 0.5;
    b->h = 1000;
    return b;
}
void fmi2FreeInstance(void *c) { free(c); }
int fmi2Reset(void *c)
{
    ball *b = (ball *)c;
    const callbacks *calls = b->calls;
    memset(b, 0, sizeof *b);
    b->calls = calls;
    b->g = 9810;
    b->e = 0.5;
    b->h = 1000;
    return OK;
}
int fmi2SetupExperiment(void *c, int a, double tolerance, double t, int d, double stop)
{
    (void)a, (void)tolerance, (void)d, (void)stop;
    ((ball *)c)->t = t;
    return OK;
}
int fmi2EnterInitializationMode(void *c) { (void)c; return OK; }
int fmi2ExitInitializationMode(void *c) { (void)c; return OK; }
int fmi2SetReal(void *c, const unsigned *r, size_t n, const double *x)
{
    ball *b = (ball *)c;
    for (size_t k = 0; k < n; ++k)
        switch (r[k]) {
        case 1: b->h = x[k]; break;
        case 3: b->g = x[k]; break;
        case 4:
            if (x[k] < 0) {
                b->calls->log(NULL, "ball", ERROR, "error", "%s", "e must not be negative");
                return ERROR;
            }
            b->e = x[k];
            break;
        case 5: b->push = x[k]; break;
        default: return ERROR;
        }
    return OK;
}
int fmi2GetReal(void *c, const unsigned *r, size_t n, double *x)
{
    ball *b = (ball *)c;
    for (size_t k = 0; k < n; ++k)
        switch (r[k]) {
        case 1: x[k] = b->h; break;
        case 2: x[k] = b->v; break;
        case 6: x[k] = b->v; break;
        case 7: x[k] = b->push + b->wind - b->g; break;
        default: return ERROR;
        }
    return OK;
}
int fmi2GetInteger(void *c, const unsigned *r, size_t n, int *x)
{
    for (size_t k = 0; k < n; ++k)
        x[k] = r[k] == 8 ? ((ball *)c)->bounces : -1;
    return OK;
}
int fmi2SetInteger(void *c, const unsigned *r, size_t n, const int *x) { (void)c, (void)r, (void)x; return n ? ERROR : OK; }
int fmi2GetBoolean(void *c, const unsigned *r, size_t n, int *x)
{
    for (size_t k = 0; k < n; ++k)
        x[k] = r[k] == 9 ? ((ball *)c)->wind > 0 : -1;
    return OK;
}
int fmi2SetBoolean(void *c, const unsigned *r, size_t n, const int *x) { (void)c, (void)r, (void)x; return n ? ERROR : OK; }
int fmi2EnterEventMode(void *c) { (void)c; return OK; }
int fmi2NewDiscreteStates(void *c, event_info *info)
{
    ball *b = (ball *)c;
    memset(info, 0, sizeof *info);
    if (b->h <= 0 && b->v < 0) {
        b->h = 0;
        b->v = -b->e * b->v;
        b->bounces += 1;
        info->values = 1;
    }
    if (b->t >= 0.5)
        b->wind = 2000;
    info->has_next = b->t < 0.5;
    info->next = 0.5;
#ifdef ENDS
    info->ends = b->bounces >= 2;
#endif
    return OK;
}
int fmi2EnterContinuousTimeMode(void *c) { (void)c; return OK; }
int fmi2CompletedIntegratorStep(void *c, int prior, int *event, int *ends)
{
    (void)prior;
    *event = *ends = 0;
    ((ball *)c)->steps += 1;
#ifdef WANTS_EVENTS
    *event = ((ball *)c)->steps > 3;
#endif
    return OK;
}
int fmi2SetTime(void *c, double t) { ((ball *)c)->t = t; return OK; }
int fmi2SetContinuousStates(void *c, const double *x, size_t n)
{
    ((ball *)c)->h = x[0];
    ((ball *)c)->v = x[1];
    return n == 2 ? OK : ERROR;
}
int fmi2GetContinuousStates(void *c, double *x, size_t n)
{
    x[0] = ((ball *)c)->h;
    x[1] = ((ball *)c)->v;
    return n == 2 ? OK : ERROR;
}
#ifndef NO_RATES
int fmi2GetDerivatives(void *c, double *x, size_t n)
{
    ball *b = (ball *)c;
    x[0] = b->v;
    x[1] = b->push + b->wind - b->g;
    return n == 2 ? OK : ERROR;
}
#endif
int fmi2GetEventIndicators(void *c, double *z, size_t n)
{
    z[0] = ((ball *)c)->h;
    return n == 1 ? OK : ERROR;
}
