# setup.sh: what a fresh machine needs before pen can be built or tested:
# packages from the system's package manager, a configure script, a build.
# Sourced by tests/run.sh and examples/quickstart.sh; plain POSIX sh.
#
#     packages_need THING...    installs what is missing, or ends the script
#     packages_want THING...    the same, but goes on without what it can't get
#     packages_node TOP DIR     the same of npm's, below DIR
#     build_source TOP COPY     prints SOURCE, which may have to be a copy
#     build_pen SOURCE BUILD [configure options]
#
# Nothing happens, and no network is needed, for things already there.

# Names of things by package manager; "-" means it has none or needs none, a
# comma separates several.
packages_table() {
	cat <<'TABLE'
thing     apt-get           dnf               apk           pacman      zypper              pkg          brew
cc        gcc,libc6-dev     gcc               gcc,musl-dev  gcc         gcc                 -            gcc
clang     clang,libclang-rt-dev clang,compiler-rt clang,compiler-rt clang,compiler-rt clang    -            llvm
llvm-objcopy llvm           llvm              llvm          llvm        llvm                -            llvm
make      make              make              make          make        make                gmake        make
autoconf  autoconf          autoconf          autoconf      autoconf    autoconf            autoconf     autoconf
automake  automake          automake          automake      automake    automake            automake     automake
pkgconf   pkg-config        pkgconf-pkg-config pkgconf      pkgconf     pkg-config          pkgconf      pkgconf
libevent  libevent-dev      libevent-devel    libevent-dev  libevent    libevent-devel      libevent     libevent
openssl   libssl-dev        openssl-devel     openssl-dev   openssl     libopenssl-devel    -            openssl@3
libedit   libedit-dev       libedit-devel     libedit-dev   libedit     libedit-devel       libedit      -
ncurses   libncurses-dev    ncurses-devel     ncurses-dev   ncurses     ncurses-devel       -            ncurses
tmux      tmux              tmux              tmux          tmux        tmux                tmux         tmux
libbpf    libbpf-dev        libbpf-devel      libbpf-dev    libbpf      libbpf-devel        -            -
jansson   libjansson-dev    jansson-devel     jansson-dev   jansson     libjansson-devel    jansson      jansson
cares     libc-ares-dev     c-ares-devel      c-ares-dev    c-ares      c-ares-devel        c-ares       c-ares
seccomp   libseccomp-dev    libseccomp-devel  libseccomp-dev libseccomp libseccomp-devel   -            -
maxminddb libmaxminddb-dev  libmaxminddb-devel libmaxminddb-dev libmaxminddb libmaxminddb-devel libmaxminddb libmaxminddb
mmdblookup mmdb-bin         libmaxminddb      libmaxminddb  libmaxminddb mmdblookup         libmaxminddb libmaxminddb
services  netbase           setup             alpine-baselayout-data iana-etc netcfg         -            -
check     check             check-devel       check-dev     check       check-devel         check        check
curl      curl              curl              curl          curl        curl                curl         curl
nginx     nginx             nginx             nginx         nginx       nginx               nginx        nginx
ab        apache2-utils     httpd-tools       apache2-utils apache      apache2-utils       apache24     httpd
wrk       wrk               wrk               wrk           wrk         wrk                 wrk          wrk
ssh       openssh-client    openssh-clients   openssh-client openssh    openssh-clients     -            -
slowhttptest slowhttptest  slowhttptest      -             -           -                   slowhttptest slowhttptest
sshd      openssh-server    openssh-server    openssh-server openssh    openssh-server      -            -
nc        netcat-openbsd    nmap-ncat         netcat-openbsd openbsd-netcat netcat-openbsd  -            -
valgrind  valgrind          valgrind          valgrind      valgrind    valgrind            valgrind     -
mandoc    mandoc            mandoc            mandoc        mandoc      mandoc              -            mandoc
groff     groff-base        groff-base        groff         groff       groff               groff        groff
chromium  chromium-headless-shell chromium    chromium      chromium    chromium            chromium     -
node      nodejs            nodejs            nodejs        nodejs      nodejs              node         node
npm       npm               npm               npm           npm         npm                 npm          -
prometheus prometheus       golang-github-prometheus prometheus prometheus golang-github-prometheus-prometheus prometheus prometheus
promtool  prometheus        golang-github-prometheus prometheus prometheus golang-github-prometheus-prometheus prometheus prometheus
unbound   unbound           unbound           unbound       unbound     unbound             unbound      unbound
nsd       nsd               nsd               nsd           nsd         nsd                 nsd          nsd
knotd     knot              knot              knot          knot        knot                knot3        knot
dnsmasq   dnsmasq-base      dnsmasq           dnsmasq       dnsmasq     dnsmasq             dnsmasq      dnsmasq
dig       bind9-dnsutils    bind-utils        bind-tools    bind        bind-utils          bind-tools   bind
dnsperf   dnsperf           dnsperf           -             -           -                   dnsperf      dnsperf
systemd-analyze systemd     systemd           -             systemd     systemd             -            -
gtlsclient ngtcp2-client    -                 -             -           -                   -            -
gtlsserver ngtcp2-server    -                 -             -           -                   -            -
opensslcmd openssl          openssl           openssl       openssl     openssl             -            openssl@3
gnutls-cli gnutls-bin       gnutls-utils      gnutls-utils  gnutls      gnutls              gnutls       gnutls
nghttp    nghttp2-client    nghttp2           nghttp2       nghttp2     nghttp2             nghttp2      nghttp2
h2load    nghttp2-client    nghttp2           nghttp2       nghttp2     nghttp2             nghttp2      nghttp2
nghttpd   nghttp2-server    nghttp2           nghttp2       nghttp2     nghttp2             nghttp2      nghttp2
initdb    postgresql        postgresql-server postgresql    postgresql  postgresql-server   postgresql16-server postgresql
sslscan   sslscan           sslscan           sslscan       sslscan     -                   sslscan      sslscan
testssl   testssl.sh        testssl           testssl.sh    testssl.sh  -                   testssl.sh   testssl
pg_isready postgresql-client postgresql       postgresql-client postgresql postgresql       postgresql16-client postgresql
redis-server redis-server   redis             redis         redis       redis               redis        redis
rsyslogd  rsyslog           rsyslog           rsyslog       rsyslog     rsyslog             rsyslog      -
logrotate logrotate         logrotate         logrotate     logrotate   logrotate           logrotate    logrotate
goaccess  goaccess          goaccess          goaccess      goaccess    goaccess            goaccess     goaccess
fail2ban-regex fail2ban     fail2ban          fail2ban      fail2ban    fail2ban            py311-fail2ban fail2ban
ldapsearch ldap-utils       openldap-clients  openldap-clients openldap openldap2-client    openldap26-client openldap
keepalived keepalived       keepalived        keepalived    keepalived  keepalived          keepalived   -
bird      bird2             bird              bird          bird        bird                bird2       -
slapd     slapd             openldap-servers  openldap      openldap    openldap2           openldap26-server openldap
postfix   postfix           postfix           postfix       postfix     postfix             postfix      -
haproxy   haproxy           haproxy           haproxy       haproxy     haproxy             haproxy      haproxy
dovecot   dovecot-imapd     dovecot           dovecot       dovecot     dovecot             dovecot      dovecot
dnsdist   dnsdist           dnsdist           dnsdist       -           dnsdist             dnsdist      dnsdist
psql      postgresql-client postgresql        postgresql-client postgresql postgresql       postgresql16-client postgresql
nft       nftables          nftables          nftables      nftables    nftables            -            -
vsftpd    vsftpd            vsftpd            vsftpd        vsftpd      vsftpd              vsftpd       -
sipp      sip-tester        sipp              sipp          -           sipp                sipp         sipp
zsh       zsh               zsh               zsh           zsh         zsh                 zsh          zsh
fish      fish              fish              fish          fish        fish                fish         fish
ip        iproute2      iproute           iproute2      iproute2    iproute2            -            -
classic   pen               -                 -             -           -                   -            -
dpkg-buildpackage dpkg-dev  -                 -             -           -                   -            -
dh        debhelper         -                 -             -           -                   -            -
lintian   lintian           -                 -             -           -                   -            -
debootstrap debootstrap     -                 -             -           -                   -            -
cpio      cpio              cpio              cpio          cpio        cpio                -            -
qemu-system-x86_64 qemu-system-x86 -          -             -           -                   -            -
arm-linux-gnueabihf-gcc gcc-arm-linux-gnueabihf,libc6-dev-armhf-cross - - - - - -
s390x-linux-gnu-gcc gcc-s390x-linux-gnu,libc6-dev-s390x-cross - - - - - -
qemu-arm  qemu-user         -                 -             -           -                   -            -
qemu-s390x qemu-user        -                 -             -           -                   -            -
musl-gcc  musl-tools        musl-gcc          -             musl        -                   -            -
mmdebstrap mmdebstrap       mmdebstrap        -             -           -                   -            -
scan-build clang-tools      clang-analyzer    clang-analyzer clang      clang-tools         -            -
cppcheck  cppcheck          cppcheck          cppcheck      cppcheck    cppcheck            cppcheck     cppcheck
libpcap   libpcap-dev       libpcap-devel     libpcap-dev   libpcap     libpcap-devel       libpcap      libpcap
TABLE
}

packages_manager() {
	for manager in apt-get dnf apk pacman zypper pkg brew; do
		if command -v "$manager" >/dev/null 2>&1; then
			echo "$manager"
			return
		fi
	done
}

packages_find_program() (
	PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
	command -v "$1" >/dev/null 2>&1
)

packages_has() {
	case $1 in
	cc) packages_find_program cc || packages_find_program gcc ||
		packages_find_program clang ;;
	make) packages_find_program make || packages_find_program gmake ;;
	pkgconf) packages_find_program pkg-config ||
		packages_find_program pkgconf ;;
	libevent) pkg-config --exists 'libevent_core >= 2.1' 2>/dev/null ;;
	openssl) pkg-config --exists 'openssl >= 1.1.1' 2>/dev/null ;;
	libedit | jansson | ncurses | libpcap) pkg-config --exists "$1" 2>/dev/null ;;
	libbpf) pkg-config --exists 'libbpf >= 0.8' 2>/dev/null ||
		[ "$(uname -s)" != Linux ] ;;
	cares) pkg-config --exists 'libcares >= 1.16' 2>/dev/null ;;
	seccomp) pkg-config --exists 'libseccomp >= 2.4' 2>/dev/null ||
		[ "$(uname -s)" != Linux ] ;;
	maxminddb) pkg-config --exists libmaxminddb 2>/dev/null ;;
	check) pkg-config --exists 'check >= 0.10' 2>/dev/null ;;
	services) [ -f /etc/services ] ;;
	opensslcmd) packages_find_program openssl ;;
	chromium) packages_find_program chromium-headless-shell ||
		packages_find_program chromium ;;
	testssl) packages_find_program testssl ||
		packages_find_program testssl.sh ;;
	# Debian keeps it out of the usual places.
	initdb) packages_find_program initdb ||
		ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ;;
	classic) [ -x /usr/bin/pen ] || ! packages_find_program dpkg-query ;;
	*) packages_find_program "$1" ;;
	esac
}

packages_missing() {
	for thing in "$@"; do
		packages_has "$thing" || echo "$thing"
	done
}

packages_names() {
	manager=$1
	shift
	packages_table | awk -v manager="$manager" -v things="$*" '
		NR == 1 { for (i = 2; i <= NF; i++) if ($i == manager) col = i }
		NR > 1 { name[$1] = $col }
		END {
			n = split(things, t, " ")
			for (i = 1; i <= n; i++) {
				gsub(",", " ", name[t[i]])
				if (name[t[i]] != "-") print name[t[i]]
			}
		}'
}

packages_as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo "$@"
	elif command -v doas >/dev/null 2>&1; then
		doas "$@"
	else
		echo "you are not root, and neither sudo nor doas is here" >&2
		return 1
	fi
}

# Debian starts the services it installs; a test run must not leave a web or
# ssh server behind on this machine, so a policy says no for that moment.
packages_apt() {
	packages_as_root sh -c '
		policy=/usr/sbin/policy-rc.d
		if [ ! -e $policy ]; then
			trap "rm -f $policy" EXIT
			printf "#!/bin/sh\nexit 101\n" >$policy
			chmod 755 $policy
		fi
		export DEBIAN_FRONTEND=noninteractive
		apt-get update -qq
		apt-get install -y -qq --no-install-recommends "$@"' sh "$@"
}

packages_install() {
	manager=$1
	shift
	case $manager in
	apt-get) packages_apt "$@" ;;
	dnf) packages_as_root dnf install -y -q "$@" ;;
	apk) packages_as_root apk add --quiet "$@" ;;
	pacman) packages_as_root pacman -Sy --noconfirm --needed "$@" ;;
	zypper) packages_as_root zypper --non-interactive install "$@" ;;
	pkg) packages_as_root pkg install -y "$@" ;;
	brew) brew install "$@" ;;
	esac
}

packages_try() {
	manager=$(packages_manager)
	[ -n "$manager" ] || return 0
	names=$(packages_names "$manager" "$@")
	[ -n "$names" ] || return 0
	packages_log=$(mktemp "${TMPDIR:-/tmp}/packages.XXXXXX")
	# shellcheck disable=SC2086 # a list of words
	set -- $names
	echo "installing with $manager: $*"
	packages_install "$manager" "$@" >"$packages_log" 2>&1 </dev/null ||
		tail -n 3 "$packages_log" >&2
	rm -f "$packages_log"
}

# OpenSSL of Homebrew is kept out of the usual places.
packages_paths() {
	if command -v brew >/dev/null 2>&1; then
		PKG_CONFIG_PATH=$(brew --prefix)/opt/openssl@3/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
		export PKG_CONFIG_PATH
	fi
}

packages_need() {
	packages_paths
	missing=$(packages_missing "$@")
	[ -n "$missing" ] || return 0
	# shellcheck disable=SC2086 # a list of words
	packages_try $missing
	# shellcheck disable=SC2086
	missing=$(packages_missing $missing | tr '\n' ' ')
	[ -z "$missing" ] || packages_ask "$missing"
}

# packages_ask "THING ...": says what the user can do about them, and ends the
# script.
packages_ask() {
	manager=$(packages_manager)
	# shellcheck disable=SC2086 # a list of words
	names=$(packages_names "$manager" $1 | tr '\n' ' ')
	echo "$0: needed, but not here: $1" >&2
	case $manager in
	'') ;;
	apk) echo "as root, and then again: apk add $names" >&2 ;;
	pacman) echo "as root, and then again: pacman -S $names" >&2 ;;
	*) echo "as root, and then again: $manager install $names" >&2 ;;
	esac
	exit 1
}

packages_want() {
	missing=$(packages_missing "$@")
	[ -n "$missing" ] || return 0
	# shellcheck disable=SC2086 # a list of words
	packages_try $missing
	# One that does not exist here keeps the others from being installed.
	for thing in $(packages_missing "$@"); do
		packages_try "$thing"
	done
	missing=$(packages_missing "$@" | tr '\n' ' ')
	[ -z "$missing" ] || echo "going on without: $missing"
}

# packages_node TOP DIR: what drives a browser, as TOP/tests/page names it, into
# DIR/node_modules.
packages_node() {
	if ! packages_find_program npm; then
		echo "going on without: packages of npm"
	elif ! cmp -s "$1/tests/page/package-lock.json" "$2/installed"; then
		mkdir -p "$2" && cp "$1/tests/page/package.json" \
			"$1/tests/page/package-lock.json" "$2" || return
		echo "installing with npm: playwright-core axe-core"
		(cd "$2" && npm ci --ignore-scripts --no-audit --no-fund) \
			>"$2/log" 2>&1 </dev/null &&
			cp "$2/package-lock.json" "$2/installed" ||
			echo "going on without: packages of npm"
	fi
}

packages_need_build() {
	packages_need cc make pkgconf libevent openssl cares
	[ -x "$1/configure" ] || packages_need autoconf automake
}

processors() {
	getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2
}

run_make() {
	if command -v gmake >/dev/null 2>&1; then
		gmake "$@"
	else
		make "$@"
	fi
}

# A clone has no configure script, and one made earlier may be out of date.
build_configure_script() {
	newer=$(find "$1/configure.ac" "$1/Makefile.am" "$1/src" "$1/tests" \
		"$1/man" "$1/examples" \( -name '*.am' -o -name configure.ac \) \
		-newer "$1/configure" -print 2>/dev/null || echo none)
	if [ -x "$1/configure" ] && [ -z "$newer" ]; then
		return 0
	fi
	packages_need autoconf automake
	(cd "$1" && autoreconf -fi) && touch "$1/configure"
}

# build_source TOP COPY: prints the directory to build from. What was built in the
# tree itself (./configure && make there) would be taken for ours, so such a tree
# is not built from, but what a release would have of it, in COPY.
build_source() {
	if [ ! -f "$1/config.status" ]; then
		echo "$1"
	elif run_make -C "$1" distdir distdir="$2" >&2; then
		echo "$2"
	else
		return 1
	fi
}

# Configures and builds `pen` outside the source tree, doing again only what
# changed. The options must be the same each time for one build directory.
build_pen() {
	source_dir=$1
	build_dir=$2
	shift 2
	build_configure_script "$source_dir" || return 1
	if ! grep -qsxF "abs_srcdir = $source_dir" "$build_dir/Makefile"; then
		rm -rf "$build_dir"
	fi
	mkdir -p "$build_dir" || return 1
	if [ ! -f "$build_dir/config.status" ]; then
		(cd "$build_dir" && "$source_dir/configure" "$@") || return 1
	fi
	run_make -C "$build_dir" -j"$(processors)"
}
