//! A fit of more rows than fit into a control group, whose limit the system enforces.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Folder;
use super::fits::{TWO_DECAYS, long};

/// A control group within that of this process, removed when dropped.
struct Group(PathBuf);

impl Group {
    /// With so much memory; or why it cannot be made here.
    fn with(bytes: u64) -> Result<Self, String> {
        let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let path = |prefix: &str| {
            own.lines().find_map(|line| Some(line.split_once(prefix)?.1.trim_start_matches('/').to_owned()))
        };
        let name = format!("mero-test-{}", std::process::id());
        let (root, limit, path) = match path(":memory:") {
            Some(path) => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", path),
            None => ("/sys/fs/cgroup", "memory.max", path("0::").ok_or("there is no control group")?),
        };
        let group = Path::new(root).join(path).join(name);
        fs::create_dir(&group).map_err(|error| format!("{}: {error}", group.display()))?;
        let group = Self(group);
        fs::write(group.0.join(limit), bytes.to_string()).map_err(|error| format!("{limit}: {error}"))?;
        Ok(group)
    }

    /// The command, started within the group.
    fn command(&self, command: &Command) -> Command {
        let mut within = Command::new("sh");
        within.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.0.join("cgroup.procs"));
        within.arg(command.get_program()).args(command.get_args());
        within.current_dir(command.get_current_dir().unwrap());
        within
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // An empty group that cannot be removed harms nobody.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn the_limit_of_a_control_group_is_held() {
    let group = match Group::with(32 << 20) {
        Ok(group) => group,
        Err(why) => return eprintln!("not tested: no control group can be made here: {why}"),
    };
    let folder = Folder::new();
    long(&folder, 4_000_000);
    let line = format!("fit long.npy {TWO_DECAYS} --json --threads 2");
    let plan = group.command(&folder.command(&format!("{line} --plan"))).output().unwrap();
    let plan = String::from_utf8(plan.stdout).unwrap();
    assert!(plan.contains("cgroup limit"), "{plan}");
    let fit = group.command(&folder.command(&line)).output().unwrap();
    assert!(fit.status.success(), "{:?} {}", fit.status, String::from_utf8_lossy(&fit.stderr));
    let [report] = &super::json_lines(&String::from_utf8(fit.stdout).unwrap())[..] else { panic!("one line") };
    let [whole] = &super::json(&folder, &line)[..] else { panic!("one line") };
    assert_eq!((&report["strategy"], &whole["strategy"]), (&"chunked".into(), &"standard".into()));
    assert_eq!(report["parameters"], whole["parameters"]);
}
