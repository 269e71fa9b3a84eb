//! ringgrad nn.
