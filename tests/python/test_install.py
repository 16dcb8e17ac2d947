"""`cmake --install` gives what another project needs: find_package(sorus) and a program that runs."""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(sorus REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE sorus::sorus)
"""

PROGRAM = """
#include <sorus/sorus.h>

#include <cstdio>

using namespace sorus;

struct Net : nn::Cell {
  nn::Dense fc{{this, "fc"}, 2, 1};
  using nn::Cell::construct;
  Tensor construct(const Tensor& x) override { return fc(x); }
};

int main() {
  set_mode(Mode::kGraph);
  Net net;
  optim::SGD optimizer(net.trainable_params(), optim::constant_rate(0.1));
  train::Model model(net, [](const Tensor& y, const Tensor& t) { return mean(square(y - t)); }, &optimizer);
  Tensor x({1.F, 0.F, 0.F, 1.F}, {2, 2}), y({3.F, 5.F}, {2, 1});
  for (int i = 0; i < 500; ++i) model.step(x, y);
  for (float v : model.predict(x).to_vector<float>()) std::printf("%.2f ", static_cast<double>(v));
}
"""


def build_folder():
    """The newest Release build of this checkout's library; sanitized ones need a runtime of their own."""
    caches = [
        cache
        for cache in (ROOT / "build").rglob("CMakeCache.txt")
        if "CMAKE_BUILD_TYPE:STRING=Release" in cache.read_text()
        and (cache.parent / "lib/libsorus.so").exists()
    ]
    folders = [cache.parent for cache in caches]
    return max(folders, key=lambda f: (f / "lib/libsorus.so").stat().st_mtime, default=None)


def run(*command):
    """Runs a command and gives its output."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_program_that_is_not_built_is_not_installed():
    build = build_folder()
    if build is None or not (build / "apps/cmake_install.cmake").exists():
        pytest.skip("needs a CMake build of the library in build/")
    assert "OPTIONAL FILES" in (build / "apps/cmake_install.cmake").read_text()


def test_an_installed_library_serves_another_project(tmp_path):
    build = build_folder()
    if build is None or shutil.which("cmake") is None:
        pytest.skip("needs a CMake build of the library in build/")
    prefix, source = tmp_path / "prefix", tmp_path / "source"
    run("cmake", "--install", build, "--prefix", prefix, "--component", "sorus")
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT)
    (source / "user.cpp").write_text(PROGRAM)
    run("cmake", "-S", source, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build/user").split() == ["3.00", "5.00"]
