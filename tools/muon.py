"""The optimiser that trains the matrices of the embedded model (K. Jordan and others, 2024,
https://kellerjordan.github.io/posts/muon)."""

from __future__ import annotations

import torch
from torch import nn


class Muon(torch.optim.Optimizer):
    """Momentum whose updates are made orthogonal (by Newton-Schulz steps) before they are applied.

    For the matrices of small transformers it needs far fewer steps than Adam.  Matrices of one
    shape are treated together.
    """

    def __init__(self, matrices: list[nn.Parameter], lr: float, momentum: float = 0.95) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum})

    @staticmethod
    def _orthogonal(x: torch.Tensor) -> torch.Tensor:
        tall = x.shape[1] > x.shape[2]
        x = x.mT if tall else x
        x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
        for _ in range(5):
            gram = x @ x.mT
            x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
        return x.mT if tall else x

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            shapes: dict[torch.Size, list[nn.Parameter]] = {}
            for weight in group["params"]:
                shapes.setdefault(weight.shape, []).append(weight)
            for shape, weights in shapes.items():
                updates = []
                for weight in weights:
                    average = self.state[weight].setdefault("m", torch.zeros_like(weight))
                    average.lerp_(weight.grad, 1 - group["momentum"])
                    updates.append(weight.grad.lerp(average, group["momentum"]))
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                for weight, update in zip(weights, self._orthogonal(torch.stack(updates))):
                    weight.sub_(update, alpha=group["lr"] * scale)
