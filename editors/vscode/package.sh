#!/bin/sh
# Packs the extension: fetches vscode-languageclient and makes paynter-VERSION.vsix.
# Needs node and npm, and the registry for the two packages below.
set -eu
cd "$(dirname "$0")"
npm install --no-save --no-audit --no-fund vscode-languageclient@9 @vscode/vsce@3
npx vsce package --allow-missing-repository --skip-license
