# p values adjusted by R's own p.adjust. Writes p_adjust.csv.
# Run in this folder:  Rscript p_adjust.R
set.seed(1995)
out <- "p_adjust.csv"
writeLines(c(sprintf("# R %s.%s, stats::p.adjust; command: Rscript p_adjust.R", R.version$major, R.version$minor),
             "family,p,bh,by,holm,bonferroni"), out)
families <- list(one = .03, tied = c(.01, .01, .04, .04, .04, 1, 1), null = runif(50), mixed = c(runif(30)^4, runif(36)),
                 tiny = 10^-(1:12), missing = c(.02, NA, .5, NA, .001), ordered = sort(runif(20)^2))
for (name in names(families)) {
  p <- families[[name]]
  found <- sapply(c("BH", "BY", "holm", "bonferroni"), function(method) p.adjust(p, method))
  found <- matrix(found, nrow = length(p))
  for (i in seq_along(p)) {
    cells <- c(p[i], found[i, ])
    cat(paste(c(name, ifelse(is.na(cells), "", sprintf("%.15g", cells))), collapse = ","), "\n", file = out,
        append = TRUE, sep = "")
  }
}
