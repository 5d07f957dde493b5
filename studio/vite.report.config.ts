import { defineConfig } from "vite";
import { noticeOf } from "./scripts/notices.ts";

// The bodies of report pages: one classic script that the program writes into the page, from the sources of Studio.
export default defineConfig({
  publicDir: false,
  build: {
    target: "es2022",
    outDir: "dist-report",
    lib: { entry: "src/report/main.ts", formats: ["iife"], name: "paynterBodies", fileName: () => "bodies.js" },
    // The page is sent on without its licences beside it, so they travel inside.
    rollupOptions: { output: { postBanner: `/*!\n${noticeOf("three")}*/` } },
    reportCompressedSize: false,
  },
});
