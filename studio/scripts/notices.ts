// Gathers the licences of everything that travels in the page.
//
// In:  the modules and fonts of a build.
// Out: `licenses.txt` beside them, in alphabetical order.

import fs from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";

const FONTS = ["@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono", "@fontsource/stix-two-math", "@fontsource/stix-two-text"];

export function notices(): Plugin {
  return {
    name: "third-party-notices",
    generateBundle(_, bundle) {
      const packages = new Set(FONTS);
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        for (const id of Object.keys(file.modules)) {
          const name = packageOf(id);
          if (name) packages.add(name);
        }
      }
      const source = [...packages].sort().map(noticeOf).join("\n");
      this.emitFile({ type: "asset", fileName: "licenses.txt", source });
    },
  };
}

function packageOf(id: string): string | undefined {
  const below = id.replaceAll("\\", "/").split("/node_modules/").pop();
  if (!below || below === id) return undefined;
  const [first, second] = below.split("/");
  return first?.startsWith("@") ? `${first}/${second}` : first;
}

/** The name, version and licence text of a package. */
export function noticeOf(name: string): string {
  const folder = path.join(import.meta.dirname, "../node_modules", name);
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")) as {
    version: string;
    license?: string;
  };
  const file = fs.readdirSync(folder).sort().find((f) => /^licen[cs]e/i.test(f));
  if (!file) throw new Error(`${name} carries no licence text`);
  const text = fs.readFileSync(path.join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
  return `${"=".repeat(78)}\n${name} ${manifest.version} (${manifest.license ?? "see below"})\n${"-".repeat(78)}\n${text}\n`;
}
