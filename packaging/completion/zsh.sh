_pen_commands=(
	'no:switches off'
@commands@
)
_penctl_commands=(
@penctl_commands@
)
_pen_show()
{
	_pen_offer "$PREFIX"
	[[ -z $_pen_words ]] || compadd -- ${=_pen_words}
	[[ -z $_pen_files ]] || _files
	[[ -z $_pen_command ]] || _describe command _pen_commands
}
_pen_value()
{
	setopt localoptions shwordsplit
	_pen_edges "$1:0"
	_pen_show
}
_penctl_value()
{
	setopt localoptions shwordsplit
	_penctl_edges "$1"
	_pen_show
}
_penctl_words()
{
	setopt localoptions shwordsplit
	_penctl_walk "${(@)words[2,CURRENT-1]}"
	_pen_show
	[[ -z $_pen_command ]] || _describe command _penctl_commands
}
if [[ $service != penctl ]]; then
	_arguments -s \
@zsh_options@
		'*:server:_hosts'
elif [[ $PREFIX == -* ]]; then
	_arguments \
@zsh_penctl_options@
		'*::command:_penctl_words'
else
	_penctl_words
fi
