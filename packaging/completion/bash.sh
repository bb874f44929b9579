_pen_commands='no
@commands@
'
_penctl_commands='
@penctl_commands@
'
# The words of the line up to the cursor, of which the last one is completed: bash
# cuts them at colons, too.
_pen_words_of_line()
{
	local line=${COMP_LINE:0:COMP_POINT}
	read -ra _pen_line <<<"$line"
	if [[ $line == *[[:blank:]] ]]; then
		_pen_line+=('')
	fi
	_pen_cur=${_pen_line[${#_pen_line[@]} - 1]}
	_pen_line=("${_pen_line[@]:0:${#_pen_line[@]} - 1}")
}
_pen_reply()
{
	_pen_offer "$_pen_cur"
	if [[ $_pen_command ]]; then
		_pen_words="$_pen_words $_pen_commands $1"
	fi
	COMPREPLY=($(compgen -W "$_pen_words" -- "$_pen_cur"))
	if [[ $_pen_files ]]; then
		compopt -o filenames 2>/dev/null
		COMPREPLY+=($(compgen -f -- "$_pen_cur"))
	fi
}
_pen()
{
	local _pen_line _pen_cur _pen_found _pen_words _pen_files _pen_command
	local before
	_pen_words_of_line
	before=${_pen_line[${#_pen_line[@]} - 1]}
	if [[ $_pen_cur == --*=* ]]; then
		before=${_pen_cur%%=*}
		_pen_cur=${_pen_cur#*=}
	fi
	_pen_edges "$before:0"
	if [[ $_pen_found && ($_pen_cur != -* || $before != --help) ]]; then
		_pen_reply
	elif [[ $_pen_cur == -* ]]; then
		COMPREPLY=($(compgen -W '
@options@
' -- "$_pen_cur"))
	else
		_pen_found='FILE>-'
		_pen_reply
	fi
}
_penctl()
{
	local _pen_line _pen_cur _pen_found _pen_words _pen_files _pen_command
	_pen_words_of_line
	_penctl_walk "${_pen_line[@]:1}"
	if [[ $_pen_cur == -* ]]; then
		COMPREPLY=($(compgen -W '
@penctl_options@
' -- "$_pen_cur"))
	else
		_pen_reply "$_penctl_commands"
	fi
}
complete -F _pen pen
complete -F _penctl penctl
