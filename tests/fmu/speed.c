/* Times one evaluation of the rates of the driven gyroscope: exported code against equations written by hand
   (McBride & Cellier 2001, equations 44, 45, 50, 51). Prints nanoseconds of both, medians of interleaved rounds. */

#define _POSIX_C_SOURCE 199309L
#include "gyro.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 200000, ROUNDS = 31 };

/* Not inlined: the exported function is called, too. */
__attribute__((noinline)) static void by_hand(double t, const double *y, double *f)
{
    const double a = 2.0, a1 = 1.4, b1 = 1.2, c = 4.0, c1 = 2.6, c2 = 2.2;
    const double p1 = y[0], p2 = y[1], p3 = y[2], theta = y[3];
    const double n_theta = sin(t), n_phi = 0.5 * cos(2.0 * t), n_psi = 0.3 * sin(0.5 * t);
    const double s = sin(theta), k = cos(theta), turn = p2 / c2, tilt = p1 / (a + a1), across = a + b1;
    const double m = c2 + c1 * k * k + across * s * s;
    f[0] = n_theta - turn * p3 * s + turn * turn * s * k * (across - c1);
    f[1] = c2 * (n_phi - n_psi * k + 2.0 * tilt * turn * s * k * (c1 - across) + tilt * p3 * s) / m;
    f[2] = n_psi;
    f[3] = tilt;
    f[4] = turn;
    f[5] = p3 / c - turn * k;
}

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
    static gyro m;
    double y[6] = {0.1, 0.2, 0.3, 0.2, 0, 0}, f[gyro_n_x], hand[ROUNDS], made[ROUNDS], sum = 0;
    int round, k;
    gyro_defaults(&m);
    if (gyro_init(&m, 0.0))
        return 1;
    for (round = 0; round < ROUNDS; ++round) {
        double begin = now();
        for (k = 0; k < CALLS; ++k) {
            y[3] = 1e-6 * k;
            by_hand(1e-5 * k, y, f);
            sum += f[1];
        }
        hand[round] = now() - begin;
        begin = now();
        for (k = 0; k < CALLS; ++k) {
            m.x[0] = 1e-6 * k;
            m.t = 1e-5 * k;
            gyro_derivatives(&m, f);
            sum += f[1];
        }
        made[round] = now() - begin;
    }
    qsort(hand, ROUNDS, sizeof *hand, ascending);
    qsort(made, ROUNDS, sizeof *made, ascending);
    printf("%.1f %.1f %g\n", 1e9 * hand[ROUNDS / 2] / CALLS, 1e9 * made[ROUNDS / 2] / CALLS, sum);
    return 0;
}
