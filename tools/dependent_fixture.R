# Writes what the R package psych computes for tests between dependent correlations, with which
# storymeter-stats/tests/stats/significance.rs compares ours.
#
# Usage:  Rscript tools/dependent_fixture.R > crates/storymeter-stats/tests/fixtures/dependent.json
# Needs:  R with psych (Debian: r-base-core r-cran-psych)
#
# psych has Williams' t for two correlations that share a variable, and Steiger's Z for two that
# share none. The latter becomes the Z for a shared variable if variable 3 is variable 1 (r13 = 1)
# and the two correlations in its covariance are pooled, as in equation 10 of Steiger (1980).

suppressMessages(library(psych))
cat("{\n \"made_with\": \"Rscript tools/dependent_fixture.R\",\n")
cat(" \"from\": \"psych::r.test, Williams' t (n, r12, r13=, r23=) and Steiger's Z (n, r12, r34=, ...), two-sided\",\n")
cat(sprintf(" \"versions\": {\"R\": \"%s\", \"psych\": \"%s\"},\n", getRversion(), packageVersion("psych")))
cat(" \"columns\": \"r12 r13 r23 n t p z p\",\n \"cases\": [\n")
sizes <- c(4, 5, 10, 96, 400, 100000)
cases <- 0
for (i in 1:1000) {
  # Three coprime steps walk through the cube of correlations. Triples that cannot occur together
  # are left out.
  r <- ((i * c(37, 53, 71)) %% 199) / 100 - 0.99
  determinant <- 1 - sum(r^2) + 2 * prod(r)
  if (determinant <= 0 || cases == 220) next
  n <- sizes[i %% 6 + 1]
  w <- r.test(n, r12 = r[1], r13 = r[2], r23 = r[3])
  pooled <- (r[1] + r[2]) / 2
  s <- r.test(n, r12 = r[1], r34 = r[2], r13 = 1, r14 = pooled, r23 = pooled, r24 = r[3])
  if (cases > 0) cat(",\n")
  cat(sprintf("[%.17g,%.17g,%.17g,%d,%.17g,%.17g,%.17g,%.17g]", r[1], r[2], r[3], n, w$t, w$p, s$z, s$p))
  cases <- cases + 1
}
cat("\n]}\n")
