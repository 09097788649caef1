"""Specifications of charts, used both for figures in a paper and for web pages: data, order, names, colours, caption,
signature, alternative text.

A specification is a frozen value, built by one function from the results of an analysis. Two modules draw it: `figures`
with matplotlib at the widths of a paper, and `pages.charts` as SVG in a page; they only decide the layout.

Vega-Lite (altair, vl-convert) was tried for both. It adds 0.9 MB of script to a page that must work offline, whereas
all charts of the demo's report take 0.07 MB as SVG. As SVG without the script, its charts are two to four times larger,
with colours that dark mode cannot change. It has no hatching (which marks undefined values and the control in
greyscale), does not fit captions, signatures and panels to a column, and needs 98 MB in addition to matplotlib.
"""
