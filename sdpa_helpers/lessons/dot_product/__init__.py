"""What lesson 01 uses: scores as measurements, all pairs at once, the soft lookup."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "lessons.dot_product.figures": (
            "plot_angle_curve",
            "plot_dot_and_cosine",
            "plot_hull",
            "plot_matrix",
            "plot_products",
            "plot_roles",
            "plot_rules",
            "plot_turn",
            "plot_view",
        ),
        "lessons.dot_product.experiments": (
            "convex_hull",
            "distance_outside",
            "moved_without_each_step",
            "weights_of_random_models",
        ),
        "lessons.dot_product.tables": ("nearness_table", "paper_table"),
        "lessons.dot_product.widget": ("explore_keys",),
    },
)
