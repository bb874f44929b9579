/* web_page.js: shows what status.json says, twice a second, in elements that stay. */
(function () {
  var ROWS = 100, LIMIT = 4000;
  var tiles = {}, states = {};
  var now = null, before = null, answered = Date.now(), lost = "", fault = "", told = false;
  var timer = 0, started = false, asks = false;
  /* Of several services, the one whose servers are shown; "": the sums of all. */
  var chosen = new URLSearchParams(location.search).get("service") || "";
  var several = services_table(ROWS, chosen, remember);
  var servers = servers_table(ROWS, remember);

  /* ---- totals ---- */
  function tile(key, label, value, format, unit) {
    var t = tiles[key], text = format(value).split("\u202f"), list, most;
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
    most = Math.max.apply(null, list.values.concat([value]));
    set(t.peak, "peak " + format(unit && most < 10 ? most : Math.ceil(most)) + unit);
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

  /* ---- several services ---- */
  function of_all() {
    return Boolean(now.services) && !chosen;
  }
  /* Whether the one that is shown has no servers, but routes to other services. */
  function leads_on() {
    return (now.services || []).some(function (s) {
      return s.service === chosen && s.servers === 0 && /^(up|down)$/.test(s.state);
    });
  }
  function no_servers() {
    return leads_on() ? "No servers of its own: its routes lead to other services." :
      "No servers. Add one: penctl ADDRESS '" +
        (now.services && chosen !== "default" ? "service " + chosen + " " : "") +
        "server add HOST:PORT'";
  }
  /* Whose servers and numbers are shown. */
  function name_parts() {
    var whose = now.services ? " of " + (chosen || "all services") : "";
    at("servers-card").hidden = at("ends").parentNode.hidden = of_all();
    at("tiles").setAttribute("aria-label", "Totals" + whose);
    set(at("servers-title"), "Servers" + whose);
    set(at("limits-title"), "Limits" + whose);
    set(at("ends-title"), listed_of(now.counters, whose).title);
  }

  /* ---- what is looked for is in the address ---- */
  function remember() {
    var query = new URLSearchParams();
    if (chosen) query.set("service", chosen);
    servers.keep(query);
    several.keep(query);
    query = query.toString();
    history.replaceState(null, "", (query ? "?" + query : location.pathname) + location.hash);
  }
  function recall() {
    var query = new URLSearchParams(location.search);
    servers.recall(query);
    several.recall(query);
  }
  /* A service was chosen: its servers are what comes next. */
  function go_to_servers() {
    if (before || !chosen || location.hash !== "#servers-card") return;
    at("servers-title").scrollIntoView();
    at("servers-title").focus();
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
    } else if (fault) {
      sentence("warn", "This page has a fault: parts of it are old or missing",
        "pen answers. Reload this page; the plain page, below, and penctl ADDRESS top have " +
          "the same data. Please report it (" + fault + ")", "fault in the page");
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
	  if (of_all())
		  return now.services.length === 1
			  ? "1 service" : now.services.length + " services";
	  return (now.services ? chosen + " " : "") +
		  (now.services && !p.listen ? "reached by routes"
			  : now.dsr ? "direct return on " + now.dsr.interface +
			      " for " + p.listen
				    : "listening on " + p.listen) +
		  " \u00b7 " + p.balance;
  }
  function take(status) {
    answered = Date.now();
    lost = "";
    told = false;
    before = now;
    now = add_up(status);
    set(at("host"), now.pen.host ? " on " + plain(now.pen.host) : "");
    set(at("about"),
	about() + " \u00b7 up for " + ago(now.pen.uptime_s) +
	    " \u00b7 version " + now.pen.version);
    now.servers.forEach(function (s) { note_value(trend_of(s), Number(s.rate)); });
    verdict();
    totals();
    servers.show(now.servers, no_servers(), has_dns(now.counters));
    name_parts();
    several.show(now.services);
    show_changes(now.changes || []);
    show_limits(now.limits);
    show_ends(now.counters);
    speak();
    go_to_servers();
  }
  /* An error here is not one of pen. */
  function show(status)
  {
	  fault = "";
	  try {
		  take(status);
	  } catch (e) {
		  fault = e.message;
		  console.error(e);
	  }
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
    json("status.json").then(show, function (e) {
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
  document.addEventListener("visibilitychange", function () {
    if (!document.hidden && started && !is_paused()) ask_anew();
  });
  window.addEventListener("resize", arrange_tiles);
  setInterval(fresh, 1000);
  recall();
  json("trend.json").then(function (t) {
    Object.keys(t).forEach(function (key) { trend(key).values = t[key].slice(1 - STEPS); });
  }).catch(function () {}).then(function () {
    started = true;
    poll();
  });
})();
