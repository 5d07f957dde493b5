//! paynter-solve
