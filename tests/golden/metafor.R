# Homogeneity of independent correlations (Q test on Fisher's z, fixed effect) by the R package metafor.
# Writes homogeneity.csv. Run in this folder:  Rscript metafor.R
suppressPackageStartupMessages(library(metafor))
set.seed(1985)
out <- "homogeneity.csv"
writeLines(c(sprintf("# R %s.%s, metafor %s; command: Rscript metafor.R",
                     R.version$major, R.version$minor, packageVersion("metafor")),
             "family,r,n,pooled,low,high,q,p"), out)
for (family in 1:8) {
  k <- sample(2:12, 1)
  r <- round(tanh(rnorm(k, .5, c(0, .3)[family %% 2 + 1])), 4)
  n <- sample(5:300, k)
  fit <- rma(measure = "ZCOR", ri = r, ni = n, method = "FE")
  numbers <- sprintf("%.15g", c(tanh(fit$beta[1]), tanh(fit$ci.lb), tanh(fit$ci.ub), fit$QE, fit$QEp))
  for (i in 1:k) cat(paste(c(family, r[i], n[i], numbers), collapse = ","), "\n", file = out, append = TRUE, sep = "")
}
