// Starts the page.

import { createRoot } from "react-dom/client";
import "@xyflow/react/dist/base.css";
import "./style/fonts.css";
import "./style/tokens.css";
import "./style/page.css";
import "./style/canvas.css";
import "./style/panels.css";
import "./style/bodies.css";
import "./style/studies.css";
import "./style/lesson.css";
import { App } from "./App";
import { connect, setTheme } from "./store/actions";
import { get, subscribe } from "./store/store";

const stored = localStorage.getItem("theme");
const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
setTheme(stored === "dark" || stored === "light" ? stored : isDark ? "dark" : "light");
connect();
createRoot(document.getElementById("root") as HTMLElement).render(<App />);

// Closing with unsaved work asks.
window.addEventListener("beforeunload", (event) => {
  if (get().unsaved.size > 0) event.preventDefault();
});

// For tests and for the curious: the state of the page, to be read.
Object.assign(window, { paynterStudio: { get, subscribe } });
