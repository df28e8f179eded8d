// A libfuse server that only echoes: the least that any FUSE server costs.  Its
// one file gives back the writes, one for each read(); poll() reports POLLIN
// when there is one.
//
//   null_fuse MOUNTPOINT
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string>

namespace {

constexpr fuse_ino_t kFile = 2;
std::deque<std::string> queue;

struct stat Attributes(fuse_ino_t ino) {
  struct stat attributes {};
  attributes.st_ino = ino;
  attributes.st_mode = ino == kFile ? S_IFREG | 0666 : S_IFDIR | 0755;
  attributes.st_nlink = 1;
  return attributes;
}

void Lookup(fuse_req_t req, fuse_ino_t, const char* name) {
  if (std::strcmp(name, "echo") != 0) {
    fuse_reply_err(req, ENOENT);
    return;
  }
  fuse_entry_param entry{};
  entry.ino = kFile;
  entry.attr = Attributes(kFile);
  fuse_reply_entry(req, &entry);
}

void GetAttributes(fuse_req_t req, fuse_ino_t ino, fuse_file_info*) {
  const struct stat attributes = Attributes(ino);
  fuse_reply_attr(req, &attributes, 1.0);
}

void Open(fuse_req_t req, fuse_ino_t, fuse_file_info* file) {
  file->direct_io = 1;
  file->nonseekable = 1;
  fuse_reply_open(req, file);
}

void Write(fuse_req_t req, fuse_ino_t, const char* data, size_t size, off_t,
           fuse_file_info*) {
  queue.emplace_back(data, size);
  fuse_reply_write(req, size);
}

void Read(fuse_req_t req, fuse_ino_t, size_t, off_t, fuse_file_info*) {
  if (queue.empty()) {
    fuse_reply_err(req, EAGAIN);
    return;
  }
  fuse_reply_buf(req, queue.front().data(), queue.front().size());
  queue.pop_front();
}

void Poll(fuse_req_t req, fuse_ino_t, fuse_file_info*,
          fuse_pollhandle* handle) {
  if (handle != nullptr) fuse_pollhandle_destroy(handle);
  fuse_reply_poll(req, POLLOUT | (queue.empty() ? 0 : POLLIN));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  fuse_lowlevel_ops operations{};
  operations.lookup = Lookup;
  operations.getattr = GetAttributes;
  operations.open = Open;
  operations.write = Write;
  operations.read = Read;
  operations.poll = Poll;
  char* name[] = {argv[0], nullptr};
  fuse_args args = FUSE_ARGS_INIT(1, name);
  fuse_session* session =
      fuse_session_new(&args, &operations, sizeof operations, nullptr);
  if (session == nullptr || fuse_set_signal_handlers(session) != 0) return 1;
  if (fuse_session_mount(session, argv[1]) != 0) return 1;
  const int status = fuse_session_loop(session);
  fuse_session_unmount(session);
  fuse_session_destroy(session);
  return status == 0 ? 0 : 1;
}
