//! What processes use of NVIDIA GPUs, by the driver's own library (NVML) where it is installed.
//!
//! The library is opened when the first sample is wanted and no earlier; a machine without it has
//! no samples, and nothing is started or polled from outside.

#![expect(unsafe_code, reason = "the driver's library speaks C")]

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cartridge_store::GpuSample;
use libloading::Library;

/// Processes on one GPU that are looked at.
const MAX_PROCESSES: usize = 1024;

/// The driver's library, opened.
#[derive(Debug)]
pub(crate) struct Nvml {
    library: Library,
    n_devices: c_uint,
}

/// How many GPUs the driver shows.
pub(crate) fn count() -> u32 {
    Nvml::open().map_or(0, |nvml| nvml.n_devices)
}

type Device = *mut c_void;

/// `nvmlUtilization_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Utilization {
    gpu: c_uint,
    memory: c_uint,
}

/// `nvmlProcessInfo_v2_t`, as version 3 of the function fills it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProcessInfo {
    pid: c_uint,
    used_memory: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

impl Nvml {
    /// Opens the library; nothing where there is none, or no GPU.
    pub(crate) fn open() -> Option<Self> {
        // SAFETY: the driver's library has no surprises when it is loaded.
        let library = unsafe { Library::new("libnvidia-ml.so.1") }.ok()?;
        let mut nvml = Self { library, n_devices: 0 };
        let mut n_devices = 0;
        // SAFETY: these are the signatures in nvml.h, and the pointer is to a variable of ours.
        let is_ready = unsafe {
            let init = nvml.library.get::<unsafe extern "C" fn() -> c_int>(b"nvmlInit_v2").ok()?;
            let count = nvml
                .library
                .get::<unsafe extern "C" fn(*mut c_uint) -> c_int>(b"nvmlDeviceGetCount_v2")
                .ok()?;
            init() == 0 && count(&raw mut n_devices) == 0
        };
        nvml.n_devices = n_devices;
        (is_ready && n_devices > 0).then_some(nvml)
    }

    /// What the processes `pids` use; nothing where they use no GPU.
    pub(crate) fn sample(&self, pids: &[u32]) -> Option<GpuSample> {
        let mut sample: Option<GpuSample> = None;
        for idx in 0..self.n_devices {
            let Some((percent, processes)) = self.device(idx) else { continue };
            let ours = processes.iter().filter(|process| pids.contains(&process.pid));
            let memory: Vec<u64> = ours.map(|process| process.used_memory).collect();
            if memory.is_empty() {
                continue;
            }
            let sample = sample.get_or_insert_default();
            sample.percent = sample.percent.max(f64::from(percent));
            // All ones means that the driver does not tell.
            sample.memory_bytes += memory.iter().filter(|&&bytes| bytes != u64::MAX).sum::<u64>();
        }
        sample
    }

    /// The use of one GPU in percent, and the processes on it.
    fn device(&self, idx: c_uint) -> Option<(c_uint, Vec<ProcessInfo>)> {
        let mut device: Device = std::ptr::null_mut();
        let mut utilization = Utilization::default();
        let mut n_processes = MAX_PROCESSES as c_uint;
        let mut processes = vec![ProcessInfo::default(); MAX_PROCESSES];
        // SAFETY: these are the signatures in nvml.h; every pointer is to a variable of ours, and
        // the list has room for as many processes as `n_processes` says.
        let is_known = unsafe {
            let handle = self
                .library
                .get::<unsafe extern "C" fn(c_uint, *mut Device) -> c_int>(
                    b"nvmlDeviceGetHandleByIndex_v2",
                )
                .ok()?;
            let utilization_rates = self
                .library
                .get::<unsafe extern "C" fn(Device, *mut Utilization) -> c_int>(
                    b"nvmlDeviceGetUtilizationRates",
                )
                .ok()?;
            let running = self
                .library
                .get::<unsafe extern "C" fn(Device, *mut c_uint, *mut ProcessInfo) -> c_int>(
                    b"nvmlDeviceGetComputeRunningProcesses_v3",
                )
                .ok()?;
            handle(idx, &raw mut device) == 0
                && utilization_rates(device, &raw mut utilization) == 0
                && running(device, &raw mut n_processes, processes.as_mut_ptr()) == 0
        };
        processes.truncate(n_processes as usize);
        is_known.then_some((utilization.gpu, processes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_the_library_has_no_samples_and_one_with_it_none_of_nobody() {
        assert_eq!(Nvml::open().and_then(|nvml| nvml.sample(&[])), None);
    }
}
