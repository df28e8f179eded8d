# fish completion of ibemu(1).

# The words of the line before the cursor that are no options, without "ibemu".
function __ibemu_arguments
    set -l words (commandline -opc)
    string match -v -- '-*' $words[2..]
end

function __ibemu_uses
    set -l words (__ibemu_arguments)
    contains -- "$words[1]" $argv
end

# How many arguments the command has by now.
function __ibemu_has
    test (math (count (__ibemu_arguments)) - 1) -eq $argv[1]
end

# Running daemons, by their sockets; those of "ibemu run" itself are private.
function __ibemu_fabrics
    set -l directory /tmp/ibemu-(id -u)
    test -w /tmp; or set directory /dev/shm/ibemu-(id -u)
    set -q XDG_RUNTIME_DIR; and set directory $XDG_RUNTIME_DIR/ibemu
    test (id -u) -eq 0; and set directory /run/ibemu
    path filter --type socket $directory/*.sock | path basename |
        path change-extension '' | string match -rv '^run-\d+$'
end

# The nodes of the fabric that the line names, or the adapters of that daemon,
# if it answers.
function __ibemu_nodes
    set -l fabric (string replace -rf -- '^--(?:fabric|join)=(.+)' '--fabric=$1' \
        (commandline -opc))
    begin
        timeout 2 ibemu nodes --json $fabric; or timeout 2 ibemu status --json $fabric
    end 2>/dev/null |
        sed -n '/\\\\/!s/^ *"\(description\|adapter\)": "\(.*\)",*$/\2/p'
end

set -l generators 'back-to-back single-switch: fat-tree: torus: dragonfly:'
set -l c complete -c ibemu

$c -n 'not __ibemu_arguments >/dev/null' -f
$c -n 'not __ibemu_arguments >/dev/null' -l version -d 'Print the version'
$c -l help -d 'Print a summary'

function __ibemu_command
    complete -c ibemu -n 'not __ibemu_arguments >/dev/null' -a $argv[1] -d $argv[2]
end
__ibemu_command run 'Run a command as if on a host of a subnet'
__ibemu_command ssh 'Run a command on another host, as ssh does'
__ibemu_command up 'A fabric and programs on its hosts, from one file'
__ibemu_command down 'End what "up" has started'
__ibemu_command ls 'The fabrics that run'
__ibemu_command stop "End a fabric's daemon"
__ibemu_command listen 'Let other machines join a fabric'
__ibemu_command certs 'Make the certificates of machines'
__ibemu_command device-plugin 'Give pods of a Kubernetes node its devices'
__ibemu_command status 'What a daemon serves, and to whom'
__ibemu_command nodes 'The nodes of a fabric'
__ibemu_command links 'Its links'
__ibemu_command health 'What is wrong with a fabric'
__ibemu_command link 'Cut or restore a link'
__ibemu_command node 'Switch a node off or on'
__ibemu_command device 'Pull an adapter out, or plug it in again'
__ibemu_command host "Show a node's devices to the whole machine"
__ibemu_command counter 'What a port has counted, or shall show'
__ibemu_command fault 'Lose, delay, ... packets of a link or queue pair'
__ibemu_command qp 'The queue pairs of adapters'
__ibemu_command cq 'The completion queues of programs'
__ibemu_command mr 'The memory regions of programs'
__ibemu_command srq 'The shared receive queues of programs'
__ibemu_command mcast 'The multicast groups of programs'
__ibemu_command scenario 'Do all that at set times, from a file'
__ibemu_command console 'Carry out the commands of ibsim'
__ibemu_command capture 'Write down the packets that cross links'
__ibemu_command events 'Tell what happens, as it does'
__ibemu_command why 'Why work requests of a host failed'
__ibemu_command export 'Write a topology, of a running fabric or of a file'
__ibemu_command topology 'Generate, check or show a topology'
__ibemu_command record 'Write a spec from what tools print'
__ibemu_command doctor 'What is in the way, and the cure'
__ibemu_command hca-probe 'What a real adapter says of itself'
__ibemu_command help 'List the commands, or tell of one'

$c -n '__ibemu_uses run' -l topology -r -F -a "$generators"
$c -n '__ibemu_uses run' -l sm -x -a 'none static builtin'
$c -n '__ibemu_uses run' -l seed -x
$c -n '__ibemu_uses run' -l addresses -r -F
$c -n '__ibemu_uses run' -l join -r -F -a '(__ibemu_fabrics)'
$c -n '__ibemu_uses run listen' -l certs -x -a '(__fish_complete_directories)'
$c -n '__ibemu_uses run' -l backend -x -a hca
$c -n '__ibemu_uses run' -l host -x -a '(__ibemu_nodes)'
$c -n '__ibemu_uses run' -l profile -x -a 'qib hfi1 cx7'
$c -n '__ibemu_uses run' -l device-name -x
$c -n '__ibemu_uses run' -l hostname -x
$c -n '__ibemu_uses run' -l net
$c -n '__ibemu_uses run' -l outside -x -a 'pasta slirp4netns none'
$c -n '__ibemu_uses run' -l state -x -a '(__fish_complete_directories)'
$c -n '__ibemu_uses run' -l explain
$c -n '__ibemu_uses run' -l lint
$c -n '__ibemu_uses run' -l no-fast-path
$c -n '__ibemu_uses run' -l sched -x -a 'batch inherit'
$c -n '__ibemu_uses run' -l keep
$c -n '__ibemu_uses run' -l no-adapter
$c -n '__ibemu_uses run' -x -a '(__fish_complete_subcommand --fcs-skip=2 \'\' --topology --sm --seed --addresses --fabric --join --certs --backend --host --profile --device-name --hostname --outside --state --sched)'
$c -n '__ibemu_uses ssh; and not __ibemu_has 0' -x -a '(__fish_complete_subcommand --fcs-skip=3 \'\' --fabric -l)'

$c -n '__ibemu_uses run ssh stop listen status nodes links health link node device host counter fault qp cq mr srq mcast scenario console capture events why export' -l fabric -x -a '(__ibemu_fabrics)'
$c -n '__ibemu_uses up ls status nodes links health counter fault qp cq mr srq mcast events why doctor' -l json
$c -n '__ibemu_uses nodes links why' -l all
$c -n '__ibemu_uses ls listen device-plugin status nodes links health console doctor' -f
$c -n '__ibemu_uses listen' -l encrypt
$c -n '__ibemu_uses certs' -l days -x
$c -n '__ibemu_uses device-plugin' -l resource -x
$c -n '__ibemu_uses device-plugin' -l slots -x
$c -n '__ibemu_uses device-plugin' -l kubelet -x -a '(__fish_complete_directories)'
$c -n '__ibemu_uses up' -l check
$c -n '__ibemu_uses up' -l detach
$c -n '__ibemu_uses down; and __ibemu_has 0' -a '(__ibemu_fabrics)'
$c -n '__ibemu_uses stop; and __ibemu_has 0' -x -a '(__ibemu_fabrics)'
$c -n '__ibemu_uses help; and __ibemu_has 0' -x -a '(complete -C "ibemu ")'

$c -n '__ibemu_uses link' -l for -x
$c -n '__ibemu_uses link; and __ibemu_has 0' -x -a '(__ibemu_nodes)/'
$c -n '__ibemu_uses link node; and __ibemu_has 1' -x -a 'up down'
$c -n '__ibemu_uses ssh status node device host why; and __ibemu_has 0' -x -a '(__ibemu_nodes)'
$c -n '__ibemu_uses why' -l vendor-err
$c -n '__ibemu_uses device host; and __ibemu_has 1' -x -a 'add remove'

$c -n '__ibemu_uses counter; and __ibemu_has 0' -x -a '(__ibemu_nodes)/'
$c -n '__ibemu_uses counter; and __ibemu_has 1' -x -a clear

$c -n '__ibemu_uses fault' -l name -x
$c -n '__ibemu_uses fault; and __ibemu_has 0' -x -a 'add ls rm reset'
$c -n '__ibemu_uses fault; and __ibemu_has 1' -x -a link
$c -n '__ibemu_uses fault; and __ibemu_has 1' -x -a '(string split " " "node qp host process")'
$c -n '__ibemu_uses fault; and __ibemu_has 2; and contains link (__ibemu_arguments)' -x -a '(__ibemu_nodes)/'
$c -n '__ibemu_uses fault; and __ibemu_has 2; and contains qp (__ibemu_arguments)' -x -a '(__ibemu_nodes)/'
$c -n '__ibemu_uses fault; and __ibemu_has 2; and contains host (__ibemu_arguments)' -x -a '(__ibemu_nodes)'
$c -n '__ibemu_uses fault; and __ibemu_has 2; and contains node (__ibemu_arguments)' -x -a '(__ibemu_nodes)'
$c -n '__ibemu_uses fault; and __ibemu_has 2; and contains process (__ibemu_arguments)' -x -a '(__fish_complete_pids)'

$c -n '__ibemu_uses qp; and __ibemu_has 0' -x -a 'ls show'
$c -n '__ibemu_uses cq mr srq mcast; and __ibemu_has 0' -x -a ls
$c -n '__ibemu_uses qp; and __ibemu_has 1; and contains show (__ibemu_arguments)' -x -a '(__ibemu_nodes)/'
$c -n '__ibemu_uses qp cq mr srq mcast; and __ibemu_has 1; and contains ls (__ibemu_arguments)' -x -a '(__ibemu_nodes)'

$c -n '__ibemu_uses scenario' -l check
$c -n '__ibemu_uses events' -l for -x
$c -n '__ibemu_uses events' -x -a '(string split " " "link port sm node device trap drop fault scenario qp mad call connection datagram group")'

$c -n '__ibemu_uses capture' -s w -r -F
$c -n '__ibemu_uses capture' -l host -x -a '(__ibemu_nodes)'
$c -n '__ibemu_uses capture' -l file-format -x -a 'pcap pcapng'
$c -n '__ibemu_uses capture' -l count -x
$c -n '__ibemu_uses capture' -l for -x
$c -n '__ibemu_uses capture' -x -a '(__ibemu_nodes)/'

$c -n '__ibemu_uses export' -l format -x -a 'ibnetdiscover dot json yaml slurm'

$c -n '__ibemu_uses record' -l ibnetdiscover -r -F
$c -n '__ibemu_uses record' -l ibstat -r -F
$c -n '__ibemu_uses record' -s o -r -F

$c -n '__ibemu_uses topology; and __ibemu_has 0' -x -a 'generate from check show'
$c -n '__ibemu_uses topology; and contains generate (__ibemu_arguments)' -a "$generators"
