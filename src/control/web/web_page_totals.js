/* web_page_totals.js: which totals the tiles show, a row each, and what is listed below
 * them. Changes nothing of the page. */
"use strict";

/* Of direct return, of DNS, and what both have little of, or none. */
function has_direct(c) { return c.dsr_forwarded !== undefined; }
function has_dns(c) { return c.queries !== undefined; }
function has_sessions(c) { return c.accepted > 0 || !(has_direct(c) || has_dns(c)); }
function has_bytes(c) { return has_sessions(c) || c.bytes_up + c.bytes_down > 0; }
function has_flows(c) { return c.flows_opened > 0; }
function had_queue(c) { return c.queued_total > 0; }

/* The counters that are listed by kind. */
function named(c, pattern) {
  return Object.keys(c).filter(function (key) { return pattern.test(key); });
}
function drops_of(c) { return named(c, /^dsr_dropped_(?!.*_bytes$)/); }

/* Of the last minute. */
function failed_share(c, minute) {
  return minute.ended > 0 ? 100 * minute.failed / minute.ended : 0;
}
function servfail_share(c, minute) {
  return minute.dns_answered > 0 ? 100 * minute.dns_servfail / minute.dns_answered : 0;
}
function first_byte(c, minute) { return minute.first_byte_us || 0; }

/* Key, label, where it is shown, how, unit; a counter, counters of which it shows the
   growth a second, or a function of counters and the last minute that returns a value or
   such counters. */
var TOTALS = [
  ["frames", "Frames to servers", has_direct, "short", "/s",
    ["dsr_forwarded", "dsr_fast_frames"]],
  ["frame_bytes", "Bytes to servers", has_direct, "bytes", "/s",
    ["dsr_forwarded_bytes", "dsr_fast_bytes"]],
  ["dsr_flows", "Flows", has_direct, "short", "", "dsr_flows"],
  ["drops", "Dropped frames", has_direct, "short", "/s", drops_of],
  ["queries", "DNS queries", has_dns, "short", "/s", ["dns_queries"]],
  ["servfail", "SERVFAIL", has_dns, "short", "%", servfail_share],
  ["answer", "Time to answer", has_dns, "micro", "", first_byte],
  ["waiting", "Waiting queries", has_dns, "short", "", "dns_waiting"],
  ["retries", "Retries", has_dns, "short", "/s", ["retries"]],
  ["sessions", "Open sessions", has_sessions, "short", "", "sessions"],
  ["accepted", "New sessions", has_sessions, "short", "/s", ["accepted"]],
  ["up", "To servers", has_bytes, "bytes", "/s", ["bytes_up"]],
  ["down", "To clients", has_bytes, "bytes", "/s", ["bytes_down"]],
  ["flows", "UDP flows", has_flows, "short", "", "flows"],
  ["queued", "Queued", had_queue, "short", "", "queued"],
  ["failed", "Failed sessions", has_sessions, "short", "%", failed_share],
  ["first", "Time to first byte", has_sessions, "micro", "", first_byte]
];

/* What is counted by kind: heading, how the names begin, the counters; `whose` is " of" a
   service, or "". */
function listed_of(c, whose) {
  if (has_direct(c))
    return { title: "Dropped frames" + whose, prefix: "dsr_dropped_", keys: drops_of(c) };
  if (has_dns(c) && !has_sessions(c))
    return { title: "DNS answers" + whose, prefix: "dns_answers_",
      keys: named(c, /^dns_answers_/) };
  return { title: "How sessions" + whose + " ended", prefix: "closed_",
    keys: named(c, /^closed_/) };
}
