# completion.awk: completion for a shell, from what the programs print:
#     awk -v shell=bash|zsh|fish -f completion.awk HELP TEMPLATE ...
# HELP is the output of "pen --help all", and after it that of "penctl --help".
# Prints the templates, in which a line @NAME@ stands for what was made of it.
#
# Arguments in the help are a grammar: WORD, a|b|C: one of these words, [..]: may be
# left out, {.. | ..}: one of several sequences. Three or more brackets in a row
# may come in any order. "NAME: a, b, c" in a description lists the words of NAME.
# Its states are numbered, 0 being the first; what may come in one is a list of
# edges WORD>STATE, where the WORD is FILE, COMMAND (which has a grammar of its own),
# X (anything else), or else itself.

FNR == 1 { file++ }
FNR == 1 && file == 2 && shell == "zsh" { print "#compdef pen penctl" }
file > 1 {
	if ($0 ~ /^@[a-z_]+@$/)
		fill(substr($0, 2, length($0) - 2))
	else
		print
	next
}
/^usage: / { program = $2; part = "" }
/^(options|commands):$/ { part = $1 }
/^ +(-[A-Za-z], )*--[a-z]/ {
	option[++options] = ""
	of[options] = program
	take("option")
	next
}
/^  [a-z]/ && (program == "penctl" || part == "commands:") {
	command[++commands] = ""
	of_command[commands] = program
	take("command")
	next
}
substr($0, 1, 20) ~ /^ +$/ && what != "" {
	sub(/^ +/, "")
	describe($0)
	next
}
{ what = "" }

# The left side of a line, and what is beside it.
function take(which,    at) {
	what = which
	sub(/^ +/, "")
	at = index($0, "  ")
	if (which == "option")
		option[options] = at ? substr($0, 1, at - 1) : $0
	else
		command[commands] = at ? substr($0, 1, at - 1) : $0
	if (at) {
		$0 = substr($0, at)
		sub(/^ +/, "")
		describe($0)
	}
}
function describe(text) {
	if (what == "option")
		about[options] = about[options] (about[options] ? " " : "") text
	else
		about_command[commands] = about_command[commands] \
			(about_command[commands] ? " " : "") text
}

# ---- the grammar ----

# The words that the description lists of a name, with bars; else the name.
function listed(name, text,    list) {
	if (!match(text, name ": [a-z0-9_.]+(, [a-z0-9_.]+)+"))
		return name
	list = substr(text, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
	gsub(/, /, "|", list)
	return list
}
function link(from, to,    n, i, list) {
	n = split(from, list, " ")
	for (i = 1; i <= n; i++)
		follow[list[i]] = follow[list[i]] to
}
function add(word, id) {
	if (word ~ /^(FILE|DIR|PATH|PROGRAM|KEY|\/PATH)$/)
		word = "FILE"
	else if (word ~ /[A-Z]/ && word != "COMMAND")
		word = "X"
	word_at[++positions] = word
	follow[positions] = ""
	first[id] = first[id] " " positions
	last[id] = last[id] " " positions
}
function new_node(    id) {
	id = ++nodes
	first[id] = last[id] = ""
	optional[id] = 0
	return id
}
function cell(t,    id, n, i, list, more, m, j) {
	id = new_node()
	n = split(t, list, "|")
	for (i = 1; i <= n; i++) {
		m = split(listed(list[i], description), more, "|")
		for (j = 1; j <= m; j++)
			add(more[j], id)
	}
	return id
}
function one(    t, id) {
	t = token[at++]
	if (t != "[" && t != "{")
		return cell(t)
	id = alternatives()
	at++
	if (t == "[")
		optional[id] = 1
	return id
}
function sequence(    id, item, n, left_out, i, j) {
	id = new_node()
	optional[id] = 1
	while (at <= tokens && token[at] !~ /^[]}|]$/) {
		item = one()
		link(last[id], first[item])
		if (optional[id])
			first[id] = first[id] first[item]
		last[id] = (optional[item] ? last[id] : "") last[item]
		if (optional[item])
			left_out[++n] = item
		else
			optional[id] = 0
	}
	if (n >= 3)
		for (i = 1; i <= n; i++)
			for (j = 1; j <= n; j++)
				link(last[left_out[i]], first[left_out[j]])
	return id
}
function alternatives(    id, other) {
	id = sequence()
	while (token[at] == "|") {
		at++
		other = sequence()
		first[id] = first[id] first[other]
		last[id] = last[id] last[other]
	}
	return id
}
# The number of the state after which these positions come; "-" if none does.
function state_of(set,    n, i, list, in_it, name) {
	n = split(set, list, " ")
	for (i = 1; i <= n; i++)
		in_it[list[i]] = 1
	for (i = 1; i <= positions; i++)
		if (i in in_it)
			name = name " " i
	if (name == "")
		return "-"
	if (!(name in number_of)) {
		number_of[name] = states
		set_of[states++] = name
	}
	return number_of[name]
}
# Edges of all states of the arguments.
function edges_of(args, text,    root, s, n, i, list, seen, line) {
	gsub(/\[[:\/,][^][]*\]/, "", args)
	gsub(/\[[A-Z]+:\]/, "", args)
	gsub(/ \.\.+/, "", args)
	gsub(/[][{}]/, " & ", args)
	tokens = split(args, token, " ")
	token[tokens + 1] = ""
	at = 1
	nodes = positions = states = 0
	description = text
	split("", number_of)
	root = alternatives()
	state_of(first[root])
	for (s = 0; s < states; s++) {
		split("", seen)
		line = ""
		n = split(set_of[s], list, " ")
		for (i = 1; i <= n; i++)
			if (!(word_at[list[i]] in seen)) {
				seen[word_at[list[i]]] = 1
				line = line (line ? " " : "") word_at[list[i]] \
					">" state_of(follow[list[i]])
			}
		edges[s] = line
	}
}

# ---- what templates are filled with ----

function quoted(text, without) {
	gsub(without, "", text)
	gsub(/'/, "'\\''", text)
	return text
}
# "-b, --blacklist SEC": its names, and what is after them.
function names_of(left,    n, list, i, names) {
	n = split(left, list, /,? /)
	rest = ""
	for (i = 1; i <= n; i++)
		if (list[i] ~ /^-/)
			names = names (names ? " " : "") list[i]
		else
			rest = rest (rest ? " " : "") list[i]
	return names
}
function name_of(left) {
	sub(/ .*/, "", left)
	return left
}
function args_of(left) {
	return sub(/^[^ ]* /, "", left) ? left : ""
}
# A case of what may come in a state of one of the keys.
function print_case(keys, s,    n, i, list) {
	n = split(keys, list, " ")
	for (i = 1; i <= n; i++)
		if (shell == "fish")
			printf "%s %s:%d", (i == 1 ? "\tcase" : ""), list[i], s
		else
			printf "%s%s:%d", (i == 1 ? "\t" : "|"), list[i], s
	if (shell == "fish")
		printf "\n\t\tstring split ' ' '%s'\n", edges[s]
	else
		printf ") _pen_found='%s' ;;\n", edges[s]
}
function print_cases(keys, args, text,    s) {
	edges_of(args, text)
	for (s = 0; s < states; s++)
		if (keys ~ /^-/ || edges[s] != "X>-") # nothing is offered there
			print_case(keys, s)
}
function print_edges(    i, names) {
	for (i = 1; i <= commands; i++)
		if (of_command[i] == "pen" && args_of(command[i]) != "")
			print_cases(name_of(command[i]), args_of(command[i]),
				about_command[i])
	for (i = 1; i <= options; i++) {
		names = names_of(option[i])
		if (of[i] == "pen" && rest != "")
			print_cases(names, rest, about[i])
	}
}
# The names of options of a program: all, or only those with an argument.
function print_options(whose, with_argument,    i, names) {
	for (i = 1; i <= options; i++) {
		names = names_of(option[i])
		if (of[i] == whose && (!with_argument || rest != ""))
			printf " %s", names
	}
	print " "
}
function print_zsh_options(whose, value,    i, n, j, list) {
	for (i = 1; i <= options; i++) {
		if (of[i] != whose)
			continue
		n = split(names_of(option[i]), list, " ")
		for (j = 1; j <= n; j++) {
			printf "\t\t'*%s[%s]", list[j], quoted(about[i], "[][`\\\\]")
			if (rest != "")
				printf "%s:%s: %s %s", (rest ~ /^\[/ ? ":" : ""),
					quoted(rest, "[][`\\\\:]"), value, list[j]
			print "' \\"
		}
	}
}
# `complete` of fish for each option.
function print_fish_options(whose,    i, n, j, list, value) {
	for (i = 1; i <= options; i++) {
		if (of[i] != whose)
			continue
		n = split(names_of(option[i]), list, " ")
		printf "complete -c %s", whose
		for (j = 1; j <= n; j++)
			if (list[j] ~ /^--/)
				printf " -l %s", substr(list[j], 3)
			else
				printf " -s %s", substr(list[j], 2)
		if (rest != "")
			printf " -x -a '(__%s_value %s)'", whose, list[n]
		printf " -d '%s'\n", quoted(about[i], "\\\\")
	}
}
function print_command(name, text) {
	if (shell == "bash")
		print name
	else if (shell == "zsh")
		printf "\t'%s:%s'\n", name, text
	else
		printf "\tprintf '%%s\\t%%s\\n' %s '%s'\n", name, text
}
function print_commands(whose,    i, seen, name) {
	for (i = 1; i <= commands; i++) {
		name = name_of(command[i])
		if (of_command[i] == "pen")
			seen[name] = 1
		if (of_command[i] == whose && !(whose == "penctl" && name in seen))
			print_command(name, quoted(about_command[i], "[][`\\\\]"))
	}
}
function fill(name) {
	if (name == "edges")
		print_edges()
	else if (name == "commands")
		print_commands("pen")
	else if (name == "penctl_commands")
		print_commands("penctl")
	else if (name == "options")
		print_options("pen", 0)
	else if (name == "penctl_options")
		print_options("penctl", 0)
	else if (name == "penctl_options_with_argument")
		print_options("penctl", 1)
	else if (name == "zsh_options")
		print_zsh_options("pen", "_pen_value")
	else if (name == "zsh_penctl_options")
		print_zsh_options("penctl", "_penctl_value")
	else if (name == "fish_options")
		print_fish_options("pen")
	else if (name == "fish_penctl_options")
		print_fish_options("penctl")
}
