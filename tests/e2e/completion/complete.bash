# complete.bash FILE WORD...: what bash offers for the last word.
source /usr/share/bash-completion/bash_completion
source "$1"
shift
COMP_LINE=$* COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
COMP_WORDS=()
for word in "$@"; do  # split as readline does
  while [[ $word =~ ^([^=:]*)([=:])(.*)$ ]]; do
    COMP_WORDS+=("${BASH_REMATCH[@]:1:2}")
    word=${BASH_REMATCH[3]}
  done
  COMP_WORDS+=("$word")
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }  # of readline, which is not there
$(complete -p "$1" | sed 's/.*-F \(\w*\).*/\1/')
printf '%s\n' "${COMPREPLY[@]}"
