/* ---- how a model is used -------------------------------------------------------------------------------------

   @P@ m;
   @P@_defaults(&m);                parameters, inputs and starts as in the model; change m.p, m.u, m.x now
   status = @P@_init(&m, t0);       consistent start at t0; first ticks
   status = @P@_step(&m, h);        as often as wanted
   status = @P@_outputs(&m, y);

   Every function gives 0 where all is well; @P@_message says in words what is not. Nothing is allocated, and
   nothing is shared: any number of models may run at once, on any threads. All numbers are in SI units.

   Those with an integrator of their own write m.t, m.x and m.u, and call
   @P@_derivatives                  rates of the states
   @P@_guards                       signs that change where an event is
   @P@_next_event                   the next instant known ahead, infinite if there is none
   @P@_event                        at such an instant: ticks, switches, `when`s; may change m.x
   @P@_sample(&m, k)                the tick of clock k, now: for a timer interrupt instead of @P@_event
   and after a change of m.p:       @P@_parameters_changed */

void @P@_defaults(@P@ *m);
int @P@_parameters_changed(@P@ *m);
int @P@_init(@P@ *m, @P@_real t0);
int @P@_derivatives(@P@ *m, @P@_real *dx);
int @P@_outputs(@P@ *m, @P@_real *y);
int @P@_guards(@P@ *m, @P@_real *guards);
@P@_real @P@_next_event(@P@ *m);
int @P@_event(@P@ *m);
int @P@_sample(@P@ *m, int clock);
int @P@_step(@P@ *m, @P@_real h);
const char *@P@_message(const @P@ *m, int status);
