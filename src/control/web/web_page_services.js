/* web_page_services.js: the table of several services: found by a text, sorted by a
 * column, the worst first; and which of them is chosen. */
"use strict";

function failed_of(s) {
  return s.dns_answered > 0 ? s.dns_servfail / s.dns_answered :
    s.ended > 0 ? s.failed / s.ended : 0;
}
/* Heading, class, what it shows, where that is a text; order, the greatest first, and
   what a blank order is: the worst first. */
var FIELDS = [
  ["Service", "server"],
  ["State", "state-of"],
  ["Listens on", "listen", function (s) { return s.listen || "by routes"; }],
  ["Servers up", "n", function (s) {
    return s.servers > 0 ? s.up + " of " + s.servers : "\u2013";
  }, function (s) { return s.up; }],
  ["Sessions", "n", function (s) { return short(s.sessions + s.flows); },
    function (s) { return s.sessions + s.flows; }],
  ["New/s", "n", function (s) { return short(Number(s.rate)); },
    function (s) { return Number(s.rate); }],
  ["Failed", "n", function (s) {
    return s.dns_answered > 0 ? percent(s.dns_servfail, s.dns_answered) :
      percent(s.failed, s.ended);
  }, failed_of]
];
function new_service(body) {
  var tr = element("tr", body), state;
  tr.setAttribute("role", "row");
  FIELDS.forEach(function (c) {
    var td = element("td", tr, c[1]);
    td.setAttribute("role", "cell");
    td.setAttribute("data-label", c[0]);
  });
  element("a", tr.children[0]);
  state = element("span", tr.children[1], "state");
  shape(state);
  element("span", state);
  element("span", tr.children[1], "under");
}
function show_service(tr, s, chosen) {
  var like = SERVICE_LIKE[s.state] || s.state, state = tr.children[1].children;
  var link = tr.children[0].firstChild;
  var href = "?service=" + encodeURIComponent(s.service) + "#servers-card";
  mark(tr, s.level >= 2 ? "down" :
    s.level === 1 || (like !== "up" && like !== "standby") ? "warn" : "");
  set(link, s.service);
  if (link.getAttribute("href") !== href) link.href = href;
  if (chosen) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  mark(state[0], "state " + like);
  set(state[0].children[1], s.state);
  set(state[1], s.troubles.length > 0 ? s.troubles[0].text :
    s.role ? s.role + " for " + ago(s.role_s) : "");
  FIELDS.forEach(function (c, i) { if (c[2]) set(tr.children[i], c[2](s)); });
}
/* Those that are looked for, the worst first, or by the column. */
function wanted_services(list, find, key) {
  var column;
  find = find.toLowerCase();
  list = judged(list).filter(function (s) {
    return !find || (s.service + " " + s.state + " " + s.listen).toLowerCase()
      .indexOf(find) >= 0;
  });
  FIELDS.forEach(function (c) { if (c[0] === key) column = c; });
  if (!column) return list;
  return list.sort(function (a, b) {
    return (column[3] ? column[3](b) - column[3](a) : 0) ||
      by_name(a, b);
  });
}

/* The table, of which so many rows are shown at first; `chosen` is the name of the service
 * whose servers are shown, or "". `changed` is called when what is looked for has changed.
 * Returns show(), of the list in status.json, which is undefined where there is but one
 * service; and keep() and recall(), by which the address has what is looked for. */
function services_table(rows, chosen, changed) {
  var list, heads = {}, view = { find: "", key: "", all: false };

  function show() {
    var found, shown, body;
    at("services-card").hidden = !list;
    if (!list) return;
    found = wanted_services(list, view.find, view.key);
    shown = view.all ? found : found.slice(0, rows);
    body = children(at("services"), shown.length, new_service);
    shown.forEach(function (s, i) { show_service(body[i], s, s.service === chosen); });
    at("more-services").hidden = found.length <= rows;
    set(at("all-services"), view.all ? "Show the first " + rows : "Show all " + found.length);
    set(at("whose-text"), (found.length === 0 ? "No matching services. " :
      found.length > shown.length ? "And " + (found.length - shown.length) + " more. " : "") +
      (chosen ? "Totals, servers and limits below are those of " + chosen + "." :
        "Totals below are the sums of all services. Choose one for its servers."));
    at("overview").hidden = !chosen;
  }
  /* The same column again: the worst first. */
  function sort(key) {
    view.key = view.key === key ? "" : key;
    Object.keys(heads).forEach(function (name) {
      if (name === view.key) heads[name].setAttribute("aria-sort", "descending");
      else heads[name].removeAttribute("aria-sort");
    });
    show();
  }
  FIELDS.forEach(function (c) {
    var th = element("th", at("services-heads"), c[1] === "n" ? "n" : "");
    var sorts = c[3] || c[0] === "Service" ? element("button", th) : th;
    th.setAttribute("role", "columnheader");
    th.scope = "col";
    set(sorts, c[0]);
    heads[c[0]] = th;
    if (sorts === th) return;
    sorts.type = "button";
    sorts.addEventListener("click", function () {
      sort(c[0]);
      changed();
    });
  });
  at("find-service").addEventListener("input", function () {
    view.find = at("find-service").value.trim();
    show();
    changed();
  });
  /* So that the servers of the worst are three keys away: Tab, Tab, Enter. */
  at("find-service").addEventListener("keydown", function (e) {
    var first = at("services").querySelector("a");
    if (e.key === "Enter" && first) first.click();
  });
  at("all-services").addEventListener("click", function () {
    view.all = !view.all;
    show();
  });
  return {
    show: function (services) {
      list = services;
      show();
    },
    keep: function (query) {
      if (view.key) query.set("service_key", view.key);
      if (view.find) query.set("find_service", view.find);
    },
    recall: function (query) {
      at("find-service").value = view.find = query.get("find_service") || "";
      if (heads[query.get("service_key")]) sort(query.get("service_key"));
    }
  };
}
