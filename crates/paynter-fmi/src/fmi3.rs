//! An instance of an FMU of FMI 3.0.
//!
//! In:  a library and what it says of itself.
//! Out: an [`Instance`].
#![expect(
    unsafe_code,
    reason = "calls of functions of a shared library, as the headers of the standard declare them"
)]

use crate::binary::{Binary, check, forget, note};
use crate::description::{Description, Interface, Sort};
use crate::instance::{Instance, Kind, Update};
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Arc;

type Handle = *mut c_void;
type Plain = unsafe extern "C" fn(Handle) -> c_int;
type Get<T> = unsafe extern "C" fn(Handle, *const u32, usize, *mut T, usize) -> c_int;
type Set<T> = unsafe extern "C" fn(Handle, *const u32, usize, *const T, usize) -> c_int;
type Numbers = unsafe extern "C" fn(Handle, *mut f64, usize) -> c_int;
type Log = extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char);

extern "C" fn log(_: *mut c_void, status: c_int, _: *const c_char, message: *const c_char) {
    if status >= 1 {
        note(message);
    }
}

/// Functions that every FMU has.
#[derive(Clone, Copy, Debug)]
struct Common {
    free: unsafe extern "C" fn(Handle),
    begin: unsafe extern "C" fn(Handle, bool, f64, f64, bool, f64) -> c_int,
    end: Plain,
    reset: Plain,
}

type UpdateDiscrete = unsafe extern "C" fn(
    Handle,
    *mut bool,
    *mut bool,
    *mut bool,
    *mut bool,
    *mut bool,
    *mut f64,
) -> c_int;

/// Functions of Model Exchange.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    begin_event: Plain,
    update: UpdateDiscrete,
    end_event: Plain,
    step_done: unsafe extern "C" fn(Handle, bool, *mut bool, *mut bool) -> c_int,
    set_time: unsafe extern "C" fn(Handle, f64) -> c_int,
    set_states: unsafe extern "C" fn(Handle, *const f64, usize) -> c_int,
    states: Numbers,
    rates: Numbers,
    indicators: Numbers,
}

type Directional = unsafe extern "C" fn(
    Handle,
    *const u32,
    usize,
    *const u32,
    usize,
    *const f64,
    usize,
    *mut f64,
    usize,
) -> c_int;
type DoStep = unsafe extern "C" fn(
    Handle,
    f64,
    f64,
    bool,
    *mut bool,
    *mut bool,
    *mut bool,
    *mut f64,
) -> c_int;

/// An instance.
#[derive(Debug)]
pub(crate) struct Instance3 {
    handle: Handle,
    common: Common,
    exchange: Option<Exchange>,
    directional: Option<Directional>,
    do_step: Option<DoStep>,
    binary: Arc<Binary>,
}

// SAFETY: the standard allows calls from any thread, one at a time; `&mut self` sees to that.
unsafe impl Send for Instance3 {}

impl Instance3 {
    /// Makes an instance.
    pub(crate) fn new(
        binary: &Arc<Binary>,
        description: &Description,
        interface: &Interface,
        kind: Kind,
    ) -> Result<Instance3, String> {
        let common = Common {
            free: binary.function("fmi3FreeInstance")?,
            begin: binary.function("fmi3EnterInitializationMode")?,
            end: binary.function("fmi3ExitInitializationMode")?,
            reset: binary.function("fmi3Reset")?,
        };
        let (exchange, do_step) = match kind {
            Kind::ModelExchange => (Some(exchange(binary)?), None),
            Kind::CoSimulation => (None, Some(binary.function("fmi3DoStep")?)),
        };
        let directional = match interface.has_derivatives {
            true => Some(binary.function("fmi3GetDirectionalDerivative")?),
            false => None,
        };
        Ok(Instance3 {
            handle: make(binary, description, kind)?,
            common,
            exchange,
            directional,
            do_step,
            binary: binary.clone(),
        })
    }

    fn plain(&mut self, function: Plain, name: &str) -> Result<(), String> {
        forget();
        // SAFETY: the instance is alive as long as `self`.
        check(name, unsafe { function(self.handle) })
    }

    fn exchange(&self) -> Exchange {
        self.exchange.expect("an instance for Model Exchange")
    }

    fn numbers(&mut self, function: Numbers, name: &str, out: &mut [f64]) -> Result<(), String> {
        forget();
        // SAFETY: the slice has the length that is given.
        check(name, unsafe {
            function(self.handle, out.as_mut_ptr(), out.len())
        })
    }

    fn set_all<T>(&mut self, sort: &str, references: &[u32], values: &[T]) -> Result<(), String> {
        let name = format!("fmi3Set{sort}");
        let function: Set<T> = self.binary.function(&name)?;
        let n = references.len();
        assert_eq!(n, values.len(), "a value for each variable");
        forget();
        // SAFETY: both slices have n entries, and T is the type that the name says.
        check(&name, unsafe {
            function(self.handle, references.as_ptr(), n, values.as_ptr(), n)
        })
    }

    fn get_all<T: Clone + Default>(
        &mut self,
        sort: &str,
        references: &[u32],
    ) -> Result<Vec<T>, String> {
        let name = format!("fmi3Get{sort}");
        let function: Get<T> = self.binary.function(&name)?;
        let n = references.len();
        let mut values = vec![T::default(); n];
        forget();
        // SAFETY: as for `set_all`.
        check(&name, unsafe {
            function(self.handle, references.as_ptr(), n, values.as_mut_ptr(), n)
        })?;
        Ok(values)
    }
}

/// `fmi3InstantiateModelExchange`.
type ForExchange = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    bool,
    bool,
    *mut c_void,
    Log,
) -> Handle;

/// `fmi3InstantiateCoSimulation`.
type ForSimulation = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    bool,
    bool,
    bool,
    bool,
    *const u32,
    usize,
    *mut c_void,
    Log,
    *const c_void,
) -> Handle;

fn make(binary: &Arc<Binary>, description: &Description, kind: Kind) -> Result<Handle, String> {
    let text = |s: &str| CString::new(s).map_err(|_| "a name holds a zero byte".to_owned());
    let (name, token) = (text(&description.name)?, text(&description.token)?);
    // FMI 3.0 wants a path that ends with a slash.
    let resources = text(&format!("{}/", binary.resources().display()))?;
    let (name_at, token_at, at) = (name.as_ptr(), token.as_ptr(), resources.as_ptr());
    let (nobody, none) = (std::ptr::null_mut(), std::ptr::null());
    let (function, handle) = match kind {
        Kind::ModelExchange => {
            let function = "fmi3InstantiateModelExchange";
            let instantiate: ForExchange = binary.function(function)?;
            forget();
            // SAFETY: all texts live during the call.
            let handle = unsafe { instantiate(name_at, token_at, at, false, false, nobody, log) };
            (function, handle)
        }
        Kind::CoSimulation => {
            let function = "fmi3InstantiateCoSimulation";
            let instantiate: ForSimulation = binary.function(function)?;
            forget();
            // SAFETY: as above; no variables are asked for in between, so that there is nothing to call back.
            let handle = unsafe {
                instantiate(
                    name_at,
                    token_at,
                    at,
                    false,
                    false,
                    false,
                    false,
                    none,
                    0,
                    nobody,
                    log,
                    std::ptr::null(),
                )
            };
            (function, handle)
        }
    };

    match handle.is_null() {
        false => Ok(handle),
        true => Err(match check(function, 3) {
            Err(message) => message,
            Ok(()) => String::new(),
        }),
    }
}

fn exchange(binary: &Binary) -> Result<Exchange, String> {
    Ok(Exchange {
        begin_event: binary.function("fmi3EnterEventMode")?,
        update: binary.function("fmi3UpdateDiscreteStates")?,
        end_event: binary.function("fmi3EnterContinuousTimeMode")?,
        step_done: binary.function("fmi3CompletedIntegratorStep")?,
        set_time: binary.function("fmi3SetTime")?,
        set_states: binary.function("fmi3SetContinuousStates")?,
        states: binary.function("fmi3GetContinuousStates")?,
        rates: binary.function("fmi3GetContinuousStateDerivatives")?,
        indicators: binary.function("fmi3GetEventIndicators")?,
    })
}

/// Values as another type of number: what does not fit is cut off at its ends.
macro_rules! each_sort {
    ($sort:expr, $float64:expr, $boolean:expr, $number:ident) => {
        match $sort {
            Sort::Float64 => $float64,
            Sort::Boolean => $boolean,
            Sort::Float32 => $number!(f32, "Float32"),
            Sort::Int8 => $number!(i8, "Int8"),
            Sort::UInt8 => $number!(u8, "UInt8"),
            Sort::Int16 => $number!(i16, "Int16"),
            Sort::UInt16 => $number!(u16, "UInt16"),
            Sort::Int32 => $number!(i32, "Int32"),
            Sort::UInt32 => $number!(u32, "UInt32"),
            Sort::Int64 | Sort::Enumeration => $number!(i64, "Int64"),
            Sort::UInt64 => $number!(u64, "UInt64"),
            Sort::Other => Err("texts and clocks are not numbers".to_owned()),
        }
    };
}

impl Instance for Instance3 {
    fn set(&mut self, sort: Sort, references: &[u32], values: &[f64]) -> Result<(), String> {
        macro_rules! number {
            ($type:ty, $name:literal) => {{
                let own: Vec<$type> = values.iter().map(|&v| v as $type).collect();
                self.set_all($name, references, &own)
            }};
        }
        let truths = || values.iter().map(|v| *v != 0.0).collect::<Vec<bool>>();
        each_sort!(
            sort,
            self.set_all("Float64", references, values),
            self.set_all("Boolean", references, &truths()),
            number
        )
    }

    fn get(&mut self, sort: Sort, references: &[u32], values: &mut [f64]) -> Result<(), String> {
        macro_rules! number {
            ($type:ty, $name:literal) => {
                self.get_all::<$type>($name, references)
                    .map(|all| all.into_iter().map(|v| v as f64).collect())
            };
        }
        let truths = |all: Vec<bool>| all.into_iter().map(|v| f64::from(u8::from(v))).collect();
        let found: Vec<f64> = each_sort!(
            sort,
            self.get_all("Float64", references),
            self.get_all("Boolean", references).map(truths),
            number
        )?;
        values.copy_from_slice(&found);
        Ok(())
    }

    fn reset(&mut self) -> Result<(), String> {
        self.plain(self.common.reset, "fmi3Reset")
    }

    fn begin_start(&mut self, time: f64, tolerance: Option<f64>) -> Result<(), String> {
        let (is_defined, tolerance) = (tolerance.is_some(), tolerance.unwrap_or(0.0));
        forget();
        // SAFETY: plain numbers.
        let status =
            unsafe { (self.common.begin)(self.handle, is_defined, tolerance, time, false, 0.0) };
        check("fmi3EnterInitializationMode", status)
    }

    fn end_start(&mut self) -> Result<(), String> {
        self.plain(self.common.end, "fmi3ExitInitializationMode")
    }

    fn begin_event(&mut self) -> Result<(), String> {
        self.plain(self.exchange().begin_event, "fmi3EnterEventMode")
    }

    fn update(&mut self) -> Result<Update, String> {
        let (mut again, mut ends, mut nominals, mut values) = (false, false, false, false);
        let (mut has_next, mut next) = (false, 0.0);
        forget();
        // SAFETY: all answers live during the call.
        let status = unsafe {
            (self.exchange().update)(
                self.handle,
                &raw mut again,
                &raw mut ends,
                &raw mut nominals,
                &raw mut values,
                &raw mut has_next,
                &raw mut next,
            )
        };
        check("fmi3UpdateDiscreteStates", status)?;
        Ok(Update {
            needs_another: again,
            has_ended: ends,
            next_time: has_next.then_some(next),
        })
    }

    fn end_event(&mut self) -> Result<(), String> {
        self.plain(self.exchange().end_event, "fmi3EnterContinuousTimeMode")
    }

    fn set_time(&mut self, time: f64) -> Result<(), String> {
        forget();
        // SAFETY: a plain number.
        let status = unsafe { (self.exchange().set_time)(self.handle, time) };
        check("fmi3SetTime", status)
    }

    fn set_states(&mut self, states: &[f64]) -> Result<(), String> {
        let (at, n) = (states.as_ptr(), states.len());
        forget();
        // SAFETY: the slice has n entries.
        let status = unsafe { (self.exchange().set_states)(self.handle, at, n) };
        check("fmi3SetContinuousStates", status)
    }

    fn states(&mut self, states: &mut [f64]) -> Result<(), String> {
        self.numbers(self.exchange().states, "fmi3GetContinuousStates", states)
    }

    fn rates(&mut self, rates: &mut [f64]) -> Result<(), String> {
        let function = self.exchange().rates;
        self.numbers(function, "fmi3GetContinuousStateDerivatives", rates)
    }

    fn indicators(&mut self, indicators: &mut [f64]) -> Result<(), String> {
        let function = self.exchange().indicators;
        self.numbers(function, "fmi3GetEventIndicators", indicators)
    }

    fn slopes(&mut self, of: &[u32], by: u32, slopes: &mut [f64]) -> Result<(), String> {
        assert_eq!(of.len(), slopes.len(), "room for each slope");
        let function = self.directional.expect("asked only where it is provided");
        let (n, seed) = (of.len(), 1.0);
        let (seed_at, out) = (&raw const seed, slopes.as_mut_ptr());
        forget();
        // SAFETY: slices have the lengths that are given.
        let status = unsafe {
            function(
                self.handle,
                of.as_ptr(),
                n,
                &raw const by,
                1,
                seed_at,
                1,
                out,
                n,
            )
        };
        check("fmi3GetDirectionalDerivative", status)
    }

    fn step_done(&mut self) -> Result<bool, String> {
        let (mut wants_event, mut ends) = (false, false);
        let function = self.exchange().step_done;
        forget();
        // SAFETY: both answers live during the call.
        let status = unsafe { function(self.handle, true, &raw mut wants_event, &raw mut ends) };
        check("fmi3CompletedIntegratorStep", status)?;
        Ok(wants_event || ends)
    }

    fn step(&mut self, from: f64, length: f64) -> Result<bool, String> {
        let (mut event, mut ends, mut early, mut reached) = (false, false, false, from);
        let function = self.do_step.expect("an instance for Co-Simulation");
        forget();
        // SAFETY: all answers live during the call.
        let status = unsafe {
            function(
                self.handle,
                from,
                length,
                true,
                &raw mut event,
                &raw mut ends,
                &raw mut early,
                &raw mut reached,
            )
        };
        check("fmi3DoStep", status)?;
        match early && !ends {
            true => Err(format!("`fmi3DoStep` came to t = {reached} s only")),
            false => Ok(ends),
        }
    }
}

impl Drop for Instance3 {
    fn drop(&mut self) {
        // SAFETY: the instance was made by this library and is freed once.
        unsafe { (self.common.free)(self.handle) }
    }
}
