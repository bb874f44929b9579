#!/bin/sh
# `make install` puts all there is where it belongs, and `make uninstall` removes
# every file again, with a DESTDIR and with units of systemd. What packages say of
# names and versions is what configure.ac says. make check runs it in the build
# directory.
top=${SRCDIR:-.}
passed=0 failed=0

check() {
	if "$@"; then
		passed=$((passed + 1))
	else
		echo "install: not so: $*"
		failed=$((failed + 1))
	fi
}

# make says its own words to those below it
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
make=${MAKE:-make}
if ! [ -f Makefile ]; then
	echo "skipped: install: this is no build directory"
	exit 77
fi
temp=$(mktemp -d) || exit 1
root=$temp/root
trap 'rm -rf "$temp"' EXIT
trap 'exit 1' HUP INT TERM

value() {
	sed -n "s/^$1 = //p" Makefile
}

# run TARGET: with a DESTDIR, as a packager does
run() {
	"$make" "$1" DESTDIR="$root" prefix=/usr sysconfdir=/etc \
		bindir=/usr/bin datadir=/usr/share datarootdir=/usr/share \
		mandir=/usr/share/man >"$temp/log" 2>&1 && return
	cat "$temp/log"
	return 1
}

files_of() {
	(cd "$root" && find . ! -type d | sort)
}

made_html=
if [ -n "$(value MANDOC)" ] && [ ! -d man/html ]; then
	made_html=yes
	check run html
fi
check run install
if [ -n "$made_html" ]; then
	check test -f "$root/usr/share/doc/pen/html/pen.conf.5.html"
	check test -f "$root/usr/share/doc/pen/html/manual.css"
	rm -rf man/html
fi
for program in pen penctl penlog penlogd mergelogs; do
	check test -x "$root/usr/bin/$program"
done
for page in "$top"/man/*.[1-9]; do
	check test -f "$root/usr/share/man/man${page##*.}/${page##*/}"
done
if [ -n "$(value dist_bashcompletion_DATA)" ]; then
	check test -f "$root/usr/share/bash-completion/completions/pen"
	check test -f "$root/usr/share/bash-completion/completions/penctl"
	check test -f "$root/usr/share/zsh/site-functions/_pen"
	check test -f "$root/usr/share/fish/vendor_completions.d/pen.fish"
	check test -f "$root/usr/share/fish/vendor_completions.d/penctl.fish"
fi
for file in "$top"/examples/guide/*; do
	check test -f "$root/usr/share/doc/pen/examples/guide/${file##*/}"
done
units=$(value systemdsystemunitdir)
if [ "$units" != no ]; then
	check test -f "$root$units/pen.service"
	check test -f "$root$units/pen@.service"
	check test -f "$root$units/pen.socket"
fi
check run uninstall
check test -z "$(files_of)"
files_of

# packages are not in every copy of the source
version=$(sed -n 's/^AC_INIT(\[pen\], \[\(.*\)\])$/\1/p' "$top/configure.ac")
check test -n "$version"
if [ -f "$top/packaging/pen.spec" ]; then
	check grep -q "^Version: *$version\$" "$top/packaging/pen.spec"
fi
if [ -f "$top/debian/changelog" ]; then
	check grep -q "^pen-balancer ($version-[0-9]*) " "$top/debian/changelog"
fi
for script in "$top"/examples/pen.openrc "$top"/examples/pen.rcd; do
	check sh -n "$script"
done

echo "install: $passed passed, $failed failed"
test "$failed" -eq 0 && test "$passed" -gt 0
