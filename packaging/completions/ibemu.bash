# bash completion of ibemu(1) and ibemud(8).

_ibemu_commands() {
  echo "run ssh up down ls stop listen certs device-plugin status nodes links health link node device host counter fault qp cq mr srq mcast scenario console capture events why export topology record doctor hca-probe help"
}

# The words that follow a command, not its options.
_ibemu_words() {
  case $1 in
    link | node) echo "up down" ;;
    device | host) echo "add remove" ;;
    counter) echo "clear" ;;
    fault) echo "add ls rm reset" ;;
    qp) echo "ls show" ;;
    cq | mr | srq | mcast) echo "ls" ;;
    topology) echo "generate from check show" ;;
  esac
}

_ibemu_options() {
  case $1 in
    ibemud) echo "--topology= --sm= --join= --listen= --encrypt --exact --journal= --certs= --backend= --front-end= --host= --profile= --sysfs= --major= --name= --socket= --http= --seed= --addresses= --check --version --help" ;;
    run) echo "--topology= --sm= --seed= --addresses= --fabric= --join= --certs= --backend= --host= --no-adapter --profile= --device-name= --hostname= --net --outside= --state= --no-fast-path --sched= --explain --lint --keep --help" ;;
    ssh) echo "--fabric= --help" ;;
    up) echo "--check --detach --json --help" ;;
    down) echo "--help" ;;
    ls) echo "--json --help" ;;
    stop) echo "--fabric= --help" ;;
    listen) echo "--fabric= --certs= --encrypt --help" ;;
    certs) echo "--days= --help" ;;
    device-plugin) echo "--resource= --slots= --kubelet= --help" ;;
    status) echo "--fabric= --json --help" ;;
    nodes) echo "--fabric= --all --json --help" ;;
    links) echo "--fabric= --all --json --help" ;;
    health) echo "--fabric= --json --help" ;;
    link) echo "--for= --fabric= --help" ;;
    node) echo "--fabric= --help" ;;
    device) echo "--fabric= --help" ;;
    host) echo "--fabric= --help" ;;
    counter) echo "--fabric= --json --help" ;;
    fault) echo "--name= --fabric= --json --help" ;;
    qp | cq | mr | srq | mcast) echo "--fabric= --json --help" ;;
    scenario) echo "--check --fabric= --help" ;;
    console) echo "--fabric= --help" ;;
    capture) echo "--host= --file-format= --count= --for= --fabric= --help" ;;
    events) echo "--for= --json --fabric= --help" ;;
    why) echo "--fabric= --all --json --vendor-err --help" ;;
    export) echo "--format= --fabric= --help" ;;
    topology) echo "--help" ;;
    record) echo "--ibnetdiscover= --ibstat= --help" ;;
    doctor) echo "--json --help" ;;
    hca-probe) echo "--help" ;;
  esac
}

_ibemu_values() {
  case $1 in
    --sm) echo "none static builtin" ;;
    --backend) echo "hca" ;;
    --front-end) echo "cuse" ;;
    --sysfs) echo "none" ;;
    --profile) echo "qib hfi1 cx7" ;;
    --sched) echo "batch inherit" ;;
    --outside) echo "pasta slirp4netns none" ;;
    --file-format) echo "pcap pcapng" ;;
    --format) echo "ibnetdiscover dot json yaml slurm" ;;
  esac
}

_ibemu_generators="back-to-back single-switch: fat-tree: torus: dragonfly:"

# Running daemons, by their sockets; those of "ibemu run" itself are private.
_ibemu_fabrics() {
  local directory=/tmp/ibemu-$EUID socket
  [[ -w /tmp ]] || directory=/dev/shm/ibemu-$EUID
  [[ ! ${XDG_RUNTIME_DIR-} ]] || directory=$XDG_RUNTIME_DIR/ibemu
  ((EUID)) || directory=/run/ibemu
  for socket in "$directory"/*.sock; do
    [[ ! -S $socket || $socket == */run-*.sock ]] && continue
    socket=${socket##*/}
    echo "${socket%.sock}"
  done
}

# The nodes of the fabric that the line names, or the adapters of that daemon,
# if it answers.
_ibemu_nodes() {
  local word command fabric=()
  for word in "${words[@]}"; do
    [[ $word != --@(fabric|join)=?* ]] || fabric=("--fabric=${word#*=}")
  done
  for command in nodes status; do
    timeout 2 "${words[0]}" "$command" --json "${fabric[@]}" && break
  done 2>/dev/null |
    sed -n '/\\/!s/^ *"\(description\|adapter\)": "\(.*\)",*$/\2/p'
}

# Offers lines of standard input; their text is a stranger's, so nothing here
# expands it.
_ibemu_offer() {
  local line
  while IFS= read -r line; do
    [[ $line != "$cur"* ]] || COMPREPLY+=("$(printf %q "$line")${1-}")
  done
}

_ibemu_value() {
  case $1 in
    --topology)
      COMPREPLY=($(compgen -W "$_ibemu_generators" -- "$cur"))
      [[ ${COMPREPLY-} != *: ]] || compopt -o nospace
      __ltrim_colon_completions "$cur"
      _filedir
      ;;
    --fabric | --join | --socket)
      [[ $1 == --socket || $cur == */* ]] || _ibemu_offer < <(_ibemu_fabrics)
      [[ $1 != --socket && $cur != */* ]] || _filedir
      ;;
    --ibnetdiscover | --ibstat | --journal) _filedir ;;
    --certs | --kubelet) _filedir -d ;;
    --host) [[ ${words[0]##*/} != ibemu ]] || _ibemu_offer < <(_ibemu_nodes) ;;
    *) COMPREPLY=($(compgen -W "$(_ibemu_values "$1")" -- "$cur")) ;;
  esac
}

# Whether an option takes a value: $1 is the command, $2 the option.
_ibemu_takes_value() {
  [[ " $(_ibemu_options "$1") " == *" $2= "* || $1$2 == ssh-l ]]
}

# Completes words[$1] and the rest as a command.  _command_offset counts as
# COMP_WORDS does, where "--sm=none" is three words.
_ibemu_run_command() {
  local word offset=0
  for word in "${words[@]:0:$1}"; do
    while [[ -n $word && offset -lt COMP_CWORD ]]; do
      word=${word#"${COMP_WORDS[offset]}"}
      ((++offset))
    done
  done
  _command_offset $offset
}

_ibemu() {
  local cur prev words cword split command i arguments=()
  _init_completion -s -n : || return

  command=ibemud i=1
  if [[ ${words[0]##*/} == ibemu ]]; then
    command=${words[1]} i=2
    if ((cword == 1)); then
      COMPREPLY=($(compgen -W "$(_ibemu_commands) --help --version" -- "$cur"))
      return
    fi
  fi

  # What stands before the cursor and is no option.
  for (( ; i < cword; i++)); do
    if [[ $command == run && ${words[i]} == -- ]]; then
      _ibemu_run_command $((i + 1))
      return
    elif [[ ${words[i]} != -* ]]; then
      if [[ $command == run || ($command == ssh && ${#arguments[@]} -eq 1) ]]; then
        _ibemu_run_command $i
        return
      fi
      arguments+=("${words[i]}")
    elif _ibemu_takes_value "$command" "${words[i]}" && ((i + 1 < cword)); then
      ((++i))
    fi
  done

  if [[ $prev == --* ]] && _ibemu_takes_value "$command" "$prev"; then
    _ibemu_value "$prev"
  elif [[ $split == true ]]; then
    return
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$(_ibemu_options "$command")" -- "$cur"))
    [[ ${COMPREPLY-} != *= ]] || compopt -o nospace
  else
    case $command,${#arguments[@]} in
      ssh,0 | status,0 | node,0 | device,0 | host,0 | why,0) _ibemu_offer < <(_ibemu_nodes) ;;
      link,0)
        compopt -o nospace
        _ibemu_offer / < <(_ibemu_nodes)
        ;;
      fault,1)
        [[ ${arguments[0]} != add ]] ||
          COMPREPLY=($(compgen -W "link node qp host process" -- "$cur"))
        ;;
      fault,2)
        case ${arguments[*]:0:2} in
          "add link" | "add qp")
            compopt -o nospace
            _ibemu_offer / < <(_ibemu_nodes)
            ;;
          "add node" | "add host") _ibemu_offer < <(_ibemu_nodes) ;;
          "add process") COMPREPLY=($(compgen -W "$(ps -eo pid=)" -- "$cur")) ;;
        esac
        ;;
      qp,1)
        if [[ ${arguments[0]} == show ]]; then
          compopt -o nospace
          _ibemu_offer / < <(_ibemu_nodes)
        else
          _ibemu_offer < <(_ibemu_nodes)
        fi
        ;;
      cq,1 | mr,1 | srq,1 | mcast,1) _ibemu_offer < <(_ibemu_nodes) ;;
      help,0) COMPREPLY=($(compgen -W "$(_ibemu_commands)" -- "$cur")) ;;
      stop,0 | down,0) _ibemu_value --fabric ;;
      scenario,0 | up,0) _filedir ;;
      events,*)
        COMPREPLY=($(compgen -W "link port sm node device trap drop fault scenario qp mad call connection datagram group" -- "$cur"))
        ;;
      capture,*)
        if [[ $prev == -w ]]; then
          _filedir
        else
          compopt -o nospace
          _ibemu_offer / < <(_ibemu_nodes)
        fi
        ;;
      export,0) _ibemu_value --topology ;;
      record,*) [[ $prev != -o ]] || _filedir ;;
      topology,1)
        [[ ${arguments[0]} == generate ]] && _ibemu_value --topology || _filedir
        ;;
      ibemud,*)
        compopt -o nospace
        COMPREPLY=($(compgen -W "pci= access= model= $_ibemu_generators" -- "$cur"))
        __ltrim_colon_completions "$cur"
        _filedir
        ;;
      run,0 | ssh,1) _ibemu_run_command $cword ;;
      *,[01])
        COMPREPLY=($(compgen -W "$(_ibemu_words "$command")" -- "$cur"))
        ;;
    esac
  fi
} && complete -F _ibemu ibemu ibemud
