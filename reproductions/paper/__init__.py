"""What the paper prints and the package does otherwise: one short file each, that reads like the page it comes from."""
