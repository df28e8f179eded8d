# complete.zsh DIRECTORY WORD...: what zsh offers for the last word, by an
# interactive zsh at a terminal of its own.
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
before() { print '<begin>' }
after() { print '<end>'; exit }
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
shift
zpty shell zsh -f -i
zpty -w shell source $setup
while zpty -r shell line && [[ $line != *ready* ]]; do :; done
zpty -w -n shell "$*"$'\t'
while zpty -r shell line && [[ $line != *'<begin>'* ]]; do :; done
while zpty -r shell line && [[ $line != *'<end>'* ]]; do
  print -r -- ${line%%$'\r'*}
done
rm $setup
