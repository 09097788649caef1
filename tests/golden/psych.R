# Tests of dependent correlations (r.test, paired.r) and the ICC family (ICC) by the R package psych.
# Writes dependent_correlations.csv, icc_ratings.csv and icc.csv.
# Run in this folder:  Rscript psych.R
suppressMessages(library(psych))
set.seed(1980)

header <- sprintf("# R %s.%s, psych %s; command: Rscript psych.R",
                  R.version$major, R.version$minor, packageVersion("psych"))
begin <- function(file, columns) writeLines(c(header, columns), file)
add <- function(file, ...) cat(paste(c(...), collapse = ","), "\n", file = file, append = TRUE, sep = "")
full <- function(x) sprintf("%.15g", x)

# Triples whose matrix is positive definite, r23 of both signs; the first is Howell's example, the second nlp-williams'.
triples <- rbind(c(.80, .72, .89, 26), c(.65, .55, .30, 50), c(.3, .4, .5, 100), c(.5, .5, .2, 40))
while (nrow(triples) < 40) {
  r <- round(runif(3, -.95, .95), 3)
  if (1 - sum(r^2) + 2 * prod(r) > .01) triples <- rbind(triples, c(r, sample(c(4, 5, 10, 30, 200, 960), 1)))
}
file <- "dependent_correlations.csv"
begin(file, "r12,r13,r23,n,t,two_sided,one_sided,paired_t,paired_two_sided")
for (i in seq_len(nrow(triples))) {
  x <- triples[i, ]
  two <- r.test(n = x[4], r12 = x[1], r13 = x[2], r23 = x[3])
  one <- r.test(n = x[4], r12 = x[1], r13 = x[2], r23 = x[3], twotailed = FALSE)
  pair <- paired.r(x[1], x[2], x[3], x[4])
  add(file, x, full(two$t), full(two$p), full(one$p), full(pair$t), full(pair$p))
}

# Draws that nothing reads any more: they keep the ratings below as they were.
for (i in 1:20) { runif(2); sample(5:400, 2) }

# Shrout & Fleiss 1979, table 2; and ratings on 1-5 with leniency, halves and little agreement.
tables <- list(shrout_fleiss = matrix(c(9, 6, 8, 7, 10, 6, 2, 1, 4, 1, 5, 2, 5, 3, 6, 2, 6, 4, 8, 2, 8, 6, 9, 7), 6))
draw <- function(n, k, story, rater, error) {
  x <- 3 + outer(rnorm(n, 0, story), rnorm(k, 0, rater), "+") + matrix(rnorm(n * k, 0, error), n)
  round(pmin(pmax(x, 1), 5) * 2) / 2
}
tables$lenient <- draw(40, 3, 1, .8, .6)
tables$noise <- draw(25, 5, .1, .1, 1)
tables$pair <- draw(12, 2, 1, .2, .4)
begin("icc_ratings.csv", "table,story,rater,rating")
begin("icc.csv", "table,form,value,f,df1,df2,p,low,high")
names <- c(ICC1 = "ICC(1,1)", ICC2 = "ICC(2,1)", ICC3 = "ICC(3,1)", ICC1k = "ICC(1,k)", ICC2k = "ICC(2,k)",
           ICC3k = "ICC(3,k)")
for (name in names(tables)) {
  x <- tables[[name]]
  for (i in seq_len(nrow(x))) for (j in seq_len(ncol(x))) add("icc_ratings.csv", name, i, j, x[i, j])
  found <- ICC(x, lmer = FALSE)$results
  for (i in seq_len(nrow(found))) {
    row <- found[i, ]
    add("icc.csv", name, paste0('"', names[[row$type]], '"'), full(row$ICC), full(row$F), row$df1, row$df2, full(row$p),
        full(row[["lower bound"]]), full(row[["upper bound"]]))
  }
}
