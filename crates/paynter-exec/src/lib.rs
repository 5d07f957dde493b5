//! paynter-exec
