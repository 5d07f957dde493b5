#!/bin/sh
# Measures everything in BENCHMARKS.md. Usage: benches/run.sh [FOLDER WITH THE PEERS' ENVIRONMENT]
# Nothing else should run on the machine; ratios within one run are what counts.
set -e
here=$(cd "$(dirname "$0")" && pwd)
venv=${1:-$here/.venv}
target=${CARGO_TARGET_DIR:-$here/../target}
big=$(mktemp -d)
trap 'rm -r "$big"' EXIT
[ -x "$venv/bin/python" ] || "$here/setup.sh" "$venv"
cargo build --release --manifest-path "$here/../Cargo.toml" -p paynter-bench -p paynter-cli
bench=$target/release/paynter-bench
paynter=$target/release/paynter

title() { printf '\n== %s\n' "$*"; }

title "1. gyroscope, 10 s, error at most 1e-7"
"$bench" gyroscope
"$venv/bin/python" "$here/peers.py" gyroscope

title "2. right-hand sides"
"$bench" rhs

title "3. RC ladder, 10 000 cells, rtol 1e-6"
"$bench" ladder
"$venv/bin/python" "$here/peers.py" ladder

title "4. Robertson and van der Pol, rtol 1e-8"
for model in robertson van_der_pol; do
    "$paynter" run --no-report "$here/models/$model.bond" | grep -e ' of ' -e work -e ' last' -e '^  [abcxy] '
done
"$venv/bin/python" "$here/peers.py" stiff

title "5. servo sampled at 6 kHz for 1.5 s (9000 samples), rtol 1e-7"
sed -e 's/rtol = 1e-8/rtol = 1e-7/' -e '/compare/d' "$here/../gallery/servo/servo.bond" >"$big/servo.bond"
for load in hm0 hm06 hm6; do
    for size in 5 20; do
        "$paynter" run --no-report -e "ch5_nl_step${size}_${load}_NL1" "$big/servo.bond" | grep -e ' of ' -e work
    done
done

title "6. 10 000 gyroscopes on all cores"
"$bench" sweep

python3 "$here/make_models.py" "$big"
title "7a. growth, milliseconds on the clock"
for kind in flat ladder cells star ring; do
    "$bench" growth "$big/${kind}1000.bond" "$big/${kind}10000.bond" "$big/${kind}100000.bond"
done
title "7a. growth to the graph, CPU milliseconds, each run in a process of its own"
python3 "$here/growth.py" "$bench" "$big" graph 7
title "7b. stages, CPU seconds and memory"
for model in flat100000 cells100000 ladder100000; do
    echo "$model"
    "$bench" stages "$big/$model.bond" step
done
title "7c. printed equations"
for model in ladder50 ladder100000; do
    echo "$model"
    "$bench" stages "$big/$model.bond" print
done

title "8. bodies: chains, trees and four-bars"
"$venv/bin/python" "$here/bodies.py" "$bench" "$big/bodies" 300
