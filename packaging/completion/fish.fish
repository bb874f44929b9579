# What may come in a state of a command's arguments, or an option's: WORD>STATE,
# one a line; see completion.awk of pen's source.
function __pen_edges
	switch $argv[1]
@edges@
	end
end
# The same after these words of a command line of the control socket.
function __pen_walk
	set -l key
	set -l state 0
	while set -q argv[1]
		if not set -q key[1]
			contains -- $argv[1] no watch; or set key $argv[1]
			set state 0
			set -e argv[1]
			continue
		end
		set -l next
		for edge in (__pen_edges $key:$state)
			switch (string replace -r '>.*' '' -- $edge)
			case $argv[1]
				set next $edge
				break
			case FILE X COMMAND
				set -q next[1]; or set next $edge
			end
		end
		switch "$next"
		case 'COMMAND*'
			set -e key[1]
			continue
		case ''
			set key -
		case '*'
			set state (string replace -r '.*>' '' -- $next)
		end
		set -e argv[1]
	end
	if set -q key[1]
		__pen_edges $key:$state
	else
		echo 'COMMAND>0'
	end
end
function __pen_commands
	printf '%s\t%s\n' no 'switches off'
@commands@
end
function __penctl_commands
@penctl_commands@
end
# Candidates for edges.
function __pen_offer
	set -l files (string match -r '^[/.]' -- (commandline -ct))
	for edge in $argv
		switch (string replace -r '>.*' '' -- $edge)
		case X
		case FILE
			set files yes
		case COMMAND
			__pen_commands
		case '*'
			string replace -r '>.*' '' -- $edge
		end
	end
	if set -q files[1]
		__fish_complete_path (commandline -ct)
	end
end
function __pen_value
	__pen_offer (__pen_edges $argv[1]:0)
end
function __penctl_value
	contains -- $argv[1] --address; and __pen_offer 'FILE>-'
end
function __penctl_words
	set -l line (commandline -opc)
	set -e line[1]
	set -l address $PENCTL
	while string match -qr '^-' -- "$line[1]"
		contains -- $line[1] -a --address; and set address $line[1]
		if contains -- $line[1] \
@penctl_options_with_argument@
			set -e line[1]
		end
		set -e line[1]
	end
	if set -q line[1]; and begin
			not set -q address[1]
			or string match -qr '[/:]|^[@0-9]' -- $line[1]
		end
		set address $line[1]
		set -e line[1]
	end
	if not set -q address[1]
		__pen_offer 'FILE>-'
		return
	end
	set -l edges (__pen_walk $line)
	__pen_offer $edges
	contains 'COMMAND>0' $edges; and __penctl_commands
end
@fish_options@
@fish_penctl_options@
complete -c penctl -f -a '(__penctl_words)'
