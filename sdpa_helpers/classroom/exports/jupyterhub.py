"""JupyterHub: a folder for each learner, as nbgrader keeps feedback: LEARNER/ASSIGNMENT/NOTEBOOK.html; and an index."""

from sdpa_helpers.classroom.exports.feedback_pages import Link, handed_in, index_page, link_to, page_of
from sdpa_helpers.classroom.exports.order import Exported, Order
from sdpa_helpers.classroom.files import write_text


def export(order: Order) -> Exported:
    """Copy each folder to its learner, or name it as nbgrader's feedback directory and let it release them."""
    top, paths, everybody = order.target("jupyterhub"), [], []
    for student, results in handed_in(order):
        links = []
        for result in results:
            inside = f"{order.assignment or result.notebook}/{result.notebook}.html"
            paths.append(top / student / inside)
            write_text(paths[-1], page_of(result).decode("utf-8"))
            links.append(link_to(result, inside))
        paths.append(top / student / "index.html")
        write_text(paths[-1], index_page(f"Feedback for {student}", links))
        everybody.append(Link(student, f"{student}/index.html", f"{len(results)}"))
    paths.append(top / "index.html")
    write_text(paths[-1], index_page("Feedback, by learner", everybody))
    return Exported(tuple(paths), len(everybody))
