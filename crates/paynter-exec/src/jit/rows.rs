//! Sums over the stages of a step, written out.
//!
//! In:  rows of numbers in memory, one for each stage, and weights.
//! Out: the values of `y + h Σ weight rates`, two numbers at a time: two variables of one run, or one of two runs.
//!
//! **Invariant:** every number is summed in the order of the terms, as [`paynter_solve::Trial`] demands.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use paynter_solve::Term;

use super::operations::constant;

/// How rows lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Those of one run: variables two by two; the last may be alone.
    TwoByTwo,
    /// Those of two runs: each variable of both side by side.
    OfTwoRuns,
}

/// Values of all variables, place by place.
pub(super) type Row = Vec<Value>;

/// Sums over stages, and what they are taken from.
pub(super) struct Rows<'a> {
    pub(super) b: FunctionBuilder<'a>,
    pub(super) layout: Layout,
    /// Length of a row.
    pub(super) n: usize,
    pub(super) h: Value,
    /// Twice `h`, side by side; of two runs, the steps of both.
    pub(super) hh: Value,
}

impl Rows<'_> {
    /// How many values make up a row.
    pub(super) fn n_places(&self) -> usize {
        match self.layout {
            Layout::TwoByTwo => self.n.div_ceil(2),
            Layout::OfTwoRuns => self.n,
        }
    }

    /// Whether the numbers at a place of a row are one or two.
    fn kind(&self, place: usize) -> Type {
        if self.layout == Layout::OfTwoRuns || 2 * place + 1 < self.n {
            types::F64X2
        } else {
            types::F64
        }
    }

    fn offset(&self, row: usize, place: usize) -> i32 {
        let number = match self.layout {
            Layout::TwoByTwo => row * self.n + 2 * place,
            Layout::OfTwoRuns => 2 * (row * self.n + place),
        };
        (number * 8) as i32
    }

    pub(super) fn load(&mut self, from: Value, row: usize, place: usize) -> Value {
        let (kind, offset) = (self.kind(place), self.offset(row, place));
        self.b.ins().load(kind, anywhere(), from, offset)
    }

    pub(super) fn store(&mut self, values: &[Value], to: Value, row: usize) {
        for (place, &value) in values.iter().enumerate() {
            let offset = self.offset(row, place);
            self.b.ins().store(anywhere(), value, to, offset);
        }
    }

    /// `h Σ weight row`.
    pub(super) fn sum(&mut self, from: Value, terms: &[Term]) -> Row {
        let mut sums: Row = Vec::new();
        for (number, &(stage, weight)) in terms.iter().enumerate() {
            let (one, two) = (
                constant(&mut self.b, types::F64, weight),
                constant(&mut self.b, types::F64X2, weight),
            );
            for place in 0..self.n_places() {
                let weight = if self.kind(place) == types::F64 {
                    one
                } else {
                    two
                };
                let rate = self.load(from, stage, place);
                let product = self.b.ins().fmul(weight, rate);
                if number == 0 {
                    sums.push(product);
                } else {
                    sums[place] = self.b.ins().fadd(sums[place], product);
                }
            }
        }
        for (place, sum) in sums.iter_mut().enumerate() {
            let h = if self.kind(place) == types::F64 {
                self.h
            } else {
                self.hh
            };
            *sum = self.b.ins().fmul(h, *sum);
        }
        sums
    }

    /// `y0 + h Σ weight rates`.
    pub(super) fn state_after(&mut self, (rates, terms): (Value, &[Term]), y0: Value) -> Row {
        let mut sums = self.sum(rates, terms);
        for (place, sum) in sums.iter_mut().enumerate() {
            let y0 = self.load(y0, 0, place);
            *sum = self.b.ins().fadd(*sum, y0);
        }
        sums
    }

    /// Adds a difference that is 0 if the rates at a place of a stage are finite.
    pub(super) fn note_not_finite(
        &mut self,
        (rates, stage, place): (Value, usize, usize),
        before: Option<Value>,
    ) -> Value {
        let rate = self.load(rates, stage, place);
        let zero = self.b.ins().fsub(rate, rate);
        let zero = if self.kind(place) == types::F64 {
            self.b.ins().splat(types::F64X2, zero)
        } else {
            zero
        };
        match before {
            None => zero,
            Some(before) => self.b.ins().fadd(before, zero),
        }
    }
}

/// A pair may lie at any multiple of eight bytes.
pub(super) fn anywhere() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}
