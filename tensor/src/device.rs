//! Where tensors live: a handle to the memory and the threads of one device.
//!
//! A device is a value that its user passes on; there is no current device. Each rank has one of
//! its own, so ranks share neither a lock nor a pool.

use std::sync::Arc;

use kernels::Threads;

use crate::error::{Error, Result};
use crate::pool::Pool;

/// A place for tensors, cheap to clone. CUDA devices join as a second variant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Device {
    /// The host's memory.
    Cpu(Arc<Cpu>),
}

/// The host: its threads for one rank, and the buffers that wait to be used again.
#[derive(Debug)]
pub struct Cpu {
    pub(crate) threads: Threads,
    pub(crate) pool: Pool,
}

impl Device {
    /// The host, computing on the calling thread alone.
    pub fn cpu() -> Self {
        Device::Cpu(Arc::new(Cpu { threads: Threads::serial(), pool: Pool::default() }))
    }

    /// The host, computing on a pool of `count` threads where an operation is large enough for
    /// threads to pay. The number of threads never changes a bit of a result.
    ///
    /// # Errors
    /// When the operating system refuses the threads.
    pub fn cpu_with_threads(count: usize) -> Result<Self> {
        let threads = Threads::new(count)
            .map_err(|error| Error::Threads { count, cause: error.to_string() })?;
        Ok(Device::Cpu(Arc::new(Cpu { threads, pool: Pool::default() })))
    }

    /// Bytes of the tensors that are alive on this handle's device now; buffers kept for re-use
    /// are not counted.
    pub fn live_bytes(&self) -> usize {
        match self {
            Device::Cpu(cpu) => cpu.pool.live_bytes(),
        }
    }

    /// The word used in reports: `cpu`.
    pub fn kind(&self) -> &'static str {
        match self {
            Device::Cpu(_) => "cpu",
        }
    }

    /// The kernel threads of this device.
    pub fn threads(&self) -> &Threads {
        match self {
            Device::Cpu(cpu) => &cpu.threads,
        }
    }

    pub(crate) fn pool(&self) -> &Pool {
        match self {
            Device::Cpu(cpu) => &cpu.pool,
        }
    }
}
