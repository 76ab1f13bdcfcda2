"""Lesson 02: the ladder to the proof. Its exercise is a question in words."""

from sdpa_helpers.course.proof_ladder import Blank, FalseStatement, ProofLadder, Slip, Statement

LADDERS = (
    ProofLadder(
        "proof_in_words",
        title="The proof",
        given="every q_{i} has mean 0 and variance v_{q}, every k_{i} has mean 0 and variance v_{k}, and all "
        "2d_{k} of them are independent.",
        statements=(
            Statement(
                "squares",
                "E[q_{i}^{2}] = v_{q} and E[k_{i}^{2}] = v_{k}",
                "the definition of a variance, with mean 0",
            ),
            Statement("mean", "E[q_{i}k_{i}] = E[q_{i}] · E[k_{i}] = 0", "q_{i} and k_{i} are independent"),
            Statement(
                "mean square",
                "E[(q_{i}k_{i})^{2}] = E[q_{i}^{2}] · E[k_{i}^{2}] = v_{q} · v_{k}",
                "q_{i} and k_{i} are independent, and so are their squares",
                uses=("squares",),
            ),
            Statement(
                "variance",
                "Var(q_{i}k_{i}) = E[(q_{i}k_{i})^{2}] − E[q_{i}k_{i}]^{2} = v_{q} · v_{k}",
                "the definition of a variance",
                uses=("mean", "mean square"),
            ),
            Statement(
                "covariance",
                "Cov(q_{i}k_{i}, q_{j}k_{j}) = 0 for i ≠ j",
                "different coordinates are independent",
            ),
            Statement(
                "sum",
                "Var(q·k) = Σ Var(q_{i}k_{i}) + Σ Cov(q_{i}k_{i}, q_{j}k_{j}) = d_{k} · v_{q} · v_{k}",
                "q·k is the sum of d_{k} such products",
                uses=("variance", "covariance"),
                with_blank="Var(q·k) = Σ Var(q_{i}k_{i}) + Σ Cov(q_{i}k_{i}, q_{j}k_{j}) = {}",
            ),
            Statement(
                "scaled",
                "Var(q·k / √d_{k}) = Var(q·k) / d_{k} = v_{q} · v_{k}",
                "a constant leaves a variance squared",
                uses=("sum",),
                with_blank="Var(q·k / √d_{k}) = Var(q·k) / {} = v_{q} · v_{k}",
            ),
        ),
        wrong=(
            FalseStatement(
                "E[(q_{i}k_{i})^{2}] = E[q_{i}k_{i}]^{2} = 0",
                "the mean is 0, so its square is 0 too",
                "The mean of a square is not the square of the mean: their difference is the variance.",
            ),
            FalseStatement(
                "Var(q_{i}k_{i}) = Var(q_{i}) + Var(k_{i}) = v_{q} + v_{k}",
                "variances of independent variables add up",
                "Variances add up for a sum. That would be the variance of qᵢ + kᵢ; this is a product.",
            ),
            FalseStatement(
                "Var(q·k) = d_{k}^{2} · Var(q_{1}k_{1})",
                "d_{k} times the same variance, and a factor comes out squared",
                "A factor comes out squared where one number is multiplied. These are dₖ different products: their "
                "variances add up.",
            ),
            FalseStatement(
                "q·k follows a bell curve, so its variance is d_{k}",
                "the central limit theorem, for large d_{k}",
                "The proof needs no bell curve, and holds for every dₖ, 1 included. A bell curve can have any variance.",
            ),
        ),
        blanks=(
            Blank(
                "d_k * v_q * v_k",
                (
                    Slip("v_q * v_k", "that is the variance of one product. How many of them are added?"),
                    Slip(
                        "d_k**2 * v_q * v_k", "there are dₖ variances in the sum, and all covariances are 0."
                    ),
                    Slip("d_k", "right where both variances are 1. Here they are v_q and v_k."),
                    Slip("d_k * (v_q + v_k)", "each product has the variance v_q · v_k."),
                ),
            ),
            Blank(
                "d_k",
                (
                    Slip("sqrt(d_k)", "Var(c·x) is c² · Var(x), and here c = 1/√dₖ."),
                    Slip("d_k**2", "Var(c·x) is c² · Var(x), and here c = 1/√dₖ. What is c²?"),
                ),
            ),
        ),
        points=(
            {"d_k": 5, "v_q": 2, "v_k": 3},
            {"d_k": 1, "v_q": 7, "v_k": 11},
            {"d_k": 64, "v_q": 0.5, "v_k": 13},
        ),
    ),
)
