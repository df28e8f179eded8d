# complete.bash FILE: for each line, of words with \x1f behind each, what bash
# offers for the last word, and "<end>".
source /usr/share/bash-completion/bash_completion
source "$1"
compopt() { :; }  # of readline, which is not there
while IFS=$'\x1f' read -r -a words; do
  COMP_LINE=${words[*]} COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
  COMP_WORDS=() COMPREPLY=()
  for word in "${words[@]}"; do  # split as readline does
    while [[ $word =~ ^([^=:]*)([=:])(.*)$ ]]; do
      COMP_WORDS+=("${BASH_REMATCH[@]:1:2}")
      word=${BASH_REMATCH[3]}
    done
    COMP_WORDS+=("$word")
  done
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  $(complete -p "${words[0]}" | sed 's/.*-F \(\w*\).*/\1/') </dev/null
  printf '%s\n' "${COMPREPLY[@]}" '<end>'
done
