//! Host memory that is free now: the bound of a plan if the caller has set no limit.
//!
//! It is the least of three figures: the memory that the kernel can give without swapping, the rest of the limits of the
//! process' control groups, and the rest of its limit of address space. All are read from /proc and /sys. A figure that
//! cannot be read is ignored.

use std::path::{Path, PathBuf};

/// Bytes of host memory that this process can allocate now without swapping or refusal; `u64::MAX` if no figure is known.
pub fn host_memory_free() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let available = read("/proc/meminfo").and_then(|t| kilobytes(&t, "MemAvailable:"));
    let group = read("/proc/self/cgroup").and_then(|t| group_memory(&t, Path::new("/sys/fs/cgroup")));
    let limits = read("/proc/self/limits");
    let in_use = read("/proc/self/status").and_then(|t| kilobytes(&t, "VmSize:"));
    let space = limits.and_then(|t| address_space(&t)).map(|limit| limit.saturating_sub(in_use.unwrap_or(0)));
    [available, group, space].into_iter().flatten().min().unwrap_or(u64::MAX)
}

/// The number behind a name in a list of "name: number kB".
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|l| l.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The limit of address space in force, bytes; `None` if it is unlimited.
fn address_space(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|l| l.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Bytes that remain of the memory limits of the process' control groups and all their ancestors. `groups` is
/// /proc/self/cgroup; both versions are mounted under `root`.
fn group_memory(groups: &str, root: &Path) -> Option<u64> {
    let left = |folder: &Path, limit: &str, used: &str, cache: &str| -> Option<u64> {
        let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        let limit = number(limit)?;
        // Inactive file pages count as free, because the kernel drops them before it refuses memory.
        let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let line = stat.lines().find_map(|l| l.strip_prefix(cache)?.strip_prefix(' '));
        let spare = line.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0);
        Some(limit.saturating_sub(number(used).unwrap_or(0).saturating_sub(spare)))
    };
    let mut least: Option<u64> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (base, names): (PathBuf, [&str; 3]) = if controllers.is_empty() {
            (root.to_owned(), ["memory.max", "memory.current", "inactive_file"])
        } else if controllers.split(',').any(|c| c == "memory") {
            (root.join("memory"), ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"])
        } else {
            continue;
        };
        // In a container the path may be the host's. The mount's root folder is then the group.
        let folder = base.join(path.trim_start_matches('/'));
        for ancestor in folder.ancestors().take_while(|a| a.starts_with(&base)) {
            let bytes = left(ancestor, names[0], names[1], names[2]);
            least = [least, bytes].into_iter().flatten().min();
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_the_kernel_s_texts() {
        let info = "MemTotal:       24000000 kB\nMemFree:  100 kB\nMemAvailable:   12345678 kB\n";
        assert_eq!(kilobytes(info, "MemAvailable:"), Some(12_345_678 * 1024));
        assert_eq!(kilobytes(info, "SwapFree:"), None);
        let limits =
            "Limit     Soft Limit   Hard Limit   Units\nMax address space         4294967296   unlimited   bytes\n";
        assert_eq!(address_space(limits), Some(4_294_967_296));
        assert_eq!(address_space("Max address space    unlimited   unlimited   bytes\n"), None);
        let free = host_memory_free();
        assert!(free > 1 << 20 && free < u64::MAX, "{free}");
    }

    #[test]
    fn the_tightest_group_of_either_version_counts() {
        let root = std::env::temp_dir().join(format!("purlin-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/memory.max", "1000\n");
        write("a/memory.current", "700\n");
        write("a/memory.stat", "anon 100\ninactive_file 200\n");
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "600\n");
        assert_eq!(group_memory("0::/a/b\n", &root), Some(500));
        write("a/b/memory.max", "640\n");
        assert_eq!(group_memory("0::/a/b\n", &root), Some(40));
        write("memory/memory.limit_in_bytes", "300\n");
        write("memory/memory.usage_in_bytes", "280\n");
        assert_eq!(group_memory("5:cpu,memory:/of/the/host\n0::/\n", &root), Some(20));
        assert_eq!(group_memory("3:cpu:/a\n", &root), None);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
