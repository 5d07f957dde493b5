// Acts as a reader of a report page does, and writes what it saw into the page, for `--dump-dom`.
"use strict";
(function () {
  var seen = { errors: window.probe_errors };
  var fail = function (what) { seen.errors.push(what); };
  var canvases = Array.prototype.slice.call(document.querySelectorAll(".plot > canvas"));
  var ink = function (canvas) {
    var data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, hash = 0, n = 0;
    for (var i = 0; i < data.length; i += 4) {
      if (data[i + 3] > 0) n++;
      hash = (hash * 31 + data[i] + 7 * data[i + 1] + 13 * data[i + 2] + 17 * data[i + 3]) | 0;
    }
    return n + ":" + hash;
  };
  var point = function (canvas, type, part) {
    var box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(type, {
      bubbles: true, pointerId: 1, clientX: box.left + part * box.width, clientY: box.top + 0.5 * box.height
    }));
  };
  var values = function (plot) {
    return Array.prototype.map.call(plot.querySelectorAll("button .value"), function (v) { return v.textContent; }).join("");
  };
  seen.plots = canvases.length;
  if (canvases.length) {
    var first = canvases[0], root = first.parentElement, before = ink(first);
    if (before.split(":")[0] < 1000) fail("the first plot is blank");
    var button = root.querySelector("button");
    button.click();
    if (ink(first) === before) fail("hiding a curve changes nothing");
    button.click();
    if (ink(first) !== before) fail("showing it again does not restore the plot");
    point(first, "pointermove", 0.5);
    if (!values(root)) fail("the cursor shows no values");
    var label = JSON.parse(document.getElementById("plot-data").textContent).map(function (p) { return p.x_label; });
    canvases.forEach(function (canvas, k) {
      if (label[k] === label[0] && !values(canvas.parentElement)) fail("the cursor is not shared with plot " + k);
    });
    point(first, "pointerleave", 0.5);
    point(first, "pointerdown", 0.3);
    point(first, "pointermove", 0.6);
    point(first, "pointerup", 0.6);
    point(first, "pointerleave", 0.6);
    if (ink(first) === before) fail("dragging does not zoom");
    first.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    if (ink(first) !== before) fail("a double click does not show all again");
  }
  var stage = document.getElementById("bodies-stage");
  if (stage) {
    var slider = stage.querySelector("input"), clock = stage.querySelector(".clock"), was = clock ? clock.textContent : "";
    seen.bodies = stage.querySelectorAll("canvas").length;
    if (slider) {
      slider.value = String((Number(slider.min) + Number(slider.max)) / 2);
      slider.dispatchEvent(new Event("input"));
      if (clock.textContent === was) fail("the slider does not move the time");
      if (canvases.length && !values(canvases[0].parentElement)) fail("the curves do not follow the time of the bodies");
    }
  }
  var height = function (selector) {
    var element = document.querySelector(selector);
    return element ? element.getBoundingClientRect().height : 0;
  };
  seen.diagram = height("svg.pd") > 50;
  seen.energy = height("#audit") > 0;
  seen.equations = document.querySelectorAll(".equations li").length;
  seen.math = height(".equations li") > 10;
  seen.messages = document.querySelectorAll(".message").length;
  seen.too_wide = document.documentElement.scrollWidth > window.innerWidth;
  document.title = "probe " + JSON.stringify(seen);
})();
