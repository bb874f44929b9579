/* web_page_verdict.js: how pen does, in a sentence, from what status.json says: the worst
 * comes first. Changes nothing of the page. */
"use strict";
var BAD = ["blacklisted", "down", "removed"], DOUBT = ["suspect", "drain", "maint"];
var ORDER = BAD.concat(DOUBT, [ "standby", "up" ]);
/* States of services look like these of servers. */
var SERVICE_LIKE = { degraded: "suspect", leaving: "drain", empty: "maint" };

/* Of direct return: a standby is neither up nor in trouble. */
function stands_by(s)
{
	return s.state === "standby";
}
function duration(s)
{
	return s < 60	 ? s + " s"
	    : s < 3600	 ? Math.floor(s / 60) + " min"
	    : s < 172800 ? Math.floor(s / 3600) + " h"
			 : Math.floor(s / 86400) + " days";
}
/* Of another host that has claimed an address, as one of `dsr`. */
function claim_of(dsr)
{
	return dsr.claimed_by ? dsr.claimed_by + " claimed " +
		dsr.claimed_address + " " + duration(dsr.claimed_s) + " ago"
			      : "no claim of another director was received";
}
/* Two hosts that have an address: the last minute's claims count. */
function conflict_of(dsr)
{
	return dsr && dsr.role === "active" && dsr.claimed_by &&
		dsr.claimed_s < 60
	    ? [ trouble(
		  2, "Another host claims a listening address", claim_of(dsr)) ]
	    : [];
}
/* That of a standby comes first. */
function with_role(found, dsr, seconds)
{
	if (!dsr)
		return found;
	if (dsr.role === "standby")
		return [ trouble(0, "Standby for " + duration(seconds),
			   claim_of(dsr)) ]
		    .concat(found);
	return found.concat(
	    trouble(0, "Director active for " + duration(seconds)),
	    conflict_of(dsr));
}

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
/* That it is down is no fault. */
function excused(s)
{
	return s.may_be_down === "on" && s.state !== "drain" &&
	    s.state !== "maint" && s.state !== "up";
}
/* What all services count together, as counters and the last minute of one. */
function sum_of(services)
{
	var sum = { answers : 0 }, first = 0;
	services.forEach(function(s) {
		Object.keys(s).forEach(function(key) {
			if (typeof s[key] === "number")
				sum[key] = (sum[key] || 0) + s[key];
		});
		first += s.answers * s.first_byte_us;
	});
	sum.first_byte_us =
	    sum.answers > 0 ? Math.round(first / sum.answers) : 0;
	return sum;
}
function limits_of(s)
{
	return [
		{ name : "sessions", now : s.sessions, max : s.sessions_max }, {
			name : "connecting",
			now : s.connecting,
			max : s.connecting_max
		},
		{
			name : "flow ports",
			now : s.flow_ports,
			max : s.flow_ports_max
		}
	];
}
function fullest(limits)
{
	return limits
	    .filter(function(l) {
		    return l.max > 0;
	    })
	    .sort(function(a, b) {
		    return b.now / b.max - a.now / a.max;
	    });
}
function clipped(text)
{
	return text.length > 60 ? text.slice(0, 59) + "\u2026" : text;
}
function trouble(level, text, more)
{
	return { level : level, text : text, more : more || "" };
}
function by_level(a, b)
{
	return b.level - a.level;
}

/* What servers answer with errors, as `services` has it: "0 web1 37%, 2 web3 100%". */
function errors_text(servers)
{
	return servers
	    .filter(function(s) {
		    return s.http_errors > 0;
	    })
	    .map(function(s) {
		    return s.server + " " + (s.name || s.addr) + " " +
			s.http_errors + "%";
	    })
	    .join(", ");
}
/* Of so many servers that are up. */
function errors_found(text, up)
{
	var list = text ? text.split(", ") : [], more = / and (\d+) more$/.exec(text);
	var n = list.length + (more ? Number(more[1]) : 0);
	var worst = list.some(function(one) {
		return parseInt(/(\d+)%/.exec(one)[1], 10) >= 50;
	});
	var one = /^(.*) (\d+)%$/.exec(text);

	if (n === 0)
		return [];
	text = "\u2068" + plain(text) + "\u2069";
	return [ n === 1 && one && n < up
		? trouble(worst ? 2 : 1,
		      "Server \u2068" + plain(one[1]) + "\u2069 answers " + one[2] +
			  " % of its requests with errors (5xx)")
		: trouble(worst ? (n >= up ? 3 : 2) : 1,
		      (n < up ? n + " of " + up + " servers answer"
			      : up === 1 ? "The server answers"
					 : "All servers answer") +
			  " with errors (5xx)",
		      text) ];
}

/* What is wrong with one service, its servers' states apart; `others`: what becomes of
 * clients when it is full; `errors`: of its servers, `up` of which are up. */
function troubles_of(c, minute, limits, cert, others, errors, up)
{
	var found = errors_found(errors, up), lost = minute.lines_lost;

	function find(level, text, more)
	{
		found.push(trouble(level, text, more));
	}
	function why(reason)
	{
		return reason ? "most: " + reason.replace(/_/g, " ") : "";
	}
	/* From so many on, and from so large a share, it is worth a word. */
	function share(part, what, reason, worst)
	{
		var percent = 100 * part / minute.ended;
		if (part < 3 || percent < 5)
			return;
		find(percent >= 50 ? worst : 1,
		    (part === minute.ended
			    ? "All sessions"
			    : Math.round(percent) + " % of the sessions") +
			" of the last minute " + what,
		    part + " of " + minute.ended + ", " + why(reason));
	}

	function servfail(part, all)
	{
		if (!(part >= 3 && part >= 0.05 * all))
			return;
		find(part >= 0.5 * all ? 3 : 1,
		    (part === all ? "All DNS answers"
				  : Math.round(100 * part / all) +
				" % of the DNS answers") +
			" of the last minute are SERVFAIL",
		    part + " of " + all);
	}

	if (c.panic > 0)
		find(2, "Panic: too few servers are up, pen tries all of them");
	share(minute.failed, "failed", minute.failed_most, 3);
	share(minute.refused, "were refused", minute.refused_most, 2);
	servfail(minute.dns_servfail, minute.dns_answered);
	limits.forEach(function(l) {
		if (l.max > 0 && l.now >= l.max)
			find(2,
			    "Full: " + l.now + " of " + l.max + " " + l.name,
			    others);
		else if (l.max > 0 && l.now >= 0.9 * l.max)
			find(1,
			    "Nearly full: " + l.now + " of " + l.max + " " +
				l.name);
	});
	if (c.queued > 0)
		find(2,
		    c.queued +
			(c.queued === 1 ? " client" : " clients") +
			" queued: all eligible servers are full");
	if (lost > 0)
		find(1,
		    lost +
			(lost === 1 ? " line of the logs was"
				    : " lines of the logs were") +
			" lost in the last minute");
	if (cert && cert.days < 14)
		find(cert.days < 0 ? 2 : 1,
		    "The certificate of \u2068" + clipped(plain(cert.name)) +
			"\u2069 " +
			(cert.days < 0		  ? "has expired"
				: cert.days === 0 ? "expires today"
				: cert.days === 1
				? "expires tomorrow"
				: "expires in " + cert.days + " days"));
	return found.sort(by_level);
}

/* ---- of several services ---- */

/* site2 before site10. */
function by_name(a, b)
{
	return a.service.localeCompare(
	    b.service, undefined, { numeric : true });
}
/* Notes at each what is wrong with it. Returns them, the worst first. */
function judged(services)
{
	services.forEach(function(s) {
		s.troubles = s.state === "leaving"
		    ? []
		    : conflict_of(s).concat(troubles_of(s, s, limits_of(s),
			  s.certificate ? {
				  name : s.certificate,
				  days : s.certificate_days
			  }
					: null,
			  s.listen ? "others have to wait"
				   : "others are refused",
			  s.http_errors || "", s.up));
		s.level = s.state === "down"
		    ? 4
		    : Math.max(/^(degraded|empty|drain|maint)$/.test(s.state) ? 1 : 0,
			  s.troubles.length > 0 ? s.troubles[0].level : 0);
	});
	function rank(s)
	{
		return ORDER.indexOf(SERVICE_LIKE[s.state] || s.state);
	}
	return services.slice().sort(function(a, b) {
		return by_level(a, b) || rank(a) - rank(b) ||
		    by_name(a, b);
	});
}
function state_of_services(list, n, up, standbys)
{
	var down = list.filter(function(s) {
		return s.state === "down";
	});
	var more =
	    list.slice(0, 4)
		.map(function(s) {
			return s.service + ": " + s.state +
			    (s.servers > 0 ? ", " + s.up + " of " + s.servers +
					" servers up"
				    : s.state === "down"
				    ? ", no service that its routes lead to is up"
				    : "");
		})
		.join("; ") +
	    (list.length > 4 ? "; and " + (list.length - 4) + " more" : "");

	if (n === 0)
		return trouble(1, "No services");
	if (list.length === 0 && standbys > 0)
		return trouble(0,
		    standbys === n
			? (n === 1 ? "The service is on standby"
				   : "All " + n + " services are on standby")
			: (n - standbys) + " of " + n + " services " +
			    (n - standbys === 1 ? "is" : "are") + " up, " +
			    (standbys === 1 ? "one is" : standbys + " are") +
			    " on standby");
	if (list.length === 0)
		return trouble(0,
		    n === 1	  ? "The service is up"
			: n === 2 ? "Both services are up"
				  : "All " + n + " services are up");
	if (down.length > 0)
		return trouble(3,
		    down.length === 1
			? "Service " + down[0].service + " is down"
			: down.length === n
			? "No service is up"
			: down.length + " of " + n + " services are down",
		    more);
	return trouble(1,
	    up === 0 ? "Every service is degraded"
		     : up + " of " + n + " services " +
		    (up === 1 ? "is" : "are") + " up",
	    more);
}
function verdict_of_services(services)
{
	var all = judged(services).filter(function(s) {
		return s.state !== "leaving";
	});
	var bad = all.filter(function(s) {
		return s.state !== "up" && !stands_by(s);
	}),
	    found = [], most = 6;
	var up = all.length - bad.length,
	    standbys = all.filter(stands_by).length;

	all.forEach(function(s) {
		s.troubles.forEach(function(t) {
			found.push(trouble(t.level,
			    s.service + ": " + t.text.charAt(0).toLowerCase() +
				t.text.slice(1),
			    t.more));
		});
	});
	found = [ state_of_services(bad, all.length, up, standbys) ]
		    .concat(found)
		    .sort(by_level);
	if (found.length > most)
		found = found.slice(0, most).concat(
		    trouble(0, "and " + (found.length - most) + " more"));
	return {
		n : all.length,
		up : up,
		found : found,
		standby : standbys > 0 && standbys === all.length
	};
}

/* ---- of one ---- */

function state_of_servers(bad, n, up)
{
	/* "web1: down, web2: drain and 3 more"; names read in their own direction. */
	function listed(list)
	{
		return list.slice(0, 4)
			   .map(function(s) {
				   return "\u2068" +
				       clipped(s.name && s.name !== s.addr
					       ? plain(s.name)
					       : address(s)) +
				       "\u2069: " + s.state;
			   })
			   .join(", ") +
		    (list.length > 4 ? " and " + (list.length - 4) + " more"
				     : "");
	}
	if (n === 0)
		return trouble(1, "No servers");
	if (bad.length === 0)
		return trouble(0,
		    n === 1	  ? "The server is up"
			: n === 2 ? "Both servers are up"
				  : "All " + n + " servers are up");
	bad.sort(function(a, b) {
		return ORDER.indexOf(a.state) - ORDER.indexOf(b.state);
	});
	return trouble(up === 0			 ? 3
		: BAD.indexOf(bad[0].state) >= 0 && 2 * up < n ? 2
						 : 1,
	    up === 0 ? "No server is up"
		     : up + " of " + n + " servers " +
		    (up === 1 ? "is" : "are") + " up",
	    listed(bad));
}
function verdict_of_servers(now)
{
	var regular = now.servers.filter(function(s) {
		return s.role === "regular";
	});
	var off = regular.filter(function(s) {
		return s.state !== "up";
	});
	var bad = off.filter(function(s) {
		return !excused(s);
	});
	var n = regular.length, up = n - off.length;
	var standby = Boolean(now.dsr) && now.dsr.role === "standby";

	var servers = up > 0 && bad.length === 0 && off.length > 0
	    ? trouble(0,
		  up + " of " + n + " servers " + (up === 1 ? "is" : "are") +
		      " up, the others may be down")
	    : state_of_servers(up > 0 ? bad : off, n, up);

	return {
		n : n,
		up : up,
		standby : standby,
		found : with_role([ servers ].concat(troubles_of(now.counters,
				      now.minute, now.limits, now.certificate,
				      "others have to wait",
				      errors_text(regular), up)),
		    now.dsr, now.counters.dsr_role_s)
	};
}

function verdict_of(now)
{
	var v = now.services ? verdict_of_services(now.services)
			     : verdict_of_servers(now);
	var found = v.found.slice();

	if (now.pen.draining)
		found.push(trouble(4, "Stopping: no new clients"));
	found.sort(by_level);
	return {
		what : found[0].level >= 2 ? "down"
		    : found[0].level === 1 ? "warn"
		    : v.standby		   ? "standby"
					   : "up",
		text : found[0].text,
		up : v.up,
		n : v.n,
		more : [ found[0].more ]
			   .concat(found.slice(1).map(function(f) {
				   return f.text +
				       (f.more ? " (" + f.more + ")" : "");
			   }))
			   .filter(Boolean)
			   .join(" \u00b7 ")
	};
}
