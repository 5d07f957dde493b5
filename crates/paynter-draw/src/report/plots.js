"use strict";
(function () {
  var plots = JSON.parse(document.getElementById("plot-data").textContent);
  var colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#b8a800"];
  var L = 64, T = 8, B = 38, MARKERS = 8, TIME = "time [s]";
  // Corners of markers, as in plot.rs: curves are told apart without colour, too.
  var shapes = [null, [-0.8, -0.8, 0.8, -0.8, 0.8, 0.8, -0.8, 0.8], [0, -1.1, 1, 0.8, -1, 0.8], [0, -1.2, 1.2, 0, 0, 1.2, -1.2, 0],
    [0, 1.1, 1, -0.8, -1, -0.8], [1.1, 0, -0.8, 1, -0.8, -1]];
  // Times stand above each other only if all plots leave the same room at the right.
  var has_right = plots.some(function (p) { return p.series.some(function (s) { return s.side === 1; }); });
  var R = has_right ? 64 : 14;
  var cursor = null, views = [];
  var css = function (name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); };

  function range(plot, key, side) {
    var lo = Infinity, hi = -Infinity;
    plot.series.forEach(function (s) {
      if (s.off || (key === "y" && s.side !== side)) return;
      for (var i = 0; i < s.x.length; i++) {
        var x = s.x[i], y = s.y[i];
        if (x === null || y === null) continue;
        if (key === "y" && plot.zoom && (x < plot.zoom[0] || x > plot.zoom[1])) continue;
        var v = key === "x" ? x : y;
        if (v < lo) lo = v;
        if (v > hi) hi = v;
      }
    });
    if (lo > hi) return [0, 1];
    var room = hi - lo;
    if (room <= 1e-12 * Math.max(Math.abs(lo), Math.abs(hi))) {
      room = lo === 0 ? 1 : Math.abs(lo) * 0.1;
      return [lo - room, hi + room];
    }
    return key === "y" ? [lo - 0.05 * room, hi + 0.05 * room] : [lo, hi];
  }

  function ticks(lo, hi, n) {
    var rough = (hi - lo) / n, power = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = [1, 2, 5, 10].map(function (f) { return f * power; }).find(function (s) { return s >= rough * 0.999; }) || rough;
    var out = [];
    for (var k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step; k++) out.push(k * step);
    return { at: out, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  }

  function label(v, t, size) {
    if (v === 0) return "0";
    return size >= 1e5 || size < 1e-3 ? v.toExponential(2).replace(/\.?0+e/, "e") : v.toFixed(t.digits);
  }

  function draw(view) {
    var plot = view.plot, canvas = view.canvas, ratio = window.devicePixelRatio || 1;
    var w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w || !h) return;
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
    var g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    var xr = plot.zoom || range(plot, "x"), yrs = [range(plot, "y", 0), range(plot, "y", 1)], yr = yrs[0];
    view.xr = xr;
    view.w = w;
    var X = function (x) { return L + (x - xr[0]) / (xr[1] - xr[0]) * (w - L - R); };
    var Y = function (y, side) { var r = yrs[side || 0]; return h - B - (y - r[0]) / (r[1] - r[0]) * (h - T - B); };
    var tx = ticks(xr[0], xr[1], Math.max(2, Math.floor(w / 110))), ty = ticks(yr[0], yr[1], 5);
    g.font = "12px system-ui, sans-serif";
    g.strokeStyle = css("--line");
    g.fillStyle = css("--dim");
    g.lineWidth = 1;
    g.textAlign = "center";
    tx.at.forEach(function (v) {
      g.beginPath(); g.moveTo(X(v), T); g.lineTo(X(v), h - B); g.stroke();
      g.fillText(label(v, tx, Math.max(Math.abs(xr[0]), Math.abs(xr[1]))), X(v), h - B + 15);
    });
    g.textAlign = "right";
    ty.at.forEach(function (v) {
      g.beginPath(); g.moveTo(L, Y(v)); g.lineTo(w - R, Y(v)); g.stroke();
      g.fillText(label(v, ty, Math.max(Math.abs(yr[0]), Math.abs(yr[1]))), L - 6, Y(v) + 4);
    });
    if (plot.series.some(function (s) { return s.side === 1; })) {
      var tr = ticks(yrs[1][0], yrs[1][1], 5);
      g.textAlign = "left";
      tr.at.forEach(function (v) {
        g.beginPath(); g.moveTo(w - R - 5, Y(v, 1)); g.lineTo(w - R, Y(v, 1)); g.stroke();
        g.fillText(label(v, tr, Math.max(Math.abs(yrs[1][0]), Math.abs(yrs[1][1]))), w - R + 6, Y(v, 1) + 4);
      });
      g.textAlign = "center";
      g.save(); g.translate(w - 6, T + (h - T - B) / 2); g.rotate(-Math.PI / 2); g.fillText(plot.right_label, 0, 0); g.restore();
    }
    g.textAlign = "center";
    g.fillText(plot.x_label, L + (w - L - R) / 2, h - 6);
    g.save(); g.translate(12, T + (h - T - B) / 2); g.rotate(-Math.PI / 2); g.fillText(plot.y_label, 0, 0); g.restore();
    g.save();
    g.beginPath(); g.rect(L, T, w - L - R, h - T - B); g.clip();
    g.setLineDash([1, 3]);
    g.strokeStyle = css("--dim");
    plot.marks.forEach(function (t) { g.beginPath(); g.moveTo(X(t), T); g.lineTo(X(t), h - B); g.stroke(); });
    plot.series.forEach(function (s, k) {
      if (s.off) return;
      g.strokeStyle = colours[k % colours.length];
      g.lineWidth = 1.7;
      // Miters would stick out of sharp peaks.
      g.lineJoin = g.lineCap = "round";
      g.setLineDash(s.is_reference ? [6, 4] : []);
      g.beginPath();
      var pen = false;
      for (var i = 0; i < s.x.length; i++) {
        if (s.x[i] === null || s.y[i] === null) { pen = false; continue; }
        if (pen && s.is_held) g.lineTo(X(s.x[i]), Y(s.y[i - 1], s.side));
        if (pen) g.lineTo(X(s.x[i]), Y(s.y[i], s.side)); else g.moveTo(X(s.x[i]), Y(s.y[i], s.side));
        pen = true;
      }
      g.stroke();
      g.setLineDash([]);
      if (plot.series.length > 1) marked(s, xr, k, plot.series.length, plot.is_over_time).forEach(function (i) {
        dot(g, X(s.x[i]), Y(s.y[i], s.side), k);
      });
    });
    g.setLineDash([]);
    if (view.drag && Math.abs(view.drag[1] - view.drag[0]) > 3) {
      g.fillStyle = "rgba(128,128,128,.2)";
      g.fillRect(Math.min(view.drag[0], view.drag[1]), T, Math.abs(view.drag[1] - view.drag[0]), h - T - B);
    }
    var shown = cursor !== null && cursor.label === plot.x_label && cursor.x >= xr[0] && cursor.x <= xr[1];
    if (shown) {
      g.strokeStyle = css("--fg");
      g.lineWidth = 1;
      g.beginPath(); g.moveTo(X(cursor.x), T); g.lineTo(X(cursor.x), h - B); g.stroke();
    }
    g.restore();
    g.strokeStyle = css("--dim");
    g.strokeRect(L, T, w - L - R, h - T - B);
    view.keys.forEach(function (key, k) { draw_key(key, plot, k, ratio); });
    plot.series.forEach(function (s, k) {
      var v = shown && !s.off && plot.is_over_time ? value(s, cursor.x) : null;
      view.values[k].textContent = v === null ? "" : Number(v.toPrecision(5)).toString();
    });
    view.readout.textContent = shown ? plot.x_label + " = " + Number(cursor.x.toPrecision(6)) : "";
  }

  function draw_key(key, plot, k, ratio) {
    var g = key.getContext("2d");
    key.width = 24 * ratio;
    key.height = 12 * ratio;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.strokeStyle = colours[k % colours.length];
    g.lineWidth = 2;
    g.setLineDash(plot.series[k].is_reference ? [5, 3] : []);
    g.beginPath(); g.moveTo(0, 6); g.lineTo(24, 6); g.stroke();
    g.setLineDash([]);
    if (plot.series.length > 1) dot(g, 12, 6, k);
  }

  function dot(g, x, y, k) {
    var shape = shapes[k % shapes.length], r = 3.2;
    g.beginPath();
    if (!shape) g.arc(x, y, r, 0, 2 * Math.PI);
    else for (var i = 0; i < shape.length; i += 2) g.lineTo(x + r * shape[i], y + r * shape[i + 1]);
    g.closePath();
    g.fillStyle = css("--bg");
    g.lineWidth = 1.3;
    g.fill();
    g.stroke();
  }

  function marked(s, xr, k, n, is_over_time) {
    var found = [], last = s.x.length - 1;
    for (var j = 0; j < MARKERS && last >= 0; j++) {
      var part = (j + (k + 0.5) / n) / MARKERS, i;
      if (is_over_time) {
        var at = xr[0] + part * (xr[1] - xr[0]), lo = 0, hi = last;
        if (at < s.x[0] || at > s.x[last]) continue;
        while (hi - lo > 1) { var mid = (lo + hi) >> 1; if (s.x[mid] <= at) lo = mid; else hi = mid; }
        i = at - s.x[lo] < s.x[hi] - at ? lo : hi;
      } else i = Math.round(part * last);
      if (s.x[i] !== null && s.y[i] !== null && found[found.length - 1] !== i) found.push(i);
    }
    return found;
  }

  function value(s, x) {
    var lo = 0, hi = s.x.length - 1;
    if (hi < 0 || x < s.x[0] || x > s.x[hi]) return null;
    while (hi - lo > 1) { var mid = (lo + hi) >> 1; if (s.x[mid] <= x) lo = mid; else hi = mid; }
    var a = s.y[lo], b = s.y[hi];
    if (a === null || b === null) return null;
    if (s.is_held) return x < s.x[hi] ? a : b;
    var span = s.x[hi] - s.x[lo];
    return span > 0 ? a + (b - a) * (x - s.x[lo]) / span : b;
  }

  function redraw() { views.forEach(draw); }

  // Bodies on the same page show the time that is looked at, and tell theirs.
  function tell(time) { window.dispatchEvent(new CustomEvent("paynter-time", { detail: { time: time, by: "plots" } })); }
  window.addEventListener("paynter-time", function (e) {
    if (e.detail.by === "plots") return;
    var timed = plots.find(function (p) { return p.x_label === TIME; });
    cursor = timed ? { x: e.detail.time, label: TIME } : null;
    redraw();
  });

  plots.forEach(function (plot, number) {
    plot.zoom = null;
    plot.is_over_time = plot.series.every(function (s) {
      for (var i = 1; i < s.x.length; i++) if (s.x[i] < s.x[i - 1]) return false;
      return true;
    });
    var root = document.getElementById("plot-" + number);
    var legend = root.querySelector(".legend"), canvas = root.querySelector("canvas");
    var view = { plot: plot, canvas: canvas, values: [], keys: [], readout: document.createElement("span"), drag: null };
    view.readout.className = "value";
    plot.series.forEach(function (s, k) {
      var button = document.createElement("button"), key = document.createElement("canvas"), v = document.createElement("span");
      key.className = "key";
      view.keys.push(key);
      v.className = "value";
      button.append(key, s.name, v);
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", function () {
        s.off = !s.off;
        button.classList.toggle("off", s.off);
        button.setAttribute("aria-pressed", String(!s.off));
        draw(view);
      });
      view.values.push(v);
      legend.append(button);
    });
    legend.append(view.readout);
    var at = function (e) { return e.clientX - canvas.getBoundingClientRect().left; };
    var time = function (px) { return view.xr[0] + (Math.min(Math.max(px, L), view.w - R) - L) / (view.w - L - R) * (view.xr[1] - view.xr[0]); };
    canvas.addEventListener("pointerdown", function (e) {
      view.drag = [at(e), at(e)];
      // Only a real pointer can be captured; a script's cannot.
      if (e.isTrusted) canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", function (e) {
      if (view.drag) view.drag[1] = at(e);
      cursor = { x: time(at(e)), label: plot.x_label };
      if (plot.x_label === TIME) tell(cursor.x);
      redraw();
    });
    canvas.addEventListener("pointerup", function () {
      if (view.drag && Math.abs(view.drag[1] - view.drag[0]) > 6) {
        var a = time(view.drag[0]), b = time(view.drag[1]);
        plots.forEach(function (p) { if (p.x_label === plot.x_label) p.zoom = [Math.min(a, b), Math.max(a, b)]; });
      }
      view.drag = null;
      redraw();
    });
    canvas.addEventListener("pointerleave", function () { if (!view.drag) { cursor = null; redraw(); } });
    canvas.addEventListener("dblclick", function () {
      plots.forEach(function (p) { if (p.x_label === plot.x_label) p.zoom = null; });
      redraw();
    });
    views.push(view);
  });
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  redraw();
})();
