//! paynter-draw
