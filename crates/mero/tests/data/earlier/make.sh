#!/usr/bin/env bash
# Makes the files of this folder with the `mero` of commit dd627a9, given as a path: models, a checkpoint, fits, and what commands print for them.
# The test `earlier` checks that today's `mero` reads them and prints the same.
set -euo pipefail
mero=$(realpath "$1")
cd "$(dirname "$0")"
rm -f ./*.safetensors ./*.json ./*.ckpt ./*.out
train() { "$mero" train "$@" --hidden 8 --batch 16 --device cpu --threads 1 --seed 1 >/dev/null; }
train mixed.csv --target y --ignore high --epochs 20 --out regression.safetensors
train mixed.csv --target high --ignore y --epochs 20 --out classes.safetensors
train mixed.csv --target y --ignore high --epochs 20 --folds 3 --out folds.safetensors
train poles.csv --target y --head rational --epochs 20 --out poles.safetensors
train mixed.csv --target y --ignore high,day --loss gaussian_nll --epochs 20 --out gaussian.safetensors
"$mero" export regression.safetensors --f16 half.safetensors --int8 int8.safetensors >/dev/null
# A run that is interrupted, and the model at its end.
timeout -s INT 0.5 "$mero" train mixed.csv --target y --ignore high --hidden 64,64 --batch 1 --device cpu --threads 1 --seed 1 --epochs 2000 --patience 2000 \
  --checkpoint interrupted.ckpt --out never.safetensors >/dev/null 2>&1 || true
cp interrupted.ckpt kept
"$mero" train mixed.csv --resume interrupted.ckpt --device cpu --threads 1 --out resumed.safetensors >/dev/null
mv kept interrupted.ckpt
"$mero" fit decay.csv --model 'a*exp(-b*t)+c' --y y --sigma sigma --out fit.json >/dev/null
"$mero" fit decay.csv --model 'a[set]*exp(-b*t)+c' --y y --out levels.json >/dev/null
number=0
while read -r line; do
  number=$((number + 1))
  # shellcheck disable=SC2086
  "$mero" $line >"$number.out" 2>/dev/null
done <commands.txt
