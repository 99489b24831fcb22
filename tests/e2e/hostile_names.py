"""hostile_names.py FOLDER: a program, FOLDER/hostile, in whose symbols, file names and thread names is what
a page or a terminal could take for something else. FOLDER/names.json has a list for each of its functions:
what it stands for, and its name in Python's surrogateescape. To import: NAMES."""
import json
import os
import subprocess
import sys

HACK = b"window.hacked=1"
NAMES = [
    ("end of a script", b"</script><script>" + HACK + b"</script>"),
    ("comment", b"<!--<script>" + HACK + b"//-->"),
    ("image", b"<img src=x onerror=" + HACK + b">"),
    ("drawing", b"<svg/onload=" + HACK + b">"),
    ("quotes", b"\"' onmouseover=\"" + HACK + b"\" x='"),
    ("backslashes", b"\\\"\\u003cb\\u003e\\x3c\\"),
    ("line separators", "line\u2028window.hacked=1\u2029paragraph".encode()),
    ("direction", "user\u202e\u2066// \u2069\u2066nimda".encode()),
    ("right to left", "\u05e9\u05dc\u05d5\u05dd_\u0645\u0631\u062d\u0628\u0627".encode()),
    ("emoji", "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467_family".encode()),
    ("combining", b"Z" + "\u0301\u0302\u0303".encode() * 40),
    ("invalid UTF-8", b"\xff\xfe<b>\xc0\xbc\xed\xa0\x80"),
    ("control characters", b"bell\a\b\x1b[31mred\x1b]0;title\a\x7f\x9b31m\r\n\tend"),
    ("long", b"long_" + b"n" * 100000),
    ("address", b"javascript:" + HACK),
    ("address of data", b"data:text/html,<script>" + HACK + b"</script>"),
    ("member of all objects", b"__proto__"),
    ("maker of all objects", b"constructor"),
    ("other member", b"hasOwnProperty"),
    ("template", b"${" + HACK + b"}{{constructor.constructor('" + HACK + b"')()}}<%= 1 %>"),
    ("entities", b"&lt;img src=x onerror=" + HACK + b"&gt;&#60;b&#62;&amp;"),
    ("format", b"%s%n%d%1000000s"),
    ("address in a page", b"#code/0/../../<b>"),
    ("number", b"-1"),
    ("empty but for spaces", b"   "),
]


def program(folder):
    """Each function runs a loop and calls the next: all are in the tables and on a path."""
    marked = "<img src=x onerror=window.hacked=1>"
    with open(f"{folder}/hostile.c", "w") as file:
        file.write("#include <pthread.h>\n#include <stdlib.h>\n#include <sys/prctl.h>\n")
        file.write(f'#line 1 "{folder}/{marked}.c"\n')
        for i in reversed(range(len(NAMES))):
            file.write(f"__attribute__((noipa)) int hostile{i}(int n) {{\n    int sum = 0;\n    for (int i = 0; i < n; i++)\n"
                       f"        sum += i % {i + 2} ? i : -i;\n    return sum + {f'hostile{i + 1}(n)' if i + 1 < len(NAMES) else 'n'};\n}}\n")
        file.write("static void *run(void *n) {\n    prctl(PR_SET_NAME, \"</script><b>\");\n    return (void *)(long)hostile0(*(int *)n);\n}\n"
                   "int main(void) {\n    int n = 500;\n    pthread_t thread;\n    prctl(PR_SET_NAME, \"<img src=x>\");\n"
                   "    pthread_create(&thread, NULL, run, &n);\n    pthread_join(thread, NULL);\n    return hostile0(n) == 1;\n}\n")
    os.rename(f"{folder}/hostile.c", f"{folder}/source.c")
    with open(f"{folder}/{marked}.c", "w") as file:
        file.write("".join(f"/* </script><script>window.hacked=1</script> {i} */\n" for i in range(400)))
    subprocess.run(["cc", "-O1", "-g", "-pthread", "-o", f"{folder}/plain", f"{folder}/source.c"], check=True)
    rename = [f"--redefine-sym=hostile{i}=".encode() + name for i, (_, name) in enumerate(NAMES)]
    subprocess.run([b"objcopy", *rename, f"{folder}/plain".encode(), f"{folder}/{marked}".encode()], check=True)
    json.dump([[what, name.decode("utf-8", "surrogateescape")] for what, name in NAMES], open(f"{folder}/names.json", "w"))


if __name__ == "__main__":
    program(sys.argv[1])
