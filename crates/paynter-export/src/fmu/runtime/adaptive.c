
/* ---- adaptive integration --------------------------------------------------------------------------------------

   Two methods, as in the program that made this file. DOP853, explicit of order 8 with an interpolant of order 7
   (Hairer, Norsett & Wanner, Solving ODEs I, II.5 and II.6), until stability and not accuracy limits its steps; then
   Rodas5P, a Rosenbrock method of order 5(4) for stiff systems (Steinebach, BIT Numer. Math. 63 (2023) 27), until its
   steps are short again. Guards are looked at on the interpolant; where one changes its sign, the crossing is bisected
   there and the method then steps to it.

   A step may reach beyond the time that is asked for: what is asked for is read off the interpolant, and the next call
   goes on in the same step, unless an input has changed. So short communication steps cost little. */

enum { STAGES = 8, DOP_STAGES = 16, SAMPLES = 10, MAX_STEPS = 10000000, MAX_CROWD = 200 };
enum { STIFF_STEPS = 15, CALM_STEPS = 6, CALM_RODAS_STEPS = 50 };
#define ROOM(n) ((n) > 0 ? (n) : 1)
/* h times the largest eigenvalue at which DOP853 becomes unstable (Solving ODEs II, IV.2). */
#define DOP_STABILITY 6.1
/* Where the defect of DOP853's interpolant is taken, how many times the peak of its error it is there, and how many
   tolerances that peak may be. */
#define DEFECT_AT 0.95
#define DEFECT_OVER_PEAK 8.0
#define MAX_INTERPOLANT_ERROR 4.0
/* The same for Rodas5P, whose defect is weighed by the matrix of its stages: what a stiff part of it does is soon gone. */
#define MAX_RODAS_INTERPOLANT_ERROR 1.0
/* So many steps end at communication points after one whose interpolant was too rough there. */
enum { ROUGH_STEPS = 8 };

typedef struct {
    double h, rtol;
    unsigned long steps, rejected;
    double jacobian[ROOM(N_X * N_X)], matrix[ROOM(N_X * N_X)], copy[ROOM(N_X * N_X)], scale[ROOM(N_X)];
    int row_at[ROOM(N_X)];
    double x0[ROOM(N_X)], x1[ROOM(N_X)], f0[ROOM(N_X)], ft[ROOM(N_X)], f[ROOM(N_X)], stage[ROOM(N_X)];
    double u[STAGES][ROOM(N_X)], dense[4][ROOM(N_X)], largest[ROOM(N_X)];
    /* Rates at the stages of DOP853; the first is that of the present step where `has_first` says so. */
    double k[DOP_STAGES][ROOM(N_X)];
    /* The step at hand: it ends at `t1` with a crossing or not, and the model may stand in the middle of it. */
    double t0, t1, length, inputs[ROOM(N_U)];
    int is_stiff, n_stiff, n_calm, n_rough, has_first, is_ahead, is_dense, ends_in_crossing;
    /* What the balance of energy was at the start, and what events have done to it since. */
    double balance;
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

HELPER const double dop_node[DOP_STAGES] = {0.0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333, 0.25, 0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0, 1.0, 0.1, 0.2, 0.7777777777777778};
/* Row 13 is the end of the step, rows 14 to 16 are for the interpolant. */
HELPER const double dop_a[DOP_STAGES][DOP_STAGES - 1] = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.05260015195876773, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.0197250569845379, 0.0591751709536137, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.02958758547680685, 0, 0.08876275643042054, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.2413651341592667, 0, -0.8845494793282861, 0.924834003261792, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.037037037037037035, 0, 0, 0.17082860872947386, 0.12546768756682242, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.037109375, 0, 0, 0.17025221101954405, 0.06021653898045596, -0.017578125, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.03709200011850479, 0, 0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
     0.008273789163814023, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.6241109587160757, 0, 0, -3.3608926294469414, -0.868219346841726, 27.59209969944671, 20.154067550477894,
     -43.48988418106996, 0, 0, 0, 0, 0, 0, 0},
    {0.47766253643826434, 0, 0, -2.4881146199716677, -0.590290826836843, 21.230051448181193, 15.279233632882423,
     -33.28821096898486, -0.020331201708508627, 0, 0, 0, 0, 0, 0},
    {-0.9371424300859873, 0, 0, 5.186372428844064, 1.0914373489967295, -8.149787010746927, -18.52006565999696,
     22.739487099350505, 2.4936055526796523, -3.0467644718982196, 0, 0, 0, 0, 0},
    {2.273310147516538, 0, 0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
     -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636, 0, 0, 0, 0},
    {0.054293734116568765, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585, 0.3111643669578199,
     -0.1521609496625161, 0.20136540080403034, 0.04471061572777259, 0, 0, 0},
    {0.056167502283047954, 0, 0, 0, 0, 0, 0.25350021021662483, -0.2462390374708025, -0.12419142326381637,
     0.15329179827876568, 0.00820105229563469, 0.007567897660545699, -0.008298, 0, 0},
    {0.03183464816350214, 0, 0, 0, 0, 0.028300909672366776, 0.053541988307438566, -0.05492374857139099, 0, 0,
     -0.00010834732869724932, 0.0003825710908356584, -0.00034046500868740456, 0.1413124436746325, 0},
    {-0.42889630158379194, 0, 0, 0, 0, -4.697621415361164, 7.683421196062599, 4.06898981839711, 0.3567271874552811,
     0, 0, 0, -0.0013990241651590145, 2.9475147891527724, -9.15095847217987}};
HELPER const double dop_error[3][12] = {
    {0.01312004499419488, 0, 0, 0, 0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
     -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294},
    {-0.009646386018950744, 0, 0, 0, 0, -0.13406957728363933, 0.23085388620919986, -0.19797887398513891,
     -0.7244067526879414, 0.7513091629756606, 0.10526570998982979, -0.021327169199019988},
    {-0.18980075407240762, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
     -0.4226823213237919, -0.1521609496625161, 0.20136540080403034, 0.02265179219836082}};
HELPER const double dop_d[4][DOP_STAGES] = {
    {-8.428938276109013, 0, 0, 0, 0, 0.5667149535193777, -3.0689499459498917, 2.38466765651207, 2.117034582445028,
     -0.871391583777973, 2.2404374302607883, 0.6315787787694688, -0.08899033645133331, 18.148505520854727,
     -9.194632392478356, -4.436036387594894},
    {10.427508642579134, 0, 0, 0, 0, 242.28349177525817, 165.20045171727028, -374.5467547226902, -22.113666853125306,
     7.733432668472264, -30.674084731089398, -9.332130526430229, 15.697238121770845, -31.139403219565178,
     -9.35292435884448, 35.81684148639408},
    {19.985053242002433, 0, 0, 0, 0, -387.0373087493518, -189.17813819516758, 527.8081592054236, -11.57390253995963,
     6.8812326946963, -1.0006050966910838, 0.7777137798053443, -2.778205752353508, -60.19669523126412,
     84.32040550667716, 11.99229113618279},
    {-25.69393346270375, 0, 0, 0, 0, -154.18974869023643, -231.5293791760455, 357.6391179106141, 93.40532418362432,
     -37.45832313645163, 104.0996495089623, 29.8402934266605, -43.53345659001114, 96.32455395918828,
     -39.17726167561544, -149.72683625798564}};

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

/* sums = the weights times the rates at the stages of DOP853; half of the weights are zero. */
HELPER void dop_sums(const integrator *in, const double *weights, int n, double *sums)
{
    int i, j;
    for (i = 0; i < N_X; ++i)
        sums[i] = 0;
    for (j = 0; j < n; ++j)
        if (weights[j] != 0)
            for (i = 0; i < N_X; ++i)
                sums[i] += weights[j] * in->k[j][i];
}

/* Rates at a stage of DOP853. */
HELPER int dop_stage(M *m, integrator *in, double t, double h, int s)
{
    double sums[ROOM(N_X)];
    int i;
    dop_sums(in, dop_a[s], s, sums);
    for (i = 0; i < N_X; ++i)
        m->x[i] = in->x0[i] + h * sums[i];
    m->t = t + dop_node[s] * h;
    ++m->evaluations;
    return routine_rates(m, in->k[s]);
}

/* One step of DOP853 from (t, x0) to x1; `k[0]` are the rates at its start. */
HELPER int attempt_explicit(M *m, integrator *in, double t, double h, double *error)
{
    double end[ROOM(N_X)], e5[ROOM(N_X)], across[ROOM(N_X)], e3[ROOM(N_X)], squares = 0, blend = 0;
    int i, s, status;
    for (s = 1; s < 12; ++s)
        if ((status = dop_stage(m, in, t, h, s)) != STATUS_OK)
            return status;
    dop_sums(in, dop_a[12], 12, end);
    dop_sums(in, dop_error[0], 12, e5);
    dop_sums(in, dop_error[1], 12, across);
    dop_sums(in, dop_error[2], 12, e3);
    for (i = 0; i < N_X; ++i) {
        double inverse, square;
        in->stage[i] = m->x[i];
        in->x1[i] = in->x0[i] + h * end[i];
        if (!is_finite(in->x1[i]))
            return STATUS_NOT_FINITE;
        inverse = h / error_scale(in, i, in->x1[i]);
        square = inverse * inverse * (e5[i] * e5[i] + across[i] * across[i]);
        squares += square * square;
        blend += square + 0.01 * inverse * inverse * e3[i] * e3[i];
    }
    /* Twice the estimate, since errors of many steps add up, of a scale that is twice to three times the size of the
       state: so runs err as those of the program do. */
    *error = blend > 0 ? 5.0 * R_SQRT(squares / blend) : 0;
    return STATUS_OK;
}

/* Counts steps whose length stability limits. The last two stages stand at one time. */
HELPER void watch_stiffness(integrator *in, double h)
{
    double top = 0, bottom = 0;
    int i;
    for (i = 0; i < N_X; ++i) {
        const double inverse = 1 / error_scale(in, i, in->x1[i]);
        const double df = inverse * (in->k[12][i] - in->k[11][i]), dx = inverse * (in->x1[i] - in->stage[i]);
        top += df * df;
        bottom += dx * dx;
    }
    if (bottom > 0 && h * h * top > DOP_STABILITY * DOP_STABILITY * bottom) {
        in->n_calm = 0;
        ++in->n_stiff;
    } else if (in->n_stiff > 0 && ++in->n_calm >= CALM_STEPS) {
        in->n_stiff = in->n_calm = 0;
    }
    in->is_stiff = in->n_stiff >= STIFF_STEPS;
    if (in->is_stiff)
        in->n_stiff = in->n_calm = 0;
}

/* Goes back to the explicit method when the steps of the other are short beside the fastest motion. */
HELPER void watch_calm(integrator *in, double h)
{
    double norm = 0;
    int i, j;
    for (i = 0; i < N_X; ++i) {
        double sum = 0;
        for (j = 0; j < N_X; ++j)
            sum += absolute(in->jacobian[i * N_X + j]) * error_scale(in, j, in->x1[j]);
        norm = larger(norm, sum / error_scale(in, i, in->x1[i]));
    }
    in->n_calm = h * norm < 1 ? in->n_calm + 1 : 0;
    if (in->n_calm >= CALM_RODAS_STEPS)
        in->is_stiff = in->n_calm = in->n_stiff = in->has_first = 0;
}

/* Brings the model to the place theta of the step at hand, 0 to 1, on its interpolant. */
HELPER void interpolate(M *m, const integrator *in, double theta)
{
    const double rest = 1 - theta;
    int i;
    for (i = 0; i < N_X; ++i) {
        if (in->is_stiff) {
            const double bend = in->dense[0][i] + theta * (in->dense[1][i] + theta * in->dense[2][i]);
            m->x[i] = rest * in->x0[i] + theta * (in->x1[i] + rest * bend);
        } else {
            const double gap = in->x1[i] - in->x0[i], bend = in->length * in->k[0][i] - gap;
            const double twist = gap - in->length * in->k[12][i] - bend;
            double p = in->dense[2][i] + theta * in->dense[3][i];
            p = in->dense[0][i] + theta * (in->dense[1][i] + rest * p);
            m->x[i] = in->x0[i] + theta * (gap + rest * (bend + theta * (twist + rest * p)));
        }
    }
    m->t = in->t0 + theta * in->length;
}

/* Prepares the interpolant of the step at hand. */
HELPER int prepare_dense(M *m, integrator *in)
{
    int i, row, s, status;
    if (in->is_dense)
        return STATUS_OK;
    if (!in->is_stiff)
        for (s = 13; s < DOP_STAGES; ++s)
            if ((status = dop_stage(m, in, in->t0, in->length, s)) != STATUS_OK)
                return status;
    for (row = 0; row < 3 && in->is_stiff; ++row)
        for (i = 0; i < N_X; ++i) {
            double sum = 0;
            for (s = 0; s < STAGES; ++s)
                sum += rodas_h[row][s] * in->u[s][i];
            in->dense[row][i] = sum;
        }
    for (row = 0; row < 4 && !in->is_stiff; ++row) {
        dop_sums(in, dop_d[row], DOP_STAGES, in->dense[row]);
        for (i = 0; i < N_X; ++i)
            in->dense[row][i] *= in->length;
    }
    in->is_dense = 1;
    return STATUS_OK;
}

/* How many tolerances the interpolant of Rodas5P is off: by its defect at two places. With the error e and the defect d,
   e' = J e + d; (I/(h gamma) - J)^-1 d is about h/5 d for slow parts and -J^-1 d for stiff ones, as e is. */
HELPER int rodas_interpolant_error(M *m, integrator *in, double *error)
{
    static const double places[2] = {0.3, 0.75};
    double defect[ROOM(N_X)];
    int i, k, status;
    *error = 0;
    for (k = 0; k < 2; ++k) {
        const double theta = places[k], rest = 1 - theta;
        interpolate(m, in, theta);
        ++m->evaluations;
        if ((status = routine_rates(m, in->f)) != STATUS_OK)
            return status;
        for (i = 0; i < N_X; ++i) {
            const double bend = in->dense[0][i] + theta * (in->dense[1][i] + theta * in->dense[2][i]);
            const double turn = in->dense[1][i] + 2 * theta * in->dense[2][i];
            const double slope = in->x1[i] - in->x0[i] + (rest - theta) * bend + theta * rest * turn;
            defect[i] = slope / in->length - in->f[i];
        }
        solve_rows(N_X, in->matrix, in->scale, in->row_at, defect);
        for (i = 0; i < N_X; ++i)
            *error = larger(*error, absolute(defect[i]) / error_scale(in, i, in->x1[i]));
    }
    return STATUS_OK;
}

/* How many tolerances the interpolant of DOP853 is off at its worst: by its defect at one place. */
HELPER int dop_interpolant_error(M *m, integrator *in, double *error)
{
    const double theta = DEFECT_AT, rest = 1 - DEFECT_AT, h = in->length;
    double sum = 0;
    int i, status;
    interpolate(m, in, theta);
    ++m->evaluations;
    if ((status = routine_rates(m, in->f)) != STATUS_OK)
        return status;
    for (i = 0; i < N_X; ++i) {
        const double gap = in->x1[i] - in->x0[i], bend = h * in->k[0][i] - gap, twist = gap - h * in->k[12][i] - bend;
        /* The nested products of the interpolant from the inside out, each with its derivative by theta. */
        double p = in->dense[2][i] + theta * in->dense[3][i], dp = in->dense[3][i], q;
        q = p, p = in->dense[1][i] + rest * p, dp = rest * dp - q;
        q = p, p = in->dense[0][i] + theta * p, dp = q + theta * dp;
        q = p, p = twist + rest * p, dp = rest * dp - q;
        q = p, p = bend + theta * p, dp = q + theta * dp;
        q = p, p = gap + rest * p, dp = rest * dp - q;
        q = (p + theta * dp - h * in->f[i]) / (DEFECT_OVER_PEAK * error_scale(in, i, in->x1[i]));
        sum += q * q;
    }
    *error = R_SQRT(sum / ROOM(N_X));
    return STATUS_OK;
}

/* Finds the first crossing of a guard in the step; theta is where it has just happened, 2 if there is none. */
HELPER int find_crossing(M *m, integrator *in, double *theta)
{
    *theta = 2;
#if N_GUARDS > 0
    {
        const double h = in->length;
        int s, any, status;
        double low = 0, high = 0;
        if ((status = prepare_dense(m, in)) != STATUS_OK)
            return status;
        for (s = 1; s <= SAMPLES; ++s) {
            high = (double)s / SAMPLES;
            interpolate(m, in, high);
            if ((status = has_crossed(m, &any)) != STATUS_OK)
                return status;
            if (any)
                break;
            low = high;
        }
        if (s > SAMPLES)
            return STATUS_OK;
        while (high - low > 1e-15 && (high - low) * h > 4 * EPSILON * absolute(in->t0)) {
            const double middle = 0.5 * (low + high);
            if (middle <= low || middle >= high)
                break;
            interpolate(m, in, middle);
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
    (void)m, (void)in;
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

#if N_X > 0
/* What the method at hand needs at the start of a step. */
HELPER int begin_step(M *m, integrator *in, double span)
{
    int i, status;
    for (i = 0; i < N_X; ++i)
        in->x0[i] = m->x[i];
    in->t0 = m->t;
    if (in->is_stiff) {
        if ((status = linearize(m, in, in->t0)) != STATUS_OK)
            return status;
    } else if (!in->has_first) {
        ++m->evaluations;
        if ((status = routine_rates(m, in->k[0])) != STATUS_OK)
            return status;
        in->has_first = 1;
    }
    if (in->h <= 0) {
        for (i = 0; i < N_X && !in->is_stiff; ++i)
            in->f0[i] = in->k[0][i];
        in->h = first_step(in, span);
    }
    return STATUS_OK;
}

/* Ends the step at hand `h` after its start: its end is brought to the constraints, and its rates are taken. */
HELPER int end_step(M *m, integrator *in, double h, double t1)
{
    int i, status;
    in->length = h;
    in->t1 = m->t = t1;
    in->is_dense = 0;
    for (i = 0; i < N_X; ++i)
        m->x[i] = in->x1[i];
    if ((status = project(m)) != STATUS_OK)
        return status;
    for (i = 0; i < N_X; ++i)
        in->x1[i] = m->x[i];
    if (in->is_stiff)
        return STATUS_OK;
    ++m->evaluations;
    return routine_rates(m, in->k[12]);
}

/* One attempt by the method at hand. */
HELPER int try_step(M *m, integrator *in, double h, double *error)
{
    return in->is_stiff ? attempt(m, in, in->t0, h, error) : attempt_explicit(m, in, in->t0, h, error);
}

/* Makes one step from where the model stands, not beyond `bound`, and up to the first crossing in it. */
HELPER int make_step(M *m, integrator *in, double bound)
{
    const double span = bound - m->t;
    double h, error = 0, theta = 2;
    int i, is_last, status;
    if ((status = begin_step(m, in, span)) != STATUS_OK)
        return status;
    for (;;) {
        const double order = in->is_stiff ? -0.2 : -0.125;
        is_last = in->h >= span * (1 - 1e-10);
        h = is_last ? span : (in->h > 0.5 * span ? 0.5 * span : in->h);
        status = try_step(m, in, h, &error);
        if (status == STATUS_OK && error <= 1)
            status = end_step(m, in, h, is_last ? bound : in->t0 + h);
        if (status == STATUS_OK && error <= 1)
            status = find_crossing(m, in, &theta);
        if (status == STATUS_OK && error <= 1)
            break;
        ++in->rejected;
        in->h = h * (status == STATUS_OK ? larger(0.2, 0.9 * R_POW(error, order)) : 0.25);
        if (in->h < 16 * EPSILON * larger(absolute(in->t0), span * 1e-6)) {
            if (in->is_stiff)
                return status == STATUS_OK ? STATUS_STEP_TOO_SMALL : status;
            /* The other method may still find a way. */
            in->is_stiff = 1;
            in->h = 0;
            m->t = in->t0;
            for (i = 0; i < N_X; ++i)
                m->x[i] = in->x0[i];
            return make_step(m, in, bound);
        }
    }
    ++in->steps;
    in->ends_in_crossing = theta < 2;
    for (i = 0; i < N_X; ++i)
        in->largest[i] = larger(in->largest[i], absolute(in->x1[i]));
    if (theta < 2) {
        /* Step to the crossing itself; if it is not quite reached, the next step finds it. */
        if (theta < 1 && ((status = try_step(m, in, theta * h, &error)) != STATUS_OK ||
                          (status = end_step(m, in, theta * h, in->t0 + theta * h)) != STATUS_OK))
            return status;
    } else {
        const double order = in->is_stiff ? -0.2 : -0.125;
        const double growth = error > 1e-12 ? smaller(6.0, larger(0.2, 0.9 * R_POW(error, order))) : 6.0;
        /* A step that was cut short says nothing against the longer one. */
        in->h = h < in->h ? larger(in->h, h * growth) : h * growth;
    }
    return STATUS_OK;
}

/* Takes over the end of the step at hand. */
HELPER void take_end(M *m, integrator *in)
{
    int i;
    m->t = in->t1;
    for (i = 0; i < N_X; ++i)
        m->x[i] = in->x1[i];
    in->is_ahead = 0;
    if (in->is_stiff) {
        watch_calm(in, in->length);
        return;
    }
    watch_stiffness(in, in->length);
    for (i = 0; i < N_X; ++i)
        in->k[0][i] = in->k[12][i];
    in->has_first = 1;
}

/* Brings the model to `stop`, inside of the step at hand. */
HELPER int read_inside(M *m, integrator *in, double stop)
{
    const double most = in->is_stiff ? MAX_RODAS_INTERPOLANT_ERROR : MAX_INTERPOLANT_ERROR;
    double error = 0;
    int status = STATUS_OK;
    if (!in->is_ahead && (status = prepare_dense(m, in)) == STATUS_OK)
        status = in->is_stiff ? rodas_interpolant_error(m, in, &error) : dop_interpolant_error(m, in, &error);
    if (status != STATUS_OK || !(error <= most)) {
        /* Too rough to be read: the step ends here instead. */
        const double h = stop - in->t0;
        in->n_rough = ROUGH_STEPS;
        if ((status = try_step(m, in, h, &error)) != STATUS_OK || (status = end_step(m, in, h, stop)) != STATUS_OK)
            return status;
        in->ends_in_crossing = 0;
        take_end(m, in);
        return STATUS_OK;
    }
    interpolate(m, in, (stop - in->t0) / in->length);
    m->t = stop;
    in->is_ahead = 1;
    /* The interpolant keeps constraints to the tolerance only. */
    return project(m);
}

/* Goes to `stop`, or less far. A step may reach beyond it up to `horizon`. */
HELPER int advance(M *m, integrator *in, double stop, double horizon)
{
    int status;
    if (!in->is_ahead) {
        const int is_rough = in->is_stiff && in->n_rough > 0;
        in->n_rough -= is_rough;
        if ((status = make_step(m, in, is_rough ? stop : horizon)) != STATUS_OK)
            return status;
    }
    if (in->t1 > stop)
        return read_inside(m, in, stop);
    take_end(m, in);
    return STATUS_OK;
}
#endif

/* Tells whether an input is another than in the step at hand, and keeps the inputs. */
HELPER int inputs_have_changed(const M *m, integrator *in)
{
    int i, has_changed = 0;
    for (i = 0; i < N_U; ++i) {
        has_changed |= in->inputs[i] != m->u[i];
        in->inputs[i] = m->u[i];
    }
    (void)m, (void)in;
    return has_changed;
}

/* Energy that sources gave and resistors did not take, less what is stored: it changes at events, and else by what the
   integration errs. */
HELPER int balance_of_energy(M *m, double *balance)
{
#if HAS_AUDIT
    double y[ROOM(N_Y)];
    const int status = routine_outputs(m, y);
    *balance = y[AUDIT];
    return status;
#else
    (void)m;
    *balance = 0;
    return STATUS_OK;
#endif
}

/* Everything that happens at the present instant. What it does to the energy is the model's own, and no error. */
HELPER int react_and_balance(M *m, integrator *in, const signed char *fired)
{
    double before, after;
    int status = balance_of_energy(m, &before);
    if (status != STATUS_OK || (status = react(m, fired)) != STATUS_OK)
        return status;
    status = balance_of_energy(m, &after);
    in->balance += after - before;
    return status;
}

/* Integrates to `target`. `stops_at_events` returns after the first event; `has_event` tells of one. Steps may reach
   beyond the target, up to `horizon`. */
HELPER int integrate(M *m, integrator *in, double target, double horizon, int stops_at_events, int *has_event)
{
    unsigned long count;
    double crowded_at = m->t;
    int crowd = 0, i, status;
    *has_event = 0;
    if (inputs_have_changed(m, in)) {
        /* The rest of the step is void; and what changes at every call is not worth to be looked ahead of. */
        in->is_ahead = in->has_first = 0;
        horizon = target;
    }
    for (count = 0; count < MAX_STEPS; ++count) {
        const double t = m->t, next = next_instant(m);
        const int is_timed = next <= target;
        const double stop = is_timed ? next : target, span = stop - t;
        int fired = 0, any = 0;
        if (span <= 0 && !is_timed)
            return STATUS_OK;
#if N_X == 0
        {
            /* Nothing but guards of time: looked at on the way. */
            double low = t;
            int s;
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
        }
#else
        if (span > 0) {
            if ((status = advance(m, in, stop, smaller(next, horizon))) != STATUS_OK)
                return status;
            if (in->ends_in_crossing && !in->is_ahead) {
                in->ends_in_crossing = 0;
                if ((status = has_crossed(m, &any)) != STATUS_OK)
                    return status;
                fired = any;
            }
        }
#endif
        if (fired || (is_timed && m->t >= stop)) {
            if ((status = react_and_balance(m, in, fired ? m->fired : (const signed char *)0)) != STATUS_OK)
                return status;
            *has_event = 1;
            in->is_ahead = in->has_first = 0;
            crowd = m->t - crowded_at > 1e-10 * larger(absolute(m->t), 1e-6) ? 0 : crowd + 1;
            crowded_at = m->t;
            if (crowd > MAX_CROWD)
                return STATUS_TOO_MANY_EVENTS;
        }
        for (i = 0; i < N_X; ++i)
            if (!is_finite(m->x[i]))
                return STATUS_NOT_FINITE;
        if (m->t >= target || (*has_event && stops_at_events))
            return STATUS_OK;
    }
    return STATUS_STEP_TOO_SMALL;
}
