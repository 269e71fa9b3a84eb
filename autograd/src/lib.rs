//! ringgrad autograd.
