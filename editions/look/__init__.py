"""What all pages of the site share: colours, type, the bar, light and dark. Nothing of it stands anywhere else.

`static/look.css` has the bar, after the desk's `tokens.css`, for every page; `page.css` what pages without a theme
are made of; `look.js` the choice between light and dark; `templates/look.html` the head of a page and the bar.
"""
