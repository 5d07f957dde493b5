#!/bin/sh
# Makes src/style/fonts/stix-two-math.woff2: the letters, signs and growing braces that equations of Paynter have,
# of a font seven times as large. To be run again when the printer of equations learns other signs; takes fonttools
# and brotli (pip install fonttools brotli).
set -eu
cd "$(dirname "$0")/.."
signs="U+0020-007E,U+00A0-00FF,U+0131,U+0237,U+02C6-02DD,U+0300-0310,U+0338,U+0370-03FF,U+2010-2044,U+2061-2064,U+2070-209C,U+20DB,U+20DC"
signs="$signs,U+210E,U+2190-2199,U+21D0-21D4,U+2200-22FF,U+2308-230B,U+239B-23AE,U+23B7,U+23DE,U+23DF,U+27E8,U+27E9,U+1D434-1D467,U+1D6E2-1D71B"
pyftsubset node_modules/@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2 \
  --unicodes="$signs" --flavor=woff2 --layout-features='*' --no-hinting --output-file=src/style/fonts/stix-two-math.woff2
