#!/bin/sh
# The manual in HTML: html.sh MANDOC DIRECTORY-OF-PAGES OUTPUT-DIRECTORY
# Pages refer to each other, commands to their paragraph in pen.conf(5), and other
# manuals to those of Debian.
set -e
mandoc=$1 man=$2
mkdir -p "$3"
out=$(cd "$3" && pwd)
cd "$man"
man=$(pwd)
for page in *.[1-9]; do
	# in this directory: that is where mandoc looks for pages of ours
	"$mandoc" -Thtml -O \
	    "toc,style=manual.css,man=%N.%S.html;https://manpages.debian.org/%N.%S" \
	    "$page" >"$out/$page.html"
done
cp manual.css "$out/manual.css"
cd "$out"
home='<p class="home"><a href="index.html">Manual of pen</a></p>'
{
	echo 's/^<html>/<html lang="en">/'
	echo "s|^<body>|<body>$home|"
} >page.sed
# a rule for each command, but not where it is described
sed -n 's/.*<dt id="\([a-z][a-z0-9_]*\)".*class="Ic".*/\1/p' pen.conf.5.html |
	sort -u | while read -r name; do
	code="<code class=\"Ic\">$name</code>"
	echo "/permalink/!s|$code|<a href=\"pen.conf.5.html#$name\">$code</a>|g"
done >>page.sed
for page in *.[1-9].html; do
	sed -f page.sed "$page" >page.tmp
	mv page.tmp "$page"
done
rm page.sed
# page TITLE: what a page that is not of mandoc begins with
page() {
	cat <<END
<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8"/>
  <meta name="viewport" content="width=device-width, initial-scale=1.0"/>
  <link rel="stylesheet" href="manual.css" type="text/css"/>
  <title>$1</title>
</head>
<body>
END
}
cp "$man"/../doc/measured.tsv "$man"/../doc/measured*.svg .
{
	page "Measured"
	echo "$home<div class=\"manual-text\">"
	awk -f "$man/markdown.awk" "$man/../doc/measured.md"
	printf '</div>\n</body>\n</html>\n'
} >measured.html
{
	page "Manual of pen"
	cat <<END
<div class="manual-text">
<h1 class="Sh">Manual of pen</h1>
<dl class="Bl-tag">
END
	for file in pen.1.html pen.conf.5.html pen-*.html penctl.1.html \
	    penlog.1.html penlogd.1.html mergelogs.1.html; do
		page=${file%.html}
		echo "  <dt><a href=\"$file\">${page%.*}(${page##*.})</a></dt>"
		sed -n 's,^\.Nd \(.*\),  <dd>\1</dd>,p' "$man/$page"
	done
	echo '  <dt><a href="measured.html">measured</a></dt>'
	echo '  <dd>CPU time, latency and memory beside those of others</dd>'
	printf '</dl>\n</div>\n</body>\n</html>\n'
} >index.html
