// FillStandardStreams: descriptors 0 to 2 for who was started without them.
#ifndef IBEMU_LAUNCH_STANDARD_STREAMS_H_
#define IBEMU_LAUNCH_STANDARD_STREAMS_H_

namespace ibemu::launch {

// Opens /dev/null where standard input, output or error are closed, so that no
// descriptor of ours becomes one of them.  It closes when a command is
// executed: what the caller closed is closed for the command, too.
void FillStandardStreams();

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_STANDARD_STREAMS_H_
