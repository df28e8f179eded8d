"""Verbs: what one copy between processes and one FUSE write() cost here, what
perftest reaches over ibemu, and TCP of UCX and libfabric beside it."""

import random
import re
import subprocess
import time

from bench_lab import (BUILD, LONGEST, RUNS, Ibemu, end, figure, head,
                       interleaved, report, report_runs)

SIZES = (65536, 1 << 20)


def lists(length):
    """So many requests to one ibv_post_send(), which is one write()."""
    return "-l", length, "-t", 256


def perftest(lab, program, *options, run=()):
    """The columns of the last line that it prints; `run`: options of ibemu run."""
    port = random.randrange(20000, 60000)
    command = [program, "-F", "-p", port, *options]
    server = subprocess.Popen(lab.command("node-1", None, *command, options=run),
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            client = subprocess.run(
                lab.command("node-2", None, *command, "127.0.0.1", options=run),
                text=True, capture_output=True, check=False, timeout=LONGEST)
            if "Couldn't connect" not in client.stderr + client.stdout:
                break
            time.sleep(0.1)
        rows = re.findall(r"^ *\d+ +\d+ .*$", client.stdout, re.M)
        if not rows:
            raise SystemExit(f"{program}: {client.stdout}{client.stderr}")
        server.wait(LONGEST)
    finally:
        end(server)
    return [float(column) for column in rows[-1].split()]


def reliable_datagrams(lab, *options):
    """Microseconds of 1 MiB one way by libfabric's own protocol over datagrams of
    verbs (ofi_rxd); `options`: of ibemu run."""
    port = random.randrange(20000, 60000)
    program = ["fi_pingpong", "-p", "verbs;ofi_rxd", "-e", "rdm", "-I", "30",
               "-S", str(1 << 20)]
    return pair(
        lab.command("node-1", None, *program, "-B", port, options=options),
        lab.command("node-2", None, *program, "-P", port, "127.0.0.1",
                    options=options), r"^1m .* (\S+) +\S+$")


def best(measure):
    return max(measure() for _ in range(RUNS))


def process_vm():
    """MB/s by name and size."""
    output = subprocess.run([BUILD / "bench/process_vm"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    return {(name, int(size)): float(rate) for name, size, rate in
            (line.split() for line in output.splitlines())}


def fuse_write(scratch):
    """Microseconds of a write() of 100 bytes to a server that does nothing."""
    mount = scratch / "null"
    mount.mkdir(exist_ok=True)
    server = subprocess.Popen([BUILD / "bench/null_fuse", mount])
    while not (mount / "echo").exists():
        time.sleep(0.01)
    try:
        return float(subprocess.run(
            [BUILD / "bench/fuse_write", mount / "echo"], check=True, text=True,
            stdout=subprocess.PIPE).stdout)
    finally:
        subprocess.run(["umount", mount], check=False)
        server.wait()


def pair(server_command, client_command, pattern):
    """What the client of two programs on this machine prints."""
    server = subprocess.Popen(server_command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        for _ in range(50):
            time.sleep(0.2)
            output = subprocess.run(client_command, text=True, check=False,
                                    capture_output=True, timeout=LONGEST).stdout
            found = re.findall(pattern, output, re.M)
            if found:
                return float(found[-1])
    finally:
        server.terminate()
        server.wait()
    raise SystemExit(f"{client_command[0]}: nothing")


def ucx_tcp(test, size, count, pattern):
    port = random.randrange(20000, 60000)
    program = ["env", "UCX_TLS=tcp,self", "ucx_perftest", "-p", str(port)]
    return pair(program, [*program, "-t", test, "-s", str(size), "-n",
                          str(count), "localhost"], pattern)


def libfabric_tcp(size, column):
    port = random.randrange(20000, 60000)
    program = ["fi_pingpong", "-p", "tcp", "-e", "rdm", "-S", str(size)]
    rows = r"^\S+ +\S+ +=?\S+ +\S+ +\S+ +(\S+) +(\S+)"
    rows = rows.replace(r"(\S+) +(\S+)", (r"(\S+) +\S+", r"\S+ +(\S+)")[column])
    return pair([*program, "-B", str(port)],
                [*program, "-P", str(port), "localhost"], rows)


def against_file_and_tcp(lab):
    """What goes past FUSE, what does not, and TCP, in pairs of runs."""
    def latency(*options):
        return perftest(lab, "ib_send_lat", "-s", 8, "-n", 5000, run=options)[4]

    def messages(*options):
        return perftest(lab, "ib_send_bw", "-s", 4096, "-n", 20000,
                        run=options)[4] * 1e6

    head("Past FUSE, against calls by the file and TCP")
    got = interleaved({
        "ours": latency, "by file": lambda: latency("--no-fast-path"),
        "tcp": lambda: ucx_tcp("tag_lat", 8, 5000, r"Final: +\d+ +(\S+)")})
    report_runs("ib_send_lat 8 B, one way, against --no-fast-path", got["ours"],
                got["by file"], "us", "less", 0.1)
    report_runs("ib_send_lat 8 B, one way, against UCX tcp tag_lat",
                got["ours"], got["tcp"], "us", "less", 1)
    got = interleaved({"ours": messages,
                       "by file": lambda: messages("--no-fast-path")})
    report_runs("ib_send_bw 4 KiB, against --no-fast-path", got["ours"],
                got["by file"], "/s", "more", 5)
    # What acknowledges and repeats against what only sends.
    got = interleaved({
        "ours": lambda: reliable_datagrams(lab),
        "by file": lambda: reliable_datagrams(lab, "--no-fast-path"),
        "datagrams": lambda: 1e6 / perftest(
            lab, "ib_send_bw", "-c", "UD", "-s", 4096, "-n", 5000)[3]})
    report_runs("ofi_rxd 1 MiB, one way, against --no-fast-path", got["ours"],
                got["by file"], "us", "less", 0.3)
    report_runs("ofi_rxd 1 MiB, one way, against ib_send_bw -c UD of as much",
                got["ours"], got["datagrams"], "us", "less", 5)


def bench_verbs(scratch, _hosts):
    copies = process_vm()
    write = fuse_write(scratch)
    lab = Ibemu(scratch, "single-switch:hosts=2", None, sm="static")
    head("RDMA against one copy between two processes (process_vm_readv)",
         "one copy")
    for program in ("ib_write_bw", "ib_read_bw"):
        for size in SIZES:
            count = (256 << 20) // size
            ours = best(lambda: perftest(lab, program, "-s", size, "-n",
                                         count)[3] * 1.048576)
            report(f"{program} {size >> 10} KiB", ours, copies["one", size],
                   "MB/s", "more", 0.4)
        ours = best(lambda: perftest(lab, program, "-s", 65536, "-n", 4096,
                                     *lists(8))[3] * 1.048576)
        report(f"{program} 64 KiB, 8 to a post", ours, copies["one", 65536],
               "MB/s", "more", 0.4)
    for size in SIZES:
        report(f"two copies, one worker, {size >> 10} KiB: no more is possible",
               copies["two", size], copies["one", size], "MB/s", "more", 0)
        report(f"two copies, two workers, {size >> 10} KiB",
               copies["overlapped", size], copies["one", size], "MB/s", "more",
               0)
    head("Small messages against one FUSE write() of this machine",
         "one write()")
    latency = -best(lambda: -perftest(lab, "ib_send_lat", "-s", 8, "-n",
                                      5000)[4])
    report("ib_send_lat 8 B, one way", latency, write, "us", "less", 5)
    rate = best(lambda: perftest(lab, "ib_send_bw", "-s", 4096, "-n",
                                 20000)[4] * 1e6)
    figure("ib_send_bw 4 KiB", rate, "/s", ("more", 60000))
    rate = best(lambda: perftest(lab, "ib_write_bw", "-s", 4096, "-n", 40000,
                                 *lists(32))[4] * 1e6)
    figure("ib_write_bw 4 KiB, 32 to a post", rate, "/s", ("more", 60000))
    against_file_and_tcp(lab)
    lab.server.stop()
    head("The same by TCP of others (one way, one stream)", "")
    figure("UCX tcp tag_bw 1 MiB",
           ucx_tcp("tag_bw", 1 << 20, 500,
                   r"Final: +\d+ +\S+ +\S+ +\S+ +(\S+)"), "MB/s")
    figure("libfabric tcp pingpong 64 B", libfabric_tcp(64, 1), "us")
    figure("libfabric tcp pingpong 1 MiB", libfabric_tcp(1 << 20, 0), "MB/s")
