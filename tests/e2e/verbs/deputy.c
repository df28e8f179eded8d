// deputy DEVICE open PROGRAM WORD...: opens a device ("uverbs0" or "rdma_cm"),
// makes it the standard output, and starts PROGRAM, or a forked child for
// "fork".
// deputy DEVICE undumpable open ...: the same, when nobody may look into it any
// more.
// deputy DEVICE write [DROP]: writes a command of DEVICE to its standard output
// whose answer goes to its own memory, and says on its standard error how that
// went. Before, it becomes the user who started it: for good ("real", without
// capabilities), or not ("effective", or "dumpable": it lets others look into
// it again).
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what) {
  perror(what);
  return 1;
}

static uint32_t secret = 0xffffffff;

static int write_whole(int device, const void *command, size_t size) {
  return write(device, command, size) == (ssize_t)size;
}

static int alloc_pd(int device) {
  const struct {
    struct ib_uverbs_cmd_hdr header;
    struct ib_uverbs_alloc_pd body;
  } command = {{IB_USER_VERBS_CMD_ALLOC_PD, sizeof command / 4, 1},
               {.response = (uintptr_t)&secret}};
  return write_whole(device, &command, sizeof command);
}

static int get_context(int device) {
  struct ib_uverbs_get_context_resp context;
  const struct {
    struct ib_uverbs_cmd_hdr header;
    struct ib_uverbs_get_context body;
  } command = {{IB_USER_VERBS_CMD_GET_CONTEXT, sizeof command / 4, 2},
               {.response = (uintptr_t)&context}};
  return write_whole(device, &command, sizeof command);
}

static int create_id(int device) {
  const struct {
    struct rdma_ucm_cmd_hdr header;
    struct rdma_ucm_create_id body;
  } command = {{RDMA_USER_CM_CMD_CREATE_ID, sizeof command.body,
                sizeof(struct rdma_ucm_create_id_resp)},
               {.response = (uintptr_t)&secret, .ps = RDMA_PS_TCP}};
  return write_whole(device, &command, sizeof command);
}

static int nothing(int device) { return device >= 0; }

struct device {
  const char *name, *path;
  int (*prepare)(int device);        // by who opens it
  int (*write_command)(int device);  // its answer goes to `secret`
};

static const struct device kDevices[] = {
    {"uverbs0", "/dev/infiniband/uverbs0", get_context, alloc_pd},
    {"rdma_cm", "/dev/infiniband/rdma_cm", nothing, create_id},
};

static int write_command(const struct device *device) {
  const int taken = device->write_command(1);
  fprintf(stderr, "%s, %s\n", taken ? "taken" : strerrorname_np(errno),
          secret == 0xffffffff ? "untouched" : "overwritten");
  return 0;
}

static int open_device(const struct device *device) {
  const int file = open(device->path, O_RDWR | O_CLOEXEC);
  if (file < 0) return fail(device->path);
  if (!device->prepare(file)) return fail("the first command");
  return dup2(file, 1) == 1 ? 0 : fail("dup2");
}

static int drop_for_good(void) {
  const uid_t user = getuid();
  const gid_t group = getgid();
  struct __user_cap_header_struct self = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  if (setresgid(group, group, group) != 0) return fail("setresgid");
  if (setresuid(user, user, user) != 0) return fail("setresuid");
  return syscall(SYS_capset, &self, none) == 0 ? 0 : fail("capset");
}

static const struct device *device_named(const char *name) {
  for (size_t i = 0; i < sizeof kDevices / sizeof *kDevices; ++i) {
    if (strcmp(kDevices[i].name, name) == 0) return &kDevices[i];
  }
  return NULL;
}

int main(int argc, char **argv) {
  const struct device *device = argc > 2 ? device_named(argv[1]) : NULL;
  if (device == NULL) return 2;
  argc -= 2;
  argv += 2;
  if (strcmp(argv[0], "undumpable") == 0) {
    if (prctl(PR_SET_DUMPABLE, 0) != 0) return fail("PR_SET_DUMPABLE");
    --argc;
    ++argv;
  }
  if (argc > 1 && strcmp(argv[0], "open") == 0) {
    if (open_device(device) != 0) return 1;
    if (strcmp(argv[1], "fork") != 0) {
      execv(argv[1], argv + 1);
      return fail(argv[1]);
    }
    if (fork() == 0) return write_command(device);
    return wait(NULL) < 0;
  }
  if (argc < 1 || strcmp(argv[0], "write") != 0) return 2;
  const char *how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "real") == 0 && drop_for_good() != 0) return 1;
  if ((strcmp(how, "effective") == 0 || strcmp(how, "dumpable") == 0) &&
      seteuid(getuid()) != 0) {
    return fail("seteuid");
  }
  if (strcmp(how, "dumpable") == 0 && prctl(PR_SET_DUMPABLE, 1) != 0) {
    return fail("PR_SET_DUMPABLE");
  }
  return write_command(device);
}
