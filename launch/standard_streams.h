// Standard streams: descriptors 0 to 2 for who was started without them, or is
// to leave them to others.
#ifndef IBEMU_LAUNCH_STANDARD_STREAMS_H_
#define IBEMU_LAUNCH_STANDARD_STREAMS_H_

namespace ibemu::launch {

// Opens /dev/null where standard input, output or error are closed, so that no
// descriptor of ours becomes one of them.  It closes when a command is
// executed: what the caller closed is closed for the command, too.
void FillStandardStreams();

// Replaces standard input, and those after it up to `last`, by /dev/null: they
// are somebody else's.
void LeaveStandardStreams(int last);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_STANDARD_STREAMS_H_
