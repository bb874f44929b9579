/* web_page_servers.js: the table of servers: of a state, found by a text, sorted by a
 * column. */
"use strict";
var SCREEN = 20;

function number(s) { return s.server; }
/* The worst first: a server that may be down is none of them, one that answers with errors
 * is. */
function rank(s) {
  return ORDER.indexOf(excused(s) ? "standby" :
    s.state === "up" && s.http_errors > 0 ? "suspect" : s.state);
}
/* Heading, class, order: the key of a field, the greatest first, or a function;
   how that field is shown, where show() does not make the cell; tooltip. */
var COLUMNS = [
  ["Server", "server", number],
  ["State", "state-of", function (s) { return rank(s) * 4e9 + number(s); }],
  ["Since", "n", function (s) { return s.age_s; }],
  ["Sessions", "n open", "conn", null,
    "Open sessions; the bar is its share of all, or how full it is"],
  ["New/s", "n", "rate", short, "New clients each second"],
  ["Connect p50", "n p50", "connect_p50_us", micro, "Median connect time"],
  ["p99", "n p99", "connect_p99_us", micro, "99th percentile of connect times"],
  ["Sent", "n bytes", "sx", bytes, "Bytes sent to the server"],
  ["Received", "n bytes", "rx", bytes, "Bytes received from the server"],
  ["Failures", "n fails", "failures", short, "Failed connection attempts"],
  ["5xx", "n fives", "http_5xx", short, "HTTP responses with status 5xx"],
  ["New/s, 10 min", "spark", null]
];
function order_of(c, s) { return typeof c[2] === "string" ? -s[c[2]] : c[2](s); }
function trend_of(s) { return "server " + s.server; }
function new_server() {
  var r = { tr: element("tr"), cells: {} };
  r.tr.setAttribute("role", "row");
  COLUMNS.forEach(function (c) {
    var td = element("td", r.tr, c[1]);
    td.setAttribute("role", "cell");
    td.setAttribute("data-label", c[0]);
    r.cells[c[0]] = td;
  });
  r.number = element("span", r.cells.Server, "number");
  r.address = element("b", r.cells.Server);
  r.name = element("span", r.cells.Server, "under");
  r.state = element("span", r.cells.State, "state");
  shape(r.state);
  r.word = element("span", r.state);
  r.reason = element("span", r.cells.State, "under");
  r.open = element("span", r.cells.Sessions);
  r.bar = element("span", r.cells.Sessions, "bar");
  element("span", r.bar);
  r.spark = spark(r.cells["New/s, 10 min"], "New clients a second");
  return r;
}
function show_server(r, s, open) {
  mark(r.tr, excused(s) ? "" : BAD.indexOf(s.state) >= 0 ? "down" :
    DOUBT.indexOf(s.state) >= 0 || s.http_errors > 0 ? "warn" : "");
  set(r.number, s.role === "regular" ? String(s.server) : s.role);
  set(r.address, address(s));
  set(r.name, s.name && s.name !== s.addr ? plain(s.name) : "");
  if (r.name.title !== r.name.textContent) r.name.title = r.name.textContent;
  mark(r.state, "state " + s.state);
  set(r.word, s.state);
  set(r.reason, s.http_errors > 0 && s.state === "up"
    ? s.http_errors + " % of the last minute are errors (5xx)"
    : s.reason && s.reason !== "configuration" ? s.reason : "");
  set(r.cells.Since, ago(s.age_s));
  if (r.cells.Since.title !== s.since) r.cells.Since.title = s.since;
  set(r.open, s.max > 0 ? s.conn + " of " + s.max : short(s.conn));
  if (s.max > 0) gauge(r.bar, s.conn / s.max);
  else bar(r.bar, open > 0 ? s.conn / open : 0);
  COLUMNS.forEach(function (c) { if (c[3]) set(r.cells[c[0]], c[3](s[c[2]])); });
  draw(r.spark, trend(trend_of(s)), s.rate, short);
}
/* The column by which they are sorted; of more than a screen has the worst are first. */
function order_key(list, view) {
  return view.key || (list.length > SCREEN ? "State" : "Server");
}
/* Those that are looked for, in that order. */
function wanted_servers(list, view) {
  var find = view.find.toLowerCase(), column, key;
  key = order_key(list, view);
  list = list.filter(function (s) {
    if (view.state && s.state !== view.state) return false;
    return !find || (s.server + " " + address(s) + " " + s.name + " " + s.state + " " +
      s.reason).toLowerCase().indexOf(find) >= 0;
  });
  COLUMNS.forEach(function (c) { if (c[0] === key) column = c; });
  return list.sort(function (a, b) {
    return (view.down ? -1 : 1) * (order_of(column, a) - order_of(column, b)) ||
      number(a) - number(b);
  });
}

/* The table, of which so many rows are shown at first. `changed` is called when what is
 * looked for has changed. Returns show(), of the list in status.json, with what is shown
 * where it is empty, and whether they are servers of DNS; and keep() and recall(), by
 * which the address has what is looked for. */
function servers_table(most, changed) {
  var list, none, dns, rows = {}, heads = {}, options = {}, chips = {};
  var view = { state: "", find: "", key: "", down: false, all: false };

  /* A column of HTTP is there where servers have it. */
  function show_columns() {
    COLUMNS.forEach(function (c) {
      var gone = /^http_/.test(c[2]) &&
        !list.some(function (s) { return c[2] in s; });
      heads[c[0]].hidden = gone;
      if (options[c[0]]) options[c[0]].hidden = gone;
      Object.keys(rows).forEach(function (key) { rows[key].cells[c[0]].hidden = gone; });
    });
  }
  /* Servers of DNS are not connected to: their times are those of answers. */
  function name_times() {
    var what = dns ? "Answer" : "Connect", key;
    set(heads["Connect p50"].firstChild, what + " p50");
    set(options["Connect p50"], what + " p50");
    heads["Connect p50"].title = "Median " + what.toLowerCase() + " time";
    heads.p99.title = "99th percentile of " + what.toLowerCase() + " times";
    for (key in rows) {
      rows[key].cells["Connect p50"].setAttribute("data-label", what + " p50");
      rows[key].cells.p99.setAttribute("data-label", what + " p99");
    }
  }
  function chip(state) {
    var b = element("button");
    b.type = "button";
    if (state) shape(b, state);
    b.appendChild(chips[state] = element("span"));
    b.addEventListener("click", function () {
      view.state = state;
      show();
      changed();
    });
    return b;
  }
  function count_states() {
    var counts = { "": list.length }, group = at("states"), last = null;
    list.forEach(function (s) { counts[s.state] = (counts[s.state] || 0) + 1; });
    [""].concat(ORDER).forEach(function (state) {
      var b = chips[state] && chips[state].parentNode;
      if (state && !counts[state] && view.state !== state) {
        if (b) group.removeChild(b);
        delete chips[state];
        return;
      }
      if (!b) group.insertBefore(b = chip(state), last ? last.nextSibling : group.firstChild);
      last = b;
      set(chips[state], (state || "all") + " " + (counts[state] || 0));
      b.setAttribute("aria-pressed", String(view.state === state));
    });
  }
  function show() {
    var body = at("servers"), seen = {}, open = 0, found, n;
    if (!list) return;
    found = wanted_servers(list, view);
    n = found.length;
    list.forEach(function (s) { open += s.conn; });
    if (!view.all) found = found.slice(0, most);
    found.forEach(function (s, i) {
      var r = rows[s.server] || (rows[s.server] = new_server()), tr = r.tr;
      show_server(r, s, open);
      seen[s.server] = true;
      if (body.children[i] !== tr) body.insertBefore(tr, body.children[i] || null);
    });
    Object.keys(rows).forEach(function (key) {
      if (seen[key]) return;
      body.removeChild(rows[key].tr);
      delete rows[key];
    });
    set(at("nobody"), list.length > 0 ? "No matching servers." : none);
    show_columns();
    at("nobody").hidden = n > 0;
    at("more").hidden = n <= most;
    at("sort").value = order_key(list, view);
    set(at("all"), view.all ? "Show the first " + most : "Show all " + n);
    name_times();
    count_states();
  }
  function sort_by(key, down) {
    view.key = key;
    view.down = down;
    COLUMNS.forEach(function (c) {
      var th = heads[c[0]];
      if (c[0] !== key) th.removeAttribute("aria-sort");
      else th.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
    show();
  }
  COLUMNS.forEach(function (c) {
    var th = heads[c[0]] =
      element("th", at("heads"), /^(n|spark)/.test(c[1]) ? c[1].split(" ")[0] : "");
    var sorts = c[2] ? element("button", th) : th, option;
    th.setAttribute("role", "columnheader");
    th.scope = "col";
    set(sorts, c[0]);
    if (c[4]) th.title = c[4];
    if (!c[2]) return;
    sorts.type = "button";
    sorts.addEventListener("click", function () {
      sort_by(c[0], view.key === c[0] && !view.down);
      changed();
    });
    option = options[c[0]] = element("option", at("sort"));
    set(option, c[0]);
    option.value = c[0];
  });
  at("sort").addEventListener("change", function () {
    sort_by(at("sort").value, false);
    changed();
  });
  at("find").addEventListener("input", function () {
    view.find = at("find").value.trim();
    show();
    changed();
  });
  at("all").addEventListener("click", function () {
    view.all = !view.all;
    show();
  });
  return {
    show: function (servers, empty, of_dns) {
      list = servers;
      none = empty;
      dns = of_dns;
      show();
    },
    keep: function (query) {
      ["state", "find", "key"].forEach(function (key) {
        if (view[key]) query.set(key, view[key]);
      });
      if (view.down) query.set("down", "1");
    },
    recall: function (query) {
      var key = query.get("key");
      view.state = query.get("state") || "";
      at("find").value = view.find = query.get("find") || "";
      if (COLUMNS.some(function (c) { return c[0] === key && c[2]; }))
        sort_by(key, query.get("down") === "1");
    }
  };
}
