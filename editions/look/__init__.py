"""What all pages of the site share: colours, type, the bar, light and dark. Nothing of it stands anywhere else.

`static/look.css` has the tokens and the bar, for every page; `page.css` what the pages that are no theme's are made of;
`look.js` the choice between light and dark; `templates/look.html` the head of a page and the bar.
"""
