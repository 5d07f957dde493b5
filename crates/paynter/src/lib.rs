//! paynter
