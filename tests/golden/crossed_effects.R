# Crossed random effects of unbalanced ratings by lme4 (REML), and the profile-likelihood interval of ICC(A,1) from
# lme4's own deviance function. Writes crossed_effects_<name>.csv (the ratings) and crossed_effects.csv (the numbers).
# Run in this folder:  Rscript crossed_effects.R
suppressMessages(library(lme4))

out <- "crossed_effects.csv"
cat(sprintf("# R %s.%s, lme4 %s; command: Rscript crossed_effects.R\n",
            R.version$major, R.version$minor, packageVersion("lme4")), file = out)
cat("data,quantity,value\n", file = out, append = TRUE)

study <- function(name, d) {
  write.csv(d, sprintf("crossed_effects_%s.csv", name), row.names = FALSE, quote = FALSE)
  d$story <- factor(d$story)
  d$rater <- factor(d$rater)
  control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-12, maxfun = 1e6))
  model <- lmer(y ~ (1 | story) + (1 | rater), d, control = control)
  v <- as.data.frame(VarCorr(model))
  v <- setNames(v$vcov, v$grp)
  icc <- v[["story"]] / sum(v)
  # REML criterion as a function of the standard deviations relative to the error's, in lme4's order of terms.
  deviance <- lmer(y ~ (1 | story) + (1 | rater), d, control = control, devFunOnly = TRUE)
  order <- names(getME(model, "theta"))
  at <- function(rho, phi) {  # phi: rater variance over rater and error variance
    error <- (1 - rho) * (1 - phi)
    theta <- c("story.(Intercept)" = sqrt(rho / error), "rater.(Intercept)" = sqrt(phi / (1 - phi)))
    deviance(theta[order])
  }
  profile <- function(rho) min(optimize(function(phi) at(rho, phi), c(0, 1 - 1e-7), tol = 1e-10)$objective, at(rho, 0))
  cutoff <- REMLcrit(model) + qchisq(.95, 1)
  end <- function(lower, upper) uniroot(function(rho) profile(rho) - cutoff, c(lower, upper), tol = 1e-9)$root
  low <- if (profile(0) <= cutoff) 0 else end(0, icc)
  high <- end(max(icc, 1e-9), 1 - 1e-7)
  values <- c(story = v[["story"]], rater = v[["rater"]], error = v[["Residual"]], icc = icc, low = low, high = high)
  for (q in names(values)) cat(sprintf("%s,%s,%.10g\n", name, q, values[[q]]), file = out, append = TRUE)
}

simulate <- function(stories, raters, each, sd_story, sd_rater, sd_error) {
  d <- do.call(rbind, lapply(seq_len(stories), function(i)
    data.frame(story = i, rater = sample(raters, each[(i - 1) %% length(each) + 1]))))
  d$y <- round(3 + rnorm(stories, 0, sd_story)[d$story] + rnorm(raters, 0, sd_rater)[d$rater] +
                 rnorm(nrow(d), 0, sd_error), 6)
  d
}

set.seed(1); study("three_each", simulate(150, 12, 3, .7, .6, .9))
set.seed(2); study("uneven", simulate(60, 9, c(1, 2, 3, 5), .9, .4, .7))
set.seed(3); study("more_raters", simulate(12, 40, c(8, 15), .8, .7, .8))
set.seed(4); study("no_rater", simulate(80, 8, 3, .8, 0, .9))
set.seed(12); study("no_story", simulate(60, 6, c(2, 3), 0, .8, .8))
# ratings in points of a scale, a few raters with most of the work
set.seed(7)
d <- simulate(100, 10, c(3, 3, 2), .8, .7, .8)
d$rater[d$rater > 6 & runif(nrow(d)) < .7] <- 1
d <- d[!duplicated(d[c("story", "rater")]), ]
d$y <- pmin(5, pmax(1, round(d$y)))
study("points", d)
