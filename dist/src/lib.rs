//! ringgrad dist.
