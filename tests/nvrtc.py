"""Compiles every printed CUDA kernel with NVRTC, without a GPU. Usage: nvrtc.py [--all] COMMAND …

The command runs the test that prints the kernels. Plain kernels are compiled for four architectures by turns, and each tenth
guarded one, those with sizes compiled in and whole training steps for sm_90; with --all, each kernel for every architecture (some minutes).
"""

import ctypes
import glob
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

MAIN = "sm_90"
OTHERS = ("sm_75", "sm_80", "sm_100")


def library():
    """The compiler of the installed wheel."""
    import nvidia

    names = [name for folder in nvidia.__path__ for name in glob.glob(f"{folder}/**/libnvrtc.so.*", recursive=True)]
    if not names:
        sys.exit("nvrtc.py: NVRTC is absent: pip install nvidia-cuda-nvrtc")
    return ctypes.CDLL(names[0])


NVRTC = library()


def check(code):
    if code != 0:
        NVRTC.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(NVRTC.nvrtcGetErrorString(code).decode())


def compiled_bytes(source, architecture):
    """The size of the machine code, or the compiler's messages."""
    program = ctypes.c_void_p()
    check(NVRTC.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None))
    try:
        options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17"]
        failed = NVRTC.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        size = ctypes.c_size_t()
        if failed:
            check(NVRTC.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
            log = ctypes.create_string_buffer(size.value)
            check(NVRTC.nvrtcGetProgramLog(program, log))
            return 0, log.value.decode()
        check(NVRTC.nvrtcGetCUBINSize(program, ctypes.byref(size)))
        return size.value, ""
    finally:
        NVRTC.nvrtcDestroyProgram(ctypes.byref(program))


def main():
    with tempfile.TemporaryDirectory() as folder:
        command = sys.argv[1:]
        is_all = command[0] == "--all"
        subprocess.run(command[is_all:], check=True, env={**os.environ, "MERO_PRINTED": folder})
        plain, guarded, sized, whole = (sorted(glob.glob(f"{folder}/*_{kind}.cu")) for kind in ("plain", "guarded", "sized", "whole"))
        if is_all:
            work = [(path, architecture) for path in plain + guarded + sized + whole for architecture in (MAIN, *OTHERS)]
        else:
            work = [(path, MAIN) for path in guarded[::10] + sized + whole]
            work += [(path, (MAIN, *OTHERS)[at % 4]) for at, path in enumerate(plain)]

        def one(item):
            path, architecture = item
            with open(path, "rb") as file:
                return path, architecture, *compiled_bytes(file.read(), architecture)

        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(one, work))
        failures = [f"{path} for {architecture}:\n{log}" for path, architecture, size, log in results if size == 0]
        if failures or not results:
            sys.exit("\n".join(failures[:5]) + f"\nnvrtc.py: {len(failures)} of {len(results)} do not compile")
        print(f"nvrtc.py: {len(plain)} kernels compile, {len(results)} times in all, for {', '.join((MAIN, *OTHERS))}")


if __name__ == "__main__":
    main()
