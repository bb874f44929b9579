# The little Markdown of doc/measured.md as HTML: headings underlined, paragraphs, lists
# of "  - ", lines that four blanks make code, tables, pictures, links, `code`.
function escape(s) {
	gsub(/&/, "\\&amp;", s)
	gsub(/</, "\\&lt;", s)
	return s
}
# inside a line
function spans(s,    before, all, text, where) {
	s = escape(s)
	while (match(s, /`[^`]*`/))
		s = substr(s, 1, RSTART - 1) "<code>" \
		    substr(s, RSTART + 1, RLENGTH - 2) "</code>" \
		    substr(s, RSTART + RLENGTH)
	while (match(s, /!?\[[^]]*\]\([^)]*\)/)) {
		before = substr(s, 1, RSTART - 1)
		all = substr(s, RSTART, RLENGTH)
		s = substr(s, RSTART + RLENGTH)
		text = all
		sub(/^!?\[/, "", text)
		sub(/\].*/, "", text)
		where = all
		sub(/.*\(/, "", where)
		sub(/\)$/, "", where)
		if (all ~ /^!/)
			all = "<img src=\"" where "\" alt=\"" text "\"/>"
		else
			all = "<a href=\"" where "\">" text "</a>"
		s = before all s
	}
	return s
}
function finish() {
	if (kind != "" && held != "")
		print (kind == "li" ? "<li>" : "<p>") spans(held) \
		    (kind == "li" ? "</li>" : "</p>")
	held = ""
}
# what follows is of another kind
function become(new) {
	finish()
	if (new == kind)
		return
	if (kind == "li")
		print "</ul>"
	else if (kind == "pre" || kind == "table")
		print "</" kind ">"
	if (new == "li")
		print "<ul>"
	else if (new == "pre" || new == "table")
		print "<" new ">"
	kind = new
}
function show_row(    cells, n, i) {
	n = split($0, cells, "|")
	printf "<tr>"
	for (i = 2; i < n; i++)
		printf "<td>%s</td>", spans(cells[i])
	print "</tr>"
}
{ gsub(/<!--[^>]*-->/, "") }
/^===+$/ { print "<h1 class=\"Sh\">" spans(held) "</h1>"; held = ""; next }
/^---+$/ { print "<h2 class=\"Sh\">" spans(held) "</h2>"; held = ""; next }
/^\|[-|: ]*$/ { next }
/^\|/ { become("table"); show_row(); next }
/^  - / { become("li"); held = substr($0, 5); next }
/^$/ { finish(); if (kind != "li") become(""); next }
/^    / && kind != "li" { become("pre"); print escape(substr($0, 5)); next }
/^[^ ]/ && (kind == "li" || kind == "table") { become("") }
{
	if (kind == "")
		kind = "p"
	sub(/^ +/, "")
	held = held (held == "" ? "" : " ") $0
}
END { become("") }
