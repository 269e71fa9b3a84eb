//! ringgrad.
