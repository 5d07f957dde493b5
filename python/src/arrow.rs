//! The Arrow C stream of a table, without copying its numbers.
//!
//! In:  a held table, and words beside its rows.
//! Out: a capsule `arrow_array_stream` with one record batch: a struct of doubles, and a column of words.
//!      Units are in the metadata of the fields.
//!
//! **Invariant:** every structure that is given away owns what it points to through `private_data`, and
//! `release` frees exactly that, once. The buffers of the numbers are the engine's vectors, kept alive by
//! the same `Arc` that Python's columns hold.
//!
//! Layout and rules: the Arrow C data interface, <https://arrow.apache.org/docs/format/CDataInterface.html>.
#![expect(unsafe_code, reason = "the C data interface is made of pointers")]

use crate::columns::Held;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

/// A type: `struct ArrowSchema`.
#[repr(C)]
pub struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// Numbers: `struct ArrowArray`.
#[repr(C)]
pub struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// Batches: `struct ArrowArrayStream`.
#[repr(C)]
pub struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A stream that nobody has taken over is released with its capsule.
#[repr(transparent)]
struct Owned(Stream);

// SAFETY: the stream points to a `Source` alone, which is `Send`; the capsule hands it to one consumer.
unsafe impl Send for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            // SAFETY: `release` is still set, so that nobody has released or moved the stream.
            unsafe { release(&mut self.0) }
        }
    }
}

/// What a stream holds.
struct Source {
    held: Held,
    words: Option<(String, Vec<Option<String>>)>,
    is_done: bool,
}

/// Makes the capsule of a table.
pub fn stream<'py>(
    py: Python<'py>,
    held: Held,
    words: Option<(String, Vec<Option<String>>)>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let source = Source {
        held,
        words,
        is_done: false,
    };
    let stream = Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(source)).cast(),
    };
    PyCapsule::new_with_value(py, Owned(stream), c"arrow_array_stream")
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: the consumer calls with the stream that `stream` made and room for a schema.
    unsafe {
        let source = &*(*stream).private_data.cast::<Source>();
        out.write(whole_schema(source));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: as for `get_schema`; the interface forbids calls from two threads at once.
    unsafe {
        let source = &mut *(*stream).private_data.cast::<Source>();
        let batch = match source.is_done {
            true => end_of_stream(),
            false => whole_array(source),
        };
        source.is_done = true;
        out.write(batch);
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: `private_data` came from `Box::into_raw`, and `release` is cleared so that this happens once.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Source>()));
        (*stream).release = None;
    }
}

/// What a schema owns.
struct SchemaParts {
    _format: CString,
    _name: CString,
    _metadata: Vec<u8>,
    children: Vec<*mut Schema>,
}

fn schema(format: &str, name: &str, unit: &str, children: Vec<Schema>) -> Schema {
    let is_nullable = format == "u";
    let text = |s: &str| CString::new(s.replace('\0', " ")).expect("zero bytes were replaced");
    let children = children.into_iter().map(|c| Box::into_raw(Box::new(c)));
    let mut parts = Box::new(SchemaParts {
        _format: text(format),
        _name: text(name),
        _metadata: metadata("unit", unit),
        children: children.collect(),
    });
    Schema {
        format: parts._format.as_ptr(),
        name: parts._name.as_ptr(),
        metadata: match unit {
            "" => null(),
            _ => parts._metadata.as_ptr().cast(),
        },
        // 2: may hold nothing.
        flags: if is_nullable { 2 } else { 0 },
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

/// One pair, as the interface writes them: counts and lengths as 32-bit numbers in the machine's order.
fn metadata(key: &str, value: &str) -> Vec<u8> {
    let mut bytes = 1_i32.to_ne_bytes().to_vec();
    for text in [key, value] {
        bytes.extend((text.len() as i32).to_ne_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: all pointers came from `Box::into_raw` in `schema`; a child that was moved away has no release.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        for &child in &parts.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

fn whole_schema(source: &Source) -> Schema {
    let table = (*source.held).as_ref();
    let axis_unit = if table.axis_name() == "time" { "s" } else { "" };
    let mut children = vec![schema("g", table.axis_name(), axis_unit, Vec::new())];
    let columns = table.columns.iter();
    children.extend(columns.map(|c| schema("g", &c.name, &c.unit, Vec::new())));
    let words = source.words.iter();
    children.extend(words.map(|(name, _)| schema("u", name, "", Vec::new())));
    schema("+s", "", "", children)
}

/// What an array owns.
struct ArrayParts {
    _held: Option<Held>,
    _words: Option<Words>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
}

/// Texts one after another, where each begins, and which are there.
struct Words {
    is_there: Vec<u8>,
    begins: Vec<i32>,
    bytes: Vec<u8>,
    n_missing: usize,
}

impl Words {
    fn new(words: &[Option<String>]) -> Words {
        let mut found = Words {
            is_there: vec![0; words.len().div_ceil(8)],
            begins: vec![0],
            bytes: Vec::new(),
            n_missing: 0,
        };
        for (k, word) in words.iter().enumerate() {
            match word {
                Some(word) => {
                    found.is_there[k / 8] |= 1 << (k % 8);
                    found.bytes.extend(word.as_bytes());
                }
                None => found.n_missing += 1,
            }
            found.begins.push(found.bytes.len() as i32);
        }
        found
    }
}

fn array(length: usize, mut parts: Box<ArrayParts>, n_missing: usize) -> Array {
    Array {
        length: length as i64,
        null_count: n_missing as i64,
        offset: 0,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

fn numbers(held: &Held, values: &[f64]) -> Array {
    let parts = ArrayParts {
        _held: Some(held.clone()),
        _words: None,
        // No buffer of validity: every number is there.
        buffers: vec![null(), values.as_ptr().cast()],
        children: Vec::new(),
    };
    array(values.len(), Box::new(parts), 0)
}

fn texts(words: &[Option<String>]) -> Array {
    let words_of = Words::new(words);
    let n_missing = words_of.n_missing;
    let buffers = vec![
        words_of.is_there.as_ptr().cast(),
        words_of.begins.as_ptr().cast(),
        words_of.bytes.as_ptr().cast(),
    ];
    let parts = ArrayParts {
        _held: None,
        _words: Some(words_of),
        buffers,
        children: Vec::new(),
    };
    array(words.len(), Box::new(parts), n_missing)
}

fn whole_array(source: &Source) -> Array {
    let held = &source.held;
    let table = (**held).as_ref();
    let mut children = vec![numbers(held, &table.time)];
    children.extend(table.columns.iter().map(|c| numbers(held, &c.values)));
    children.extend(source.words.iter().map(|(_, words)| texts(words)));
    let children = children.into_iter().map(|c| Box::into_raw(Box::new(c)));
    let parts = ArrayParts {
        _held: None,
        _words: None,
        buffers: vec![null()],
        children: children.collect(),
    };
    array(table.time.len(), Box::new(parts), 0)
}

/// An array without `release` says that there is no further batch.
fn end_of_stream() -> Array {
    Array {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: null_mut(),
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private_data: null_mut(),
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: as for `release_schema`.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        for &child in &parts.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}
