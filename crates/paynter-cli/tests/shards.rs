//! A sweep cut into shards and put together again is the whole sweep, byte for byte.

mod kit;

use kit::Folder;

const MODEL: &str = "\
model RC {
    param R1 = 100 [ohm], C1 = 1 [mF]
    supply: Se(5 [V]) -> loop: 1 -> r: R { e = R1*f/(R1 - 150 [ohm])*(R1 - 150 [ohm]) }, c: C(C1)
    output v [V] = c.e
}
experiment grid of RC {
    stop = 0.1 [s]; record v; measure end = final(v)
    sweep R1 in 100 [ohm] .. 200 [ohm] by 10 [ohm]
    sweep C1 in [1, 2, 3] [mF]
}
";

/// Expects a wrong call, and a message with these words.
#[track_caller]
fn refused(folder: &Folder, args: &[&str], words: &str) {
    let errors = folder.expect_errors(2, args);
    assert!(errors.contains(words), "{args:?}\n{errors}");
}

#[test]
fn shards_put_together_are_the_whole_sweep() {
    let folder = Folder::with_model(MODEL);
    for ending in ["parquet", "csv", "json"] {
        let whole = format!("whole.{ending}");
        let status = folder.call(&["sweep", "m.bond", "-o", &whole]).status;
        let mut parts = Vec::new();
        for k in 1..=4 {
            let part = format!("part{k}.{ending}");
            let shard = format!("{k}/4");
            folder.call(&[
                "sweep", "m.bond", "--shard", &shard, "-o", &part, "--jobs", "1",
            ]);
            parts.push(part);
        }
        // In any order.
        parts.reverse();
        let merged = format!("merged.{ending}");
        let mut call = vec!["sweep", "--merge"];
        call.extend(parts.iter().map(String::as_str));
        call.extend(["-o", &merged]);
        assert_eq!(folder.call(&call).status, status);
        assert_eq!(folder.bytes(&merged), folder.bytes(&whole), "{ending}");
    }
    // Points that failed have their reasons in the facts beside the table.
    let facts = String::from_utf8(folder.bytes("merged.csv.meta.json")).expect("JSON is text");
    assert_eq!(facts.as_bytes(), folder.bytes("whole.csv.meta.json"));
}

#[test]
fn what_is_no_whole_sweep_is_refused() {
    let folder = Folder::with_model(MODEL);
    for (k, of) in [(1, 2), (2, 2), (1, 3)] {
        let (shard, part) = (format!("{k}/{of}"), format!("p{k}{of}.parquet"));
        folder.call(&["sweep", "m.bond", "--shard", &shard, "-o", &part]);
    }
    let over = "R1 in [100, 110] [ohm]";
    folder.call(&[
        "sweep",
        "m.bond",
        "--over",
        over,
        "--shard",
        "2/2",
        "-o",
        "other.parquet",
    ]);
    folder.call(&["sweep", "m.bond", "-o", "whole.parquet"]);
    let merge = |parts: &[&'static str]| {
        let mut call = vec!["sweep", "--merge", "-o", "out.parquet"];
        call.extend(parts);
        call
    };
    refused(&folder, &merge(&["p12.parquet"]), "missing: 2/2");
    refused(
        &folder,
        &merge(&["p12.parquet", "p12.parquet"]),
        "the same shard",
    );
    refused(
        &folder,
        &merge(&["p12.parquet", "p22.parquet", "p13.parquet"]),
        "p1",
    );
    refused(
        &folder,
        &merge(&["p12.parquet", "other.parquet"]),
        "not a shard of the same sweep",
    );
    refused(
        &folder,
        &merge(&["p12.parquet", "whole.parquet"]),
        "is not a shard",
    );
    refused(
        &folder,
        &merge(&["p12.parquet", "nowhere.parquet"]),
        "no such file",
    );
    refused(
        &folder,
        &["sweep", "m.bond", "--shard", "3/2", "-o", "x.csv"],
        "is not a shard",
    );
    refused(&folder, &["sweep", "m.bond", "--shard", "1/2"], "--out");
    refused(&folder, &["sweep", "m.bond", "other.bond"], "--merge");
    assert!(!folder.0.join("out.parquet").exists());
}

#[test]
fn values_can_be_given_in_the_call() {
    let folder = Folder::with_model(MODEL);
    let over = [
        "--over",
        "R1 in [100, 110] [ohm]",
        "--over",
        "C1 in [1, 2] [mF]",
    ];
    let mut grid = vec!["sweep", "m.bond", "-o", "grid.csv"];
    grid.extend(over);
    assert_eq!(folder.call(&grid).status.code(), Some(0));
    let mut paired = vec!["sweep", "m.bond", "--paired", "-o", "paired.csv"];
    paired.extend(over);
    assert_eq!(folder.call(&paired).status.code(), Some(0));
    let rows = |name: &str| -> Vec<String> {
        let text = String::from_utf8(folder.bytes(name)).expect("CSV is text");
        // Without the number of the point.
        let lines = text.lines().skip(1);
        lines
            .map(|l| l.split_once(',').expect("two columns").1.to_owned())
            .collect()
    };
    let (grid, paired) = (rows("grid.csv"), rows("paired.csv"));
    assert_eq!((grid.len(), paired.len()), (4, 2));
    assert_eq!(paired, [grid[0].clone(), grid[3].clone()]);

    let wrong = |args: &[&str]| {
        folder
            .call(&[&["sweep", "m.bond"], args].concat())
            .status
            .code()
    };
    assert_eq!(wrong(&["--over", "nobody in [1, 2]"]), Some(1));
    assert_eq!(wrong(&["--over", "R1 in [1, 2] } model X {"]), Some(1));
    assert_eq!(wrong(&["--over", "R1 in [1, 2] [m]"]), Some(1));
    let uneven = [
        "--paired",
        "--over",
        "R1 in [1, 2]",
        "--over",
        "C1 in [1, 2, 3]",
    ];
    assert_eq!(wrong(&uneven), Some(1));
    assert_eq!(wrong(&["--paired"]), Some(2));
}
