//! How much memory this process may use: what the machine has available, or less if a control group or `ulimit -v` allows less.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use sysinfo::{MemoryRefreshKind, System};

/// The most memory that this process may use, as found by the first call. What needs more is refused before it is allocated: a failed allocation
/// would end the process, and one that the system cannot keep would have it killed.
pub fn memory_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let limits = [machine(), control_group(Path::new("/")), address_space()];
        limits.into_iter().flatten().min().unwrap_or(UNKNOWN)
    })
}

/// Bytes of large blocks in use.
static CLAIMED: AtomicU64 = AtomicU64::new(0);

/// Counts a block of `bytes` that is about to be allocated. False if it does not fit in memory with those before: a system that promises more than it
/// has would end the process when the block is filled. Either way, `release` must follow.
pub fn claim(bytes: usize) -> bool {
    let before = CLAIMED.fetch_add(bytes as u64, Ordering::Relaxed);
    before.saturating_add(bytes as u64) <= memory_bytes()
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

/// The smallest limit of the process's control group and those above it, of version 2 (`0::/path`) and 1 (`4:memory:/path`). In a container the
/// path may be that of the host; the root is then the container's own group.
fn control_group(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (folder, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return Vec::new(),
        };
        let group = root.join(folder).join(path.trim_start_matches('/'));
        let above = group.ancestors().take_while(|above| above.starts_with(root.join(folder)));
        let limit = |group: &Path| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
        above.filter_map(limit).collect::<Vec<_>>()
    });
    limits.min()
}

/// What `ulimit -v` leaves.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit = limit.split_whitespace().next()?.parse::<u64>().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let used = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?.split_whitespace().next()?;
    Some(limit.saturating_sub(1024 * used.parse::<u64>().ok()?))
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
    fn this_machine_has_some() {
        assert!(memory_bytes() > 1 << 20);
    }
}
