// held_up WAY ARGUMENT: a client whose calls never get on, as far as it can help
// it.
//   pages DIRECTORY  paths and results in pages of a file that is never read;
//                    prints "held" when all calls are under way, and stays
//   answers DIRECTORY
//                    answers of many processes in such a page; prints "held"
//                    when all commands have failed, and stays
//   command DIRECTORY
//   answer DIRECTORY
//                    a command in such a page, or one whose answer belongs
//                    there; prints "answered" when others of the same file, and
//                    of the same inode, were carried out meanwhile
//   swap FIFO        makes queues while another thread puts the FIFO in place of
//                    the device and back; prints "done"
//   serve DIRECTORY
//   imitate DIRECTORY
//                    serves files there, to all users, whose open() never ends;
//                    it prints "opened PATH" for each; imitate: by a mount that
//                    looks as those of a run
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

enum { PAGE = 4096, CALLERS = 20, CLIENTS = 40, ROUNDS = 20000 };
static const char kNode[] = "/dev/infiniband/uverbs0";
// States in /proc: of one that waits, and of one that waits for a page.
static const char kAsleep[] = ") S ", kFaulting[] = ") D ";

static void fail(const char *what) {
  printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

static int get_attributes(const char *path, struct stat *status,
                          struct fuse_file_info *info) {
  (void)info;
  memset(status, 0, sizeof *status);
  const int root = strcmp(path, "/") == 0;
  status->st_mode = root ? S_IFDIR | 0755 : S_IFREG | 0666;
  status->st_nlink = 1;
  status->st_size = root ? 0 : PAGE;
  return 0;
}

static int open_any(const char *path, struct fuse_file_info *info) {
  (void)path;
  (void)info;
  return 0;
}

static int read_never(const char *path, char *buffer, size_t size, off_t offset,
                      struct fuse_file_info *info) {
  (void)path;
  (void)buffer;
  (void)size;
  (void)offset;
  (void)info;
  for (;;) pause();
  return 0;
}

static const struct fuse_operations kOperations = {
    .getattr = get_attributes, .open = open_any, .read = read_never};

// Only names that are hidden, as those of the files behind devices are.
static int get_hidden(const char *path, struct stat *status,
                      struct fuse_file_info *info) {
  if (strcmp(path, "/") != 0 && path[1] != '.') return -ENOENT;
  return get_attributes(path, status, info);
}

static int open_never(const char *path, struct fuse_file_info *info) {
  (void)info;
  printf("opened %s\n", path);
  fflush(stdout);
  for (;;) pause();
  return 0;
}

static const struct fuse_operations kHiddenFiles = {.getattr = get_hidden,
                                                    .open = open_never};

static void write_to(const char *path, const char *text) {
  const int file = open(path, O_WRONLY);
  if (file < 0 || write(file, text, strlen(text)) < 0) fail(path);
  close(file);
}

// Where it may mount: root in a namespace of mounts, others in one of users.
static void enter_namespaces(void) {
  char map[64];
  const unsigned user = getuid(), group = getgid();
  if (unshare(CLONE_NEWNS) == 0) return;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) fail("unshare");
  snprintf(map, sizeof map, "%u %u 1", user, user);
  write_to("/proc/self/uid_map", map);
  write_to("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "%u %u 1", group, group);
  write_to("/proc/self/gid_map", map);
}

// Returns the process that serves the file in `directory`.
static pid_t serve(char *directory, void (*prepare)(void)) {
  const pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  prepare();
  char *arguments[] = {"held_up", "-f", directory, NULL};
  _exit(fuse_main(3, arguments, &kOperations, NULL));
}

static int serve_hidden_files(char *directory, char *options) {
  char *arguments[] = {"held_up", "-f", "-o", options, directory, NULL};
  return fuse_main(5, arguments, &kHiddenFiles, NULL);
}

static char *page_of(const char *path) {
  int file = -1;
  while ((file = open(path, O_RDONLY)) < 0) usleep(1000);
  char *page =
      mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  if (page == MAP_FAILED) fail("mmap");
  return page;
}

static void nothing(void) {}

static char *page_that_never_comes(char *directory) {
  enter_namespaces();
  serve(directory, nothing);
  char path[256];
  snprintf(path, sizeof path, "%s/page", directory);
  return page_of(path);
}

// The same for who must keep his namespaces: the file is served in another's.
static char *page_from_elsewhere(char *directory) {
  char path[256];
  snprintf(path, sizeof path, "/proc/%d/root%s/page",
           serve(directory, enter_namespaces), directory);
  return page_of(path);
}

struct caller {
  pthread_t thread;
  char *page;
  int device;  // whose status it asks for; -1: opens a path
  volatile pid_t tid;
};

static void *call(void *argument) {
  struct caller *caller = argument;
  caller->tid = gettid();
  if (caller->device < 0) {
    syscall(SYS_openat, AT_FDCWD, caller->page, O_RDWR | O_CLOEXEC);
  } else {
    syscall(SYS_fstat, caller->device, caller->page);
  }
  return NULL;
}

static int is(pid_t tid, const char *state) {
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  char *line = fgets(text, sizeof text, file);
  fclose(file);
  return line != NULL && strstr(line, state) != NULL;
}

static void hold_pages(char *directory) {
  const int device = open(kNode, O_RDWR | O_CLOEXEC);
  if (device < 0) fail(kNode);
  char *page = page_that_never_comes(directory);
  static struct caller callers[CALLERS];
  for (int i = 0; i < CALLERS; ++i) {
    callers[i].page = page;
    callers[i].device = i % 2 == 0 ? device : -1;
    pthread_create(&callers[i].thread, NULL, call, &callers[i]);
  }
  for (int i = 0; i < CALLERS; ++i) {
    while (callers[i].tid == 0 || !is(callers[i].tid, kAsleep)) usleep(1000);
  }
  printf("held\n");
  fflush(stdout);
  for (;;) pause();
}

// The daemon itself may not ask a user's file system for a page, but it waits
// for one that was asked for.
static void ask_for(char *page) {
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) *(volatile char *)page = 0;
    _exit(0);
  }
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", child);
  while (strstr(text, kFaulting) == NULL) {
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(text, sizeof text, file) == NULL) fail(path);
    fclose(file);
  }
}

static int write_command(int device, uint32_t number, void *response,
                         size_t room) {
  struct {
    struct ib_uverbs_cmd_hdr header;
    uint64_t response;
  } command = {{number, sizeof command / 4, (uint16_t)(room / 4)},
               (uintptr_t)response};
  return write(device, &command, sizeof command) == (ssize_t)sizeof command;
}

// The daemon's threads wait on, whatever becomes of the processes.
static void hold_answers(char *directory) {
  char *page = page_that_never_comes(directory);
  ask_for(page);
  pid_t clients[CLIENTS];
  for (int i = 0; i < CLIENTS; ++i) {
    clients[i] = fork();
    if (clients[i] != 0) continue;
    const int device = open(kNode, O_RDWR | O_CLOEXEC);
    struct ib_uverbs_get_context_resp context;
    if (device < 0) _exit(1);
    if (write_command(device, IB_USER_VERBS_CMD_GET_CONTEXT, &context, 8)) {
      write_command(device, IB_USER_VERBS_CMD_ALLOC_PD, page, 4);
    }
    _exit(0);
  }
  for (int i = 0; i < CLIENTS; ++i) {
    int status = 0;
    if (waitpid(clients[i], &status, 0) < 0 || status != 0) fail("a client");
  }
  printf("held\n");
  fflush(stdout);
  for (;;) pause();
}

struct command {
  pthread_t thread;
  int device;
  char *page;
  volatile pid_t tid;
};

static void *write_page(void *argument) {
  struct command *command = argument;
  command->tid = gettid();
  const ssize_t written = write(command->device, command->page, 24);
  printf("written: %zd\n", written);
  return NULL;
}

static void *answer_to_page(void *argument) {
  struct command *command = argument;
  command->tid = gettid();
  if (write_command(command->device, IB_USER_VERBS_CMD_ALLOC_PD, command->page,
                    4)) {
    fail("an answer where no page is");
  }
  return NULL;
}

static int query_port(int device) {
  struct {
    struct ib_uverbs_cmd_hdr header;
    struct ib_uverbs_query_port body;
  } query = {{IB_USER_VERBS_CMD_QUERY_PORT, sizeof query / 4,
              sizeof(struct ib_uverbs_query_port_resp) / 4},
             {.port_num = 1}};
  struct ib_uverbs_query_port_resp port = {0};
  query.body.response = (uintptr_t)&port;
  return write(device, &query, sizeof query) == (ssize_t)sizeof query &&
         port.active_mtu != 0;
}

static void hold_one(char *directory, void *(*hold)(void *),
                     const char *state) {
  static struct command held;
  struct ib_uverbs_get_context_resp context;
  char path[64];
  held.device = open(kNode, O_RDWR | O_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", held.device);
  const int other = open(path, O_RDWR | O_CLOEXEC);
  if (held.device < 0 || other < 0) fail(kNode);
  if (!write_command(held.device, IB_USER_VERBS_CMD_GET_CONTEXT, &context, 8)) {
    fail("GET_CONTEXT");
  }
  held.page = page_from_elsewhere(directory);
  if (state == kAsleep) ask_for(held.page);
  pthread_create(&held.thread, NULL, hold, &held);
  while (held.tid == 0 || !is(held.tid, state)) usleep(1000);
  printf("held\n");
  fflush(stdout);
  if (!query_port(held.device)) fail("QUERY_PORT");
  if (!write_command(other, IB_USER_VERBS_CMD_GET_CONTEXT, &context, 8) ||
      !query_port(other)) {
    fail("another open file");
  }
  printf("answered\n");
  fflush(stdout);
  _exit(0);
}

struct swap {
  int device, other, number;
};

static void *swap_over_and_over(void *argument) {
  const struct swap *swap = argument;
  for (;;) {
    dup2(swap->other, swap->number);
    dup2(swap->device, swap->number);
  }
  return NULL;
}

static void swap_files(const char *fifo) {
  static struct swap swap;
  swap.number = open(kNode, O_RDWR | O_CLOEXEC);
  if (swap.number < 0) fail(kNode);
  swap.device = dup(swap.number);
  swap.other = open(fifo, O_PATH);
  if (swap.device < 0 || swap.other < 0) fail(fifo);
  pthread_t thread;
  pthread_create(&thread, NULL, swap_over_and_over, &swap);
  // Refused, but looked at: a device without a context has no queues.
  struct {
    struct ib_uverbs_cmd_hdr header;
    struct ib_uverbs_create_cq body;
  } command = {{IB_USER_VERBS_CMD_CREATE_CQ, sizeof command / 4, 2}, {0}};
  for (int i = 0; i < ROUNDS; ++i) {
    if (write(swap.number, &command, sizeof command) > 0) fail("a queue");
  }
  printf("done\n");
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  if (strcmp(argv[1], "pages") == 0) hold_pages(argv[2]);
  if (strcmp(argv[1], "answers") == 0) hold_answers(argv[2]);
  if (strcmp(argv[1], "command") == 0) {
    hold_one(argv[2], write_page, kFaulting);
  }
  if (strcmp(argv[1], "answer") == 0) {
    hold_one(argv[2], answer_to_page, kAsleep);
  }
  if (strcmp(argv[1], "serve") == 0) {
    return serve_hidden_files(argv[2], "allow_other");
  }
  if (strcmp(argv[1], "imitate") == 0) {
    return serve_hidden_files(argv[2], "allow_other,subtype=ibemu");
  }
  swap_files(argv[2]);
  return 0;
}
