# Variance components of designs with gaps: Henderson's Method I on means of repeats by explicit matrices, and lme4's REML.
# Reads variance_components_<design>.csv, leaves out what `lost` says, writes variance_components_gaps.csv.
# Run in this folder:  Rscript variance_components_gaps.R
suppressMessages(library(lme4))

out <- "variance_components_gaps.csv"
cat(sprintf("# R %s.%s, lme4 %s; command: Rscript variance_components_gaps.R\n",
            R.version$major, R.version$minor, packageVersion("lme4")), file = out)
cat("design,kind,term,value\n", file = out, append = TRUE)
put <- function(design, kind, term, value)
  cat(sprintf("%s,%s,%s,%.10g\n", design, kind, term, value), file = out, append = TRUE)

# Rows (counted from 1, in the file's order) without a rating: about one in six alone, and some neighbours together.
lost <- function(i) (i * 7919) %% 101 < 17 | (i %/% 3) %% 37 == 5

indicator <- function(d, term) {
  key <- interaction(d[strsplit(term, ":")[[1]]], drop = TRUE)
  outer(as.integer(key), seq_len(nlevels(key)), "==") * 1
}

method_1 <- function(design, d, terms, query) {
  every <- interaction(d[strsplit(query, ":")[[1]]], drop = TRUE)
  means <- aggregate(d["y"], d[strsplit(query, ":")[[1]]], mean)
  size <- aggregate(d["y"], d[strsplit(query, ":")[[1]]], length)$y
  within <- sum((d$y - ave(d$y, every))^2) / (nrow(d) - nlevels(every))
  one <- matrix(1, nrow(means), 1)
  z <- lapply(setNames(terms, terms), indicator, d = means)
  quadratic <- lapply(c(list(one), z), function(x) x %*% solve(crossprod(x), t(x)))
  t <- sapply(quadratic, function(p) drop(means$y %*% p %*% means$y))
  effects <- c(list(one %*% t(one)), lapply(z, tcrossprod))
  weights <- sapply(effects, function(v) sapply(quadratic, function(p) sum(p * v)))
  repeats <- sapply(quadratic, function(p) sum(diag(p) / size))
  values <- solve(weights, t - repeats * within)
  for (i in seq_along(terms)) put(design, "method-1", terms[i], values[i + 1])
  put(design, "method-1", "Residual", within)
}

fit <- function(design, terms, formula) {
  d <- read.csv(sprintf("variance_components_%s.csv", design))
  d <- d[!lost(seq_len(nrow(d))), ]
  put(design, "n", "ratings", nrow(d))
  for (name in setdiff(names(d), "y")) d[[name]] <- factor(d[[name]])
  method_1(design, d, terms, terms[length(terms)])
  control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-12, maxfun = 1e6))
  components <- as.data.frame(VarCorr(lmer(formula, d, control = control)))
  for (i in seq_len(nrow(components))) put(design, "reml", components$grp[i], components$vcov[i])
}

fit("spe", c("s", "p", "e", "s:p", "s:e", "p:e", "s:p:e"),
    y ~ (1|s) + (1|p) + (1|e) + (1|s:p) + (1|s:e) + (1|p:e) + (1|s:p:e))
fit("spej", c("s", "p", "e", "j", "s:p", "s:e", "s:j", "p:e", "p:j", "e:j", "s:p:e", "s:p:j", "s:e:j", "p:e:j", "s:p:e:j"),
    y ~ (1|s) + (1|p) + (1|e) + (1|j) + (1|s:p) + (1|s:e) + (1|s:j) + (1|p:e) + (1|p:j) + (1|e:j) +
      (1|s:p:e) + (1|s:p:j) + (1|s:e:j) + (1|p:e:j) + (1|s:p:e:j))
fit("nested", c("s", "e", "s:story", "s:e", "s:story:e"),
    y ~ (1|s) + (1|s:story) + (1|e) + (1|s:e) + (1|s:story:e))
