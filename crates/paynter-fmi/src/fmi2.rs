//! An instance of an FMU of FMI 2.0.
//!
//! In:  a library and what it says of itself.
//! Out: an [`Instance`].
#![expect(
    unsafe_code,
    reason = "calls of functions of a shared library, as the headers of the standard declare them"
)]

use crate::binary::{Binary, check, forget, is_plain_text_format, note};
use crate::description::{Description, Interface, Sort};
use crate::instance::{Instance, Kind, Update};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

type Component = *mut c_void;
type Plain = unsafe extern "C" fn(Component) -> c_int;
type Get<T> = unsafe extern "C" fn(Component, *const c_uint, usize, *mut T) -> c_int;
type Set<T> = unsafe extern "C" fn(Component, *const c_uint, usize, *const T) -> c_int;
type Numbers = unsafe extern "C" fn(Component, *mut f64, usize) -> c_int;
type Logger =
    extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char, *const c_char);

#[repr(C)]
#[derive(Debug)]
struct Callbacks {
    logger: Logger,
    allocate: extern "C" fn(usize, usize) -> *mut c_void,
    free: extern "C" fn(*mut c_void),
    step_finished: *const c_void,
    environment: *mut c_void,
}

#[repr(C)]
#[derive(Debug, Default)]
struct EventInfo {
    new_discrete_states_needed: c_int,
    terminate: c_int,
    nominals_changed: c_int,
    values_changed: c_int,
    next_event_time_defined: c_int,
    next_event_time: f64,
}

unsafe extern "C" {
    fn calloc(n: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

extern "C" fn allocate(n: usize, size: usize) -> *mut c_void {
    // SAFETY: any two sizes are allowed.
    unsafe { calloc(n, size) }
}

extern "C" fn release(memory: *mut c_void) {
    // SAFETY: the FMU gives back what `allocate` gave.
    unsafe { free(memory) }
}

/// The standard declares more arguments after the format. Of these only the first is looked at, where the format is
/// "%s" and so says that it is a text; on this platform it arrives like any sixth argument.
extern "C" fn log(
    _: *mut c_void,
    _: *const c_char,
    status: c_int,
    _: *const c_char,
    message: *const c_char,
    first: *const c_char,
) {
    if status < 1 {
        return;
    }
    let is_text = cfg!(target_os = "linux") && is_plain_text_format(message);
    note(if is_text { first } else { message });
}

/// Functions that every FMU has.
#[derive(Clone, Copy, Debug)]
struct Common {
    free: unsafe extern "C" fn(Component),
    set_up: unsafe extern "C" fn(Component, c_int, f64, f64, c_int, f64) -> c_int,
    begin: Plain,
    end: Plain,
    reset: Plain,
    get_real: Get<f64>,
    set_real: Set<f64>,
    get_integer: Get<c_int>,
    set_integer: Set<c_int>,
    get_boolean: Get<c_int>,
    set_boolean: Set<c_int>,
}

/// Functions of Model Exchange.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    begin_event: Plain,
    update: unsafe extern "C" fn(Component, *mut EventInfo) -> c_int,
    end_event: Plain,
    step_done: unsafe extern "C" fn(Component, c_int, *mut c_int, *mut c_int) -> c_int,
    set_time: unsafe extern "C" fn(Component, f64) -> c_int,
    set_states: unsafe extern "C" fn(Component, *const f64, usize) -> c_int,
    states: Numbers,
    rates: Numbers,
    indicators: Numbers,
}

type Directional = unsafe extern "C" fn(
    Component,
    *const c_uint,
    usize,
    *const c_uint,
    usize,
    *const f64,
    *mut f64,
) -> c_int;
type DoStep = unsafe extern "C" fn(Component, f64, f64, c_int) -> c_int;
type BooleanStatus = unsafe extern "C" fn(Component, c_int, *mut c_int) -> c_int;

/// An instance.
#[derive(Debug)]
pub(crate) struct Instance2 {
    component: Component,
    common: Common,
    exchange: Option<Exchange>,
    directional: Option<Directional>,
    stepping: Option<(DoStep, BooleanStatus)>,
    /// The FMU may read these as long as it lives.
    _callbacks: Box<Callbacks>,
    _binary: Arc<Binary>,
}

// SAFETY: the standard allows calls from any thread, one at a time; `&mut self` sees to that.
unsafe impl Send for Instance2 {}

impl Instance2 {
    /// Makes an instance.
    pub(crate) fn new(
        binary: &Arc<Binary>,
        description: &Description,
        interface: &Interface,
        kind: Kind,
    ) -> Result<Instance2, String> {
        let common = common(binary)?;
        let (exchange, stepping) = match kind {
            Kind::ModelExchange => (Some(exchange(binary)?), None),
            Kind::CoSimulation => {
                let do_step = binary.function("fmi2DoStep")?;
                let status = binary.function("fmi2GetBooleanStatus")?;
                (None, Some((do_step, status)))
            }
        };

        let directional = match interface.has_derivatives {
            true => Some(binary.function("fmi2GetDirectionalDerivative")?),
            false => None,
        };

        let callbacks = Box::new(Callbacks {
            logger: log,
            allocate,
            free: release,
            step_finished: std::ptr::null(),
            environment: std::ptr::null_mut(),
        });
        let component = make(binary, description, kind, &callbacks)?;
        Ok(Instance2 {
            component,
            common,
            exchange,
            directional,
            stepping,
            _callbacks: callbacks,
            _binary: binary.clone(),
        })
    }

    fn plain(&mut self, function: Plain, name: &str) -> Result<(), String> {
        forget();
        // SAFETY: the component is alive as long as `self`.
        check(name, unsafe { function(self.component) })
    }

    fn exchange(&self) -> Exchange {
        self.exchange.expect("an instance for Model Exchange")
    }

    fn numbers(&mut self, function: Numbers, name: &str, out: &mut [f64]) -> Result<(), String> {
        forget();
        // SAFETY: the slice has the length that is given.
        check(name, unsafe {
            function(self.component, out.as_mut_ptr(), out.len())
        })
    }
}

fn make(
    binary: &Arc<Binary>,
    description: &Description,
    kind: Kind,
    callbacks: &Callbacks,
) -> Result<Component, String> {
    type Instantiate = unsafe extern "C" fn(
        *const c_char,
        c_int,
        *const c_char,
        *const c_char,
        *const Callbacks,
        c_int,
        c_int,
    ) -> Component;

    let instantiate: Instantiate = binary.function("fmi2Instantiate")?;
    let text = |s: &str| CString::new(s).map_err(|_| "a name holds a zero byte".to_owned());
    let (name, guid) = (text(&description.name)?, text(&description.token)?);
    let resources = text(&format!("file://{}", binary.resources().display()))?;
    forget();

    // SAFETY: all texts and the callbacks live during the call, the callbacks as long as the instance.
    let component = unsafe {
        instantiate(
            name.as_ptr(),
            c_int::from(kind == Kind::CoSimulation),
            guid.as_ptr(),
            resources.as_ptr(),
            callbacks,
            0,
            0,
        )
    };

    match component.is_null() {
        false => Ok(component),
        true => Err(match check("fmi2Instantiate", 3) {
            Err(message) => message,
            Ok(()) => String::new(),
        }),
    }
}

fn common(binary: &Binary) -> Result<Common, String> {
    Ok(Common {
        free: binary.function("fmi2FreeInstance")?,
        set_up: binary.function("fmi2SetupExperiment")?,
        begin: binary.function("fmi2EnterInitializationMode")?,
        end: binary.function("fmi2ExitInitializationMode")?,
        reset: binary.function("fmi2Reset")?,
        get_real: binary.function("fmi2GetReal")?,
        set_real: binary.function("fmi2SetReal")?,
        get_integer: binary.function("fmi2GetInteger")?,
        set_integer: binary.function("fmi2SetInteger")?,
        get_boolean: binary.function("fmi2GetBoolean")?,
        set_boolean: binary.function("fmi2SetBoolean")?,
    })
}

fn exchange(binary: &Binary) -> Result<Exchange, String> {
    Ok(Exchange {
        begin_event: binary.function("fmi2EnterEventMode")?,
        update: binary.function("fmi2NewDiscreteStates")?,
        end_event: binary.function("fmi2EnterContinuousTimeMode")?,
        step_done: binary.function("fmi2CompletedIntegratorStep")?,
        set_time: binary.function("fmi2SetTime")?,
        set_states: binary.function("fmi2SetContinuousStates")?,
        states: binary.function("fmi2GetContinuousStates")?,
        rates: binary.function("fmi2GetDerivatives")?,
        indicators: binary.function("fmi2GetEventIndicators")?,
    })
}

impl Instance for Instance2 {
    fn set(&mut self, sort: Sort, references: &[u32], values: &[f64]) -> Result<(), String> {
        assert_eq!(references.len(), values.len(), "a value for each variable");
        let (component, n) = (self.component, references.len());
        let at = references.as_ptr();
        forget();
        if sort.is_real() {
            // SAFETY: both slices have n entries.
            let status = unsafe { (self.common.set_real)(component, at, n, values.as_ptr()) };
            return check("fmi2SetReal", status);
        }
        let whole: Vec<c_int> = values.iter().map(|v| v.round() as c_int).collect();
        let (function, name) = match sort {
            Sort::Boolean => (self.common.set_boolean, "fmi2SetBoolean"),
            _ => (self.common.set_integer, "fmi2SetInteger"),
        };
        // SAFETY: as above.
        check(name, unsafe { function(component, at, n, whole.as_ptr()) })
    }

    fn get(&mut self, sort: Sort, references: &[u32], values: &mut [f64]) -> Result<(), String> {
        assert_eq!(references.len(), values.len(), "room for each variable");
        let (component, n) = (self.component, references.len());
        let at = references.as_ptr();
        forget();
        if sort.is_real() {
            // SAFETY: both slices have n entries.
            let status = unsafe { (self.common.get_real)(component, at, n, values.as_mut_ptr()) };
            return check("fmi2GetReal", status);
        }
        let mut whole: Vec<c_int> = vec![0; n];
        let (function, name) = match sort {
            Sort::Boolean => (self.common.get_boolean, "fmi2GetBoolean"),
            _ => (self.common.get_integer, "fmi2GetInteger"),
        };
        // SAFETY: as above.
        check(name, unsafe {
            function(component, at, n, whole.as_mut_ptr())
        })?;
        for (value, whole) in values.iter_mut().zip(whole) {
            *value = f64::from(whole);
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), String> {
        self.plain(self.common.reset, "fmi2Reset")
    }

    fn begin_start(&mut self, time: f64, tolerance: Option<f64>) -> Result<(), String> {
        let (is_defined, tolerance) = (c_int::from(tolerance.is_some()), tolerance.unwrap_or(0.0));
        forget();
        // SAFETY: plain numbers.
        let status =
            unsafe { (self.common.set_up)(self.component, is_defined, tolerance, time, 0, 0.0) };
        check("fmi2SetupExperiment", status)?;
        self.plain(self.common.begin, "fmi2EnterInitializationMode")
    }

    fn end_start(&mut self) -> Result<(), String> {
        self.plain(self.common.end, "fmi2ExitInitializationMode")
    }

    fn begin_event(&mut self) -> Result<(), String> {
        self.plain(self.exchange().begin_event, "fmi2EnterEventMode")
    }

    fn update(&mut self) -> Result<Update, String> {
        let mut info = EventInfo::default();
        forget();
        // SAFETY: the layout of the record is that of the standard.
        let status = unsafe { (self.exchange().update)(self.component, &raw mut info) };
        check("fmi2NewDiscreteStates", status)?;
        Ok(Update {
            needs_another: info.new_discrete_states_needed != 0,
            has_ended: info.terminate != 0,
            next_time: (info.next_event_time_defined != 0).then_some(info.next_event_time),
        })
    }

    fn end_event(&mut self) -> Result<(), String> {
        self.plain(self.exchange().end_event, "fmi2EnterContinuousTimeMode")
    }

    fn set_time(&mut self, time: f64) -> Result<(), String> {
        forget();
        // SAFETY: a plain number.
        let status = unsafe { (self.exchange().set_time)(self.component, time) };
        check("fmi2SetTime", status)
    }

    fn set_states(&mut self, states: &[f64]) -> Result<(), String> {
        let (at, n) = (states.as_ptr(), states.len());
        forget();
        // SAFETY: the slice has n entries.
        let status = unsafe { (self.exchange().set_states)(self.component, at, n) };
        check("fmi2SetContinuousStates", status)
    }

    fn states(&mut self, states: &mut [f64]) -> Result<(), String> {
        self.numbers(self.exchange().states, "fmi2GetContinuousStates", states)
    }

    fn rates(&mut self, rates: &mut [f64]) -> Result<(), String> {
        self.numbers(self.exchange().rates, "fmi2GetDerivatives", rates)
    }

    fn indicators(&mut self, indicators: &mut [f64]) -> Result<(), String> {
        let function = self.exchange().indicators;
        self.numbers(function, "fmi2GetEventIndicators", indicators)
    }

    fn slopes(&mut self, of: &[u32], by: u32, slopes: &mut [f64]) -> Result<(), String> {
        assert_eq!(of.len(), slopes.len(), "room for each slope");
        let function = self.directional.expect("asked only where it is provided");
        let (n, seed) = (of.len(), 1.0);
        forget();
        // SAFETY: slices have the lengths that are given.
        let status = unsafe {
            function(
                self.component,
                of.as_ptr(),
                n,
                &raw const by,
                1,
                &raw const seed,
                slopes.as_mut_ptr(),
            )
        };
        check("fmi2GetDirectionalDerivative", status)
    }

    fn step_done(&mut self) -> Result<bool, String> {
        let (mut wants_event, mut ends) = (0, 0);
        let function = self.exchange().step_done;
        forget();
        // SAFETY: both answers live during the call.
        let status = unsafe { function(self.component, 1, &raw mut wants_event, &raw mut ends) };
        check("fmi2CompletedIntegratorStep", status)?;
        Ok(wants_event != 0 || ends != 0)
    }

    fn step(&mut self, from: f64, length: f64) -> Result<bool, String> {
        /// `fmi2Terminated` of `fmi2StatusKind`.
        const TERMINATED: c_int = 3;
        /// `fmi2Discard`.
        const DISCARD: c_int = 2;
        let (do_step, boolean_status) = self.stepping.expect("an instance for Co-Simulation");
        forget();
        // SAFETY: plain numbers, and an answer that lives during the call.
        let (status, ended) = unsafe {
            let status = do_step(self.component, from, length, 1);
            let mut ended = 0;
            if status == DISCARD {
                boolean_status(self.component, TERMINATED, &raw mut ended);
            }
            (status, ended != 0)
        };
        match ended {
            true => Ok(true),
            false => check("fmi2DoStep", status).map(|()| false),
        }
    }
}

impl Drop for Instance2 {
    fn drop(&mut self) {
        // SAFETY: the component was made by this library and is freed once.
        unsafe { (self.common.free)(self.component) }
    }
}
