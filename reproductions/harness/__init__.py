"""What all experiments share: jobs in processes of their own, sizes, tables, figures, quotes in pages."""
