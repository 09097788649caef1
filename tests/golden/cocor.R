# Dependent correlations (one variable in common) by cocor (Diedenhofen & Musch 2015): Williams' test.
# Writes cocor.csv. Run in this folder:  Rscript cocor.R            with cocor from CRAN installed, or
#                                        Rscript cocor.R SOURCE.r   with a file that holds its function
# The committed numbers are from the second form, not from an installed package: the calculations of
# R/cocor.dep.groups.overlap.r (github.com/cran/cocor at commit 7466a91) and R/0helper.r (at 295d10d), copied by hand
# without the checks of arguments and the printing. cocor's own published test vectors stand in the tests besides.
source_file <- commandArgs(trailingOnly = TRUE)
if (length(source_file)) source(source_file[1]) else library(cocor)
program <- if (length(source_file)) "cocor's calculations (github.com/cran/cocor at 7466a91); command: Rscript cocor.R SOURCE.r" else
  sprintf("cocor %s; command: Rscript cocor.R", packageVersion("cocor"))
set.seed(2015)

triples <- rbind(c(.3, .4, .5, 100), c(.63, -.03, -.19, 15), c(.396, .179, .088, 66), c(.5, .6, .7, 100))
while (nrow(triples) < 60) {
  r <- round(runif(3, -.95, .95), 3)
  if (1 - sum(r^2) + 2 * prod(r) > .01) triples <- rbind(triples, c(r, sample(c(4, 5, 10, 30, 200, 960), 1)))
}
out <- "cocor.csv"
writeLines(c(sprintf("# R %s.%s, %s", R.version$major, R.version$minor, program),
             "r12,r13,r23,n,statistic,two_sided,greater,less"), out)
for (i in seq_len(nrow(triples))) {
  x <- triples[i, ]
  found <- suppressWarnings(lapply(c("two.sided", "greater", "less"), function(tail)
    slot(cocor.dep.groups.overlap(x[1], x[2], x[3], x[4], alternative = tail), "williams1959")))
  values <- c(found[[1]]$statistic, sapply(found, function(f) f$p.value))
  cat(paste(c(x, ifelse(is.finite(values), sprintf("%.15g", values), "")), collapse = ","), "\n", file = out, append = TRUE, sep = "")
}
