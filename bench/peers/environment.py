"""The virtual environment of the peers: packages pinned in requirements.txt, llama.cpp compiled for this processor."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent.parent / ".cache" / "peers"
REQUIREMENTS = HERE / "requirements.txt"
BUILD = {"CMAKE_ARGS": "-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF"}  # no part for pictures: it takes as long as all else


def processor() -> str:
    names = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith(("model name", "flags"))]
    return "\n".join(names[:2])


def stamp() -> str:
    """Changes with the packages and with the processor that they were compiled for."""
    return hashlib.sha256((REQUIREMENTS.read_text() + str(BUILD) + processor()).encode()).hexdigest()


def packages() -> list[str]:
    return [line for line in REQUIREMENTS.read_text().splitlines() if "==" in line]


def python() -> Path:
    """The environment's interpreter; the environment is made if need be."""
    home, done = FOLDER / "venv", FOLDER / "venv.ok"
    interpreter = home / "bin" / "python"
    if done.exists() and done.read_text() == stamp() and interpreter.exists():
        return interpreter
    print(f"dev: installing {', '.join(packages())}: about ten minutes and 6 GB, once", file=sys.stderr)
    done.unlink(missing_ok=True)
    jobs = {"CMAKE_BUILD_PARALLEL_LEVEL": str(len(os.sched_getaffinity(0)))}
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True, stdout=sys.stderr)
        subprocess.run([interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "-r", REQUIREMENTS], check=True, stdout=sys.stderr, env={**os.environ, **BUILD, **jobs})
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: the peers could not be installed\n  {error}\n"
                 f"  try: read pip's message above; check the network and the space left in {FOLDER}")
    done.write_text(stamp())
    return interpreter
