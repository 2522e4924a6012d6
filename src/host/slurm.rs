//! What the batch system SLURM allocated to this job, by the environment variables that it sets.

/// Threads that a task may use. `variable` looks up an environment variable.
pub(crate) fn threads(variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let count = variable("SLURM_CPUS_PER_TASK")?.trim().parse().ok()?;
    (count > 0).then_some(count)
}

/// Four fifths of the memory that is allocated on this node: by convention a job leaves the rest to its launcher, its libraries and the page cache.
/// `None` if the job gets all memory of the node, which SLURM writes as 0.
pub(crate) fn memory(variable: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let bytes = |name: &str| size(&variable(name)?).filter(|bytes| *bytes > 0);
    let of_processors = || {
        let counts = ["SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"].map(&variable).into_iter().flatten();
        let fewest = counts.filter_map(|text| text.trim().parse::<u64>().ok()).min()?;
        bytes("SLURM_MEM_PER_CPU")?.checked_mul(fewest)
    };
    let allocated = bytes("SLURM_MEM_PER_NODE").or_else(of_processors)?;
    Some(allocated / 5 * 4).filter(|bytes| *bytes > 0)
}

/// `4096` or `4096M` are MiB; `K`, `G` and `T` may follow too.
fn size(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(['B', 'b']);
    let shift = match text.bytes().last()?.to_ascii_uppercase() {
        b'K' => 10,
        b'G' => 30,
        b'T' => 40,
        _ => 20,
    };
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    fn variables(set: Variables<'_>) -> impl Fn(&str) -> Option<String> {
        move |name| set.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
    }

    #[test]
    fn four_fifths_of_the_allocation_are_used() {
        const MIB: u64 = 1 << 20;
        let cases: &[(Variables<'_>, Option<u64>)] = &[
            (&[], None),
            (&[("SLURM_MEM_PER_NODE", "1000")], Some(800 * MIB)),
            (&[("SLURM_MEM_PER_NODE", "5G")], Some(4096 * MIB)),
            (&[("SLURM_MEM_PER_NODE", "0")], None),
            (&[("SLURM_MEM_PER_NODE", "all of it")], None),
            (&[("SLURM_MEM_PER_CPU", "500")], None),
            (&[("SLURM_MEM_PER_CPU", "500"), ("SLURM_CPUS_ON_NODE", "8")], Some(3200 * MIB)),
            (
                &[("SLURM_MEM_PER_CPU", "500"), ("SLURM_CPUS_ON_NODE", "8"), ("SLURM_CPUS_PER_TASK", "2")],
                Some(800 * MIB),
            ),
            (&[("SLURM_MEM_PER_CPU", "18446744073709551615"), ("SLURM_CPUS_ON_NODE", "8")], None),
        ];
        for (set, expected) in cases {
            assert_eq!(memory(variables(set)), *expected, "{set:?}");
        }
    }

    #[test]
    fn a_task_uses_its_own_processors() {
        assert_eq!(threads(variables(&[("SLURM_CPUS_PER_TASK", "6")])), Some(6));
        for text in ["0", "", "many"] {
            assert_eq!(threads(variables(&[("SLURM_CPUS_PER_TASK", text)])), None, "{text}");
        }
        assert_eq!(threads(variables(&[])), None);
    }
}
