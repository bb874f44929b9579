/* web_page_parts.js: elements that stay and get new text, and numbers as words. */
"use strict";

function at(id) { return document.getElementById(id); }
function element(name, parent, className) {
  var e = document.createElement(name);
  if (className) e.className = className;
  if (parent) parent.appendChild(e);
  return e;
}
function set(e, text) {
  if (e.textContent !== text) e.textContent = text;
}
function mark(e, className) {
  if (e.className !== className) e.className = className;
}
function shape(parent, className) {
  element("span", parent, "shape" + (className ? " " + className : ""))
    .setAttribute("aria-hidden", "true");
}
/* As many children as that, each as `make` makes them. */
function children(parent, n, make) {
  while (parent.children.length > n) parent.removeChild(parent.lastChild);
  while (parent.children.length < n) make(parent);
  return parent.children;
}

/* ---- numbers ---- */
function scaled(n) {
  var units = ["", "k", "M", "G", "T", "P", "E"], i = 0;
  while (n >= 999.5 && i < units.length - 1) { n /= 1000; i++; }
  return [n < 100 && (i > 0 || n % 1) ? n.toFixed(1) : String(Math.round(n)), units[i]];
}
function short(n) { var s = scaled(n); return s[0] + (s[1] ? "\u202f" + s[1] : ""); }
function bytes(n) { var s = scaled(n); return s[0] + "\u202f" + s[1] + "B"; }
function percent(part, all) {
  return all > 0 ? short(100 * part / all) + "\u202f%" : "\u2013";
}
function micro(us) {
  if (us === null || us === undefined) return "\u2013";
  if (us < 1000) return us + "\u202f\u00b5s";
  if (us < 1000000) return (us / 1000).toFixed(us < 100000 ? 1 : 0) + "\u202fms";
  return (us / 1000000).toFixed(1) + "\u202fs";
}
function ago(s) {
  if (s < 60) return s + "\u202fs";
  if (s < 3600) return Math.floor(s / 60) + "\u202fmin";
  if (s < 172800) return Math.floor(s / 3600) + "\u202fh";
  return Math.floor(s / 86400) + " days";
}
function bar(e, part) {
  var width = Math.min(100, 100 * part).toFixed(1) + "%";
  if (e.firstChild.style.width !== width) e.firstChild.style.width = width;
}
/* The same of something that can be full. */
function gauge(e, part) {
  mark(e, "bar" + (part >= 1 ? " full" : part >= 0.8 ? " near" : ""));
  bar(e, part);
}
