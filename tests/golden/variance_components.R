# Variance components of balanced designs by lme4 (REML) and mean squares by R's own anova().
# Writes variance_components_<design>.csv (the ratings) and variance_components.csv (the numbers).
# Run in this folder:  Rscript variance_components.R
suppressMessages(library(lme4))

out <- "variance_components.csv"
cat(sprintf("# R %s.%s, lme4 %s; command: Rscript variance_components.R\n",
            R.version$major, R.version$minor, packageVersion("lme4")), file = out)
cat("design,kind,term,value\n", file = out, append = TRUE)
put <- function(design, kind, term, value)
  cat(sprintf("%s,%s,%s,%.10g\n", design, kind, term, value), file = out, append = TRUE)

# One effect for each combination of the named columns, with the given standard deviation.
effect <- function(d, names, sd) {
  key <- interaction(d[names], drop = TRUE)
  rnorm(nlevels(key), 0, sd)[as.integer(key)]
}

fit <- function(design, d, formula, fixed) {
  write.csv(d, sprintf("variance_components_%s.csv", design), row.names = FALSE, quote = FALSE)
  for (name in setdiff(names(d), "y")) d[[name]] <- factor(d[[name]])
  table <- anova(lm(fixed, d))
  for (row in rownames(table)) put(design, "ms", row, table[row, "Mean Sq"])
  if (!is.null(formula)) {
    control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-12, maxfun = 1e6))
    model <- lmer(formula, d, control = control)
    components <- as.data.frame(VarCorr(model))
    for (i in seq_len(nrow(components))) put(design, "reml", components$grp[i], components$vcov[i])
  }
}

# system x story-prompt x Eval-Prompt, repeats nested in their combinations
set.seed(11)
d <- expand.grid(repeat. = 1:3, e = 1:4, p = 1:8, s = 1:5)
d$y <- 3 + effect(d, "s", .8) + effect(d, "p", .7) + effect(d, "e", .6) + effect(d, c("s", "p"), .6) +
  effect(d, c("s", "e"), .5) + effect(d, c("p", "e"), .5) + effect(d, c("s", "p", "e"), .4) + rnorm(nrow(d), 0, .5)
d$y <- round(d$y, 6)
fit("spe", d[c("s", "p", "e", "repeat.", "y")],
    y ~ (1|s) + (1|p) + (1|e) + (1|s:p) + (1|s:e) + (1|p:e) + (1|s:p:e), y ~ s * p * e)

# the same with judges crossed in
set.seed(23)
d <- expand.grid(repeat. = 1:2, j = 1:3, e = 1:3, p = 1:6, s = 1:5)
y <- 3
for (size in 1:4) for (chosen in combn(c("s", "p", "e", "j"), size, simplify = FALSE)) y <- y + effect(d, chosen, c(1.5, .6, .5, .4)[size])
d$y <- round(y + rnorm(nrow(d), 0, .4), 6)
fit("spej", d[c("s", "p", "e", "j", "repeat.", "y")],
    y ~ (1|s) + (1|p) + (1|e) + (1|j) + (1|s:p) + (1|s:e) + (1|s:j) + (1|p:e) + (1|p:j) + (1|e:j) +
      (1|s:p:e) + (1|s:p:j) + (1|s:e:j) + (1|p:e:j) + (1|s:p:e:j), y ~ s * p * e * j)

# stories nested in systems, crossed with Eval-Prompts, repeats nested in queries
set.seed(6)
d <- expand.grid(repeat. = 1:2, e = 1:3, story = 1:7, s = 1:4)
d$y <- round(3 + effect(d, "s", .7) + effect(d, c("s", "story"), .7) + effect(d, "e", 1.2) + effect(d, c("s", "e"), .5) +
  effect(d, c("s", "story", "e"), .5) + rnorm(nrow(d), 0, .6), 6)
fit("nested", d[c("s", "story", "e", "repeat.", "y")],
    y ~ (1|s) + (1|s:story) + (1|e) + (1|s:e) + (1|s:story:e), y ~ s * e + s:story + s:story:e)

# no Eval-Prompt or interaction effects at all: some estimates are negative, and REML is no longer the same
set.seed(3)
d <- expand.grid(repeat. = 1:2, e = 1:4, p = 1:5, s = 1:4)
d$y <- round(3 + effect(d, "s", .8) + rnorm(nrow(d), 0, .8), 6)
fit("negative", d[c("s", "p", "e", "repeat.", "y")], NULL, y ~ s * p * e)
