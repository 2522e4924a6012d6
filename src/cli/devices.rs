//! `mero devices`: what is here, with limits and features.

use pollster::block_on;

use super::console::{say, say_json};
use super::text::{bytes, grid, short};
use crate::Device;
use crate::device::Info;

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
    let head = ["device", "name", "driver", "kind", "threads", "largest buffer", "workgroup memory"];
    say(&grid(&head, &all.iter().map(row).collect::<Vec<_>>()));
    for info in all.iter().filter(|info| !info.features.is_empty()) {
        say(&format!("\n  {} ({}) offers {}", info.device, info.name, info.features.join(", ")));
    }
    say("\n  auto takes a webgpu device of hardware, else cpu; software pretending to be a GPU only by name.");
}

fn row(info: &Info) -> Vec<String> {
    let kind = match info.device {
        "cpu" => "processor",
        "dry" => "counts only",
        _ if info.is_software => "software",
        _ => "hardware",
    };
    let shared = if info.workgroup_bytes == 0 { "–".into() } else { bytes(u64::from(info.workgroup_bytes)) };
    let binding = bytes(info.max_binding_bytes);
    let (name, driver) = (short(&info.name, 36), short(&info.driver, 24));
    vec![info.device.into(), name, driver, kind.into(), info.threads.to_string(), binding, shared]
}
