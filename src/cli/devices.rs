//! `mero devices`: what is here, with limits and features.

use pollster::block_on;

use super::console::{say, say_json};
use crate::Device;
use crate::device::Info;
use crate::report::{Table, binary, short};

#[derive(clap::Args)]
pub(super) struct Args {
    /// One JSON object per device on standard output, and nothing else
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) {
    let all = block_on(Device::list());
    if args.json {
        return all.iter().for_each(say_json);
    }
    let header = ["device", "name", "kind", "threads", "buffers", "workgroup"];
    say(&Table::new(header).rows(all.iter().map(row)).text());
    for info in all.iter().filter(|info| !info.features.is_empty()) {
        say(&format!("\n  {}: {}; offers {}", info.device, info.driver, info.features.join(", ")));
        if info.subgroup > 1 {
            say(&format!("  sums and maxima use subgroups, {} lanes at a time", info.subgroup));
        }
    }
    say("\n  auto takes a webgpu device of hardware, else cpu; software only by name");
}

fn row(info: &Info) -> Vec<String> {
    let kind = match info.device {
        "cpu" => "processor",
        "dry" => "counts only",
        _ if info.is_software => "software",
        _ => "hardware",
    };
    let shared = if info.workgroup_bytes == 0 { "–".into() } else { binary(u64::from(info.workgroup_bytes)) };
    let (name, threads) = (short(&info.name, 28), info.threads.to_string());
    vec![info.device.into(), name, kind.into(), threads, binary(info.max_binding_bytes), shared]
}
