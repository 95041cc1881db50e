"""The paper's and our experiments: one file each, run by `rsg reproduce` in a checkout; `harness` runs them."""
