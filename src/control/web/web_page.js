/* web_page.js: shows what status.json says, twice a second, in elements that stay. */
(function () {
  var STEPS = 120, STEP = 5000, ROWS = 100, LIMIT = 4000;
  var rows = {}, tiles = {}, trends = {}, heads = {}, options = {}, chips = {}, states = {};
  var now = null, before = null, answered = Date.now(), lost = "", told = false;
  var timer = 0, started = false, asks = false;
  var view = { state: "", find: "", key: "", down: false, all: false,
    service: "", service_key: "", all_services: false };
  /* Of several services, the one whose servers are shown; "": the sums of all. */
  var chosen = new URLSearchParams(location.search).get("service") || "";

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

  /* ---- sparklines ---- */
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

  /* ---- totals ---- */
  function tile(key, label, value, format, unit) {
    var t = tiles[key], text = format(value).split("\u202f"), list;
    if (!t) {
      var li = element("li", at("tiles"), "card"), top = element("div", li, "top"), axis;
      set(element("span", top), label);
      t = tiles[key] = { peak: element("span", top, "peak"), value: element("strong", li),
        unit: element("span", li, "unit"), spark: spark(li, label) };
      axis = element("div", li, "axis");
      set(element("span", axis), "10 min ago");
      set(element("span", axis), "now");
    }
    t.unit.parentNode.hidden = false;
    list = note_value("total " + key, value);
    set(t.value, text[0]);
    set(t.unit, (text[1] || "") + unit);
    set(t.peak, "peak " + format(Math.max.apply(null, list.values.concat([value]))) + unit);
    draw(t.spark, list, value, format);
  }
  /* The growth of all these counters a second. */
  function rate(names, seconds)
  {
	  var grown = 0;
	  if (!before || seconds <= 0)
		  return 0;
	  names.forEach(function(name) {
		  grown +=
		      (now.counters[name] || 0) - (before.counters[name] || 0);
	  });
	  return Math.max(0, Math.round(grown / seconds));
  }
  /* Rows that have as many tiles each. */
  function arrange_tiles() {
    var ul = at("tiles"), n = ul.querySelectorAll("li:not([hidden])").length;
    var most = Math.max(1, Math.floor((ul.clientWidth + 14) / 222));
    var columns = String(Math.ceil(n / Math.ceil(n / most)));
    if (ul.style.getPropertyValue("--columns") !== columns)
      ul.style.setProperty("--columns", columns);
  }
  function totals() {
    var formats = { short: short, bytes: bytes, micro: micro };
    var s = before ? (now.pen.now_ms - before.pen.now_ms) / 1000 : 0;
    TOTALS.forEach(function (row) {
      var value = typeof row[5] === "function" ? row[5](now.counters, now.minute) :
        typeof row[5] === "string" ? now.counters[row[5]] : row[5];
      if (row[2](now.counters))
        tile(row[0], row[1], Array.isArray(value) ? rate(value, s) : value, formats[row[3]],
          row[4]);
      else if (tiles[row[0]])
        tiles[row[0]].unit.parentNode.hidden = true;
    });
    arrange_tiles();
  }

  /* ---- the whole in a sentence ---- */
  function verdict() {
    var v = verdict_of(now);
    sentence(v.what, v.text, v.more,
      v.what === "standby" ? "standby" : v.what !== "up" && v.up === v.n ? v.text :
        v.up + " of " + v.n + " up");
  }
  function sentence(what, text, more, short) {
    mark(at("verdict"), "verdict " + what);
    set(at("verdict-text"), text);
    set(at("verdict-more"), more);
    title(what, (now && now.pen.host ? "pen on " + plain(now.pen.host) : "pen") + ": " + short);
  }
  function title(what, text) {
	  var colour = {
		  up : "1a8a45",
		  standby : "5a6b80",
		  warn : "c27a00",
		  down : "d0202c"
	  }[what];
	  var href =
	      "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>" +
	      "<circle cx='8' cy='8' r='7' fill='%23" + colour + "'/></svg>";
	  if (at("icon").getAttribute("href") !== href)
		  at("icon").setAttribute("href", href);
	  if (document.title !== text)
		  document.title = text;
  }

  /* ---- columns: by which servers are sorted, too ---- */
  function number(s) { return s.server; }
  /* Heading, class, order: the key of a field, the greatest first, or a function;
     how that field is shown, where show() does not make the cell; tooltip. */
  var COLUMNS = [
    ["Server", "server", number],
    ["State", "state-of", function (s) { return ORDER.indexOf(s.state) * 4e9 + number(s); }],
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
  /* A column of HTTP is there where servers have it. */
  function show_columns() {
    COLUMNS.forEach(function (c) {
      var gone = /^http_/.test(c[2]) &&
        !now.servers.some(function (s) { return c[2] in s; });
      heads[c[0]].hidden = gone;
      if (options[c[0]]) options[c[0]].hidden = gone;
      Object.keys(rows).forEach(function (key) { rows[key].cells[c[0]].hidden = gone; });
    });
  }
  /* Servers of DNS are not connected to: their times are those of answers. */
  function name_times() {
    var what = has_dns(now.counters) ? "Answer" : "Connect", key;
    set(heads["Connect p50"].firstChild, what + " p50");
    set(options["Connect p50"], what + " p50");
    heads["Connect p50"].title = "Median " + what.toLowerCase() + " time";
    heads.p99.title = "99th percentile of " + what.toLowerCase() + " times";
    for (key in rows) {
      rows[key].cells["Connect p50"].setAttribute("data-label", what + " p50");
      rows[key].cells.p99.setAttribute("data-label", what + " p99");
    }
  }
  function order_of(c, s) { return typeof c[2] === "string" ? -s[c[2]] : c[2](s); }
  function sort_by(key, down) {
    view.key = key;
    view.down = down;
    COLUMNS.forEach(function (c) {
      var th = heads[c[0]];
      if (c[0] !== key) th.removeAttribute("aria-sort");
      else th.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
    at("sort").value = key;
    servers();
    remember();
  }
  function make_heads() {
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
      });
      option = options[c[0]] = element("option", at("sort"));
      set(option, c[0]);
      option.value = c[0];
    });
    at("sort").addEventListener("change", function () { sort_by(at("sort").value, false); });
  }

  /* ---- servers ---- */
  function new_row(key) {
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
    rows[key] = r;
    return r;
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
  function trend_of(s) { return "server " + s.server; }
  function show(s, open) {
    var r = rows[s.server] || new_row(s.server);
    mark(r.tr, excused(s) ? "" : BAD.indexOf(s.state) >= 0 ? "down" : DOUBT.indexOf(s.state) >= 0 || s.http_errors > 0 ? "warn" : "");
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
    return r.tr;
  }
  function wanted() {
    var find = view.find.toLowerCase(), column, key = view.key;
    var list = now.servers.filter(function (s) {
      if (view.state && s.state !== view.state) return false;
      return !find || (s.server + " " + address(s) + " " + s.name + " " + s.state + " " +
        s.reason).toLowerCase().indexOf(find) >= 0;
    });
    if (!key && list.length > ROWS) key = "State";
    COLUMNS.forEach(function (c) { if (c[0] === (key || "Server")) column = c; });
    return list.sort(function (a, b) {
      return (view.down ? -1 : 1) * (order_of(column, a) - order_of(column, b)) ||
        number(a) - number(b);
    });
  }
  function servers() {
    if (!now) return;
    var body = at("servers"), seen = {}, open = 0, list = wanted(), n = list.length;
    now.servers.forEach(function (s) { open += s.conn; });
    if (!view.all) list = list.slice(0, ROWS);
    list.forEach(function (s, i) {
      var tr = show(s, open);
      seen[s.server] = true;
      if (body.children[i] !== tr) body.insertBefore(tr, body.children[i] || null);
    });
    Object.keys(rows).forEach(function (key) {
      if (seen[key]) return;
      body.removeChild(rows[key].tr);
      delete rows[key];
    });
    set(at("nobody"),
	now.servers.length > 0 ? "No matching servers."
	    : leads_on()
	    ? "No servers of its own: its routes lead to other services."
	    : "No servers. Add one: penctl ADDRESS '" +
		(now.services && chosen !== "default"
			? "service " + chosen + " "
			: "") +
		"server add HOST:PORT'");
    show_columns();
    at("nobody").hidden = n > 0;
    at("more").hidden = n <= ROWS;
    set(at("all"), view.all ? "Show the first " + ROWS : "Show all " + n);
    name_times();
    count_states();
  }
  function chip(state) {
    var b = element("button");
    b.type = "button";
    if (state) shape(b, state);
    b.appendChild(chips[state] = element("span"));
    b.addEventListener("click", function () {
      view.state = state;
      servers();
      remember();
    });
    return b;
  }
  function count_states() {
    var counts = { "": now.servers.length }, group = at("states"), last = null;
    now.servers.forEach(function (s) { counts[s.state] = (counts[s.state] || 0) + 1; });
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

  /* ---- services: of several ---- */
  function percent(part, all) {
    return all > 0 ? short(100 * part / all) + "\u202f%" : "\u2013";
  }
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
  var service_heads = {};
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
  function show_service(tr, s) {
    var like = SERVICE_LIKE[s.state] || s.state, state = tr.children[1].children;
    var link = tr.children[0].firstChild;
    var href = "?service=" + encodeURIComponent(s.service) + "#servers-card";
    mark(tr, s.level >= 2 ? "down" :
      s.level === 1 || (like !== "up" && like !== "standby") ? "warn" : "");
    set(link, s.service);
    if (link.getAttribute("href") !== href) link.href = href;
    if (s.service === chosen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    mark(state[0], "state " + like);
    set(state[0].children[1], s.state);
    set(state[1], s.troubles.length > 0 ? s.troubles[0].text :
      s.role ? s.role + " for " + ago(s.role_s) : "");
    FIELDS.forEach(function (c, i) { if (c[2]) set(tr.children[i], c[2](s)); });
  }
  function of_all() {
    return Boolean(now.services) && !chosen;
  }
  /* Whether the one that is shown has no servers, but routes to other services. */
  function leads_on() {
    return (now.services || []).some(function (s) {
      return s.service === chosen && s.servers === 0 && /^(up|down)$/.test(s.state);
    });
  }
  /* Those that are looked for, the worst first, or by the column. */
  function wanted_services() {
    var find = view.service.toLowerCase(), column;
    var list = judged(now.services || []).filter(function (s) {
      return !find || (s.service + " " + s.state + " " + s.listen).toLowerCase()
        .indexOf(find) >= 0;
    });
    FIELDS.forEach(function (c) { if (c[0] === view.service_key) column = c; });
    if (!column) return list;
    return list.sort(function (a, b) {
      return (column[3] ? column[3](b) - column[3](a) : 0) ||
        (a.service < b.service ? -1 : 1);
    });
  }
  function services() {
    var list = wanted_services(), n = list.length, body;
    var whose = now.services ? " of " + (chosen || "all services") : "";
    at("services-card").hidden = !now.services;
    at("servers-card").hidden = at("ends").parentNode.hidden = of_all();
    at("tiles").setAttribute("aria-label", "Totals" + whose);
    set(at("servers-title"), "Servers" + whose);
    set(at("limits-title"), "Limits" + whose);
    set(at("ends-title"), listed_of(now.counters, whose).title);
    if (!now.services) return;
    if (!view.all_services) list = list.slice(0, ROWS);
    body = children(at("services"), list.length, new_service);
    list.forEach(function (s, i) { show_service(body[i], s); });
    at("more-services").hidden = n <= ROWS;
    set(at("all-services"), view.all_services ? "Show the first " + ROWS : "Show all " + n);
    set(at("whose-text"), (n === 0 ? "No matching services. " :
      n > list.length ? "And " + (n - list.length) + " more. " : "") +
      (chosen ? "Totals, servers and limits below are those of " + chosen + "." :
        "Totals below are the sums of all services. Choose one for its servers."));
    at("overview").hidden = !chosen;
  }
  /* The same column again: the worst first. */
  function sort_services(key) {
    view.service_key = view.service_key === key ? "" : key;
    Object.keys(service_heads).forEach(function (name) {
      if (name === view.service_key) service_heads[name].setAttribute("aria-sort", "descending");
      else service_heads[name].removeAttribute("aria-sort");
    });
    if (now) services();
    remember();
  }
  function make_service_heads() {
    FIELDS.forEach(function (c) {
      var th = element("th", at("services-heads"), c[1] === "n" ? "n" : "");
      var sorts = c[3] || c[0] === "Service" ? element("button", th) : th;
      th.setAttribute("role", "columnheader");
      th.scope = "col";
      set(sorts, c[0]);
      service_heads[c[0]] = th;
      if (sorts === th) return;
      sorts.type = "button";
      sorts.addEventListener("click", function () { sort_services(c[0]); });
    });
  }

  /* ---- what is looked for is in the address ---- */
  var KEPT = ["state", "find", "key", "service_key"];
  function remember() {
    var query = new URLSearchParams();
    if (chosen) query.set("service", chosen);
    KEPT.forEach(function (key) { if (view[key]) query.set(key, view[key]); });
    if (view.service) query.set("find_service", view.service);
    if (view.down) query.set("down", "1");
    query = query.toString();
    history.replaceState(null, "", (query ? "?" + query : location.pathname) + location.hash);
  }
  function recall() {
    var query = new URLSearchParams(location.search), key = query.get("key");
    view.state = query.get("state") || "";
    at("find").value = view.find = query.get("find") || "";
    at("find-service").value = view.service = query.get("find_service") || "";
    if (COLUMNS.some(function (c) { return c[0] === key && c[2]; }))
      sort_by(key, query.get("down") === "1");
    if (service_heads[query.get("service_key")]) sort_services(query.get("service_key"));
  }
  /* A service was chosen: its servers are what comes next. */
  function go_to_servers() {
    if (before || !chosen || location.hash !== "#servers-card") return;
    at("servers-title").scrollIntoView();
    at("servers-title").focus();
  }

  /* ---- below ---- */
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
  function changes() {
    var list = (now.changes || []).slice(0, 10), ol = at("changes");
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
      set(text[0],
	  (c.service ? c.service + ": " : "") +
	      (c.role === "regular" ? "server " + c.server : c.role) + " ");
      set(text[1], plain(c.name || ""));
      set(text[2], " " + c.was + " \u2192 ");
      mark(text[3], "state " + c.state);
      set(text[3].children[1], c.state);
      set(text[4], c.reason ? ", " + c.reason : "");
    });
  }
  function speak() {
    var said = [];
    function hear(what, s)
    {
	    if (states[what] && states[what] !== s.state && said.length < 5)
		    said.push(what + " is " + s.state + ".");
	    states[what] = s.state;
    }
    (now.services || []).forEach(function(s) {
	    hear("Service " + s.service, s);
    });
    now.servers.forEach(function(s) {
	    hear("Server " + s.server, s);
    });
    if (said.length > 0) set(at("spoken"), said.join(" "));
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
  function limits() {
    var list = now.limits.filter(function (l) { return l.max > 0; }), ul = at("limits");
    children(ul, list.length, new_limit);
    list.forEach(function (l, i) {
      var li = ul.children[i], part = l.now / l.max;
      set(li.firstChild.children[0], l.name);
      set(li.firstChild.children[1], short(l.now) + " of " + short(l.max) +
        (part >= 1 ? ", full" : part >= 0.8 ? ", nearly full" : ""));
      gauge(li.children[1], part);
    });
  }
  function ends() {
	  var listed = listed_of(now.counters, "");
	  var list = listed.keys
			 .filter(function(key) {
				 return now.counters[key] > 0;
			 })
			 .sort(function(a, b) {
				 return now.counters[b] - now.counters[a];
			 })
			 .slice(0, 8);
	  var ul = at("ends");
	  if (list.length === 0)
		  list = [ "" ];
	  children(ul, list.length, function() {
		  new_pair(element("li", ul, "pair"));
	  });
	  list.forEach(function(key, i) {
		  set(ul.children[i].children[0],
		      key ? key.slice(listed.prefix.length).replace(/_/g, " ")
			  : "None yet.");
		  set(ul.children[i].children[1],
		      key ? short(now.counters[key]) : "");
	  });
  }

  /* ---- again and again ---- */
  function is_paused() { return at("pause").getAttribute("aria-pressed") === "true"; }
  /* How long what is shown may be old before it is no longer news. */
  function is_old() {
    return !is_paused() && Date.now() - answered > 2 * period() + LIMIT;
  }
  function fresh() {
    var s = Math.round((Date.now() - answered) / 1000), old = is_old();
    mark(at("live"), lost || old ? "lost" : is_paused() ? "paused" : "");
    set(at("fresh"), !now && !old ? "connecting" : is_paused() ? "paused for " + ago(s) :
      lost || old ? "no answer for " + ago(s) : "live");
    if ((old || lost) && !is_paused()) {
      sentence("down", "No answer from pen for " + ago(s),
        (now ? "The data shown is that old." : "") + (lost ? " (" + lost + ")" : ""),
        "no answer");
      if (old && !told) set(at("spoken"), "No answer from pen.");
      told = old;
    }
  }
  /* Where no service is chosen, what one would count is the sum of all. */
  function add_up(status)
  {
	  status.rows = status.servers.length + (status.services || []).length;
	  if (status.dns)
		  status.counters.queries = status.dns.queries;
	  if (!status.services || chosen)
		  return status;
	  status.counters = status.minute = sum_of(status.services);
	  status.servers = [];
	  status.limits =
	      fullest([].concat.apply([], status.services.map(function(s) {
		      return limits_of(s).map(function(l) {
			      return {
				      name : s.service + ": " + l.name,
				      now : l.now,
				      max : l.max
			      };
		      });
	      }))).slice(0, 8);
	  return status;
  }
  function about()
  {
	  var p = now.pen;
	  return of_all() ? now.services.length + " services"
			  : (now.services ? chosen + " " : "") +
		  (now.services && !p.listen ? "reached by routes"
			  : now.dsr ? "direct return on " + now.dsr.interface +
			      " for " + p.listen
				    : "listening on " + p.listen) +
		  " \u00b7 " + p.balance;
  }
  function take(status) {
    before = now;
    now = add_up(status);
    set(at("host"), now.pen.host ? " on " + plain(now.pen.host) : "");
    answered = Date.now();
    lost = "";
    told = false;
    set(at("about"),
	about() + " \u00b7 up for " + ago(now.pen.uptime_s) +
	    " \u00b7 version " + now.pen.version);
    now.servers.forEach(function (s) { note_value(trend_of(s), Number(s.rate)); });
    verdict();
    totals();
    servers();
    services();
    changes();
    limits();
    ends();
    speak();
    go_to_servers();
  }
  /* Twice a second; less often for what is long, or not seen. */
  function period() {
	  var ms = Math.max(500, Math.min(10000, now ? 2 * now.rows : 0));
	  return document.hidden ? 5 * ms : ms;
  }
  function json(path) {
    var abort = new AbortController(), limit = setTimeout(function () { abort.abort(); }, LIMIT);
    if (chosen)
	    path += "?service=" + encodeURIComponent(chosen);
    return fetch(path, { cache : "no-store", signal : abort.signal })
	.then(function(r) {
		/* The chosen service is gone. */
		if (r.status === 404 && chosen)
			location.replace(location.pathname);
		if (!r.ok)
			throw new Error(r.status + " " + r.statusText);
		return r.json();
	})
	.finally(function() {
		clearTimeout(limit);
	});
  }
  function poll() {
    clearTimeout(timer);
    if (asks) return;
    asks = true;
    json("status.json").then(take).catch(function (e) {
      lost = e.name === "AbortError" ? "too slow" : e.message;
    })
      .then(function () {
        asks = false;
        fresh();
        if (!is_paused()) timer = setTimeout(poll, period());
      });
  }
  /* Nobody had asked: that there is no answer is not pen's doing. */
  function ask_anew() {
    answered = Date.now();
    poll();
  }
  at("pause").addEventListener("click", function () {
    var paused = !is_paused();
    at("pause").setAttribute("aria-pressed", String(paused));
    if (paused) fresh();
    if (paused) clearTimeout(timer);
    else ask_anew();
  });
  at("find").addEventListener("input", function () {
    view.find = at("find").value.trim();
    servers();
    remember();
  });
  at("find-service").addEventListener("input", function () {
    view.service = at("find-service").value.trim();
    if (now) services();
    remember();
  });
  at("all-services").addEventListener("click", function () {
    view.all_services = !view.all_services;
    services();
  });
  at("all").addEventListener("click", function () {
    view.all = !view.all;
    servers();
  });
  document.addEventListener("visibilitychange", function () {
    if (!document.hidden && started && !is_paused()) ask_anew();
  });
  setInterval(fresh, 1000);
  make_heads();
  make_service_heads();
  recall();
  json("trend.json").then(function (t) {
    Object.keys(t).forEach(function (key) { trend(key).values = t[key].slice(1 - STEPS); });
  }).catch(function () {}).then(function () {
    started = true;
    poll();
  });
})();
