//! ringgrad tensor.
