"""Programs on hosts with a network of their own."""

PAIR = "single-switch:hosts=3"
ONE, TWO = "198.18.0.1", "198.18.0.2"
ONE6, TWO6 = "fd1b:e000:0:1::1", "fd1b:e000:0:1::2"


def on(lab, host, *options):
    command = lab.on(host)
    return [*command[:-1], "--net", *options, "--"]


def run(lab, host, *command, **options):
    return lab.account.run(*on(lab, host), *command, **options)


def start(lab, host, *command, background):
    return background(*on(lab, host), *command)


def idle(lab, host, background):
    """A host that is there; its kernel answers."""
    program = background(*on(lab, host), "sh", "-c",
                         "echo is there; exec sleep 1000")
    program.wait_for("is there")
    return program
