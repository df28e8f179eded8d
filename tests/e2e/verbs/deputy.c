// deputy open PROGRAM WORD...: opens an adapter, makes it the standard output,
// and starts PROGRAM, or a forked child for "fork".
// deputy undumpable open ...: the same, when nobody may look into it any more.
// deputy write [DROP]: writes a command to its standard output whose answer
// goes to its own memory, and says on its standard error how that went. Before,
// it becomes the user who started it: for good ("real", without capabilities),
// or not ("effective", or "dumpable": it lets others look into it again).
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <rdma/ib_user_verbs.h>
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

static int write_command(void) {
  static uint32_t secret = 0xffffffff;
  struct {
    struct ib_uverbs_cmd_hdr header;
    struct ib_uverbs_alloc_pd body;
  } command = {{IB_USER_VERBS_CMD_ALLOC_PD, sizeof command / 4, 1},
               {.response = (uintptr_t)&secret}};
  const ssize_t written = write(1, &command, sizeof command);
  fprintf(stderr, "%s, %s\n",
          written == (ssize_t)sizeof command ? "taken" : strerrorname_np(errno),
          secret == 0xffffffff ? "untouched" : "overwritten");
  return 0;
}

static int open_adapter(void) {
  struct {
    struct ib_uverbs_cmd_hdr header;
    struct ib_uverbs_get_context body;
  } command = {{IB_USER_VERBS_CMD_GET_CONTEXT, sizeof command / 4, 2}, {0}};
  struct ib_uverbs_get_context_resp context;
  command.body.response = (uintptr_t)&context;
  const int device = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
  if (device < 0) return fail("open");
  if (write(device, &command, sizeof command) != (ssize_t)sizeof command) {
    return fail("GET_CONTEXT");
  }
  return dup2(device, 1) == 1 ? 0 : fail("dup2");
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

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "undumpable") == 0) {
    if (prctl(PR_SET_DUMPABLE, 0) != 0) return fail("PR_SET_DUMPABLE");
    --argc;
    ++argv;
  }
  if (argc > 2 && strcmp(argv[1], "open") == 0) {
    if (open_adapter() != 0) return 1;
    if (strcmp(argv[2], "fork") != 0) {
      execv(argv[2], argv + 2);
      return fail(argv[2]);
    }
    if (fork() == 0) return write_command();
    return wait(NULL) < 0;
  }
  if (argc < 2 || strcmp(argv[1], "write") != 0) return 2;
  const char *how = argc > 2 ? argv[2] : "";
  if (strcmp(how, "real") == 0 && drop_for_good() != 0) return 1;
  if ((strcmp(how, "effective") == 0 || strcmp(how, "dumpable") == 0) &&
      seteuid(getuid()) != 0) {
    return fail("seteuid");
  }
  if (strcmp(how, "dumpable") == 0 && prctl(PR_SET_DUMPABLE, 1) != 0) {
    return fail("PR_SET_DUMPABLE");
  }
  return write_command();
}
