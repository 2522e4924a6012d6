"""The published package's own models on our rows: trained by its loops and losses, read by its inference, judged by `mero experiment`.

usage: published.py PATH_TO_MERO DOMAIN [--out DIR] [--seeds 10] [--seed 1] [--mode smoke] [--epochs N] [--model NAME] [--methods A,B]

Wants zeroproofml 0.6.1, torch and numpy. Rows come from `mero experiment --rows`, hence inputs of the test only; batch and epochs are
those of `mero experiment`, all else is the package's default. Its rows come in an order of its own. One thread of the processor.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from zeroproof.autodiff.projective import renormalize
from zeroproof.inference import InferenceConfig, strict_inference
from zeroproof.inference.patterns import decode_strict_censored_3way
from zeroproof.layers.projective_rational import ProjectiveRationalMultiHead
from zeroproof.losses import implicit_loss
from zeroproofml.benchmarks.domains import dose_suite, rf_suite, rr_scm
from zeroproofml.benchmarks.domains.dose_models import DoseProjectiveConfig, DoseProjectiveSCMNet
from zeroproofml.benchmarks.domains.rf_support import models as rf_models, training

# Epochs and rows per step of `mero experiment` by mode.
EPOCHS = {"dose": {"smoke": 2, "paper": 30}, "rf": {"smoke": 20, "paper": 20},
          "ik": {"smoke": 2, "paper": 50}, "lj": {"smoke": 60, "paper": 100}}
BATCH = {"dose": {"smoke": 256, "paper": 512}, "rf": {"smoke": 256, "paper": 1024},
         "ik": {"smoke": 256, "paper": 256}, "lj": {"smoke": 256, "paper": 256}}
# Columns of the inputs, columns of a prediction, and the methods to compare with.
INPUTS = {"dose": 20, "rf": 3, "ik": 4, "lj": 2}
WANTED = {"dose": "class,log10_ic50,abs_q", "rf": "re,im", "ik": "dtheta1,dtheta2", "lj": "v_tenth"}
BESIDE = {"dose": "projective,odds", "rf": "transfer,log-transfer", "ik": "projective-basic,projective-full,damped",
          "lj": "improper,powers"}
# The package's names of the models that can be asked for, the first if none is.
MODELS = {"dose": ["ZeroProofML_SCM"], "rf": ["ZeroProofML-SCM-Transfer"], "ik": ["full", "basic"], "lj": ["head"]}


class Rows:
    """A seed's tables as tensors."""

    def __init__(self, folder, inputs):
        def read(name):
            table = numpy.loadtxt(folder / name, delimiter=",", skiprows=1, dtype=numpy.float32, ndmin=2)
            return [torch.from_numpy(part.copy()) for part in (table[:, :inputs], table[:, inputs:])]

        self.x, self.y = read("train.csv")
        self.held = read("validation.csv") if (folder / "validation.csv").exists() else None
        self.asked, _ = read("predict.csv")


def dose(rows, args, seed):
    """Its suite trains and saves; only what it draws is replaced."""
    train, held = TensorDataset(rows.x, rows.y), TensorDataset(*rows.held)
    dose_suite.make_dose_splits = lambda _config: (train, held, held, None)
    with tempfile.TemporaryDirectory() as folder:
        dose_suite.main(["--out_dir", folder, "--seed", str(seed), "--epochs", str(args.epochs), "--batch_size", str(args.batch),
                         "--models", args.model, "--save_checkpoints"])
        result = json.loads(pathlib.Path(folder, "phase17_dose_results.json").read_text())
        meta = result["runs"][args.model]["model_meta"]
        state = torch.load(meta["checkpoint"], weights_only=True)
    model = DoseProjectiveSCMNet(DoseProjectiveConfig())
    model.load_state_dict(state)
    with torch.no_grad():
        p, q = model(rows.asked)
        found = decode_strict_censored_3way(p, q, tau_infer=meta["tau_infer"])
    return torch.stack([found.class_id.float(), found.decoded, q.abs()], 1), count(model)


def rf(rows, args, _seed):
    """Its model, training loop and way to read a response."""
    config = rf_models.SCMTransferHyperConfig(degree_p=0)
    model = rf_models.SCMTransferHyper(config)

    def loader(x, y, shuffle):
        # Filter, w0, Q and w of a row, which its loss and validation do not look at.
        unread = [torch.zeros(len(x))] * 4
        return DataLoader(TensorDataset(x, y, *unread), batch_size=args.batch, shuffle=shuffle)

    rf_suite.train_complex_model(model, loader(rows.x, rows.y, True), loader(*rows.held, False),
                                 cfg=rf_suite.RFTrainConfig(epochs=args.epochs, batch_size=args.batch))
    model.eval()
    with torch.no_grad():
        y, bottom = rf_models.predict_re_im(model, rows.asked)
    return y.masked_fill(bottom[:, None], float("nan")), count(model)


def ik(rows, args, seed):
    """Its runner, from a data set in its format to its decoded steps."""
    steps = torch.cat([rows.y, torch.zeros(len(rows.asked), 2)])
    names = ["theta1", "theta2", "dx", "dy", "dtheta1", "dtheta2"]
    samples = [dict(zip(names, row)) for row in torch.cat([torch.cat([rows.x, rows.asked]), steps], 1).tolist()]
    # It takes the whole part of share times count for training.
    metadata = {"train_ratio": (len(rows.x) + 0.5) / len(samples)}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "rows.json")
        file.write_text(json.dumps({"samples": samples, "metadata": metadata}))
        rr_scm.main(["--dataset", str(file), "--output_dir", folder, "--preset", args.model, "--seed", str(seed),
                     "--epochs", str(args.epochs), "--batch_size", str(args.batch), "--no-microbench", "--out_file", "out.json"])
        result = json.loads(pathlib.Path(folder, "out.json").read_text())
    found = result["test_metrics"]
    assert result["dataset_info"]["n_train"] == len(rows.x) and found["n_samples"] == len(rows.asked)
    bottom = torch.tensor(found["bottom_mask"]).reshape(len(rows.asked), -1).any(1)
    steps = torch.tensor([[float("nan") if step is None else step for step in row] for row in found["predictions"]])
    return steps.masked_fill(bottom[:, None], float("nan")), result["n_parameters"]


class Wall(nn.Module):
    """z = u + softplus(f(u)) under its rational head, P of degree 4 and Q = softplus(of degree 2) + 1e-4."""

    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(1, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
        self.head = ProjectiveRationalMultiHead(1, 4, 2, q_anchor="none", q_param="softplus", q_min=1e-4)

    def forward(self, x):
        u = x[:, :1]
        z = u + nn.functional.softplus(self.f(u))
        return renormalize(*self.head(z, z), gamma=1e-9)


def lj(rows, args, _seed):
    """It ships no such experiment: its head, loss, loop and inference, put together as its older suite is described."""
    model = Wall()

    def fit(batch):
        (p, q), y = model(batch[0]), batch[1]
        decoded = p / (torch.where(q < 0, -1.0, 1.0) * q.abs().clamp_min(1e-4))
        return ((decoded - y) ** 2).mean() + 0.1 * implicit_loss(p, q, y, torch.ones_like(y), gamma=1e-9, detach_scale=True)

    def found(x):
        return strict_inference(*model(x), config=InferenceConfig(tau_infer=1e-6)).decoded

    def held():
        with torch.no_grad():
            return float(((found(rows.held[0]) - rows.held[1]) ** 2).nanmean())

    loader = DataLoader(TensorDataset(rows.x, rows.y), batch_size=args.batch, shuffle=True)
    training.train_loop_with_selection(model, loader, fit, cfg=training.TrainConfig(epochs=args.epochs, lr=2e-3),
                                       val_loader=loader, val_mse_fn=held, eta_min=2e-5)
    with torch.no_grad():
        return found(rows.asked), count(model)


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mero")
    parser.add_argument("domain", choices=MODELS)
    parser.add_argument("--out", default="published", type=pathlib.Path)
    parser.add_argument("--seeds", default=10, type=int)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--mode", default="smoke", choices=["smoke", "paper"])
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--model")
    parser.add_argument("--methods")
    args = parser.parse_args()
    domain = args.domain
    args.epochs, args.batch = args.epochs or EPOCHS[domain][args.mode], BATCH[domain][args.mode]
    args.model = args.model or MODELS[domain][0]
    if args.model not in MODELS[domain]:
        sys.exit(f"published: {domain} has no model \"{args.model}\"; it has {', '.join(MODELS[domain])}")
    torch.set_num_threads(1)
    rows, found = args.out / "rows", args.out / f"package-{domain}"
    found.mkdir(parents=True, exist_ok=True)
    ask = [args.mero, "experiment", domain, "--mode", args.mode, "--seed", str(args.seed), "--seeds", str(args.seeds)]
    subprocess.run([*ask, "--rows", rows], check=True, stdout=subprocess.DEVNULL)
    for seed in range(args.seed, args.seed + args.seeds):
        torch.manual_seed(seed)
        predictions, parameters = {"dose": dose, "rf": rf, "ik": ik, "lj": lj}[domain](
            Rows(rows / str(seed), INPUTS[domain]), args, seed)
        numpy.savetxt(found / f"{seed}.csv", predictions, fmt="%.9g", delimiter=",", header=WANTED[domain], comments="")
        print(f"seed {seed}: {args.model}, {parameters} parameters", file=sys.stderr, flush=True)
    subprocess.run([*ask, "--methods", args.methods or BESIDE[domain], "--epochs", str(args.epochs), "--predictions", f"package={found}",
                    "--out", args.out, "--device", "cpu", "--threads", "1"], check=True)


if __name__ == "__main__":
    main()
