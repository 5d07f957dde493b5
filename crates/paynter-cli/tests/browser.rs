//! Report pages in a real browser: no error, nothing asked from outside, and everything reacts.
//!
//! Needs Chromium, which `./ci` installs; there `PAYNTER_NEEDS_BROWSER` makes a missing one a failure.
//! Elsewhere the tests pass without one and say so.

use std::path::{Path, PathBuf};
use std::process::Command;

fn browser() -> Option<PathBuf> {
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    let chosen = std::env::var_os("PAYNTER_BROWSER").map(PathBuf::from);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = chosen.or_else(|| {
        std::env::split_paths(&paths)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|path| path.is_file())
    });
    if found.is_none() {
        assert!(
            std::env::var_os("PAYNTER_NEEDS_BROWSER").is_none(),
            "no Chromium was found; install it, or name one in PAYNTER_BROWSER"
        );
        eprintln!("not tested: no Chromium on this machine");
    }
    found
}

fn gallery(file: &str) -> String {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    gallery.join(file).display().to_string()
}

/// A folder for one test, removed by its end.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("paynter-browser-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).expect("the temporary folder can be written");
    path
}

fn report(folder: &Path, args: &[&str]) -> String {
    let page = folder.join("report.html");
    let output = Command::new(env!("CARGO_BIN_EXE_paynter"))
        .args(["run"])
        .args(args)
        .arg("--report")
        .arg(&page)
        .output()
        .expect("the command was built");
    assert!(page.exists(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(page).expect("just written")
}

/// What the probe saw on a page.
fn visit(browser: &Path, folder: &Path, page: &str) -> serde_json::Value {
    let listen = "<script>window.probe_errors = [];\
        window.addEventListener('error', function (e) { window.probe_errors.push('error: ' + e.message); });\
        document.addEventListener('securitypolicyviolation', function (e) { window.probe_errors.push('asked for ' + e.blockedURI); });\
        console.error = console.warn = function (m) { window.probe_errors.push('console: ' + m); };</script>";
    let probe = format!(
        "<script>{}</script></body>",
        include_str!("browser/probe.js")
    );
    let watched = page
        .replacen("</head>", &format!("{listen}</head>"), 1)
        .replacen("</body>", &probe, 1);
    let path = folder.join("watched.html");
    std::fs::write(&path, watched).expect("the folder is there");
    let picture = folder.join("page.png");
    let profile = folder.join("profile");
    let call = |args: &[String]| {
        Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
            ])
            .args(["--disable-dev-shm-usage", "--window-size=1100,3000"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(args)
            .arg(format!("file://{}", path.display()))
            .output()
            .expect("the browser starts")
    };
    let output = call(&["--dump-dom".to_owned()]);
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let title = dom
        .split("<title>probe ")
        .nth(1)
        .and_then(|rest| rest.split("</title>").next())
        .unwrap_or_else(|| {
            panic!(
                "the page did not run:\n{}\n{}",
                String::from_utf8_lossy(&output.stderr),
                &dom[..dom.len().min(2000)]
            )
        })
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    call(&[format!("--screenshot={}", picture.display())]);
    let size = std::fs::metadata(&picture).map_or(0, |m| m.len());
    assert!(size > 50_000, "the screenshot has {size} bytes");
    serde_json::from_str(&title).unwrap_or_else(|e| panic!("{e}: {title}"))
}

fn check(name: &str, args: &[&str]) -> Option<serde_json::Value> {
    let browser = browser()?;
    let folder = folder(name);
    let page = report(&folder, args);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let seen = visit(&browser, &folder, &page);
    std::fs::remove_dir_all(&folder).expect("made above");
    assert_eq!(seen["errors"], serde_json::json!([]), "{seen}");
    assert_eq!(seen["too_wide"], false, "{seen}");
    Some(seen)
}

#[test]
fn the_reports_of_gyroscope_and_servo_work_in_a_browser() {
    for file in ["gyroscope/gyroscope.bond", "servo/servo.bond"] {
        let Some(seen) = check(&file.replace('/', "-"), &[&gallery(file)]) else {
            return;
        };
        assert!(seen["plots"].as_u64() >= Some(1), "{file}: {seen}");
        assert!(seen["equations"].as_u64() >= Some(7), "{file}: {seen}");
        for part in ["diagram", "energy", "math"] {
            assert_eq!(seen[part], true, "{file}: {part} is not shown: {seen}");
        }
    }
}

#[test]
fn bodies_move_in_the_report_of_a_mechanism() {
    let folder = folder("bodies-model");
    let file = folder.join("m.bond");
    let text = "use mechanics3d: World, Rod, Revolute, ez
        model M {
            world: World(gravity = [0, -9.81, 0] [m/s^2])
            rod: Rod(m = 1 [kg], l = 1 [m])
            world => hinge: Revolute(axis = ez) => rod.a
            start hinge.angle = 30 [deg], hinge.rate = 0 [rad/s]
        }
        experiment swing of M { stop = 2 [s]; record hinge.angle; plot hinge.angle }";
    std::fs::write(&file, text).expect("just made");
    let seen = check("bodies", &[&file.display().to_string()]);
    std::fs::remove_dir_all(&folder).expect("made above");
    if let Some(seen) = seen {
        assert_eq!(seen["bodies"], 1, "{seen}");
    }
}

#[test]
fn a_run_that_fails_still_has_a_page_with_its_message() {
    let folder = folder("failing-model");
    let file = folder.join("m.bond");
    let text = "model M { s: Se(1) -> j: 1 -> r: R(1) \n der(x) = x^2; start x = 1; output y = x }
        experiment odd_names of M { stop = 2 [s]; output_step = 0.1 [s]; record y; plot y }";
    std::fs::write(&file, text).expect("just made");
    let seen = check("failing", &[&file.display().to_string()]);
    std::fs::remove_dir_all(&folder).expect("made above");
    if let Some(seen) = seen {
        assert!(seen["messages"].as_u64() >= Some(1), "{seen}");
    }
}
