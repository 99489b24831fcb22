"""A debuginfod server that does not do what it should.

    debug_server.py silent      accepts and never answers
    debug_server.py FILE        gives that file, whatever it is asked for

Prints its port. Writes a line for each connection to standard error.
"""
import http.server
import socket
import sys


class Wrong(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, file=sys.stderr, flush=True)
        body = open(sys.argv[1], "rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


if sys.argv[1] == "silent":
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    kept = []
    while True:
        kept.append(listener.accept())
        print("connection", file=sys.stderr, flush=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Wrong)
print(server.server_port, flush=True)
server.serve_forever()
