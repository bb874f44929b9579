/* web_page_lists.js: what is below the tables: last changes, limits, and what is counted
 * by kind. */
"use strict";

function new_change(ol) {
  var li = element("li", ol), text;
  element("time", li);
  text = element("span", li);
  element("b", text);
  element("bdi", text);
  element("span", text);
  shape(element("span", text, "state"));
  element("span", text.lastChild);
  element("span", text, "dim");
}
function show_changes(list) {
  var ol = at("changes");
  list = list.slice(0, 10);
  if (list.length === 0) {
    set(children(ol, 1, function () { element("li", ol); })[0], "None since the start.");
    ol.firstChild.className = "dim";
    return;
  }
  if (ol.firstChild && ol.firstChild.className === "dim") ol.removeChild(ol.firstChild);
  children(ol, list.length, new_change);
  list.forEach(function (c, i) {
    var li = ol.children[i], text = li.children[1].children;
    set(li.children[0], ago(c.ago_s) + " ago");
    li.children[0].dateTime = li.children[0].title = c.time;
    set(text[0], (c.service ? c.service + ": " : "") +
      (c.role === "regular" ? "server " + c.server : c.role) + " ");
    set(text[1], plain(c.name || ""));
    set(text[2], " " + c.was + " \u2192 ");
    mark(text[3], "state " + c.state);
    set(text[3].children[1], c.state);
    set(text[4], c.reason ? ", " + c.reason : "");
  });
}
function new_pair(parent) {
  element("span", parent);
  element("span", parent);
}
function new_limit(ul) {
  var li = element("li", ul);
  new_pair(element("div", li, "pair"));
  element("span", element("span", li, "bar"));
}
function show_limits(list) {
  var ul = at("limits");
  list = list.filter(function (l) { return l.max > 0; });
  children(ul, list.length, new_limit);
  list.forEach(function (l, i) {
    var li = ul.children[i], part = l.now / l.max;
    set(li.firstChild.children[0], l.name);
    set(li.firstChild.children[1], short(l.now) + " of " + short(l.max) +
      (part >= 1 ? ", full" : part >= 0.8 ? ", nearly full" : ""));
    gauge(li.children[1], part);
  });
}
function show_ends(counters) {
  var listed = listed_of(counters, ""), ul = at("ends");
  var list = listed.keys.filter(function (key) { return counters[key] > 0; })
    .sort(function (a, b) { return counters[b] - counters[a]; })
    .slice(0, 8);
  if (list.length === 0) list = [""];
  children(ul, list.length, function () { new_pair(element("li", ul, "pair")); });
  list.forEach(function (key, i) {
    set(ul.children[i].children[0],
      key ? key.slice(listed.prefix.length).replace(/_/g, " ") : "None yet.");
    set(ul.children[i].children[1], key ? short(counters[key]) : "");
  });
}
