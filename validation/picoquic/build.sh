#!/bin/sh
# Build picotls and picoquic at the commits named here.
# usage: build.sh DIRECTORY   (which has the work trees src-picotls and src-picoquic)
set -e
cd "$1"
here=$PWD
git -C src-picotls checkout -q bfa67875982afc4c24f21e146cef4747fa189c2f
git -C src-picoquic checkout -q d199d45be8690dfa8653e214733243524112e3c0
# picotest is only used by picotls' own tests, which are not built.
mkdir -p src-picotls/deps/picotest
touch src-picotls/deps/picotest/picotest.c
cmake -S src-picotls -B src-picotls -DCMAKE_BUILD_TYPE=Release -DWITH_FUSION=OFF
make -C src-picotls -j2 picotls-core picotls-openssl picotls-minicrypto
cmake -S src-picoquic -B src-picoquic/build -DCMAKE_BUILD_TYPE=Release \
    -DPTLS_PREFIX="$here/src-picotls" -DPTLS_INCLUDE_DIR="$here/src-picotls/include" \
    -DCMAKE_PREFIX_PATH="$here/src-picotls" -DCMAKE_LIBRARY_PATH="$here/src-picotls" \
    -DPTLS_WITH_FUSION=OFF -Dpicoquic_BUILD_TESTS=OFF -DBUILD_DEMO=OFF -DBUILD_PQBENCH=OFF \
    -DDISABLE_DEBUG_PRINTF=ON
make -C src-picoquic/build -j2
