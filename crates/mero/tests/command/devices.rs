//! Devices by name and number, and the kernels of a step as text.

use crate::folder::Folder;
use crate::json;

/// Builds with the feature have a device where others have a message.
const HAS_CUDA: bool = cfg!(feature = "cuda");

#[test]
fn a_device_that_is_not_here_is_an_error_that_says_what_is() {
    let folder = Folder::new();
    let wrong = |device: &str| folder.refused(&format!("bench matmul --size 8 --windows 1 --device {device}")).1;
    if !HAS_CUDA {
        let expected = "bench: device \"cuda\" is not in this build, which lacks the feature \"cuda\"";
        assert!(wrong("cuda").contains(expected), "{}", wrong("cuda"));
        assert!(wrong("cuda:7").contains(expected), "{}", wrong("cuda:7"));
    }
    assert!(wrong("cpu:1").contains("device \"cpu:1\" is absent: there is cpu:0 ("), "{}", wrong("cpu:1"));
    assert!(
        wrong("cpu:one").contains("got \"one\" after the colon, expected a number, as in cpu:1"),
        "{}",
        wrong("cpu:one")
    );
    if std::env::var_os("MERO_NO_GPU").is_none() {
        assert!(
            wrong("webgpu:99").contains("device \"webgpu:99\" is absent: there is webgpu:0 ("),
            "{}",
            wrong("webgpu:99")
        );
    }
}

#[test]
fn the_kernels_of_a_step_are_written_as_text() {
    let folder = Folder::new();
    for (form, ending, word) in [("wgsl", "wgsl", "@compute"), ("cuda", "cu", "__global__")] {
        let lines = folder.told(&format!("plan --hidden 8 --print {form} {form}"));
        let expected = format!("{form}/01_mlp_step.{ending}\n{form}/02_optimise.{ending}");
        assert_eq!(lines.trim(), expected);
        for name in lines.lines() {
            let text = folder.text(name);
            assert!(text.contains(word) && text.len() > 1000, "{name}");
        }
    }
    let events = json(&folder, "plan --hidden 8 --print wgsl again --json");
    assert_eq!((&events[0]["event"], &events[1]["kernel"]), (&"kernel".into(), &"optimise".into()));
    let (_, message) = folder.refused("plan --print metal out");
    assert!(message.contains("--print: got the form \"metal\", expected one of wgsl, cuda"), "{message}");
}
