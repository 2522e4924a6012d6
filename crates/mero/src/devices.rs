//! `mero devices`: the devices of this machine, with limits and features.

use pollster::block_on;

use crate::terminal::console::{say, say_json};
use meromorph::Device;
use meromorph::device::{self, Execution, Info};
use meromorph::report::{Table, binary, short};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Print only JSON, one object per device
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
        say(&format!("\n  {}: {}; features: {}", info.device, info.driver, info.features.join(", ")));
        if info.subgroup > 1 {
            say(&format!("  kernels use subgroups of {} lanes", info.subgroup));
        }
    }
    say("");
    for entry in device::entries().filter(|entry| entry.is_choice) {
        say(&format!("  --device {:<8} {}", entry.name, entry.summary));
    }
    let order: Vec<_> = device::choices().into_iter().skip(1).collect();
    say(&format!(
        "  --device {:<8} the first of {} that opens; software adapters only by name",
        device::AUTO,
        order.join(", ")
    ));
}

fn row(info: &Info) -> Vec<String> {
    let kind = match info.execution {
        Execution::CpuPath => "processor",
        Execution::Nothing => "counts only",
        Execution::Shaders if info.is_software => "software",
        Execution::Shaders => "hardware",
    };
    let shared = if info.workgroup_bytes == 0 { "–".into() } else { binary(u64::from(info.workgroup_bytes)) };
    let (name, threads) = (short(&info.name, 28), info.threads.to_string());
    vec![info.device.into(), name, kind.into(), threads, binary(info.max_binding_bytes), shared]
}
