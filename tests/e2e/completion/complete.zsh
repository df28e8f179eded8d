# complete.zsh DIRECTORY: for each line, of words with \x1f behind each, what an
# interactive zsh at a terminal of its own offers for the last word, and "<end>".
zmodload zsh/zpty
setup=$(mktemp)
cat > $setup <<END
PROMPT=
fpath=($1 \$fpath)
END
cat >> $setup <<'END'
autoload compinit
compinit -u -D
bindkey '^I' complete-word
bindkey '^U' kill-whole-line
# Each is forgotten when it is called.
before() { compprefuncs=(before); print '<begin>' }
after() { comppostfuncs=(after); print '<end>' }
compprefuncs=(before)
comppostfuncs=(after)
zstyle ':completion:*' insert-tab false
zmodload zsh/zutil
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a hits
  builtin compadd -A hits "$@"
  local -A suffix
  zparseopts -E S:=suffix
  (( $#hits )) || return 1
  print -rl -- $IPREFIX${^hits}${suffix[-S]}
}
print ready
END
zpty shell zsh -f -i
zpty -w shell source $setup
while zpty -r shell line && [[ $line != *ready* ]]; do :; done
rm $setup
while IFS=$'\x1f' read -rA words; do
  zpty -w -n shell $'\025'"$words[1,-2]"$'\t'
  while zpty -r shell line && [[ $line != *'<begin>'* ]]; do :; done
  while zpty -r shell line && [[ $line != *'<end>'* ]]; do
    print -r -- ${line%%$'\r'*}
  done
  print '<end>'
done
