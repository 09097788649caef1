"""How reliable a judge's ratings are: consistency over repeats, variance components, decision studies."""
