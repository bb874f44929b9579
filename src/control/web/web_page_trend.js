/* web_page_trend.js: the last ten minutes of a number: samples, and a line of them. */
"use strict";
var STEPS = 120, STEP = 5000;
var trends = {};

function spark(parent, label) {
  var ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg");
  svg.setAttribute("class", "spark");
  svg.setAttribute("viewBox", "0 0 " + (STEPS - 1) + " 24");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  ["base", "area", "line"].forEach(function (name) {
    var path = document.createElementNS(ns, "path");
    path.setAttribute("class", name);
    svg.appendChild(path);
  });
  svg.firstChild.setAttribute("d", "M0 23.5L" + (STEPS - 1) + " 23.5");
  parent.appendChild(svg);
  return { svg: svg, label: label, drawn: -1 };
}
function draw(s, t, value, format) {
  var values = t.values.concat([value]), most = Math.max.apply(null, values.concat([1]));
  var from = STEPS - values.length, line = "";
  if (s.drawn === t.version + ":" + value) return;
  s.drawn = t.version + ":" + value;
  values.forEach(function (v, i) {
    line += (i ? "L" : "M") + (from + i) + " " + (23 - v / most * 21).toFixed(1);
  });
  s.svg.children[1].setAttribute("d", line + "L" + (STEPS - 1) + " 24L" + from + " 24Z");
  s.svg.children[2].setAttribute("d", line);
  s.svg.setAttribute("aria-label", s.label + " in the last 10 minutes: now " +
    format(value) + ", at most " + format(Math.max.apply(null, values)));
}
/* Samples of the page itself go on where those of pen end. */
function trend(key) {
  return trends[key] || (trends[key] =
    { values: [], sum: 0, n: 0, since: Date.now(), version: 0 });
}
function note_value(key, value) {
  var t = trend(key);
  t.sum += value;
  t.n++;
  if (Date.now() - t.since >= STEP) {
    t.values.push(t.sum / t.n);
    if (t.values.length >= STEPS) t.values.shift();
    t.sum = t.n = 0;
    t.since = Date.now();
    t.version++;
  }
  return t;
}
