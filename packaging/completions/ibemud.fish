# fish completion of ibemud(8).
set -l generators 'back-to-back single-switch: fat-tree: torus: dragonfly:'
set -l c complete -c ibemud

$c -l topology -r -F -a "$generators"
$c -l sm -x -a 'none static builtin'
$c -l join -r -F
$c -l listen -x
$c -l encrypt
$c -l exact
$c -l journal -r -F
$c -l certs -x -a '(__fish_complete_directories)'
$c -l backend -x -a hca
$c -a 'pci= access= model='
$c -a "$generators"
$c -l front-end -x -a cuse
$c -l host -x
$c -l profile -x -a 'qib hfi1 cx7'
$c -l sysfs -x -a none
$c -l major -x
$c -l name -x
$c -l socket -r
$c -l http -x -a '127.0.0.1:'
$c -l addresses -r -F
$c -l seed -x
$c -l check
$c -l version
$c -l help
