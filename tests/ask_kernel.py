"""`python -IS ask_kernel.py ADDRESS CONNECTION_FILE`: what Jupyter starts and holds for a kernel of `warm_kernels.py`.

It asks for one, hands on its signals and ends with it. Where nobody forks it becomes a kernel that starts as any does.
"""

import json
import os
import signal
import socket
import sys
import tempfile

address, connection_file = sys.argv[1:]
asked = {"arguments": ["-f", connection_file], "cwd": os.getcwd(), "environment": dict(os.environ)}
with socket.socket(socket.AF_UNIX) as connection, tempfile.TemporaryFile() as file:
    file.write(json.dumps(asked).encode())
    file.seek(0)
    try:
        connection.connect(address)
        socket.send_fds(connection, [b"?"], [file.fileno(), 0, 1, 2])
        kernel = int(connection.recv(20))
    except (OSError, ValueError):
        os.execv(sys.executable, [sys.executable, "-m", "ipykernel_launcher", "-f", connection_file])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _: os.kill(kernel, got))
    connection.recv(1)  # nothing ever comes: it ends with the kernel
