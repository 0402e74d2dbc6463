# Freezes Williams' test of the R package psych, for crates/storymeter-stats/tests/significance.rs.
#
# Usage:  Rscript tools/williams_fixture.R > crates/storymeter-stats/tests/fixtures/williams.json
# Needs:  R with psych (Debian: r-base-core r-cran-psych)

suppressMessages(library(psych))
cat("{\n \"made_with\": \"Rscript tools/williams_fixture.R\",\n")
cat(" \"from\": \"psych::r.test(n, r12, r13=, r23=), two-sided\",\n")
cat(sprintf(" \"versions\": {\"R\": \"%s\", \"psych\": \"%s\"},\n", getRversion(), packageVersion("psych")))
cat(" \"columns\": \"r12 r13 r23 n t p\",\n \"cases\": [\n")
sizes <- c(4, 5, 10, 96, 400, 100000)
cases <- 0
for (i in 1:1000) {
  # Three coprime steps walk through the cube of correlations; those that cannot occur together are left out.
  r <- ((i * c(37, 53, 71)) %% 199) / 100 - 0.99
  determinant <- 1 - sum(r^2) + 2 * prod(r)
  if (determinant <= 0 || cases == 220) next
  n <- sizes[i %% 6 + 1]
  found <- r.test(n, r12 = r[1], r13 = r[2], r23 = r[3])
  if (cases > 0) cat(",\n")
  cat(sprintf("[%.17g,%.17g,%.17g,%d,%.17g,%.17g]", r[1], r[2], r[3], n, found$t, found$p))
  cases <- cases + 1
}
cat("\n]}\n")
