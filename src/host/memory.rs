//! How much memory this process may use: what the machine has available, or less if a control group, SLURM or a `ulimit` allows less.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use sysinfo::{MemoryRefreshKind, System};

use super::files::memory_limits;
use super::slurm;

/// The memory that a job may use, and what limits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes.
    pub bytes: u64,
    /// The limit that binds, for a message: `available memory`, `cgroup limit`, `SLURM allocation`, `ulimit -v` or `ulimit -d`.
    pub by: &'static str,
}

/// The smallest limit on the memory of this process, as found by the first call: what the machine has available, what the control groups
/// leave, four fifths of the allocation of SLURM, and what `ulimit -v` and `ulimit -d` leave.
pub fn memory_limit() -> MemoryLimit {
    static LIMIT: OnceLock<MemoryLimit> = OnceLock::new();
    *LIMIT.get_or_init(|| smallest(of_the_system().into_iter().chain(of_the_process(Used::now()))))
}

/// The memory that this process may still take: of what the system had for it at the first call, what it has not taken since; and what its own
/// limits leave now, less a reserve.
pub fn memory_left() -> MemoryLimit {
    static FIRST: OnceLock<(MemoryLimit, u64)> = OnceLock::new();
    let used = Used::now();
    let (limit, before) = FIRST.get_or_init(|| (smallest(of_the_system()), used.resident));
    let taken = used.resident.saturating_sub(*before);
    let own = of_the_process(used).map(|(by, bytes)| (by, bytes.map(|bytes| bytes.saturating_sub(RESERVE_BYTES))));
    smallest([(limit.by, Some(limit.bytes.saturating_sub(taken)))].into_iter().chain(own))
}

/// The bytes of [`memory_left`]. What needs more is refused before it is allocated: a failed allocation would end the process, and one that the
/// system cannot keep would have it killed.
pub fn memory_bytes() -> u64 {
    memory_left().bytes
}

/// What limits on the address space must leave besides what is judged: stacks of threads, small allocations and gaps between them.
const RESERVE_BYTES: u64 = 16 << 20;

fn of_the_system() -> [(&'static str, Option<u64>); 3] {
    [
        ("available memory", machine()),
        ("cgroup limit", control_group(Path::new("/"))),
        ("SLURM allocation", slurm::memory(|name| std::env::var(name).ok())),
    ]
}

fn smallest(limits: impl IntoIterator<Item = (&'static str, Option<u64>)>) -> MemoryLimit {
    let known = limits.into_iter().filter_map(|(by, bytes)| Some(MemoryLimit { bytes: bytes?, by }));
    known.min_by_key(|limit| limit.bytes).unwrap_or(MemoryLimit { bytes: UNKNOWN, by: "available memory" })
}

/// Bytes of large blocks in use.
static CLAIMED: AtomicU64 = AtomicU64::new(0);

/// Smaller blocks are not compared with what is left, which takes longer than to allocate them.
const LARGE_BYTES: u64 = 1 << 20;

/// Counts a block of `bytes` that is about to be allocated. False if it does not fit in memory, or not with those before: a system that promises more
/// than it has would end the process when the block is filled. Either way, `release` must follow.
pub fn claim(bytes: usize) -> bool {
    let bytes = bytes as u64;
    let before = CLAIMED.fetch_add(bytes, Ordering::Relaxed);
    before.saturating_add(bytes) <= memory_limit().bytes && (bytes < LARGE_BYTES || bytes <= memory_bytes())
}

/// Counts a block of `bytes` as freed.
pub fn release(bytes: usize) {
    CLAIMED.fetch_sub(bytes as u64, Ordering::Relaxed);
}

/// Assumed where the platform reports nothing.
const UNKNOWN: u64 = 8 << 30;

/// Memory that is not in use, with free swap.
fn machine() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram().with_swap());
    Some(system.available_memory() + system.free_swap()).filter(|bytes| *bytes > 0)
}

/// The least that a control group of the process, or one above it, leaves: of version 2 (`0::/path`) and 1 (`4:memory:/path`). In a container the
/// path may be that of the host; the root is then the container's own group.
fn control_group(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let version = match controllers {
            "" => &VERSION_2,
            _ if controllers.split(',').any(|name| name == "memory") => &VERSION_1,
            _ => return Vec::new(),
        };
        let top = root.join(version.folder);
        let group = top.join(path.trim_start_matches('/'));
        group.ancestors().take_while(|above| above.starts_with(&top)).filter_map(|group| version.left(group)).collect()
    });
    limits.min()
}

/// The files of a version of control groups.
struct Version {
    folder: &'static str,
    limit: &'static str,
    used: &'static str,
    /// Fields of `memory.stat`: pages of files, which the system drops when memory is short.
    reclaimable: [&'static str; 2],
}

static VERSION_1: Version = Version {
    folder: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    reclaimable: ["total_active_file", "total_inactive_file"],
};
static VERSION_2: Version = Version {
    folder: "sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    reclaimable: ["active_file", "inactive_file"],
};

impl Version {
    /// The limit of a group without what is in use and cannot be reclaimed.
    fn left(&self, group: &Path) -> Option<u64> {
        let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
        let limit = number(self.limit)?;
        let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let fields = statistics.lines().filter_map(|line| line.split_once(' '));
        let reclaimable = fields.filter(|(name, _)| self.reclaimable.contains(name));
        let reclaimable: u64 = reclaimable.filter_map(|(_, bytes)| bytes.trim().parse::<u64>().ok()).sum();
        Some(limit.saturating_sub(number(self.used).unwrap_or(0).saturating_sub(reclaimable)))
    }
}

/// Bytes that this process uses now; 0 where the platform does not report them.
#[derive(Clone, Copy, Default)]
struct Used {
    /// Addresses, which `ulimit -v` limits.
    addresses: u64,
    /// Of them those that hold data, which `ulimit -d` limits.
    data: u64,
    /// Memory.
    resident: u64,
}

impl Used {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let kib =
            |name| status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok();
        let [addresses, data, resident] = ["VmSize:", "VmData:", "VmRSS:"].map(|name| 1024 * kib(name).unwrap_or(0));
        Self { addresses, data, resident }
    }
}

/// What the limits on this process leave.
fn of_the_process(used: Used) -> [(&'static str, Option<u64>); 2] {
    let [addresses, data] = memory_limits();
    let left = |most: Option<u64>, used| most.map(|most| most.saturating_sub(used));
    [("ulimit -v", left(addresses, used.addresses)), ("ulimit -d", left(data, used.data))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_of_the_groups_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(control_group(root.path()), None);
        write("proc/self/cgroup", "9:cpu:/a\n4:hugetlb,memory:/a/b\n0::/u/v\n");
        assert_eq!(control_group(root.path()), None);
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "3000\n");
        write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "4000\n");
        assert_eq!(control_group(root.path()), Some(3000));
        write("sys/fs/cgroup/u/v/memory.max", "max\n");
        assert_eq!(control_group(root.path()), Some(3000));
        write("sys/fs/cgroup/u/memory.max", "2000\n");
        assert_eq!(control_group(root.path()), Some(2000));
        // A container with the host's path: only its own root is there.
        write("proc/self/cgroup", "0::/../../host/path\n");
        write("sys/fs/cgroup/memory.max", "1000\n");
        assert_eq!(control_group(root.path()), Some(1000));
    }

    #[test]
    fn what_a_group_uses_and_cannot_reclaim_is_not_left() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/self/cgroup", "0::/job/step\n");
        write("sys/fs/cgroup/job/step/memory.max", "max\n");
        write("sys/fs/cgroup/job/memory.max", "10000\n");
        write("sys/fs/cgroup/job/memory.current", "7000\n");
        assert_eq!(control_group(root.path()), Some(3000));
        write("sys/fs/cgroup/job/memory.stat", "anon 100\nactive_file 1000\ninactive_file 4000\nshmem 5\n");
        assert_eq!(control_group(root.path()), Some(8000));
        write("sys/fs/cgroup/job/memory.current", "20000\n");
        assert_eq!(control_group(root.path()), Some(0));
        write("proc/self/cgroup", "7:memory:/job\n");
        write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9000\n");
        write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "6000\n");
        write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 9\ntotal_inactive_file 2000\n");
        assert_eq!(control_group(root.path()), Some(5000));
    }

    #[test]
    fn the_smallest_limit_binds_and_is_named() {
        let limit = |available, cgroup, slurm| {
            let limit = smallest([("available", available), ("cgroup", cgroup), ("slurm", slurm)]);
            (limit.bytes, limit.by)
        };
        assert_eq!(limit(Some(5), Some(4), Some(3)), (3, "slurm"));
        assert_eq!(limit(Some(5), Some(4), None), (4, "cgroup"));
        assert_eq!(limit(Some(2), Some(4), None), (2, "available"));
        assert_eq!(limit(None, None, None), (UNKNOWN, "available memory"));
    }

    #[test]
    fn this_machine_has_some() {
        assert!(memory_bytes() > 1 << 20);
        assert!(!memory_limit().by.is_empty());
    }
}
