/* web_page_totals.js: which totals the tiles show, a row each, and what is listed below
 * them. Changes nothing of the page. */
"use strict";

function has_direct(c)
{
	return c.dsr_forwarded !== undefined;
}
/* Direct return has no sessions. */
function has_sessions(c)
{
	return c.accepted > 0 || !has_direct(c);
}
function has_bytes(c)
{
	return has_sessions(c) || c.bytes_up + c.bytes_down > 0;
}
/* Frames that were dropped, by reason. */
function drops_of(c)
{
	return Object.keys(c).filter(function(key) {
		return /^dsr_dropped_/.test(key) && !/_bytes$/.test(key);
	});
}

/* Key, label, where it is shown, how, unit; the counters of which it shows the growth a
 * second, or a function of counters and the last minute. */
var TOTALS = [
	[
		"frames", "Frames to servers", has_direct, "short", "/s",
		function() {
			return [ "dsr_forwarded", "dsr_fast_frames" ];
		}
	],
	[
		"frame_bytes", "Bytes to servers", has_direct, "bytes", "/s",
		function() {
			return [ "dsr_forwarded_bytes", "dsr_fast_bytes" ];
		}
	],
	[
		"dsr_flows", "Flows", has_direct, "short", "",
		function(c) {
			return c.dsr_flows;
		}
	],
	[ "drops", "Dropped frames", has_direct, "short", "/s", drops_of ],
	[
		"sessions", "Open sessions", has_sessions, "short", "",
		function(c) {
			return c.sessions;
		}
	],
	[
		"accepted", "New sessions", has_sessions, "short", "/s",
		function() {
			return [ "accepted" ];
		}
	],
	[
		"up", "To servers", has_bytes, "bytes", "/s",
		function() {
			return [ "bytes_up" ];
		}
	],
	[
		"down", "To clients", has_bytes, "bytes", "/s",
		function() {
			return [ "bytes_down" ];
		}
	],
	[
		"flows", "UDP flows",
		function(c) {
			return c.flows_opened > 0;
		},
		"short", "",
		function(c) {
			return c.flows;
		}
	],
	[
		"queued", "Queued",
		function(c) {
			return c.queued_total > 0;
		},
		"short", "",
		function(c) {
			return c.queued;
		}
	],
	[
		"failed", "Failed sessions", has_sessions, "short", "%",
		function(c, minute) {
			return minute.ended > 0
			    ? 100 * minute.failed / minute.ended
			    : 0;
		}
	],
	[
		"first", "Time to first byte", has_sessions, "micro", "",
		function(c, minute) {
			return minute.first_byte_us || 0;
		}
	]
];

/* What is counted by kind: heading, and the counters whose names begin so; `whose` is
 * " of" a service, or "". */
function listed_of(c, whose)
{
	return has_direct(c)
	    ? {
		      title : "Dropped frames" + whose,
		      prefix : "dsr_dropped_",
		      keys : drops_of(c)
	      }
	    : {
		      title : "How sessions" + whose + " ended",
		      prefix : "closed_",
		      keys : Object.keys(c).filter(function(key) {
			      return /^closed_/.test(key);
		      })
	      };
}
