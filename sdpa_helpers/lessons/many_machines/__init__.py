"""What lesson 09 uses: processes that share a sequence, and a model of many devices."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "lessons.many_machines.processes": ("Ranks",),
        "lessons.many_machines.experiments": (
            "Layer",
            "Rates",
            "bytes_sent",
            "pays_from",
            "spend",
            "work_of_steps",
        ),
        "lessons.many_machines.figures": ("plot_work",),
        "lessons.many_machines.tables": ("bytes_table", "work_table"),
        "lessons.many_machines.widget": ("explore_devices",),
    },
)
