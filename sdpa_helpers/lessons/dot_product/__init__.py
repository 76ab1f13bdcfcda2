"""What lesson 01 uses: scores as measurements, all pairs at once, the soft lookup."""

from sdpa_helpers.lazy import offer

__getattr__, __all__ = offer(
    __name__,
    {
        "lessons.dot_product.figures": (
            "plot_angle_curve",
            "plot_dot_and_cosine",
            "plot_hull",
            "plot_matrix",
            "plot_products",
            "plot_rules",
            "plot_turn",
            "plot_view",
        ),
        "lessons.dot_product.experiments": (
            "angles_degrees",
            "convex_hull",
            "distance_outside",
            "implied_factors",
            "in_proportion",
            "moved_without_each_step",
            "outputs_of_random_queries",
            "score_at",
            "turn",
            "weights_of_random_models",
        ),
        "lessons.dot_product.widget": (
            "explore_keys",
            "length_that_wins",
        ),
        "lessons.dot_product.predictions": ("predict",),
    },
)
