/* web_page_verdict.js: how pen does, in a sentence, from what status.json says: the worst
 * comes first. Changes nothing of the page. */
"use strict";
var BAD = ["blacklisted", "down", "removed"], DOUBT = ["suspect", "drain", "maint"];
var ORDER = BAD.concat(DOUBT, ["up"]);
/* States of services look like these of servers. */
var SERVICE_LIKE = { degraded: "suspect", leaving: "drain", empty: "maint" };

/* What turns the direction of what follows, or cannot be seen, is shown as a number. */
function plain(text) {
  return text.replace(/[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    function (c) {
      return "<U+" + ("000" + c.charCodeAt(0).toString(16)).slice(-4).toUpperCase() + ">";
    });
}
function address(s) {
  if (!s.port) return plain(s.addr);
  return (s.addr.indexOf(":") >= 0 ? "[" + s.addr + "]" : s.addr) + ":" + s.port;
}
/* Compares two: the worst first. */
function worse_service(a, b) {
  function rank(s) { return ORDER.indexOf(SERVICE_LIKE[s.state] || s.state); }
  return rank(a) - rank(b) || (a.service < b.service ? -1 : 1);
}
function verdict_of(now) {
  var found = [], minute = now.minute, c = now.counters, cert = now.certificate, lost;
  var regular = now.servers.filter(function (s) { return s.role === "regular"; });
  var bad = regular.filter(function (s) { return s.state !== "up"; });
  var n = regular.length, up = n - bad.length;

  function find(level, text, more) { found.push({ level: level, text: text, more: more || "" }); }
  function clipped(text) { return text.length > 60 ? text.slice(0, 59) + "\u2026" : text; }
  /* "web1: down, web2: drain and 3 more"; names read in their own direction. */
  function listed(list) {
    return list.slice(0, 4).map(function (s) {
      return "\u2068" + clipped(s.name && s.name !== s.addr ? plain(s.name) : address(s)) +
        "\u2069: " + s.state;
    }).join(", ") + (list.length > 4 ? " and " + (list.length - 4) + " more" : "");
  }
  function why(reason) { return reason ? "most: " + reason.replace(/_/g, " ") : ""; }
  /* From so many on, and from so large a share, it is worth a word. */
  function share(part, what, reason, worst) {
    var percent = 100 * part / minute.ended;
    if (part < 3 || percent < 5) return;
    find(percent >= 50 ? worst : 1, (part === minute.ended ? "All sessions" : Math.round(percent) +
      " % of the sessions") + " of the last minute " + what, part + " of " + minute.ended +
      ", " + why(reason));
  }

  /* Where there are several, instead of the servers of one. */
  function of_services(all) {
    var down = all.filter(function (s) { return s.state === "down"; });
    var list = all.filter(function (s) { return s.state !== "up"; }).sort(worse_service);
    n = all.length;
    up = n - list.length;
    if (n === 0)
      find(1, "No services");
    else if (list.length === 0)
      find(0, n === 1 ? "The service is up" : n === 2 ? "Both services are up" :
        "All " + n + " services are up");
    else
      find(down.length === n ? 3 : down.length > 0 ? 2 : 1, up === 0 ? "No service is all up" :
        up + " of " + n + " services " + (up === 1 ? "is" : "are") + " up",
        list.slice(0, 4).map(function (s) {
          return s.service + ": " + s.state + ", " + s.up + " of " + s.servers + " servers up";
        }).join("; ") + (list.length > 4 ? "; and " + (list.length - 4) + " more" : ""));
  }

  if (now.services) {
    of_services(now.services.filter(function (s) { return s.state !== "leaving"; }));
  } else if (n === 0) {
    find(1, "No servers");
  } else if (bad.length === 0) {
    find(0, n === 1 ? "The server is up" : n === 2 ? "Both servers are up" :
      "All " + n + " servers are up");
  } else {
    bad.sort(function (a, b) { return ORDER.indexOf(a.state) - ORDER.indexOf(b.state); });
    find(up === 0 ? 3 : BAD.indexOf(bad[0].state) >= 0 ? 2 : 1, up === 0 ? "No server is up" :
      up + " of " + n + " servers " + (up === 1 ? "is" : "are") + " up", listed(bad));
  }
  if (c.panic > 0) find(2, "Panic: too few servers are up, pen tries all of them");
  if (now.pen.draining) find(4, "Stopping: no new clients");
  share(minute.failed, "failed", minute.failed_most, 3);
  share(minute.refused, "were refused", minute.refused_most, 2);
  now.limits.forEach(function (l) {
    if (l.max > 0 && l.now >= l.max)
      find(2, "Full: " + l.now + " of " + l.max + " " + l.name, "others have to wait");
    else if (l.max > 0 && l.now >= 0.9 * l.max)
      find(1, "Nearly full: " + l.now + " of " + l.max + " " + l.name);
  });
  if (c.queued > 0)
    find(2, c.queued + (c.queued === 1 ? " client waits" : " clients wait") +
      " for a server: all that they may have are full");
  lost = minute.lines_lost;
  if (lost > 0)
    find(1, lost + (lost === 1 ? " line of the logs was" : " lines of the logs were") +
      " lost in the last minute");
  if (cert && cert.days < 14)
    find(cert.days < 0 ? 2 : 1, "The certificate of \u2068" + clipped(plain(cert.name)) +
      "\u2069 " + (cert.days < 0 ? "has expired" : cert.days === 0 ? "expires today" :
        cert.days === 1 ? "expires tomorrow" : "expires in " + cert.days + " days"));
  found.sort(function (a, b) { return b.level - a.level; });
  return { what: found[0].level >= 2 ? "down" : found[0].level === 1 ? "warn" : "up",
    text: found[0].text, up: up, n: n,
    more: [found[0].more].concat(found.slice(1).map(function (f) {
      return f.text + (f.more ? " (" + f.more + ")" : "");
    })).filter(Boolean).join(" \u00b7 ") };
}
