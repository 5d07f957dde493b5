import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { notices } from "./scripts/notices.ts";

// Equal sources give equal files: names come from contents, and nothing carries a date.
export default defineConfig({
  base: "./",
  plugins: [react(), notices()],
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1200,
    rollupOptions: { output: { chunkFileNames: "assets/later-[name]-[hash].js" } },
    reportCompressedSize: false,
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
