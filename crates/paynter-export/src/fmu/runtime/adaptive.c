
/* ---- adaptive integration --------------------------------------------------------------------------------------

   Rodas5P, a Rosenbrock method of order 5(4) for stiff and other systems (Steinebach, BIT Numer. Math. 63 (2023) 27):
   one exact Jacobian and eight linear solutions per step, no iteration. Guards are looked at on its interpolant of
   order 4; where one changes its sign, the crossing is bisected there and the method then steps to it. */

enum { STAGES = 8, SAMPLES = 10, MAX_STEPS = 10000000, MAX_CROWD = 200 };
#define ROOM(n) ((n) > 0 ? (n) : 1)

typedef struct {
    double h, rtol;
    unsigned long steps, rejected;
    double jacobian[ROOM(N_X * N_X)], matrix[ROOM(N_X * N_X)], copy[ROOM(N_X * N_X)], scale[ROOM(N_X)];
    int row_at[ROOM(N_X)];
    double x0[ROOM(N_X)], x1[ROOM(N_X)], f0[ROOM(N_X)], ft[ROOM(N_X)], f[ROOM(N_X)], stage[ROOM(N_X)];
    double u[STAGES][ROOM(N_X)], dense[3][ROOM(N_X)], largest[ROOM(N_X)];
} integrator;

HELPER const double rodas_gamma = 0.21193756319429014;
HELPER const double rodas_a[6][5] = {
    {0, 0, 0, 0, 0},
    {3.0, 0, 0, 0, 0},
    {2.849394379747939, 0.45842242204463923, 0, 0, 0},
    {-6.954028509809101, 2.489845061869568, -10.358996098473584, 0, 0},
    {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641, 0},
    {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946}};
HELPER const double rodas_c[STAGES][7] = {
    {0, 0, 0, 0, 0, 0, 0},
    {-14.155112264123755, 0, 0, 0, 0, 0, 0},
    {-17.97296035885952, -2.859693295451294, 0, 0, 0, 0, 0},
    {147.12150275711716, -1.41221402718213, 71.68940251302358, 0, 0, 0, 0},
    {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306, 0, 0, 0},
    {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471, 0, 0},
    {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
     -28.087943162872662, 0},
    {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
     -54.66780262877968, -9.48861652309627}};
HELPER const double rodas_node[STAGES] = {0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716,
                                          0.4288403609558664, 1.0, 1.0, 1.0};
HELPER const double rodas_d[STAGES] = {0.21193756319429014, -0.42387512638858027, -0.3384627126235924,
                                       1.8046452872882734, 2.325825639765069, 0, 0, 0};
HELPER const double rodas_h[3][STAGES] = {
    {25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
     1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
    {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
     15.98066361424651, -6.789040303419874, -6.710236069923372},
    {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
     -59.78993625266729, -0.15582684282751913, 4.883087185713722}};

HELPER double error_scale(const integrator *in, int i, double x)
{
    const double nominal = state_nominal[i] > 0 ? state_nominal[i] : larger(in->largest[i], 1e-6);
    return in->rtol * (nominal + larger(absolute(x), absolute(in->x0[i])));
}

/* Rates, their time derivative and their Jacobian at (t, x0). */
HELPER int linearize(M *m, integrator *in, double t)
{
    int i, k, status;
    m->t = t;
    for (i = 0; i < N_X; ++i)
        m->x[i] = in->x0[i], m->x_seed[i] = 0;
    for (i = 0; i < N_U; ++i)
        m->u_seed[i] = 0;
    ++m->evaluations;
    if ((status = routine_rates(m, in->f0)) != STATUS_OK)
        return status;
    m->time_seed = 1;
    if ((status = tangent_rates(m, in->ft)) != STATUS_OK)
        return status;
    m->time_seed = 0;
    for (k = 0; k < N_X; ++k) {
        int is_good = 1;
        m->x_seed[k] = 1;
        status = tangent_rates(m, in->f);
        m->x_seed[k] = 0;
        if (status != STATUS_OK)
            return status;
        for (i = 0; i < N_X; ++i) {
            in->jacobian[i * N_X + k] = in->f[i];
            is_good = is_good && is_finite(in->f[i]);
        }
        if (!is_good) {
            /* A slope without bound, as that of a root at zero: a difference gives a large one. */
            const double step = 1e-8 * larger(absolute(in->x0[k]), error_scale(in, k, in->x0[k]) / in->rtol);
            m->x[k] = in->x0[k] + step;
            status = routine_rates(m, in->f);
            m->x[k] = in->x0[k];
            if (status != STATUS_OK)
                return status;
            for (i = 0; i < N_X; ++i)
                in->jacobian[i * N_X + k] = (in->f[i] - in->f0[i]) / step;
            if ((status = routine_rates(m, in->f)) != STATUS_OK)
                return status;
        }
    }
    for (i = 0; i < N_X; ++i)
        if (!is_finite(in->ft[i]))
            in->ft[i] = 0;
    return STATUS_OK;
}

/* One step from (t, x0) to x1; gives the size of the error against what is allowed. */
HELPER int attempt(M *m, integrator *in, double t, double h, double *error)
{
    int i, j, s, status;
    for (i = 0; i < N_X * N_X; ++i)
        in->matrix[i] = -in->jacobian[i];
    for (i = 0; i < N_X; ++i)
        in->matrix[i * N_X + i] += 1.0 / (h * rodas_gamma);
    if ((status = factor_matrix(N_X, in->matrix, in->copy, in->scale, in->row_at)) != STATUS_OK)
        return status;
    for (s = 0; s < STAGES; ++s) {
        double *u = in->u[s];
        if (s == 0) {
            for (i = 0; i < N_X; ++i)
                in->f[i] = in->f0[i];
        } else {
            for (i = 0; i < N_X; ++i) {
                double sum = s < 6 ? in->x0[i] : in->stage[i] + in->u[s - 1][i];
                for (j = 0; s < 6 && j < s; ++j)
                    sum += rodas_a[s][j] * in->u[j][i];
                m->x[i] = in->stage[i] = sum;
            }
            m->t = t + rodas_node[s] * h;
            ++m->evaluations;
            if ((status = routine_rates(m, in->f)) != STATUS_OK)
                return status;
        }
        for (i = 0; i < N_X; ++i) {
            double sum = 0;
            for (j = 0; j < s; ++j)
                sum += rodas_c[s][j] * in->u[j][i];
            u[i] = in->f[i] + h * rodas_d[s] * in->ft[i] + sum / h;
        }
        solve_rows(N_X, in->matrix, in->scale, in->row_at, u);
    }
    *error = 0;
    for (i = 0; i < N_X; ++i) {
        in->x1[i] = in->stage[i] + in->u[STAGES - 1][i];
        if (!is_finite(in->x1[i]))
            return STATUS_NOT_FINITE;
        *error = larger(*error, 1.5 * absolute(in->u[STAGES - 1][i]) / error_scale(in, i, in->x1[i]));
    }
    return STATUS_OK;
}

/* Brings the model to t + theta h on the interpolant. */
HELPER void interpolate(M *m, const integrator *in, double t, double h, double theta)
{
    int i;
    for (i = 0; i < N_X; ++i) {
        const double bend = in->dense[0][i] + theta * (in->dense[1][i] + theta * in->dense[2][i]);
        m->x[i] = (1 - theta) * in->x0[i] + theta * (in->x1[i] + (1 - theta) * bend);
    }
    m->t = t + theta * h;
}

/* Finds the first crossing of a guard in the step; theta is where it has just happened, 2 if there is none. */
HELPER int find_crossing(M *m, integrator *in, double t, double h, double *theta)
{
    *theta = 2;
#if N_GUARDS > 0
    {
        int i, row, s, any, status;
        double low = 0, high = 0;
        for (row = 0; row < 3; ++row)
            for (i = 0; i < N_X; ++i) {
                double sum = 0;
                for (s = 0; s < STAGES; ++s)
                    sum += rodas_h[row][s] * in->u[s][i];
                in->dense[row][i] = sum;
            }
        for (s = 1; s <= SAMPLES; ++s) {
            high = (double)s / SAMPLES;
            interpolate(m, in, t, h, high);
            if ((status = has_crossed(m, &any)) != STATUS_OK)
                return status;
            if (any)
                break;
            low = high;
        }
        if (s > SAMPLES)
            return STATUS_OK;
        while (high - low > 1e-15 && (high - low) * h > 4 * EPSILON * absolute(t)) {
            const double middle = 0.5 * (low + high);
            if (middle <= low || middle >= high)
                break;
            interpolate(m, in, t, h, middle);
            if ((status = has_crossed(m, &any)) != STATUS_OK)
                return status;
            if (any)
                high = middle;
            else
                low = middle;
        }
        *theta = high;
    }
#else
    (void)m, (void)in, (void)t, (void)h;
#endif
    return STATUS_OK;
}

/* A first step: short enough that the rates change little. */
HELPER double first_step(const integrator *in, double span)
{
    double fastest = 0;
    int i;
    for (i = 0; i < N_X; ++i)
        fastest = larger(fastest, absolute(in->f0[i]) * in->rtol / error_scale(in, i, in->x0[i]));
    return fastest > 0 ? smaller(span, 0.01 / fastest * R_POW(in->rtol, 0.2)) : span;
}

/* Integrates to `target`. `stops_at_events` returns after the first event; `has_event` tells of one. */
HELPER int integrate(M *m, integrator *in, double target, int stops_at_events, int *has_event)
{
    unsigned long count;
    double crowded_at = m->t;
    int crowd = 0, i, status;
    *has_event = 0;
    for (i = 0; i < N_X; ++i)
        in->x0[i] = m->x[i];
    for (count = 0; count < MAX_STEPS; ++count) {
        const double t = m->t, next = next_instant(m);
        const int is_timed = next <= target;
        const double stop = is_timed ? next : target, span = stop - t;
        double h, error = 0, theta = 2;
        int fired = 0, any = 0, is_last;
        if (span <= 0 && !is_timed)
            return STATUS_OK;
#if N_X == 0
        {
            /* Nothing but guards of time: looked at on the way. */
            double low = t;
            int s;
            h = span;
            for (s = 1; s <= SAMPLES && !any; ++s) {
                m->t = s == SAMPLES ? stop : t + span * s / SAMPLES;
                if ((status = has_crossed(m, &any)) != STATUS_OK)
                    return status;
                if (!any)
                    low = m->t;
            }
            while (any && m->t - low > 4 * EPSILON * absolute(m->t)) {
                const double high = m->t, middle = 0.5 * (low + high);
                int has = 0;
                if (middle <= low || middle >= high)
                    break;
                m->t = middle;
                if ((status = has_crossed(m, &has)) != STATUS_OK)
                    return status;
                if (!has)
                    low = middle, m->t = high;
            }
            if (any && (status = has_crossed(m, &any)) != STATUS_OK)
                return status;
            fired = any;
            is_last = !fired;
            (void)theta, (void)error;
        }
#else
        if (span > 0) {
            if ((status = linearize(m, in, t)) != STATUS_OK)
                return status;
            if (in->h <= 0)
                in->h = first_step(in, span);
            for (;;) {
                is_last = in->h >= span * (1 - 1e-10);
                h = is_last ? span : (in->h > 0.5 * span ? 0.5 * span : in->h);
                status = attempt(m, in, t, h, &error);
                if (status == STATUS_OK && error <= 1)
                    status = find_crossing(m, in, t, h, &theta);
                if (status == STATUS_OK && error <= 1)
                    break;
                ++in->rejected;
                in->h = h * (status == STATUS_OK ? larger(0.2, 0.9 * R_POW(error, -0.2)) : 0.25);
                if (in->h < 16 * EPSILON * larger(absolute(t), span * 1e-6))
                    return status == STATUS_OK ? STATUS_STEP_TOO_SMALL : status;
            }
            ++in->steps;
            if (theta < 2) {
                /* Step to the crossing itself; if it is not quite reached, the next step finds it. */
                const double to_crossing = theta * h;
                if (theta < 1 && (status = attempt(m, in, t, to_crossing, &error)) != STATUS_OK)
                    return status;
                h = to_crossing;
                is_last = is_last && theta >= 1;
            } else {
                const double growth = error > 1e-10 ? smaller(6.0, larger(0.2, 0.9 * R_POW(error, -0.2))) : 6.0;
                /* A step that was cut short says nothing against the longer one. */
                in->h = h < in->h ? larger(in->h, h * growth) : h * growth;
            }
            m->t = is_last ? stop : t + h;
            for (i = 0; i < N_X; ++i) {
                m->x[i] = in->x1[i];
                in->largest[i] = larger(in->largest[i], absolute(in->x1[i]));
            }
            if ((status = project(m)) != STATUS_OK)
                return status;
            if (theta < 2) {
                if ((status = has_crossed(m, &any)) != STATUS_OK)
                    return status;
                fired = any;
            }
        } else {
            is_last = 1;
        }
#endif
        if (fired || (is_timed && is_last)) {
            if ((status = react(m, fired ? m->fired : (const signed char *)0)) != STATUS_OK)
                return status;
            *has_event = 1;
            crowd = m->t - crowded_at > 1e-10 * larger(absolute(m->t), 1e-6) ? 0 : crowd + 1;
            crowded_at = m->t;
            if (crowd > MAX_CROWD)
                return STATUS_TOO_MANY_EVENTS;
        }
        for (i = 0; i < N_X; ++i) {
            in->x0[i] = m->x[i];
            if (!is_finite(m->x[i]))
                return STATUS_NOT_FINITE;
        }
        if (m->t >= target || (*has_event && stops_at_events))
            return STATUS_OK;
    }
    return STATUS_STEP_TOO_SMALL;
}
