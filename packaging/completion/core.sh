# What may come in a state of a command's arguments, or an option's: a list of
# WORD>STATE; see completion.awk of pen's source. Sets _pen_found.
_pen_edges()
{
	case $1 in
@edges@
	*) _pen_found= ;;
	esac
}
# The same after these words of a command line of the control socket.
_pen_walk()
{
	local key= state=0 edge next
	while [ $# -gt 0 ]; do
		if [ -z "$key" ]; then
			case $1 in
			no | watch) ;;
			*) key=$1 state=0 ;;
			esac
			shift
			continue
		fi
		_pen_edges "$key:$state"
		next=
		for edge in $_pen_found; do
			case ${edge%>*} in
			"$1")
				next=$edge
				break
				;;
			FILE | X | COMMAND) next=${next:-$edge} ;;
			esac
		done
		case $next in
		COMMAND*) key= ;;
		'') key=- ;;
		*) state=${next#*>} ;;
		esac
		[ -z "$key" ] || shift
	done
	if [ -n "$key" ]; then
		_pen_edges "$key:$state"
	else
		_pen_found='COMMAND>0'
	fi
}
# The same after these words of penctl's command line.
_penctl_walk()
{
	local address=$PENCTL
	while [ $# -gt 0 ]; do
		case $1 in
		-a | --address) address=$1 ;;
		-*) ;;
		*) break ;;
		esac
		case $_penctl_with_argument in
		*" $1 "*)
			if [ $# -eq 1 ]; then
				_penctl_edges "$1"
				return
			fi
			shift
			;;
		esac
		shift
	done
	case $address:$1 in
	:) ;;
	:* | *:*/* | *:*:* | *:@* | *:[0-9]*)
		address=$1
		shift
		;;
	esac
	if [ -z "$address" ]; then
		_pen_found='FILE>-'
	else
		_pen_walk "$@"
	fi
}
_penctl_edges()
{
	case $1 in
	-a | --address) _pen_found='FILE>-' ;;
	*) _pen_found='X>-' ;;
	esac
}
# Of what was found: words, whether it may be the name of a file, or a command.
_pen_offer()
{
	local edge
	_pen_words= _pen_files= _pen_command=
	case $1 in
	[/.]*) _pen_files=yes ;;
	esac
	for edge in $_pen_found; do
		case ${edge%>*} in
		X) ;;
		FILE) _pen_files=yes ;;
		COMMAND) _pen_command=yes ;;
		*) _pen_words="$_pen_words ${edge%>*}" ;;
		esac
	done
}
_penctl_with_argument='
@penctl_options_with_argument@
'
