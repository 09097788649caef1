"""Specifications of charts, shared by paper and page: data, order, names, colours, caption, signature, alt text.

A specification is a frozen value, made by one function from what an analysis found. Two painters only paint it:
`figures` by matplotlib at the widths of a paper, `pages.charts` as SVG in a page. Neither words a caption, sorts a row
or chooses what a colour means; what they decide is where things stand, and how much of a name fits.

Vega-Lite (altair, vl-convert) was tried as one painter for both, on the demo's heat map and forest. It adds 0.9 MB of
script to a page that must work offline, where all charts of the demo's report take 0.07 MB as SVG; as SVG without the
script its charts are two to four times ours, with colours that dark mode cannot change. It has no hatching, which tells
in grey what is undefined and what is a control, no caption or signature cut to a column's width, and fits panels to a
column only by hand. It would be 98 MB to install beside matplotlib, which the other figures need.
"""
